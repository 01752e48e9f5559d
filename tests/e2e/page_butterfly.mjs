// The butterfly by mouse, key and address. Its numbers are those of transforms of `prof report`.
//
//     node tests/e2e/page_butterfly.mjs URL PROF PROFILE URL_PARTLY
//
// URL_PARTLY serves the profile with "(not sampled)" instead of the function with the most self time.
import { execFileSync } from 'node:child_process';
import { askUntil, checkComplaints, closeBrowser, numberOf, openPage, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, prof, file, partly] = process.argv.slice(2);

/** What is below the root `func` of a tree, as depth, name and total. */
function reported(func, ...options) {
    const { tree } = JSON.parse(execFileSync(prof, ['report', '--json', ...options, file], { encoding: 'utf8' }));
    const rows = [];
    for (let at = tree.findIndex((row) => row.depth === 0 && row.name === func) + 1; tree[at]?.depth > 0; at++)
        rows.push(`${tree[at].depth - 1} ${tree[at].name} ${tree[at].total}`);
    return rows.join('\n');
}

/** A side of the page with everything open. */
async function shown(page, side) {
    const tree = page.locator(`.wing.${side} .tree`);
    await tree.focus();
    for (let at = 0, count = -1; count < 0 || at < count; at++) {
        if (at === 0) await page.keyboard.press('Home');
        else await page.keyboard.press('ArrowDown');
        await page.keyboard.press('*');
        await settle(page);
        count = Number(await tree.getAttribute('aria-rowcount')) - 1;
        if (count === 0) return '';
    }
    const rows = await page.$$eval(`.wing.${side} .tree-row`, (all) =>
        all
            .map((row) => [
                Number(row.dataset.row),
                Number(row.getAttribute('aria-level')),
                row.querySelector('.tree-text bdi').textContent,
                row.querySelector('.number').textContent,
            ])
            .sort((a, b) => a[0] - b[0]),
    );
    return rows.map(([, level, name, total]) => `${level - 1} ${name} ${numberOf(total)}`).join('\n');
}

const awaited = '.wing .tree-row';
const focus = (page) => page.locator('.focus-head h2').innerText();
const center = (page) => new URL(page.url()).searchParams.get('center');
const inList = (page, name) => page.locator('.wing-list .tree-row', { hasText: name });

for (const [at, name] of ['main', 'work', 'leaf', 'walk', 'helper'].entries())
    await check(`the callees of ${name} are its focus, its callers the inverted collapse`, async () => {
        const page = await openPage(`${url}?thread=0&tab=butterfly&center=function-${at}`, awaited);
        assertEqual(await focus(page), name, 'the focus');
        assertEqual(await shown(page, 'callees'), reported(name, '--focus-function', name), 'callees');
        assertEqual(await shown(page, 'callers'), reported(name, '--collapse-function', name, '--inverted'), 'callers');
        await page.close();
    });

await check('the function with the most time of its own is in focus at first', async () => {
    const page = await openPage(`${url}?thread=0&tab=butterfly`, awaited);
    const { tree } = JSON.parse(execFileSync(prof, ['report', '--json', file], { encoding: 'utf8' }));
    const sums = { self: new Map(), total: new Map() };
    for (const row of tree)
        for (const [key, sum] of Object.entries(sums)) sum.set(row.name, (sum.get(row.name) ?? 0) + row[key]);
    const most = (sum) => [...sum].sort((a, b) => b[1] - a[1])[0][0];
    assert(most(sums.self) !== most(sums.total), 'one function has the most of everything');
    assertEqual(await focus(page), most(sums.self), 'the focus');
    await page.close();
});

await check('time without a sample is not what the views begin with', async () => {
    const page = await openPage(`${partly}?thread=0&tab=butterfly`, awaited);
    assertEqual(await focus(page), 'walk', 'the focus');
    await page.getByRole('tab', { name: 'Functions' }).click();
    assertEqual(await page.locator('#view .tree-row.selected bdi').first().innerText(), 'walk', 'the selected function');
    assertEqual(await page.locator('#view .tree-row bdi').first().innerText(), '(not sampled)', 'the first function');
    await page.getByRole('tab', { name: 'Summary' }).click();
    await askUntil((text) => /Most self time: walk/.test(text.replace(/\s+/g, ' ')), () => page.locator('.summary-head').innerText());
    await page.close();
});

await check('the list chooses the focus, Enter on a row moves that there, back leads back', async () => {
    const page = await openPage(`${url}?thread=0&tab=butterfly`, awaited);
    await inList(page, 'walk').click();
    await settle(page);
    assertEqual(await focus(page), 'walk', 'the focus after a click');
    assertEqual(center(page), 'function-3', 'center in the address');
    await page.locator('.wing.callers .tree').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await settle(page);
    assertEqual(await focus(page), 'main', 'the focus after Enter');
    await page.locator('.wing.callees .tree-row', { hasText: 'work' }).first().dblclick();
    await settle(page);
    assertEqual(await focus(page), 'work', 'the focus after a double click');
    await page.goBack();
    await page.goBack();
    await settle(page);
    assertEqual(await focus(page), 'walk', 'the focus after going back twice');
    assertEqual(await inList(page, 'walk').getAttribute('aria-selected'), 'true', 'selected in the list');
    await page.close();
});

