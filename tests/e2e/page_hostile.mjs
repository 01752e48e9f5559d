// Checks that hostile names do not break the page: node tests/e2e/page_hostile.mjs URL
//
// URL is what `prof load -n FILE` prints for a FILE written by page_hostile_profile.mjs.
import { readFileSync } from 'node:fs';
import { askUntil, complaints, foreign, openPage, readRows, settle, closeBrowser } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';
import { MARKUP, RIGHT_TO_LEFT, TITLE_THIEF } from './page_hostile_profile.mjs';

const [url] = process.argv.slice(2);
if (!url) {
    console.error('usage: node page_hostile.mjs URL');
    process.exit(2);
}

const page = await openPage(url);
const tree = page.locator('[role="treegrid"]');
await tree.focus();
await page.keyboard.press('Home');
await page.keyboard.press('*');
await page.keyboard.press('t'); // names as they are written, nothing folded
await settle(page);
const names = (await readRows(page)).map((row) => row.name);

/** Selects the row with this beginning. */
async function selectName(start) {
    await tree.focus();
    await page.keyboard.press('Home');
    for (let i = 0; i < names.findIndex((name) => name.startsWith(start)); i++) await page.keyboard.press('ArrowDown');
    await settle(page);
}

await check('markup in names appears as text', async () => {
    assert(names.includes(MARKUP), `the rows are ${JSON.stringify(names.map((name) => name.slice(0, 40)))}`);
    assertEqual(await page.locator('img, #app script').count(), 0, 'number of elements made of names');
    assert(!TITLE_THIEF.test(await page.title()), 'a name ran as a script');
});

await check('marks that turn the reading direction are spelled out', async () => {
    const shown = names.find((name) => name.startsWith('safe'));
    assert(shown?.includes('U+202E') && shown.includes('U+2066') && shown.includes('U+200B'), `it is shown as ${shown}`);
});

await check('control characters are spelled out', async () => {
    const shown = names.find((name) => name.startsWith('tab'));
    for (const code of ['U+0009', 'U+0000', 'U+001B', 'U+000A']) assert(shown?.includes(code), `it is shown as ${shown}`);
});

await check('a name of a megabyte is cut in its row and bounded in the sidebar', async () => {
    const shown = names.find((name) => name.startsWith('long_')) ?? '';
    assert(shown.length > 100 && shown.length < 2000, `its row has ${shown.length} characters`);
    await selectName('long_');
    const sidebar = await page.locator('.sidebar').innerText();
    assert(sidebar.length < 50_000, `the sidebar has ${sidebar.length} characters`);
    assert(/1,048,581 characters/.test(sidebar), 'the sidebar does not say how long the name is');
});

await check('marks piled on a letter stay in their row', async () => {
    const overflow = await page.$$eval('.tree-row', (rows) => rows.filter((row) => row.offsetHeight > 24).length);
    assertEqual(overflow, 0, 'number of rows that are too high');
});

await check('a function without a name can be selected', async () => {
    assert(names.includes(''), 'there is no such row');
});

await check('a truncated stack is marked and explained', async () => {
    assertEqual(await page.locator('.tree-row.truncated').count(), 1, 'number of marked rows');
    await selectName('(truncated)');
    assert(/truncated here/.test(await page.locator('.sidebar').innerText()), 'the sidebar does not explain it');
});

await check('markup in texts of the recording appears as text', async () => {
    await page.getByRole('button', { name: 'Recording' }).click();
    await page.waitForSelector('dialog[open] .facts');
    const text = await page.locator('dialog[open]').innerText();
    assert(text.includes(MARKUP), 'the markup is missing');
    await page.keyboard.press('Escape');
});

await check('warnings about the file stay until the user closes them', async () => {
    const warning = page.locator('.warning');
    assert(/version 9999/.test(await warning.innerText()), 'the version is not named');
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await settle(page);
    assertEqual(await warning.count(), 0, 'number of notices');
});

// ---- everywhere else: each view with its menus, tooltips and windows, and what is copied and saved ----

const MOST_TEXT = 300_000;

