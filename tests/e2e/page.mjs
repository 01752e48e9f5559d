// Uses the page as a user does, and checks the shown numbers.
//
//     node tests/e2e/page.mjs URL [REPORT.json]
//
// URL is what `prof load -n FILE` prints; REPORT.json the output of `prof report --json FILE`, to compare numbers with.
import { readFile } from 'node:fs/promises';
import {
    askUntil,
    checkComplaints,
    closeBrowser,
    numberOf,
    openPage,
    readRows,
    selectedRow,
    settle,
    shownNumber,
} from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, reportFile] = process.argv.slice(2);
if (!url) {
    console.error('usage: node page.mjs URL [REPORT.json]');
    process.exit(2);
}
const report = reportFile ? JSON.parse(await readFile(reportFile, 'utf8')) : null;

const page = await openPage(url);
const tree = page.locator('[role="treegrid"]');

/** Thread indexes as the address has them: digits of five bits, 32 more for all but the last. */
function encodeIndexes(indexes) {
    const digits = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._';
    const encode = (value, more) =>
        (value >= 32 ? encode(Math.floor(value / 32), 32) : '') + digits[(value % 32) + more];
    return indexes.map((index) => encode(index, 0)).join('');
}

async function graphRect() {
    const bounds = await page.locator('.graph-layer').first().boundingBox();
    const track = await page.locator('.track[data-thread]').first().boundingBox();
    return { x: bounds.x, width: bounds.width, y: track.y + track.height / 2 };
}

async function drag(fromShare, toShare) {
    const bounds = await graphRect();
    await page.mouse.move(bounds.x + bounds.width * fromShare, bounds.y);
    await page.mouse.down();
    for (let i = 1; i <= 8; i++)
        await page.mouse.move(bounds.x + bounds.width * (fromShare + ((toShare - fromShare) * i) / 8), bounds.y);
    await page.mouse.up();
    await settle(page);
}

await check('first view shows the heaviest path, its end selected', async () => {
    const rows = await readRows(page);
    assert(rows.length > 0, 'there are no rows');
    const selected = rows.find((row) => row.selected);
    assert(selected, 'no row is selected');
    assertEqual(await page.locator('.sidebar h2').innerText(), selected.name, 'name in the sidebar');
    assert(new URL(page.url()).searchParams.has('path'), 'the address does not name the selected node');
});

await check('children are sorted by total and never exceed their parent', async () => {
    await tree.focus();
    await page.keyboard.press('Home');
    const rows = await readRows(page);
    const last = [];
    for (const row of rows) {
        const parent = last[row.level - 1];
        if (parent) assert(numberOf(row.total) <= numberOf(parent.total), `${row.name} is heavier than ${parent.name}`);
        const sibling = last[row.level];
        if (sibling) assert(numberOf(row.total) <= numberOf(sibling.total), `${row.name} comes after ${sibling.name}`);
        last.length = row.level;
        last[row.level] = row;
    }
});

if (report)
    await check('all threads together have the numbers of prof report', async () => {
        const address = new URL(url);
        address.search = `?chains&thread=${encodeIndexes(report.threads.map((thread) => thread.index))}`;
        const all = await openPage(address.href);
        await all.locator('[role="treegrid"]').focus();
        await all.keyboard.press('Home');
        await settle(all);
        // The report is depth first, heaviest first: it begins with the path that the page has opened.
        const rows = (await readRows(all)).slice(0, 15);
        assert(rows.length > 0 && report.tree.length > 0, 'there is nothing to compare');
        rows.forEach((row, at) => {
            const entry = report.tree[at];
            if (row.level !== at + 1 || entry?.depth !== at) return;
            assertEqual(row.name, entry.name.slice(0, row.name.length), `name in row ${at}`);
            assertEqual(numberOf(row.total), shownNumber(entry.total), `total of ${row.name}`);
            assertEqual(numberOf(row.self), shownNumber(entry.self), `self of ${row.name}`);
            assertEqual(Number.parseFloat(row.share), Number(((100 * entry.total) / report.total).toFixed(1)), 'share');
        });
        await all.close();
    });