await check('libraries and categories can be in focus', async () => {
    const page = await openPage(`${url}?thread=0&tab=butterfly`, awaited);
    await page.getByRole('radio', { name: 'Libraries' }).click();
    await settle(page);
    await inList(page, 'libm').click();
    await settle(page);
    assertEqual(center(page), 'library-1', 'center in the address');
    assertEqual(await shown(page, 'callees'), '0 leaf 9', 'callees of libm');
    assertEqual(await shown(page, 'callers'), '0 work 7\n1 main 7\n0 walk 2\n1 helper 2\n2 walk 2\n3 walk 2\n4 main 2', 'callers of libm');
    await page.getByRole('radio', { name: 'Categories' }).click();
    await settle(page);
    await inList(page, 'Library').click();
    await settle(page);
    assertEqual(center(page), 'category-1', 'center in the address');
    assertEqual(await focus(page), 'Library', 'the focus');
    assertEqual(await shown(page, 'callees'), '0 leaf 9', 'callees of the category');
    const again = await openPage(page.url(), awaited);
    assertEqual(await focus(again), 'Library', 'the focus of the pasted address');
    await again.close();
    await page.close();
});

const codes = (page) => new URL(page.url()).searchParams.get('transforms');

await check('the menu of a library or a category has its actions, also by key, and copies its name', async () => {
    const page = await openPage(`${url}?thread=0&tab=butterfly`, awaited);
    await page.getByRole('radio', { name: 'Libraries' }).click();
    await settle(page);
    await inList(page, 'libm').click({ button: 'right' });
    const items = page.getByRole('menuitem');
    assertEqual(
        (await items.locator('span').allInnerTexts()).slice(0, 5).join(', '),
        'Focus on libm, Merge libm, Collapse libm, Drop samples of libm, Copy name',
        'items of a library',
    );
    await page.getByRole('menuitem', { name: 'Merge libm' }).click();
    await settle(page);
    assertEqual(codes(page), 'ml-1', 'transforms after the menu');
    assertEqual(await inList(page, 'libm').count(), 0, 'rows of the library that is merged');
    await page.keyboard.press('u');
    await settle(page);
    await page.getByRole('radio', { name: 'Categories' }).click();
    await settle(page);
    await inList(page, 'Library').click();
    await settle(page);
    await page.keyboard.press('Control+c');
    await askUntil((text) => text === 'Library', () => page.evaluate(() => navigator.clipboard.readText()));
    await page.keyboard.press('m');
    assertEqual(codes(page), null, 'transforms after a key that is about functions');
    await page.keyboard.press('D');
    await settle(page);
    assertEqual(codes(page), 'dc-1', 'transforms after a key');
    await page.close();
});

await check('stacks are copied from the focus outwards, the leaf first', async () => {
    const page = await openPage(`${url}?thread=0&tab=butterfly&center=function-3`, awaited);
    const copy = async (side, name) => {
        await page.locator(`.wing.${side} .tree-row`, { hasText: name }).first().click({ button: 'right' });
        await page.evaluate(() => navigator.clipboard.writeText(''));
        await page.getByRole('menuitem', { name: 'Copy stack' }).click();
        return askUntil((text) => text !== '', () => page.evaluate(() => navigator.clipboard.readText()));
    };
    assertEqual(await copy('callers', 'main'), 'walk [app]\nmain [app]\n', 'the stack of a caller');
    await page.locator('.wing.callees .tree').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('*');
    await settle(page);
    assertEqual(await copy('callees', 'helper'), 'helper [app]\nwalk [app]\nwalk [app]\n', 'the stack of a callee');
    await page.close();
});

await check('transforms, the search and a range change it; a missing function has a message', async () => {
    const page = await openPage(`${url}?thread=0&tab=butterfly&center=function-3`, awaited);
    await page.locator('.wing.callees .tree-row', { hasText: 'helper' }).first().click();
    await page.keyboard.press('m');
    await settle(page);
    assertEqual(
        await shown(page, 'callees'),
        reported('walk', '--merge-function', 'helper', '--focus-function', 'walk'),
        'callees after a transform',
    );
    await page.locator('#stack-search').fill('work');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.wings .empty');
    assert((await page.locator('.wings .empty').innerText()).includes('No stack'), 'it does not say so');
    await page.close();
});

await check('b opens it for the selected row, and the menu does; both sides can be beside each other', async () => {
    const page = await openPage(url);
    await page.keyboard.press('Home');
    await page.keyboard.press('b');
    await page.waitForSelector(awaited);
    await settle(page);
    assertEqual(await focus(page), 'main', 'the focus');
    await page.goBack();
    await page.waitForSelector('[role="treegrid"][aria-label="Call tree"] .tree-row.selected');
    await page.locator('.tree-row', { hasText: 'leaf' }).first().click({ button: 'right', position: { x: 460, y: 8 } });
    await page.getByRole('menuitem', { name: 'Show callers and callees' }).click();
    await page.waitForSelector(awaited);
    await settle(page);
    assertEqual(await focus(page), 'leaf', 'the focus after the menu');
    const places = async () => {
        const [callers, callees] = await Promise.all(
            ['callers', 'callees'].map((side) => page.locator(`.wing.${side}`).boundingBox()),
        );
        return callees.x > callers.x ? 'beside' : callees.y > callers.y ? 'above' : 'neither';
    };
    assertEqual(await places(), 'above', 'callers');
    await page.getByRole('button', { name: 'Side by side' }).click();
    assertEqual(await places(), 'beside', 'callers after the click');
    await page.reload();
    await page.waitForSelector(awaited);
    assertEqual(await places(), 'beside', 'callers after a reload');
    await page.getByRole('button', { name: 'Side by side' }).click();
    await page.close();
});

await checkComplaints();

await closeBrowser();
finish();
