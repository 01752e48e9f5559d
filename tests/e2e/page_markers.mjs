// The marker table, the marker chart, and the tracks of counters and markers, by mouse, keyboard and address.
//
//     node tests/e2e/page_markers.mjs URL PROF PROFILE
import { execFileSync } from 'node:child_process';
import { answered, askUntil, closeBrowser, complaints, numberOf, openPage, readRows, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, prof, file] = process.argv.slice(2);
const table = `${url}?thread=0&tab=marker-table`;
const chart = `${url}?thread=0&tab=marker-chart`;

/** The rows of the table: start, duration, name, details. */
const rows = (page) =>
    page.$$eval('.tree-row', (all) =>
        all
            .sort((a, b) => Number(a.dataset.row) - Number(b.dataset.row))
            .map((row) => [...row.querySelectorAll('[role="gridcell"]')].map((cell) => cell.textContent.trim())),
    );
const details = async (page) => (await rows(page)).map((row) => row[3]);
const parameter = (page, name) => new URL(page.url()).searchParams.get(name);
const openTable = (address = table) => openPage(address, '.tree-row');

const all = [
    ['2.000', '98 ms', 'open', ''],
    ['10.000', '20 ms', 'load', 'https://example.org/a (2.0 KiB)'],
    ['20.000', '20 ms', 'load', '<b>bold</b> (1.0 MiB)'],
    ['33.000', '', 'tick', ''],
    ['44.000', '4 ms', 'wait', ''],
    ['50.000', '500 µs', 'paint', ''],
    ['60.000', '15 ms', 'paint', '25 %'],
    ['90.000', '', 'tick', 'late, very'],
];

await check('the table has each marker once, by its start, with the details of its schema', async () => {
    const page = await openTable();
    assertEqual(JSON.stringify(await rows(page)), JSON.stringify(all), 'rows');
    assertEqual(await page.locator('.filter-bar .muted').innerText(), '8 markers', 'count');
    assertEqual(await page.locator('b').count(), 0, 'markup in a payload is text');
    await page.close();
});

const searches = [
    ['example', 1],
    ['LOAD', 2],
    ['example,late', 2],
    ['name:load', 2],
    ['-name:load', 6],
    ['cat:graphics', 4],
    ['secret:hidden', 1],
    ['hidden text', 1],
    ['"late, very"', 1],
    ['/^pa.nt$/', 2],
    ['type:paint', 1],
    ['reason:late', 1],
    ['nothing like this', 0],
];
/** Markers of the first thread as prof report lists them. */
function reported(...options) {
    const text = execFileSync(prof, ['report', '--markers', '--json', '--thread', '42', ...options, file], {
        encoding: 'utf8',
    });
    return JSON.parse(text).markers;
}

await check('prof report --markers lists the same', () => {
    const lines = (markers) => markers.map((one) => `${one.start.toFixed(3)} ${one.name} ${one.details}`).join('\n');
    assertEqual(lines(reported()), all.map((row) => `${row[0]} ${row[2]} ${row[3]}`).join('\n'), 'markers');
    assertEqual(reported('--range', '0.012,0.034').length, 4, 'in a range');
    for (const [search, count] of searches) assertEqual(reported('--search', search).length, count, search);
    const text = execFileSync(prof, ['report', '--markers', '--thread', '42', file], { encoding: 'utf8' });
    assert(/^ +20\.000 +20 ms  load  +<b>bold<\/b> \(1\.0 MiB\)$/m.test(text), 'as text');
});

await check('a click on a title sorts; the address keeps it', async () => {
    const page = await openTable();
    await page.getByRole('button', { name: 'Duration' }).click();
    await settle(page);
    assertEqual((await rows(page)).map((row) => row[1]).join(), '98 ms,20 ms,20 ms,15 ms,4 ms,500 µs,,', 'by duration');
    await page.getByRole('button', { name: 'Name' }).click();
    await page.getByRole('button', { name: 'Name' }).click();
    await settle(page);
    assertEqual((await rows(page)).map((row) => row[2])[0], 'wait', 'by name, from the end');
    await askUntil((sort) => sort === 'markers.name.r', () => parameter(page, 'sort'));
    await page.reload();
    await page.waitForSelector('.tree-row');
    assertEqual((await rows(page)).map((row) => row[2])[0], 'wait', 'after a reload');
    await page.close();
});