await check('runtime frames share a grey row, which a click, a key and the address unfold', async () => {
    const folded = await openPage(url);
    const names = async (count) => (await readRows(folded)).slice(0, count).map((row) => row.name);
    const [whole] = await readRows(folded);
    assertEqual(whole.name, '__libc_start_call_main', 'the last of the runtime frames');
    assertEqual(await folded.locator('.tree-row.entry', { hasText: whole.name }).count(), 1, 'grey rows'); // a sample may meet ld.so
    await folded.locator('.tree-chain').first().click();
    await settle(folded);
    assertEqual((await names(3)).join(), '_start,__libc_start_main,__libc_start_call_main', 'after a click');
    assertEqual((await selectedRow(folded)).at, 2, 'the selected row');
    await folded.locator('[role="treegrid"]').focus();
    await folded.keyboard.press('x');
    await settle(folded);
    const [again] = await readRows(folded);
    assertEqual([again.name, again.total, again.level, again.selected].join(), [whole.name, whole.total, 1, true].join(), 'folded again');
    await folded.goto(`${folded.url()}&chains`);
    await folded.waitForSelector('.tree-row.selected');
    await settle(folded);
    assertEqual((await names(1)).join(), '_start', 'without folding');
    await folded.close();
});

await check('arrows close, open and walk the tree', async () => {
    await tree.focus();
    await page.keyboard.press('Home');
    await settle(page);
    const first = await selectedRow(page);
    assertEqual(first.at, 0, 'selected row after Home');
    if (first.expanded === null) return;
    if (first.expanded === 'true') await page.keyboard.press('ArrowLeft');
    await settle(page);
    assertEqual((await selectedRow(page)).expanded, 'false', 'aria-expanded after ArrowLeft');
    await page.keyboard.press('ArrowRight');
    await settle(page);
    assertEqual((await selectedRow(page)).expanded, 'true', 'aria-expanded after ArrowRight');
    await page.keyboard.press('ArrowRight');
    await settle(page);
    const child = await selectedRow(page);
    assertEqual(child.level, 2, 'level after a second ArrowRight');
    await page.keyboard.press('ArrowLeft');
    await settle(page);
    if ((await selectedRow(page)).level === 2) await page.keyboard.press('ArrowLeft');
    await settle(page);
    assert((await selectedRow(page)).level === 1, 'ArrowLeft does not lead to the parent');
    await page.keyboard.press('ArrowRight');
});

await check('End and Home go to the last and the first row', async () => {
    await tree.focus();
    await page.keyboard.press('End');
    await settle(page);
    const count = Number(await tree.getAttribute('aria-rowcount'));
    assertEqual((await selectedRow(page)).at, count - 2, 'row after End: the head counts');
    await page.keyboard.press('PageUp');
    await settle(page);
    assert((await selectedRow(page)).at < count - 1 || count === 1, 'PageUp does not move');
    await page.keyboard.press('Home');
    await settle(page);
    assertEqual((await selectedRow(page)).at, 0, 'row after Home');
});

await check('self in percent is the part of the whole that self is', async () => {
    const rows = (await readRows(page)).filter((row) => numberOf(row.self) > 0 && numberOf(row.total) > 9);
    for (const row of rows) {
        const whole = (100 * numberOf(row.total)) / Number.parseFloat(row.share);
        const expected = (100 * numberOf(row.self)) / whole;
        const shown = row.selfShare.startsWith('<') ? 0 : Number.parseFloat(row.selfShare);
        // The shown total percentage has one decimal, and so has this one.
        const slack = 0.1 + (expected * 0.05) / Number.parseFloat(row.share);
        assert(Math.abs(shown - expected) <= slack, `${row.name}: ${row.selfShare}, not ${expected}`);
    }
});

await check('* opens everything below', async () => {
    await tree.focus();
    await page.keyboard.press('Home');
    const before = Number(await tree.getAttribute('aria-rowcount'));
    await page.keyboard.press('*');
    await settle(page);
    const after = Number(await tree.getAttribute('aria-rowcount'));
    assert(after >= before, `rows went from ${before} to ${after}`);
    const closed = (await readRows(page)).filter((row) => row.expanded === 'false' && row.level > 1);
    assert(closed.length === 0 || after >= 50_000, `${closed.length} rows below are still closed`);
    await page.keyboard.press('ArrowLeft');
    await settle(page);
});

