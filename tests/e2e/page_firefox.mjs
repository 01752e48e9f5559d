// Uses the page in Firefox: tabs, search, keys, the timeline, the palette, source and assembly, with the numbers of `prof
// report`.
//
//     node tests/e2e/page_firefox.mjs URL DIRECTORY LONG_URL
//
// DIRECTORY has report.json and inverted.json, what `prof report --json` says of the profile, and small.json, another one.
// FIREFOX names the browser's program. It is driven by WebDriver BiDi, as the browser is shipped.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { askUntil, countQuestions, numberOf, TIMEOUT_MS, readRows, selectedRow, settle, shownNumber, walkLongTable } from './page_rows.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, directory, longUrl] = process.argv.slice(2);
const reported = (name) => JSON.parse(readFileSync(join(directory, name), 'utf8'));
const packages = createRequire(new URL('../../web/package.json', import.meta.url));
const { default: puppeteer } = await import(pathToFileURL(packages.resolve('puppeteer-core')).href);

const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: process.env.FIREFOX || '/usr/bin/firefox-esr',
    headless: true,
    protocolTimeout: 2 * TIMEOUT_MS,
});
const complaints = [];
const page = await browser.newPage();
page.setDefaultTimeout(TIMEOUT_MS);
page.on('pageerror', (error) => complaints.push(error.message));
page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
});
await page.setViewport({ width: 1280, height: 800 });
await page.evaluateOnNewDocument(countQuestions);

async function open(address) {
    await page.goto(address);
    await page.waitForSelector('.tree-row.selected');
    await settle(page);
}
const parameter = (name) => new URL(page.url()).searchParams.get(name);
const text = (selector) => page.$eval(selector, (element) => element.innerText);

/** All threads, by their indexes: fewer than 32 of them are one digit each. */
const all = new URL(url);
all.search = `?chains&thread=${reported('report.json').threads.map((thread) => thread.index.toString(32)).join('')}`;

/** Compares the rows, from the first one down its open path, with a report's. */
async function compare(report) {
    await page.focus('[role="treegrid"]');
    await page.keyboard.press('Home');
    await settle(page);
    const rows = await readRows(page);
    let compared = 0;
    rows.slice(0, 12).forEach((row, at) => {
        const entry = report.tree[at];
        if (row.level !== at + 1 || entry?.depth !== at) return;
        assertEqual(row.name, entry.name.slice(0, row.name.length), `name in row ${at}`);
        const expected = `${shownNumber(entry.total)} ${shownNumber(entry.self)}`;
        assertEqual(`${numberOf(row.total)} ${numberOf(row.self)}`, expected, `numbers of ${row.name}`);
        compared++;
    });
    assert(compared > 0, 'there is nothing to compare');
}

await check('a recorded profile has the numbers of prof report', async () => {
    await open(all.href);
    await compare(reported('report.json'));
});

await check('i inverts the tree, with the numbers of the inverted report', async () => {
    await page.keyboard.press('i');
    await settle(page);
    assert(new URL(page.url()).searchParams.has('invertCallstack'), 'the address does not say so');
    await compare(reported('inverted.json'));
    await page.keyboard.press('i');
    await settle(page);
});

await check('each of the first ten views opens by its key', async () => {
    const tabs = await page.$$eval('[role="tab"]', (elements) => elements.map((element) => element.id));
    assert(tabs.length >= 2, 'there are no views');
    for (let at = Math.min(tabs.length, 10); at >= 1; at--) {
        await page.keyboard.press(String(at % 10));
        const shown = async () => page.$eval('[role="tab"][aria-selected="true"]', (element) => element.id);
        assertEqual(await askUntil((id) => id === tabs[at - 1], shown), tabs[at - 1], `the view of key ${at}`);
        await settle(page);
    }
    await open(all.href);
});

await check('arrows walk the tree, Enter closes and opens', async () => {
    await page.focus('[role="treegrid"]');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await settle(page);
    assertEqual((await selectedRow(page)).at, 1, 'the row after Home and down');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowLeft');
    await settle(page);
    assertEqual((await selectedRow(page)).expanded, 'false', 'whether it is open after left');
    await page.keyboard.press('ArrowRight');
    await settle(page);
    assertEqual((await selectedRow(page)).expanded, 'true', 'whether it is open after right');
});

await check('a typed search leaves the samples with the function', async () => {
    const leaf = reported('inverted.json').tree[0];
    await page.keyboard.press('/');
    await page.keyboard.type(`"${leaf.name}"`);
    await page.keyboard.press('Enter');
    await settle(page);
    assertEqual(parameter('search'), `"${leaf.name}"`, 'the search in the address');
    await page.focus('[role="treegrid"]');
    await page.keyboard.press('Home');
    await settle(page);
    const [first] = await readRows(page);
    assert(numberOf(first.total) >= shownNumber(leaf.total) && numberOf(first.total) > 0, `the total is ${first.total}`);
    await page.keyboard.down('Control');
    await page.keyboard.press('z');
    await page.keyboard.up('Control');
    await askUntil((search) => search === null, async () => parameter('search'));
    assertEqual(parameter('search'), null, 'the search after Ctrl+Z');
    await settle(page);
});

await check('dragging in the timeline chooses a range, and z zooms into it', async () => {
    const graph = await (await page.$('.track[data-thread] .track-graph')).boundingBox();
    const y = graph.y + graph.height / 2;
    await page.mouse.move(graph.x + graph.width * 0.3, y);
    await page.mouse.down();
    await page.mouse.move(graph.x + graph.width * 0.5, y, { steps: 5 });
    await page.mouse.up();
    await settle(page);
    assert(parameter('preview'), 'the address has no chosen range');
    await page.keyboard.press('z');
    await settle(page);
    assert(parameter('range') && !parameter('preview'), 'it was not zoomed into');
});