await check('a search keeps markers with one of its terms, in a field or anywhere', async () => {
    const page = await openTable();
    for (const [text, count] of searches) {
        await page.keyboard.press('/');
        await page.getByRole('textbox', { name: 'Filter markers' }).fill(text);
        await page.keyboard.press('Enter');
        await askUntil((label) => label === `${count} ${count === 1 ? 'marker' : 'markers'}`, () =>
            page.locator('.filter-bar .muted').innerText(),
        );
        await askUntil((now) => now === text, () => parameter(page, 'markerSearch'));
    }
    assert((await page.locator('.empty').innerText()).includes('matches the filter'), 'an empty table says why');
    await page.getByRole('button', { name: 'Clear the search' }).first().click();
    await settle(page);
    assertEqual((await rows(page)).length, all.length, 'cleared');
    await page.close();
});

await check('Enter selects the range of a marker, which the table is about then', async () => {
    const page = await openTable();
    await page.locator('[role="grid"]').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await askUntil((range) => range === '10000u20000', () => parameter(page, 'preview'));
    await settle(page);
    assertEqual((await details(page)).length, 3, 'what reaches into it');
    await page.keyboard.press('Escape');
    await settle(page);
    assertEqual((await details(page)).length, all.length, 'all again');
    await page.keyboard.press(']');
    await askUntil((range) => range === '0u30000', () => parameter(page, 'preview'));
    await page.close();
});

await check('keys of a marker are obeyed before its text has arrived', async () => {
    const page = await openTable(`${table}&marker=1`);
    await page.evaluate(() => {
        const send = Worker.prototype.postMessage;
        window.heldBack = [];
        Worker.prototype.postMessage = function (message, ...more) {
            const pass = () => send.call(this, message, ...more);
            if (message.method === 'markerRows') window.heldBack.push(pass);
            else pass();
        };
        window.letPass = () => {
            Worker.prototype.postMessage = send;
            for (const pass of window.heldBack) pass();
        };
    });
    await page.keyboard.press('7');
    await page.locator('[role="application"]').focus();
    await askUntil((count) => count > 0, () => page.evaluate(() => window.heldBack.length));
    await page.keyboard.press(']');
    await page.evaluate(() => window.letPass());
    await askUntil((range) => range === '0u30000', () => parameter(page, 'preview'));
    await page.close();
});

await check('the sidebar has the fields of the selected marker, hidden ones too, and its stack', async () => {
    const page = await openTable();
    await page.locator('.tree-row').nth(1).click();
    const sidebar = page.getByRole('complementary', { name: 'Selected marker' });
    await askUntil((text) => text.includes('Loading https://example.org/a'), () => sidebar.innerText());
    const text = await sidebar.innerText();
    for (const part of ['Network', 'Address', '2.0 KiB', 'hidden text', 'Something is loaded.', '20 ms'])
        assert(text.includes(part), `it has ${part}`);
    await page.locator('.tree-row').nth(6).click();
    await askUntil((now) => now.includes('Set by') && now.includes('work') && now.includes('main'), () => sidebar.innerText());
    await page.locator('.tree-row').nth(0).click();
    await askUntil((now) => now.includes('Still running'), () => sidebar.innerText());
    await askUntil((marker) => marker === '0', () => parameter(page, 'marker'));
    await page.close();
});

await check('the table is copied as CSV, a marker as JSON', async () => {
    const page = await openTable();
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await page.locator('.tree-row').nth(1).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Copy table as CSV' }).click();
    await askUntil((text) => text.startsWith('Start (ms),Duration,Name,Details'), copied);
    const lines = (await copied()).trim().split('\r\n');
    assertEqual(lines.length, all.length + 1, 'lines');
    assertEqual(lines[2], '10,20,load,https://example.org/a (2.0 KiB)', 'numbers are those behind the texts');
    await page.locator('.tree-row').nth(1).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Copy as JSON' }).click();
    await askUntil((text) => text.startsWith('{') && JSON.parse(text).data.size === 2048, copied);
    await page.close();
});