await check('inverting shows the functions with self time, the heaviest first', async () => {
    await page.keyboard.press('i');
    await settle(page);
    assert(await page.getByLabel('Invert call stack').isChecked(), 'the checkbox is not checked');
    assert(new URL(page.url()).searchParams.has('invertCallstack'), 'the address does not say so');
    const roots = (await readRows(page)).filter((row) => row.level === 1);
    assert(roots.length > 0, 'there are no roots');
    for (const root of roots) assertEqual(root.self, root.total, `self of ${root.name}`);
    const totals = roots.map((root) => numberOf(root.total));
    assert(
        totals.every((total, at) => at === 0 || total <= totals[at - 1]),
        'roots are not sorted',
    );
    await page.goBack();
    await settle(page);
    assert(!(await page.getByLabel('Invert call stack').isChecked()), 'back does not turn it around again');
});

await check('rows stay open when the tree is inverted and turned back', async () => {
    await tree.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('*');
    await settle(page);
    const before = await tree.getAttribute('aria-rowcount');
    await page.keyboard.press('i');
    await settle(page);
    await page.keyboard.press('i');
    await settle(page);
    assertEqual(await tree.getAttribute('aria-rowcount'), before, 'number of rows');
});

await check("the selected row's samples stand out in its thread's graph", async () => {
    const draw = () => page.locator('.track[data-thread] canvas').first().evaluate((canvas) => canvas.toDataURL());
    const drawUntil = async (isGood, complaint) => assert(isGood(await askUntil(isGood, draw)), complaint);
    await tree.focus();
    await page.keyboard.press('Home');
    await settle(page);
    const whole = await draw();
    /* The row that is in the fewest samples: a last row may well be in as many as the first. */
    const rows = await readRows(page);
    const samples = (row) => Number(row.total.replace(/[^0-9]/g, ''));
    const rarest = rows.reduce((least, row) => (samples(row) < samples(least) ? row : least));
    assert(samples(rarest) < samples(rows[0]), 'the recording has a single path: no row has a graph of its own');
    for (let at = rows[0].at; at < rarest.at; at++) await page.keyboard.press('ArrowDown');
    await drawUntil((graph) => graph !== whole, `the graph of "${rarest.name}" looks like that of the first row`);
    await page.keyboard.press('Home');
    await drawUntil((graph) => graph === whole, 'the graph of the first row does not come back');
});

await check('searching keeps the matching stacks and marks the matches', async () => {
    const rows = await readRows(page);
    const term = (rows.find((row) => row.level > 1 && /^[\w:]{4,}/.test(row.name)) ?? rows[0]).name.slice(0, 12);
    await page.keyboard.press('/');
    await page.keyboard.type(term);
    await page.waitForSelector('.tree-row mark');
    await settle(page);
    const marked = (await page.locator('.tree-row mark').first().innerText()).toLowerCase();
    assertEqual(marked, term.trim().toLowerCase(), 'marked text');
    assertEqual(new URL(page.url()).searchParams.get('search'), term, 'search in the address');
    const count = await page.locator('.search-count').innerText();
    const [kept, all] = count.match(/[\d,]+/g).map(numberOf);
    assert(kept > 0 && kept <= all, `${kept} of ${all} samples match`);
    assert(count.includes(`samples match (${((100 * kept) / all).toFixed(1)}%)`), count);
    await page.keyboard.press('Escape');
    await settle(page);
    assertEqual(await page.locator('.tree-row mark').count(), 0, 'number of marks after clearing');
});

await check('Escape in an empty search gives the focus back to where it was', async () => {
    await page.locator('#stack-search').fill('');
    await page.keyboard.press('Enter');
    await settle(page);
    await page.locator('.track-label').first().focus();
    await page.keyboard.press('/');
    assertEqual(await page.evaluate(() => document.activeElement.id), 'stack-search', 'where the key leads');
    await page.keyboard.press('Escape');
    assert(await page.locator('.track-label').first().evaluate((label) => label === document.activeElement), 'the focus is elsewhere');
});