/** That nothing of the profile has become anything but text, and all text is visible, bounded and in its place. */
async function lookAround(where) {
    const found = await page.evaluate(() => {
        const app = document.body;
        const texts = [app.innerText, ...[...app.querySelectorAll('[title],[aria-label]')].flatMap((one) => [one.title ?? '', one.ariaLabel ?? ''])];
        const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/;
        return {
            elements: [...app.querySelectorAll('img, iframe, object, script:not([src])')].map((one) => one.outerHTML.slice(0, 80)).join(),
            links: [...app.querySelectorAll('a[href]')].map((one) => one.href).filter((href) => !/^(https?|blob):/.test(href)).join(),
            images: [...app.querySelectorAll('[style]')].map((one) => one.getAttribute('style')).filter((style) => style.includes('example.org')).join(),
            invisible: texts.filter((text) => invisible.test(text)).map((text) => JSON.stringify(text.slice(Math.max(0, text.search(invisible) - 40)).slice(0, 90))).join(),
            length: texts.reduce((sum, text) => sum + text.length, 0),
            tooWide: document.scrollingElement.scrollWidth - window.innerWidth,
            title: document.title,
        };
    });
    for (const what of ['elements', 'links', 'images', 'invisible']) assertEqual(found[what], '', `${what} made of names ${where}`);
    assert(found.length < MOST_TEXT, `the page has ${found.length} characters of text ${where}`);
    assert(found.tooWide <= 0, `the page is ${found.tooWide} pixels too wide ${where}`);
    assert(!TITLE_THIEF.test(found.title), `a name ran as a script ${where}`);
}

const VIEWS = { Summary: '.below', 'Call Tree': '.tree-row', Functions: '.tree-row', Butterfly: '.wing .tree-row', 'Flame Graph': '.chart', 'Stack Chart': '.chart', 'Marker Chart': '.below canvas', 'Marker Table': '.tree-row' };

async function goTo(title) {
    await page.getByRole('tab', { name: title }).click();
    await page.waitForSelector(VIEWS[title]);
    await settle(page);
}

const tabs = await page.getByRole('tab').allInnerTexts();
for (const title of tabs.filter((name) => name in VIEWS))
    await check(`${title}: rows and rects, tooltips and menus show names as text`, async () => {
        await goTo(title);
        await lookAround('at first');
        const bounds = await page.locator(VIEWS[title]).first().boundingBox();
        const view = await page.locator('.below').boundingBox();
        // Over and on places all over the view.
        for (const [across, down] of [[0.1, 0.02], [0.3, 0.1], [0.5, 0.3], [0.4, 0.5], [0.3, 0.95]]) {
            const x = bounds.x + Math.max(5, Math.min(bounds.width, view.width) * across);
            const y = Math.min(bounds.y + Math.max(8, (view.y + view.height - bounds.y) * down), view.y + view.height - 4);
            await page.mouse.move(x, y);
            await page.mouse.move(x + 1, y + 1);
            await page.waitForTimeout(150);
            await lookAround('with the mouse over it');
            await page.mouse.click(x, y);
            await settle(page);
            await lookAround('with something selected');
            await page.mouse.click(x, y, { button: 'right' });
            await page.waitForTimeout(50);
            await lookAround('with a menu');
            await page.keyboard.press('Escape');
        }
    });

await check('tracks, their list and their menus show names as text', async () => {
    await page.keyboard.press('T');
    await page.waitForSelector('.picker-row');
    await lookAround('with the list of tracks');
    await page.keyboard.press('Escape');
    for (const track of await page.locator('.track').all()) {
        await track.scrollIntoViewIfNeeded();
        const { x, y, width, height } = await track.boundingBox();
        for (const across of [0.25, 0.4, 0.6]) {
            await page.mouse.move(x + width * across, y + height / 2);
            await page.waitForTimeout(80);
            await lookAround('with the mouse over a track');
        }
        await page.mouse.click(x + 40, y + height / 2, { button: 'right' });
        await page.waitForTimeout(50);
        await lookAround('with the menu of a track');
        await page.keyboard.press('Escape');
    }
});

await check('the palette and the search show names as text', async () => {
    for (const typed of ['img', 'long_', 'safe', 'HYPER', 'z']) {
        await page.keyboard.press('Control+k');
        await page.locator('.palette input').fill(typed);
        await askUntil((count) => count > 0, () => page.locator('.palette .picker-row').count());
        await settle(page);
        await lookAround('with the palette');
        await page.keyboard.press('Escape');
        await page.waitForSelector('.palette', { state: 'detached' });
    }
    await goTo('Call Tree');
    for (const typed of [MARKUP, RIGHT_TO_LEFT, '/(img|long)/']) {
        await page.keyboard.press('/');
        await page.locator('#stack-search').fill(typed);
        await page.keyboard.press('Enter');
        await settle(page);
        await lookAround('while searching');
    }
    await page.locator('#stack-search').fill('');
    await page.keyboard.press('Enter');
    await settle(page);
});