await check('a thread without markers shows a message, and leads to a thread with markers', async () => {
    const page = await openPage(`${url}?thread=2&tab=marker-table`, '.empty');
    assert((await page.locator('.empty').innerText()).includes('other threads have 10'), 'how many others have');
    await page.getByRole('button', { name: 'Show the thread with the most markers' }).click();
    await page.waitForSelector('.tree-row');
    assertEqual(parameter(page, 'thread'), '0', 'the thread');
    await page.close();
});

await check('several threads have their markers together', async () => {
    const page = await openTable(`${url}?thread=0w1&tab=marker-table`);
    assertEqual((await rows(page)).map((row) => row[0])[1], '5.000', 'that of the other thread is between');
    assertEqual((await rows(page)).length, all.length + 1, 'rows');
    await page.close();
});

await check('the chart shows the kinds that request it, moves by keys, and opens the range of a marker', async () => {
    const page = await openPage(chart, '.chart-canvas');
    await askUntil((label) => label === '7 markers', () => page.locator('.filter-bar .muted').innerText());
    const application = page.getByRole('application', { name: 'Marker chart' });
    await application.focus();
    await page.keyboard.press('ArrowDown');
    const said = () => page.locator('#chart-selection').textContent();
    await askUntil((text) => text.startsWith('tick'), said); // Graphics comes first, and in it what begins first
    await page.keyboard.press('ArrowDown');
    await askUntil((text) => text.startsWith('paint'), said);
    await page.keyboard.press('ArrowDown');
    await askUntil((text) => text.startsWith('load'), said);
    await page.keyboard.press('ArrowDown');
    await askUntil((text) => text.startsWith('load') && text.includes('at 20 ms'), said); // they overlap
    await page.keyboard.press('Enter');
    await askUntil((range) => range === '20000u20000', () => parameter(page, 'preview'));
    await page.close();
});

await check('hovering shows the marker of a rect; its menu begins a selection', async () => {
    const page = await openPage(chart, '.chart-canvas');
    await settle(page);
    const area = await page.locator('.chart-canvas').boundingBox();
    const plot = { left: area.x + 208, width: area.width - 208 - 16 };
    const x = plot.left + plot.width * 0.15;
    const y = area.y + 24 + 18 + 18 + 24 + 9; // Graphics: paint, tick; Network: load
    await page.mouse.move(x, y);
    await askUntil((text) => text.includes('Loading https://example.org/a'), () =>
        page.locator('.tooltip').innerText().catch(() => ''),
    );
    await page.mouse.click(x, y, { button: 'right' });
    await page.getByRole('menuitem', { name: 'Start the selection at its start' }).click();
    await askUntil((range) => range === '10000u90000', () => parameter(page, 'preview'));
    await page.close();
});

await check('counters have tracks that show the value under the mouse', async () => {
    const page = await openPage(url);
    const track = (name) => page.locator('.track.of-counter', { hasText: name });
    const hover = async (name, share) => {
        const area = await track(name).locator('canvas').boundingBox();
        await page.mouse.move(area.x + area.width * share, area.y + area.height / 2);
        await settle(page);
        return page.locator('.tooltip').innerText();
    };
    const memory = await hover('malloc', 0.45);
    for (const part of ['6.0 KiB', '+4 KiB', '6 KiB', 'About malloc'].map((text) => text.replace('6.0', '6')))
        assert(memory.includes(part), `${memory} has ${part}`);
    assertEqual(await page.locator('.counter-dot').count(), 1, 'the dot');
    const power = await hover('package', 0.35);
    // 4,000,000 pWh in 10 ms: 4e-6 Wh * 3600 s/h / 0.01 s = 1.44 W
    assert(power.includes('1.44 W') && power.includes('4 µWh'), power);
    await track('malloc').locator('.track-label').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Hide this track' }).click();
    await settle(page);
    assertEqual(await track('malloc').count(), 0, 'it can be hidden');
    await page.close();
});