await check('a search without matches shows a message and a remedy', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('no such function anywhere');
    await page.waitForSelector('.empty');
    await page.getByRole('button', { name: 'Clear the search' }).first().click();
    await page.waitForSelector('.tree-row');
    assertEqual(await page.locator('#stack-search').inputValue(), '', 'text in the search field');
});

await check('dragging chooses a range, Escape forgets it', async () => {
    await drag(0.3, 0.7);
    assertEqual(await page.locator('.range-edge').count(), 2, 'number of edges');
    assert((await page.locator('.range-label').innerText()).match(/\d+ ?(s|ms|µs|min)/), 'the length is not shown');
    await page.keyboard.press('Escape');
    await settle(page);
    assertEqual(await page.locator('.range-edge').count(), 0, 'number of edges after Escape');
});

await check('zooming adds a breadcrumb; back and the breadcrumb lead out again', async () => {
    const full = await page.locator('.breadcrumb li').count();
    await drag(0.2, 0.8);
    await page.getByRole('button', { name: 'Zoom into this range' }).click();
    await settle(page);
    assertEqual(await page.locator('.breadcrumb li').count(), full + 1, 'number of breadcrumbs');
    assert(new URL(page.url()).searchParams.get('range'), 'the address has no range');
    await page.goBack();
    await settle(page);
    assertEqual(new URL(page.url()).searchParams.get('range'), null, 'range after back');
    await page.goForward();
    await settle(page);
    assertEqual(await page.locator('.breadcrumb li').count(), full + 1, 'number of breadcrumbs after forward');
    await page.getByRole('button', { name: /Full range/ }).click();
    await settle(page);
    assertEqual(await page.locator('.breadcrumb li').count(), full, 'number of breadcrumbs in the full range');
});

await check('Ctrl and the wheel zoom around the mouse, Shift and the wheel move along', async () => {
    const bounds = await graphRect();
    const shown = () => {
        const [, start, unit, length] = /^(\d+)([mun])(\d+)$/.exec(new URL(page.url()).searchParams.get('range') ?? '0m0');
        const scale = { m: 1, u: 1e3, n: 1e6 }[unit]; // a long recording has other units than its parts
        return { start: Number(start) / scale, length: Number(length) / scale };
    };
    const turn = async (key, pixels) => {
        await page.keyboard.down(key);
        await page.mouse.wheel(0, pixels);
        await page.keyboard.up(key);
        await settle(page);
    };
    await page.mouse.move(bounds.x + bounds.width / 2, bounds.y);
    await turn('Control', -200);
    const zoomed = shown();
    assert(zoomed.length > 0, 'the address has no range');
    await turn('Control', -200);
    const closer = shown();
    assert(closer.start > zoomed.start && closer.length < zoomed.length, 'a second turn does not zoom further');
    await turn('Shift', 100);
    const moved = shown();
    assert(moved.start > closer.start, 'Shift and the wheel do not move along');
    assertEqual(moved.length, closer.length, 'length of the range after moving');
    await turn('Control', 5000);
    assertEqual(new URL(page.url()).searchParams.get('range'), null, 'range after zooming out');
    await page.mouse.move(0, 0);
});

await check('the edges of a range move with the keyboard', async () => {
    await page.locator('.ruler').focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('.range-edge:focus');
    const before = await page.locator('.range-edge').first().getAttribute('aria-valuenow');
    await page.keyboard.press('Shift+ArrowRight');
    await settle(page);
    const after = await page.locator('.range-edge').first().getAttribute('aria-valuenow');
    assert(Number(after) > Number(before), `the start went from ${before} to ${after}`);
    await page.keyboard.press('Escape');
    await settle(page);
});

await check('a reload and a pasted address show the same view', async () => {
    await drag(0.1, 0.9);
    await page.keyboard.press('z');
    await tree.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('i');
    await settle(page);
    const before = JSON.stringify([await readRows(page), await page.locator('.breadcrumb').innerText()]);
    await page.reload();
    await page.waitForSelector('.tree-row.selected');
    await settle(page);
    const selection = (rows) => JSON.stringify(rows.find((row) => row.selected));
    assertEqual(selection(await readRows(page)), selection(JSON.parse(before)[0]), 'selected row after a reload');
    const other = await openPage(page.url());
    await settle(other);
    assertEqual(selection(await readRows(other)), selection(JSON.parse(before)[0]), 'selected row in another tab');
    assertEqual(await other.locator('.breadcrumb').innerText(), JSON.parse(before)[1], 'breadcrumb in another tab');
    await other.close();
    await page.goto(url);
    await page.waitForSelector('.tree-row.selected');
    await settle(page);
});

