// The numbers of the summary are those of `prof report`, and each entry opens the view with the details.
//
//     node tests/e2e/page_summary.mjs URL PROF PROFILE
import { execFileSync } from 'node:child_process';
import { closeBrowser, complaints, openPage, selectedRow, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, prof, file] = process.argv.slice(2);
const awaited = '.card';
const summary = `${url}?thread=0&tab=summary`;

function report(...options) {
    return JSON.parse(execFileSync(prof, ['report', '--json', ...options, file], { encoding: 'utf8' }));
}

/** Share, amount and name of each entry of a card. */
async function entries(page, card) {
    const rows = await page.$$eval(`.card-${card} .summary-row`, (all) =>
        all.map((row) => [
            row.querySelector('.share').textContent,
            row.querySelector('.summary-amount').textContent,
            row.querySelector('.summary-name bdi').textContent,
        ]),
    );
    return rows.map((row) => row.join(' ')).join('\n');
}

const expected = (rows, whole) =>
    rows
        .filter((row) => row.self !== 0)
        .map((row) => `${((100 * row.self) / whole).toFixed(1)}% ${row.self} ${row.name}`)
        .join('\n');

await check('functions, libraries and categories have the numbers of prof report', async () => {
    const page = await openPage(summary, awaited);
    const { functions, total } = report('--functions');
    assertEqual(await entries(page, 'functions'), expected(functions, total), 'functions');
    assertEqual(await entries(page, 'libraries'), expected(report('--libraries').libraries, total), 'libraries');
    assertEqual(await entries(page, 'categories'), expected(report('--categories').categories, total), 'categories');
    assertEqual(await entries(page, 'threads'), `100.0% ${total} filters`, 'threads');
    const text = await page.locator('.summary-head').innerText();
    assert(text.includes(functions[0].name), `the head says ${text}`);
    await page.close();
});

await check('what it counts follows weight, search and transforms', async () => {
    const page = await openPage(summary, awaited);
    await page.getByLabel('Sample weight').selectOption({ label: 'Samples' });
    await settle(page);
    const counted = report('--functions', '--weight', 'samples');
    assertEqual(await entries(page, 'functions'), expected(counted.functions, counted.total), 'functions by samples');
    await page.locator('#stack-search').fill('sys_read');
    await page.keyboard.press('Enter');
    await settle(page);
    const found = report('--functions', '--weight', 'samples', '--search', 'sys_read');
    assertEqual(await entries(page, 'functions'), expected(found.functions, found.total), 'functions found');
    await page.close();
});

await check('off-CPU time is listed by function, and leads to the waiting thread', async () => {
    const page = await openPage(summary, awaited);
    const off = report('--functions', '--weight', 'off-cpu-time');
    const names = off.functions.filter((row) => row.self > 0).map((row) => row.name);
    const shown = (await entries(page, 'waits')).split('\n').map((row) => row.replace(/^\S+ \S+ \S+ /, ''));
    assertEqual(shown.join(), names.join(), 'functions');
    await page.locator('.card-waits .summary-row').first().click();
    await page.waitForSelector('[role="treegrid"] .tree-row.selected');
    await settle(page);
    assertEqual((await selectedRow(page)).name, names[0], 'selected row');
    assertEqual(new URL(page.url()).searchParams.get('weight'), 'off-cpu-time', 'weight in the address');
    assert(await page.getByLabel('Invert call stack').isChecked(), 'the tree is not inverted');
    await page.goBack();
    await page.waitForSelector(awaited);
    await page.close();
});

await check('without samples, the summary shows how long the threads did not run', async () => {
    const page = await openPage(`${summary}&range=12m4`, '.summary .empty');
    await page.waitForSelector('.card-waits');
    await settle(page);
    assert((await entries(page, 'waits')).startsWith('100.0% 4 ms '), `it says ${await entries(page, 'waits')}`);
    await page.locator('.card-waits .summary-row').first().click();
    await page.waitForSelector('[role="treegrid"] .tree-row.selected');
    await page.close();
});

await check('long names lose their arguments first, then their scope', async () => {
    const page = await openPage(summary, awaited);
    const name = 'a::long::name::space::of::many::parts::function(int, long)';
    const texts = await page.evaluate((long) => {
        const [row] = document.querySelectorAll('.card-functions .summary-name');
        const [scope, own, last] = [long.slice(0, long.lastIndexOf('::') + 2), 'function', '(int, long)'];
        const shown = row.querySelector('.scoped-name');
        shown.replaceChildren(
            ...[['scope', scope], ['', own], ['arguments', last]].map(([kind, text]) => Object.assign(document.createElement('span'), { className: kind, textContent: text })),
        );
        return [400, 300, 120].map((width) => {
            row.style.width = `${width}px`;
            return [...shown.children].map((part) => (part.scrollWidth <= part.clientWidth ? 'whole' : 'cut')).join();
        });
    }, name);
    assertEqual(texts.join(' '), 'whole,whole,whole cut,whole,cut cut,whole,cut', 'what is whole and what is cut');
    await page.close();
});

await check('entries lead to the butterfly and to threads, by mouse and by key', async () => {
    const page = await openPage(summary, awaited);
    const leads = [
        ['functions', 'function-4', 'idle'],
        ['libraries', 'library-0', 'app'],
        ['categories', 'category-2', 'Idle'],
    ];
    for (const [card, center, name] of leads) {
        await page.locator(`.card-${card} .summary-row`, { hasText: name }).click();
        await page.waitForSelector('.wing');
        await settle(page);
        assertEqual(new URL(page.url()).searchParams.get('center'), center, `center after ${card}`);
        assertEqual(await page.locator('.focus-head h2').innerText(), name, 'the focus');
        await page.goBack();
        await page.waitForSelector(awaited);
        await settle(page);
    }
    await page.locator('.summary').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const second = (await entries(page, 'functions')).split('\n')[1].split(' ').at(-1);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.wing');
    await settle(page);
    assertEqual(await page.locator('.focus-head h2').innerText(), second, 'the focus after Enter');
    await page.goBack();
    await page.waitForSelector(awaited);
    await page.locator('.card-threads .summary-row').click();
    await page.waitForSelector('[role="treegrid"] .tree-row.selected');
    await page.close();
});

await check('it is printed whole, and nothing else is', async () => {
    const page = await openPage(summary, awaited);
    await page.emulateMedia({ media: 'print' });
    for (const hidden of ['.timeline', '.tab-bar', '.filter-bar', '.summary-actions'])
        assert(!(await page.locator(hidden).first().isVisible()), `${hidden} is printed`);
    const isCut = await page.$eval('.summary', (element) => element.scrollHeight > element.clientHeight + 1);
    assert(!isCut, 'a part of it is cut off');
    await page.close();
});

await check('nothing complained', () => assertEqual(complaints.join('; '), '', 'complaints of the browser'));

await closeBrowser();
finish();