await check('a source file is shown as text, markup and all', async () => {
    await goTo('Call Tree');
    await selectName('<img');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.source-editor .cm-line');
    await settle(page);
    await lookAround('with a source file');
    const inside = await page.$eval('.source-editor', (holder) => ({
        elements: holder.shadowRoot.querySelectorAll('img:not(.cm-widgetBuffer), iframe, .cm-line script').length,
        text: holder.shadowRoot.querySelector('.cm-content').textContent.length,
    }));
    assertEqual(inside.elements, 0, 'number of elements made of the source');
    assert(inside.text < MOST_TEXT, `${inside.text} characters of it are there at once`);
    await page.keyboard.press('Escape');
});

const clipboard = () => page.evaluate(() => navigator.clipboard.readText());

/** Splits CSV as RFC 4180 says. */
function fieldsOf(csv) {
    const rows = [[]];
    for (const [, quoted, plain, end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
        rows.at(-1).push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
        if (end === '\r\n') rows.push([]);
        if (end === '') break;
    }
    return rows.filter((row) => row.length > 1);
}

await check('tables are copied so that names stay in their cells', async () => {
    for (const view of ['Functions', 'Call Tree', 'Marker Table']) {
        await goTo(view);
        const grid = page.locator(view === 'Call Tree' ? '[role="treegrid"]' : '[role="grid"]').first();
        const copy = async (item) => {
            await grid.focus();
            await page.keyboard.press('Home');
            await page.keyboard.press('Shift+F10');
            await page.evaluate(() => navigator.clipboard.writeText(''));
            await page.getByRole('menuitem', { name: item }).click();
            return askUntil((text) => text !== '', clipboard);
        };
        const rowCount = Number(await grid.getAttribute('aria-rowcount')) || (await page.locator('.tree-row').count()) + 1;
        const csv = fieldsOf((await copy('as CSV')).trimEnd());
        assertEqual(new Set(csv.map((row) => row.length)).size, 1, `numbers of columns of the CSV of ${view}`);
        assert(csv.length >= Math.min(rowCount, 5), `the CSV of ${view} has ${csv.length} rows`);
        assert(!csv.flat().some((cell) => /^[=@]/.test(cell)), `a cell of ${view} is a formula`);
        const markdown = (await copy('as Markdown')).trimEnd().split('\n');
        assertEqual(markdown.length, csv.length + 1, `lines of the Markdown of ${view}`);
        for (const line of markdown) assert(!/(^|[^\\])<(img|script)/.test(line), `the Markdown of ${view} has markup: ${line.slice(0, 100)}`);
    }
});

await check('a copied stack has a line for each function, and nothing that a terminal would obey', async () => {
    await goTo('Call Tree');
    await selectName('tab');
    await page.keyboard.press('Shift+F10');
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await page.getByRole('menuitem', { name: 'Copy stack' }).click();
    const stack = await askUntil((text) => text !== '', clipboard);
    assertEqual(stack.trimEnd().split('\n').length, 2, 'number of lines');
    assert(!/[\u0000-\u0009\u000b-\u001f]/.test(stack), `it has control characters: ${JSON.stringify(stack)}`);
});

await check('the flame graph is saved as SVG in which names are text', async () => {
    await goTo('Flame Graph');
    const { x, y, width, height } = await page.locator('.chart').boundingBox();
    await page.mouse.click(x + width / 4, y + height - 9, { button: 'right' });
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Save as SVG' }).click()]);
    const text = readFileSync(await file.path(), 'utf8');
    const blank = await page.context().newPage(); // the policy of the page is not for the file
    const svg = await blank.evaluate((source) => {
        const document_ = new DOMParser().parseFromString(source, 'image/svg+xml');
        return {
            elements: [...new Set([...document_.querySelectorAll('*')].map((one) => one.nodeName))].sort().join(),
            attributes: [...document_.querySelectorAll('*')].flatMap((one) => one.getAttributeNames()).filter((name) => name.startsWith('on')).join(),
        };
    }, text);
    await blank.close();
    assertEqual(svg.elements, 'g,rect,script,style,svg,text,title', 'elements');
    assertEqual(svg.attributes, '', 'attributes that are scripts');
    assert(!/[\u0000-\u0008\u202e\u2066]/.test(text), 'it has characters that cannot be seen');
    assert(!/[\\/\u0000-\u001f\u202e<>]/.test(file.suggestedFilename()), `it is called ${file.suggestedFilename()}`);
});

await check('nothing of the profile was asked for elsewhere', async () => assertEqual(foreign.join(' '), '', 'addresses'));

await check('the console stays clean', async () => assertEqual(complaints.join(' | '), '', 'complaints'));
await closeBrowser();
finish();