await check('hovering a track shows time, stack and CPU', async () => {
    const bounds = await graphRect();
    let text = '';
    for (let i = 1; i < 20 && !/\n/.test(text); i++) {
        await page.mouse.move(bounds.x + (bounds.width * i) / 20, bounds.y);
        await settle(page);
        text = (await page.locator('.tooltip').count()) ? await page.locator('.tooltip').innerText() : '';
    }
    assert(/\d+(\.\d+)? (s|ms|µs)/.test(text), `the tooltip says ${JSON.stringify(text)}`);
    await page.mouse.move(5, 5);
    await settle(page);
    assertEqual(await page.locator('.tooltip').count(), 0, 'number of tooltips elsewhere');
});

await check('a click on a track selects the function that ran there', async () => {
    const bounds = await graphRect();
    let leaf = '';
    for (let i = 1; i < 300 && leaf === ''; i++) {
        await page.mouse.move(bounds.x + bounds.width * ((i * 0.618) % 1), bounds.y);
        await settle(page);
        // A wait is in no tree of CPU time. On a busy machine the thread may have run for a short part of the whole.
        const waits = (await page.locator('.tooltip').allInnerTexts()).some((text) => text.includes('Waited for'));
        if (!waits && (await page.locator('.sample-stack li').count()))
            leaf = await page.locator('.sample-stack li bdi').first().innerText();
    }
    assert(leaf !== '', 'the thread runs nowhere');
    await page.mouse.down();
    await page.mouse.up();
    await page.mouse.move(5, 5);
    await settle(page);
    assertEqual((await selectedRow(page)).name.slice(0, 100), leaf.slice(0, 100), 'selected function');
});

await check('a chosen range is moved by its band in the ruler', async () => {
    await drag(0.3, 0.5);
    const before = await page.locator('.range-edge').first().getAttribute('aria-valuenow');
    const label = await page.locator('.range-label').innerText();
    const band = await page.locator('.range-band').boundingBox();
    await page.mouse.move(band.x + 8, band.y + 20);
    await page.mouse.down();
    await page.mouse.move(band.x + 88, band.y + 20, { steps: 5 });
    await page.mouse.up();
    await settle(page);
    const after = await page.locator('.range-edge').first().getAttribute('aria-valuenow');
    assert(Number(after) > Number(before), `its start went from ${before} to ${after}`);
    assertEqual(await page.locator('.range-label').innerText(), label, 'length of the range');
    await page.keyboard.press('Escape');
    await settle(page);
});

await check('Ctrl-click and Shift-click choose several threads', async () => {
    const labels = page.locator('.of-thread .track-label[role="treeitem"]');
    const count = await labels.count();
    if (count < 2) return;
    await labels.nth(0).click();
    await page.locator('.of-counter .track-label[role="treeitem"]').first().click();
    await settle(page);
    assertEqual(await page.locator('.track-label[aria-selected="true"]').count(), 1, 'selected tracks after a click on a counter');
    await labels.nth(1).click({ modifiers: ['Control'] });
    await settle(page);
    assertEqual(await page.locator('.track-label[aria-selected="true"]').count(), 2, 'selected tracks after Ctrl-click');
    await labels.nth(0).click();
    await labels.nth(count - 1).click({ modifiers: ['Shift'] });
    await settle(page);
    assertEqual(await page.locator('.track-label[aria-selected="true"]').count(), count, 'selected tracks after Shift-click');
    await page.goBack();
    await settle(page);
    assertEqual(await page.locator('.track-label[aria-selected="true"]').count(), 1, 'selected tracks after back');
});

