// Checks that names which try to break the page do not: node tests/e2e/page_hostile.mjs URL
//
// URL is what `prof load -n FILE` prints for a FILE written by page_hostile_profile.mjs.
import { complaints, openPage, readRows, settle, closeBrowser } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';
import { MARKUP } from './page_hostile_profile.mjs';

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
await settle(page);
const names = (await readRows(page)).map((row) => row.name);

/** Selects the row with this beginning. */
async function selectName(start) {
    await tree.focus();
    await page.keyboard.press('Home');
    for (let i = 0; i < names.findIndex((name) => name.startsWith(start)); i++) await page.keyboard.press('ArrowDown');
    await settle(page);
}

await check('markup in names is shown as it is written', async () => {
    assert(names.includes(MARKUP), `the rows are ${JSON.stringify(names.map((name) => name.slice(0, 40)))}`);
    assertEqual(await page.locator('img, #app script').count(), 0, 'number of elements made of names');
    assert(!/^[12]$/.test(await page.title()), 'a name ran as a script');
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

await check('a cut stack is marked and explained', async () => {
    assertEqual(await page.locator('.tree-row.cut').count(), 1, 'number of marked rows');
    await selectName('(truncated)');
    assert(/cut here/.test(await page.locator('.sidebar').innerText()), 'the sidebar does not explain it');
});

await check('texts of the recording are shown as they are written', async () => {
    await page.getByRole('button', { name: 'Recording' }).click();
    await page.waitForSelector('dialog[open] .facts');
    const text = await page.locator('dialog[open]').innerText();
    assert(text.includes(MARKUP), 'the markup is missing');
    await page.keyboard.press('Escape');
});

await check('what could not be understood is said until it is closed', async () => {
    const warning = page.locator('.warning');
    assert(/version 9999/.test(await warning.innerText()), 'the version is not named');
    await page.getByRole('button', { name: 'Close this notice' }).click();
    await settle(page);
    assertEqual(await warning.count(), 0, 'number of notices');
});

await check('the console stays clean', async () => assertEqual(complaints.join(' | '), '', 'complaints'));
await closeBrowser();
finish();