await check('the mouse over a track shows the stack', async () => {
    const graph = await (await page.$('.track[data-thread] .track-graph')).boundingBox();
    await page.mouse.move(graph.x + graph.width * 0.2, graph.y + graph.height / 2);
    await page.mouse.move(graph.x + graph.width * 0.4, graph.y + graph.height / 2);
    await page.waitForSelector('.tooltip .sample-head');
});

await check('the palette finds a function and goes there', async () => {
    await open(all.href);
    const leaf = reported('inverted.json').tree[0];
    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
    await page.waitForSelector('.palette input');
    await page.keyboard.type(leaf.name);
    const best = async () => (await page.$('.palette .picker-row')) && text('.palette .picker-row');
    await askUntil((row) => row?.includes(leaf.name) && row.includes('Function'), best);
    await page.keyboard.press('Enter');
    await askUntil((tab) => tab === 'functions', async () => parameter('tab'));
    await askUntil((row) => row?.name === leaf.name, () => selectedRow(page));
    const row = await selectedRow(page);
    assertEqual(`${row?.name} ${numberOf(row.self)}`, `${leaf.name} ${shownNumber(leaf.total)}`, 'the selected function');
});

await check('the flame graph and the stack chart are drawn, walked and zoomed', async () => {
    const openChart = async (tab) => {
        await page.goto(`${all.href}&tab=${tab}`);
        await page.waitForSelector('.chart');
        await settle(page);
        return (await page.$('.chart')).boundingBox();
    };
    const selection = () => text('#chart-selection');
    const flame = await openChart('flame-graph');
    await page.mouse.click(flame.x + flame.width * 0.1, flame.y + flame.height - 9);
    await settle(page);
    const [, name, share] = /^(.*): ([\d.]+)% total/.exec(await selection()) ?? [];
    const root = reported('report.json').tree.find((row) => row.depth === 0 && row.name === name);
    assert(root, `no root is called ${name}`);
    const expected = (100 * root.total) / reported('report.json').total;
    assert(Math.abs(Number(share) - expected) < 0.051, `${name} has ${share}%, not ${expected}%`);
    await page.keyboard.press('ArrowUp');
    await settle(page);
    assert((await selection()) !== '' && !(await selection()).startsWith(`${name}: ${share}`), 'the selection stays');
    await page.keyboard.press('z');
    await settle(page);
    assert(parameter('zoom'), 'the address does not say that the graph is zoomed');
    const chart = await openChart('stack-chart');
    await page.mouse.click(chart.x + chart.width / 2, chart.y + 9);
    await settle(page);
    assert((await selection()) !== '', 'nothing is selected in the stack chart');
});

await check('source and assembly open by key, and Ctrl+F finds in them', async () => {
    await open(all.href);
    await page.keyboard.down('Control');
    await page.keyboard.press('k');
    await page.keyboard.up('Control');
    await page.waitForSelector('.palette input');
    await page.keyboard.type('main');
    const best = async () => (await page.$('.palette .picker-row')) && text('.palette .picker-row');
    await askUntil((row) => row?.startsWith('main') && row.includes('family'), best);
    await page.keyboard.press('Enter');
    await askUntil((row) => row?.name === 'main', () => selectedRow(page));
    await page.focus('[role="grid"]');
    await page.keyboard.press('Enter');
    const lines = () =>
        page.$$eval('.source-editor', ([holder]) =>
            [...(holder?.shadowRoot?.querySelectorAll('.cm-line') ?? [])].map((line) => ({
                text: line.textContent,
                isChosen: line.classList.contains('chosen'),
                marked: line.querySelector('mark')?.textContent ?? '',
            })),
        );
    await askUntil((all) => all.some((line) => line.isChosen), lines);
    if (!(await page.$('.code-pane'))) await page.keyboard.press('a');
    await page.waitForSelector('.code-row');
    await settle(page);
    await page.keyboard.down('Control');
    await page.keyboard.press('f');
    await page.keyboard.up('Control');
    await page.keyboard.type('int main');
    const found = (await askUntil((all) => all.some((line) => line.isChosen && line.marked !== ''), lines)).find((line) => line.isChosen);
    assertEqual(found?.marked, 'int main', `what is marked in ${found?.text}`);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await askUntil((panel) => panel === null, () => page.$('.source-panel'));
    assertEqual(await page.$('.source-panel'), null, 'the panel after Escape');
});

await check('a dropped file takes the place of the profile', async () => {
    await open(all.href);
    await page.evaluate((content) => {
        const data = new DataTransfer();
        data.items.add(new File([content], 'small.json'));
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    }, readFileSync(join(directory, 'small.json'), 'utf8'));
    await askUntil((name) => name === 'many threads', () => text('.product').catch(() => ''));
    assertEqual(await text('.product'), 'many threads', 'the profile that is shown');
});

await check('each of a million rows is reached by keys, the scroll bar and the wheel', async () => {
    await page.goto(`${longUrl}?tab=marker-table`);
    await page.waitForSelector('.tree-row');
    await walkLongTable(page, assertEqual);
});

await check('nothing went wrong meanwhile', async () => {
    assertEqual(complaints.join('\n'), '', 'what the page complained of');
});

await browser.close();
finish();