await check('markers that want to be in the timeline have a strip below their thread', async () => {
    const page = await openPage(url);
    const strips = page.locator('.track.of-markers');
    assertEqual(await strips.count(), 2, 'of the threads that have some');
    const area = await strips.first().locator('canvas').boundingBox();
    await page.mouse.move(area.x + area.width * 0.15, area.y + area.height / 2);
    await askUntil((text) => text.includes('Loading'), () => page.locator('.tooltip').innerText().catch(() => ''));
    await page.close();
});

/** The stacks of the first thread as prof report counts them: the total, and the rows. */
function reportedStacks(...options) {
    const text = execFileSync(prof, ['report', '--json', '--thread', '42', ...options, file], { encoding: 'utf8' });
    return JSON.parse(text).tree.map((row) => `${row.name} ${row.total} ${row.self}`).join('\n');
}

async function shownStacks(page) {
    await page.locator('[role="treegrid"]').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('*');
    await answered(page);
    return (await readRows(page)).map((row) => `${row.name} ${numberOf(row.total)} ${numberOf(row.self)}`).join('\n');
}

const crumbs = async (page) => (await page.locator('.transforms li').allInnerTexts()).join(' | ');

await check('samples outside of the markers that are searched for are dropped, and come back', async () => {
    const page = await openTable(`${table}&markerSearch=url:a`);
    await page.locator('.tree-row').first().click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Drop samples outside “url:a”' }).click();
    await askUntil((codes) => codes === 'fs-m-url:a', () => parameter(page, 'transforms'));
    await askUntil((text) => text.includes('url:a'), () => page.locator('.notice').innerText());
    await page.getByRole('tab', { name: 'Call Tree' }).click();
    await page.waitForSelector('[role="treegrid"] .tree-row');
    await settle(page);
    assertEqual(await crumbs(page), 'All stacks | Only inside markers url:a', 'breadcrumbs');
    assertEqual(await shownStacks(page), reportedStacks('--inside-markers', 'url:a'), 'the tree');
    assert(reportedStacks('--inside-markers', 'url:a').startsWith('main 18 10\nwork 8 8'), 'by hand: 10 to 30 ms, every tenth has no stack');
    await page.keyboard.press('u');
    await settle(page);
    assertEqual(parameter(page, 'transforms'), null, 'transforms after u');
    assertEqual(await shownStacks(page), reportedStacks(), 'the tree after u');
    await page.close();
});

await check('without a search, the arrows step through the markers of one name; the palette steps through the matches of a search', async () => {
    const page = await openTable();
    await page.locator('.tree-row').nth(6).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Drop samples outside paint' }).click();
    await askUntil((codes) => codes === 'fs-m-name:"paint"', () => parameter(page, 'transforms'));
    await page.keyboard.press('/');
    await page.keyboard.type('50%~x,load');
    await page.keyboard.press('Enter');
    await settle(page);
    await page.keyboard.press('Control+k');
    await page.locator('.palette input').fill('drop samples outside');
    await page.locator('.palette .picker-row').first().waitFor();
    await page.keyboard.press('Enter');
    await askUntil((codes) => codes === 'fs-m-name:"paint"~fs-m-50%25%7Ex,load', () => parameter(page, 'transforms'));
    await page.close();
});

await check('the address stores it; text in the address stays text', async () => {
    const address = new URL(`${url}?thread=0&tab=calltree`);
    address.searchParams.set('transforms', 'fs-m-load~fs-x-load~fs-m--name:<b>~fs-m-50%25%7Ex,load');
    const page = await openPage(address.href, '[role="treegrid"] .tree-row');
    assertEqual(
        await crumbs(page),
        'All stacks | Only inside markers load | Only inside markers -name:<b> | Only inside markers 50%~x,load',
        'breadcrumbs',
    );
    assertEqual(
        await shownStacks(page),
        reportedStacks('--inside-markers', 'load', '--inside-markers', '-name:<b>', '--inside-markers', '50%~x,load'),
        'the tree',
    );
    await page.close();
});

await check('nothing went wrong meanwhile', () => assertEqual(complaints.join('\n'), '', 'complaints'));
await closeBrowser();
finish();