await check('the search for tracks finds by name and number, and closes with Escape', async () => {
    await page.locator('.track-count').click();
    const input = page.getByRole('combobox', { name: 'Search tracks by name, PID or TID' });
    const all = await page.locator('.picker-row').count();
    await input.fill('no such thread');
    await page.waitForSelector('.picker-empty');
    assertEqual(await page.locator('.picker-row').count(), 0, 'number of matches');
    await input.fill('');
    assertEqual(await page.locator('.picker-row').count(), all, 'number of tracks');
    await input.press('Escape');
    await page.waitForSelector('.picker', { state: 'detached' });
});

await check('the recording panel shows the machine and the command', async () => {
    await page.getByRole('button', { name: 'Recording' }).click();
    await page.waitForSelector('dialog[open] .facts');
    const text = await page.locator('dialog[open]').innerText();
    assert(/Interval/.test(text) && /Samples/.test(text), 'interval and samples are missing');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog[open]', { state: 'hidden' });
});

await check('? shows the keys', async () => {
    await tree.focus();
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open] kbd');
    assert((await page.locator('dialog[open] kbd').count()) > 10, 'there are hardly any keys');
    await page.getByLabel('Find keys').fill('zoom out');
    const found = await page.locator('.key-lines dd').allInnerTexts();
    assert(found.length > 0 && found.every((line) => /zoom.*out/i.test(line)), `"zoom out" finds ${found.join(', ')}`);
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog[open]', { state: 'hidden' });
});

await check('the name is copied by key, the stack from the menu', async () => {
    await tree.focus();
    await page.keyboard.press('Home');
    await settle(page);
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    const { name, expanded } = await selectedRow(page);
    await page.keyboard.press('Control+c');
    const copied = await askUntil((text) => text.slice(0, 100) === name.slice(0, 100), clipboard);
    assertEqual(copied.slice(0, 100), name.slice(0, 100), 'copied name');
    if (expanded === 'false') await page.keyboard.press('ArrowRight');
    await settle(page);
    await page.keyboard.press('ArrowDown');
    await settle(page);
    const child = (await selectedRow(page)).name;
    await page.keyboard.press('Shift+F10');
    await page.waitForSelector('[role="menu"]');
    await page.getByRole('menuitem', { name: 'Copy stack' }).focus();
    await page.keyboard.press('Enter');
    const stack = await askUntil((text) => text !== copied, clipboard);
    assert(stack.startsWith(child.slice(0, 100)), 'the copied stack does not begin with the row');
    assert(stack.includes(name.slice(0, 100)), 'the copied stack lacks the caller');
});

await check('the theme follows the system until it is chosen', async () => {
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    assertEqual(await theme(), 'light', 'theme');
    await page.emulateMedia({ colorScheme: 'dark' });
    assertEqual(await askUntil((now) => now === 'dark', theme), 'dark', 'theme of a dark system');
    await page.getByRole('button', { name: 'Light theme' }).click();
    await page.reload();
    await page.waitForSelector('.tree-row.selected');
    assertEqual(await theme(), 'light', 'theme after choosing and reloading');
    await page.getByRole('button', { name: 'Dark theme' }).click();
    await page.emulateMedia({ colorScheme: 'light' });
});

await check('nothing scrolls sideways at 1024 px and at 200 %', async () => {
    for (const width of [1024, 640]) {
        await page.setViewportSize({ width, height: width === 640 ? 400 : 768 });
        await settle(page);
        const overflow = await page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        assertEqual(overflow, 0, `overflow at ${width} px`);
        assert(await page.locator('.tree-row').first().isVisible(), `there are no rows at ${width} px`);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
});

await check('text of the profile stays text', async () => {
    const elements = await page.$$eval(
        '.tree-text bdi *, .track-label bdi *, .sidebar bdi *, .product bdi *',
        (all) => all.filter((element) => !['B', 'MARK'].includes(element.tagName)).length,
    );
    assertEqual(elements, 0, 'number of elements inside names');
    const longest = await page.$$eval('.tree-text bdi', (all) =>
        Math.max(0, ...all.map((one) => one.textContent.length)),
    );
    assert(longest <= 5000, `a name in a row has ${longest} characters`);
    const invisible = await page.$$eval('bdi', (all) =>
        all.filter((one) => /[\u0000-\u0008\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(one.textContent)).length,
    );
    assertEqual(invisible, 0, 'number of texts with control characters');
});

await checkComplaints();

await closeBrowser();
finish();
