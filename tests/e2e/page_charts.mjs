// The flame graph, the stack chart and the heat map: rects by mouse and by keyboard, zoom, search, transforms, and saving as files.
//
//     node tests/e2e/page_charts.mjs URL URL_OF_CALLERS URL_OF_BURSTS PROF PROFILE_OF_BURSTS
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { askUntil, closeBrowser, complaints, openPage, readRows, selectedRow, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, callersUrl, burstsUrl, prof, burstsFile] = process.argv.slice(2);
const ROW = 18;
const LABELS = 208;
const SAMPLES = 19;

const open = (query) => openPage(`${url}?thread=0&${query}`, '.chart');
const openFlame = (query = '') => open(`tab=flame-graph&${query}`);
const openStacks = (query = '') => open(`tab=stack-chart&${query}`);
const parameter = (page, name) => new URL(page.url()).searchParams.get(name);
/** What is said of the selected rect to those who do not see it. */
const selection = (page) => page.locator('#chart-selection').innerText();
const named = (page) => selection(page).then((text) => text.split(':')[0]);

async function press(page, ...keys) {
    for (const key of keys) await page.keyboard.press(key);
    await settle(page);
}

const frame = (page) => page.locator('.chart').boundingBox();

/** The place of a rect in the window: `share` of the flame graph's width, the row counted from its root. */
async function flamePlace(page, share, row, isInverted = false) {
    const { x, y, width, height } = await frame(page);
    return [x + share * width, isInverted ? y + (row + 0.5) * ROW : y + height - (row + 0.5) * ROW];
}

/** The place in the stack chart of the sample with this number. */
async function stackPlace(page, sample, row) {
    const { x, y } = await frame(page);
    const width = await page.locator('.graph-layer').first().evaluate((layer) => layer.clientWidth);
    return [x + LABELS + ((sample + 0.5) / SAMPLES) * width, y + (row + 0.5) * ROW];
}

async function click(page, place, options = {}) {
    await page.mouse.click(...place, options);
    await settle(page);
}

/** The color at a place of the window, as numbers. */
function colorAt(page, [x, y]) {
    return page.locator('.chart-canvas').evaluate(
        (canvas, [clientX, clientY]) => {
            const rect = canvas.getBoundingClientRect();
            const scale = canvas.width / rect.width;
            return [...canvas.getContext('2d').getImageData((clientX - rect.left) * scale, (clientY - rect.top) * scale, 1, 1).data].join();
        },
        [x, y],
    );
}

/** The start and the length of the chosen range, ms. */
function chosen(page) {
    const [, start, unit, length] = /^(\d+)([mun])(\d+)$/.exec(parameter(page, 'preview') ?? '') ?? [];
    const scale = { m: 1, u: 1e3, n: 1e6 }[unit];
    assert(scale, `no range is chosen: ${parameter(page, 'preview')}`);
    return [Number(start) / scale, Number(length) / scale];
}

const tooltip = (page) => askUntil((text) => text !== '', () => page.locator('.tooltip').innerText().catch(() => ''));

// Children in the order of their names: main is as wide as all, walk 9 of 19, work the next 9.
const WALK = 4 / SAMPLES;
const WORK = 13 / SAMPLES;

await check('a rect of the flame graph is selected by a click, and is the row of the call tree', async () => {
    const page = await openFlame();
    await click(page, await flamePlace(page, WORK, 1));
    assertEqual(await selection(page), 'work: 47.4% total, 10.5% self, 9 samples, about 9 ms', 'the selection');
    assertEqual(parameter(page, 'path'), '01', 'the path in the address');
    assertEqual(await page.locator('.sidebar').count(), 0, 'sidebars, before one is asked for');
    await page.keyboard.press('s');
    assertEqual(await page.locator('.sidebar h2').innerText(), 'work', 'the name in the sidebar');
    await page.getByRole('tab', { name: 'Call Tree' }).click();
    await settle(page);
    assertEqual((await selectedRow(page)).name, 'work', 'the row of the call tree');
    await page.close();
});

await check('arrows walk from rect to rect', async () => {
    const page = await openFlame('path=0');
    assertEqual(await named(page), 'main', 'at first');
    const steps = [['ArrowUp', 'walk'], ['ArrowRight', 'work'], ['ArrowUp', 'leaf'], ['ArrowUp', 'leaf'], ['ArrowDown', 'work'], ['ArrowLeft', 'walk'], ['ArrowDown', 'main']];
    for (const [key, name] of steps) {
        await press(page, key);
        assertEqual(await named(page), name, `after ${key}`);
    }
    await page.close();
});

await check('z, a double click and the menu zoom into a rect; Backspace and Esc zoom out', async () => {
    const page = await openFlame('path=01');
    const [, y] = await flamePlace(page, WORK, 1);
    const { x, width } = await frame(page);
    const before = await colorAt(page, [x + width - 30, y]);
    await press(page, 'z');
    assertEqual(parameter(page, 'zoom'), '01', 'the zoom in the address');
    assert((await colorAt(page, [x + width - 30, y])) !== before, 'the rect does not reach the right side');
    await click(page, await flamePlace(page, 0.7, 2));
    assertEqual(await named(page), 'leaf', 'what lies on the rect');
    await press(page, 'Backspace');
    assertEqual(parameter(page, 'zoom'), '0', 'the zoom after Backspace');
    await press(page, 'Escape');
    assertEqual(parameter(page, 'zoom'), null, 'the zoom after Esc');
    await page.mouse.dblclick(...(await flamePlace(page, WALK, 1)));
    await settle(page);
    assertEqual(parameter(page, 'zoom'), '03', 'the zoom after a double click');
    const again = await openPage(page.url(), '.chart');
    await click(again, await flamePlace(again, 0.9, 1));
    assertEqual(await named(again), 'walk', 'the rect at the right of the pasted address');
    await again.close();
    await page.getByRole('button', { name: 'Show all' }).click();
    await settle(page);
    assertEqual(parameter(page, 'zoom'), null, 'the zoom after "Show all"');
    await click(page, await flamePlace(page, WORK, 1), { button: 'right' });
    await page.getByRole('menuitem', { name: 'Zoom into this node' }).click();
    await settle(page);
    assertEqual(parameter(page, 'zoom'), '01', 'the zoom after the menu');
    await page.goBack();
    await settle(page);
    assertEqual(parameter(page, 'zoom'), null, 'the zoom after back');
    await page.close();
});

await check('Ctrl and the wheel zoom around the mouse, dragging moves', async () => {
    const page = await openFlame();
    const place = await flamePlace(page, WORK, 1);
    await page.mouse.move(...place);
    await page.keyboard.down('Control');
    for (let i = 0; i < 8; i++) await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    await settle(page);
    assert((await page.locator('.chart-note').innerText()).includes('of the width'), 'nothing says that the graph is zoomed');
    await click(page, place);
    assertEqual(await named(page), 'work', 'what is under the mouse after zooming');
    const again = await openPage(page.url(), '.chart');
    const note = (one) => one.locator('.chart-note').innerText();
    assertEqual(await note(again), await note(page), 'the part of the width that the pasted address shows');
    await again.close();
    // work is wider than the screen now: far to its left is walk.
    await page.mouse.down();
    for (let i = 0; i < 40; i++) await page.mouse.move(place[0] + i * 100, place[1]);
    await page.mouse.up();
    await settle(page);
    assertEqual(await named(page), 'work', 'the selection, which dragging leaves');
    await click(page, await flamePlace(page, 0.5, 1));
    assertEqual(await named(page), 'walk', 'what has moved in');
    await press(page, 'Escape');
    assertEqual(await page.locator('.chart-note').count(), 0, 'notes after Esc');
    await page.close();
});

await check('a search fades the other functions', async () => {
    const page = await openFlame();
    const walk = await colorAt(page, await flamePlace(page, WALK - 0.1, 1));
    const other = await openFlame('search=walk');
    // Only samples with walk are left: main and walk take the whole width.
    const found = await colorAt(other, await flamePlace(other, 0.9, 1));
    const main = await colorAt(other, await flamePlace(other, 0.9, 0));
    assertEqual(found, walk, 'the color of walk');
    assert(main !== found, 'main is as strong as what is searched for');
    await page.close();
    await other.close();
});

await check('inverted, the graph hangs from the functions in which samples end, the widest first', async () => {
    const page = await openFlame();
    await page.locator('.chart').focus();
    await press(page, 'i');
    assertEqual(parameter(page, 'invertCallstack'), '', 'invertCallstack in the address');
    await click(page, await flamePlace(page, 0.1, 0, true));
    assertEqual(await selection(page), 'leaf: 47.4% total, 47.4% self, 9 samples, about 9 ms', 'the widest');
    await press(page, 'ArrowDown');
    assertEqual(await named(page), 'work', 'who calls it most');
    await page.close();
});

await check('transforms work on the selected rect by key and by menu', async () => {
    const page = await openFlame('path=01');
    await press(page, 'm');
    assertEqual(parameter(page, 'transforms'), 'mf-1', 'transforms after m');
    await press(page, 'u');
    assertEqual(parameter(page, 'transforms'), null, 'transforms after u');
    await click(page, await flamePlace(page, WALK, 1), { button: 'right' });
    await page.getByRole('menuitem', { name: 'Focus on this subtree only' }).click();
    await settle(page);
    assertEqual(parameter(page, 'transforms'), 'f-combined-03', 'transforms after the menu');
    await click(page, await flamePlace(page, 0.95, 0));
    assertEqual(await named(page), 'walk', 'the root');
    await page.close();
});

await check('the tooltip has the numbers and categories of a rect', async () => {
    const page = await openFlame();
    await page.mouse.move(...(await flamePlace(page, WORK, 1)));
    await page.mouse.move(...(await flamePlace(page, WORK + 0.01, 1)));
    const text = await askUntil((one) => one.includes('Library'), () => tooltip(page));
    for (const part of ['work', '47.4%', '9 samples', 'User', 'Library']) assert(text.includes(part), `${part} is not in ${text}`);
    await page.close();
});

async function saved(page, item) {
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: item }).click()]);
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

await check('the flame graph is saved as SVG with a title for each rect, and markup in names as text', async () => {
    const page = await openFlame();
    await click(page, await flamePlace(page, WORK, 1), { button: 'right' });
    const { name, bytes } = await saved(page, 'Save as SVG');
    assertEqual(name, 'walker-flame-graph.svg', 'the name of the file');
    const blank = await page.context().newPage(); // the policy of the page is not for the file
    const facts = await blank.evaluate((text) => {
        const svg = new DOMParser().parseFromString(text, 'image/svg+xml');
        return {
            root: svg.documentElement.nodeName,
            elements: [...new Set([...svg.querySelectorAll('*')].map((one) => one.nodeName))].sort().join(),
            titles: [...svg.querySelectorAll('title')].map((one) => one.textContent),
        };
    }, bytes.toString());
    await blank.close();
    const own = await page.context().newPage(); // the file, opened by itself
    own.on('pageerror', (error) => complaints.push(error.message));
    await own.goto(`data:image/svg+xml,${encodeURIComponent(bytes.toString())}#search=WOR|work`);
    assertEqual(await own.textContent('#found'), 'Matched: 47.4%', 'what is found');
    await own.evaluate(() => document.querySelector('g[data-x] rect').dispatchEvent(new MouseEvent('mouseover', { bubbles: true })));
    assert((await own.textContent('#details')).includes(', self '), 'details of a rect');
    assertEqual(await own.evaluate(() => Number(document.documentElement.getAttribute('width')) === innerWidth), true, 'it is as wide as the window');
    await own.close();
    assertEqual(facts.root, 'svg', 'the root');
    assertEqual(facts.elements, 'g,rect,script,style,svg,text,title', 'the elements');
    assertEqual(facts.titles.length, 8, 'rects');
    assert(facts.titles.includes('work [app]\n9 samples, 47.37%, self 2 samples'), `no title of work: ${facts.titles}`);
    assert(facts.titles.some((title) => title.startsWith('<b onclick="alert(1)">helper</b>&')), 'no title with the markup as text');
    await page.close();
});

/** Saves the view with a command of the palette. */
async function savedBy(page, command) {
    await page.keyboard.press('Control+k');
    await page.locator('.palette input').fill(command);
    await page.locator('.palette .picker-row', { hasText: command }).first().waitFor();
    const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.locator('.palette .picker-row', { hasText: command }).first().click(),
    ]);
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}

const countOf = (text) => text.trim().split('\n').reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);

await check('the chart is saved in the formats of other tools', async () => {
    const page = await openFlame();
    const collapsed = await savedBy(page, 'Save as Collapsed stacks');
    assertEqual(collapsed.name, 'walker-samples.collapsed', 'the name of the file');
    assertEqual(countOf(collapsed.bytes.toString()), SAMPLES, 'samples');
    const speedscope = JSON.parse((await savedBy(page, 'Save as speedscope')).bytes.toString());
    assertEqual(speedscope.profiles[0].weights.reduce((sum, weight) => sum + weight), SAMPLES, 'samples of speedscope');
    const pprof = await savedBy(page, 'Save as pprof');
    assertEqual(pprof.name, 'walker-samples.pb.gz', 'the name of the packed file');
    assert(gunzipSync(pprof.bytes).includes('helper'), 'the packed file has no names');
    await page.goto(`${url}?thread=0&tab=flame-graph&search=work`);
    await page.waitForSelector('.chart');
    await settle(page);
    assertEqual(countOf((await savedBy(page, 'Save as Collapsed stacks')).bytes.toString()), 9, 'samples of the search');
    await page.goto(`${url}?thread=0&tab=functions`);
    await page.waitForSelector('.tab[aria-selected=true]');
    await settle(page);
    const table = await savedBy(page, 'Save as table (CSV)');
    assertEqual(table.name, 'walker-functions.csv', 'the name of the table');
    assert(table.bytes.toString().startsWith('total,self,unit,function,library,file,line\n'), 'titles');
    await page.close();
});

await check('charts and the timeline are saved as images', async () => {
    const page = await openFlame();
    const isImage = ({ bytes }) => bytes.subarray(1, 4).toString() === 'PNG' && bytes.length > 1000;
    await click(page, await flamePlace(page, WORK, 1), { button: 'right' });
    const chart = await saved(page, 'Save as image');
    assertEqual(chart.name, 'walker-flame-graph.png', 'the name of the file');
    assert(isImage(chart), 'no image of the chart');
    const { width, height } = await page.locator('#view').boundingBox();
    assertEqual(`${chart.bytes.readUInt32BE(16)} ${chart.bytes.readUInt32BE(20)}`, `${Math.round(width)} ${Math.round(height)}`, 'its size');
    await page.locator('.track[data-thread] .track-label').first().click({ button: 'right' });
    const timeline = await saved(page, 'Save timeline as image');
    assertEqual(timeline.name, 'walker-timeline.png', 'the name of the file');
    assert(isImage(timeline), 'no image of the timeline');
    await page.close();
});

await check('a rect of the stack chart is selected by a click; its time is chosen with x and forgotten with Backspace', async () => {
    const page = await openStacks();
    await click(page, await stackPlace(page, 6, 2));
    assertEqual(await selection(page), 'leaf: 7 ms', 'the selection');
    assertEqual(parameter(page, 'path'), '0w2', 'the path in the address');
    await press(page, 'x');
    assertEqual(chosen(page).join(), '3,7', 'the chosen range');
    const [x, y] = await stackPlace(page, 18, 2);
    await click(page, [x, y]);
    assertEqual(await named(page), 'leaf', 'what is at the right of the chosen range');
    await press(page, 'Backspace');
    assertEqual(parameter(page, 'preview'), null, 'the chosen range after Backspace');
    await page.close();
});

await check('the legend names the categories of all rects, also of such as no sample ends in', async () => {
    for (const tab of ['stack-chart', 'flame-graph']) {
        const page = await openPage(`${callersUrl}?tab=${tab}`, '.chart');
        const names = () => page.locator('.legend li').allInnerTexts();
        const found = await askUntil((all) => all.length === 2, names);
        assertEqual(found.map((name) => name.trim()).sort().join(), 'Caller,Leaf', `the legend of ${tab}`);
        await page.close();
    }
});

await check('zooming and moving in the stack chart is choosing a range', async () => {
    const page = await openStacks();
    await page.mouse.move(...(await stackPlace(page, 9, 5)));
    await page.keyboard.down('Control');
    for (let i = 0; i < 3; i++) await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    await settle(page);
    const [start, length] = chosen(page);
    assert(length > 5 && length < 12, `the range is ${length} ms long`);
    await page.locator('.chart').focus();
    await press(page, 'd');
    const [moved, sameLength] = chosen(page);
    assert(moved > start && Math.abs(sameLength - length) < 0.01, `d moves from ${start} to ${moved}`);
    await press(page, 'a', 'a', 'a');
    assert(chosen(page)[0] < moved, 'a does not move back');
    for (let i = 0; i < 30; i++) await page.keyboard.press('e');
    await settle(page);
    assertEqual(parameter(page, 'preview'), null, 'the range after zooming out');
    await page.close();
});

await check('a range that was chosen is drawn in the stack chart before the tree is asked for it, and once', async () => {
    const page = await openPage(`${url}?thread=01&tab=stack-chart`, '.chart');
    await page.evaluate(() => {
        const { newestWorker: worker } = window;
        window.askedMethods = [];
        const post = worker.postMessage.bind(worker);
        worker.postMessage = (message, ...rest) => {
            window.askedMethods.push(message.method);
            post(message, ...rest);
        };
    });
    const { x, y, width } = await frame(page);
    await page.mouse.move(x + width / 2, y + 10);
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -200);
    await page.keyboard.up('Control');
    await askUntil((methods) => methods.includes('query'), () => page.evaluate(() => window.askedMethods));
    await settle(page);
    const methods = (await page.evaluate(() => window.askedMethods)).filter((method) => method === 'stackChart' || method === 'query');
    assertEqual(methods.join(), 'stackChart,stackChart,query', 'what the engine was asked');
    await page.close();
});

await check('transforms work in the stack chart: Delete drops what d cannot', async () => {
    const page = await openStacks('path=0w2');
    await press(page, 'Delete');
    assertEqual(parameter(page, 'transforms'), 'df-2', 'transforms after Delete');
    const empty = await colorAt(page, await stackPlace(page, 6, 0));
    assertEqual(empty, '0,0,0,0', 'the color where samples were dropped');
    await press(page, 'u');
    await press(page, 'c');
    assertEqual(parameter(page, 'transforms'), 'cfs-2', 'transforms after c');
    await page.close();
});

await check('with the same width for each stack, how long it lasted is no matter', async () => {
    const page = await openStacks();
    await page.getByLabel('Same width for each stack').check();
    await settle(page);
    assertEqual(parameter(page, 'sameWidths'), '', 'sameWidths in the address');
    // There are eight stacks; leaf is the third of them.
    await click(page, await stackPlace(page, (SAMPLES * 2.5) / 8 - 0.5, 2));
    assertEqual(await named(page), 'leaf', 'the third');
    const again = await openPage(page.url(), '.chart');
    assert(await again.getByLabel('Same width for each stack').isChecked(), 'the pasted address forgets it');
    await again.close();
    await page.close();
});

await check('the charts of several threads are stacked vertically', async () => {
    const page = await openPage(`${url}?thread=01&tab=stack-chart`, '.chart');
    const labels = await page.locator('.stack-label strong').allInnerTexts();
    assertEqual(labels.join(), 'walker,second', 'the labels');
    const { y } = await page.locator('.stack-label').nth(1).boundingBox();
    const [x] = await stackPlace(page, 6, 0);
    await click(page, [x, y + 2.5 * ROW]);
    assertEqual(await named(page), 'leaf', 'what the second thread does');
    await page.close();
});

await check('the user can color charts by library, function or module, with a legend, and the address has the choice', async () => {
    const page = await openFlame();
    const place = await flamePlace(page, WORK, 1);
    const other = await flamePlace(page, WALK, 1);
    assertEqual(await colorAt(page, place), await colorAt(page, other), 'colors of one category');
    await page.getByLabel('Color', { exact: true }).selectOption('function');
    await settle(page);
    assertEqual(parameter(page, 'colorBy'), 'function', 'colorBy in the address');
    const legend = page.getByRole('list', { name: 'Colors' });
    await legend.getByText('work', { exact: true }).waitFor();
    const own = await colorAt(page, place);
    assert(own !== (await colorAt(page, other)), 'two functions have one color');
    const again = await openPage(page.url(), '.chart');
    await again.getByRole('list', { name: 'Colors' }).getByText('work', { exact: true }).waitFor();
    assertEqual(await colorAt(again, place), own, 'the color after a reload');
    await again.close();
    await press(page, 'Control+z');
    assertEqual(parameter(page, 'colorBy'), null, 'colorBy after undo');
    await press(page, 'Control+k');
    await page.keyboard.type('color by library');
    await page.locator('.picker-name', { hasText: 'Color by library' }).click();
    await legend.getByRole('listitem').first().waitFor();
    assertEqual(parameter(page, 'colorBy'), 'library', 'colorBy after the palette');
    await page.close();
});

/** Opens a tab. Of each frame until the page is quiet: 'tree', 'blank', or the color of the chart at a place of the window. */
async function framesOf(page, tab, place) {
    await page.evaluate(([clientX, clientY]) => {
        window.frames = [];
        const note = () => {
            const canvas = document.querySelector('#view .chart-canvas');
            const pixels = canvas?.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            const colors = new Uint32Array(pixels?.data.buffer ?? []);
            const { left, top } = canvas?.getBoundingClientRect() ?? {};
            const at = colors[Math.round(clientY - top) * canvas?.width + Math.round(clientX - left)];
            window.frames.push(!canvas ? (document.querySelector('#view .tree-row') ? 'tree' : 'blank') : new Set(colors).size > 1 ? at : 'blank');
            window.noting = requestAnimationFrame(note);
        };
        note();
    }, place);
    await page.locator(`#tab-${tab}`).click();
    await settle(page);
    return page.evaluate(() => {
        cancelAnimationFrame(window.noting);
        return window.frames;
    });
}

await check('no frame is blank while a chart opens, and none has the rects of an earlier view', async () => {
    const page = await openPage(`${url}?thread=0`);
    const flame = await framesOf(page, 'flame-graph', [600, 600]);
    assert(flame[0] === 'tree' && !flame.includes('blank') && flame.at(-1) !== 'tree', `the flame graph: ${flame}`);
    await page.locator('#tab-stack-chart').click();
    await settle(page);
    const walk = await stackPlace(page, 13, 1);
    await page.locator('#tab-calltree').click();
    const all = await framesOf(page, 'stack-chart', walk);
    await page.locator('#tab-calltree').click();
    await page.locator('#stack-search').fill('work');
    await press(page, 'Enter');
    const filtered = await framesOf(page, 'stack-chart', walk);
    const colors = new Set(filtered.filter((shown) => shown !== 'tree'));
    assert(!all.includes('blank') && !colors.has('blank'), `the stack chart: ${all}, ${filtered}`);
    assert(colors.size === 1 && !colors.has(all.at(-1)), `the stack chart, filtered: ${all}, ${filtered}`);
    await page.close();
});

await check('an empty chart shows the reason', async () => {
    const page = await openFlame('search=nowhere');
    await page.getByRole('button', { name: 'Clear the search' }).last().waitFor();
    await page.close();
    const other = await openStacks('search=nowhere');
    assert((await other.locator('.chart').innerText()).includes('No samples here'), 'the stack chart says nothing');
    await other.close();
});

await check('a wide window shows the flame graph beside the call tree, and the source beside a view', async () => {
    const page = await openPage(`${url}?thread=0`);
    assertEqual(await page.locator('.chart').count(), 0, 'charts in a window of 1280 px');
    await page.setViewportSize({ width: 1700, height: 900 });
    await page.waitForSelector('.beside .chart');
    const sides = async (selector) => {
        const { x, width } = await page.locator(selector).boundingBox();
        return [x, x + width];
    };
    assert((await sides('.tree'))[1] <= (await sides('.chart'))[0], 'the graph is not at the right of the tree');
    const before = await selection(page);
    await page.locator('.tree').focus();
    await press(page, 'Home');
    assert((await selection(page)) !== before, 'the graph does not follow the row');
    await page.getByRole('checkbox', { name: 'Flame graph' }).uncheck();
    await page.waitForSelector('.chart', { state: 'detached' });
    await page.getByRole('checkbox', { name: 'Flame graph' }).check();
    await page.locator('.tree').focus();
    await press(page, 'Enter');
    await page.waitForSelector('.source-panel');
    assertEqual(await page.locator('.chart').count(), 0, 'graphs beside the source');
    assert((await sides('.tree'))[1] <= (await sides('.source-panel'))[0], 'the source is not at the right of the tree');
    await page.close();
});

/** The weight of a range in the bursts, ms from start to end, as prof report prints it. */
function reportedIn(from, to, ...options) {
    const range = `${from / 1000},${to / 1000}`;
    const report = execFileSync(prof, ['report', '--json', '--range', range, ...options, burstsFile], { encoding: 'utf8' });
    return JSON.parse(report).total;
}

const openHeat = (query = '') => openPage(`${burstsUrl}?thread=0&tab=heat-map&${query}`, '.heat-scale');

/** The middle of a cell in the window: the second, and the part of 20 ms in it. */
async function heatPlace(page, second, part) {
    const { x, y, width, height } = await page.locator('.heat-cells').boundingBox();
    return [x + 64 + ((second + 0.5) / 30) * (width - 80), y + height - 28 - ((part + 0.5) / 50) * (height - 40)];
}

await check('cells of the heat map weigh what prof report counts in their ranges', async () => {
    for (const [weight, unit] of [['samples', ' samples?'], ['cpu-time', ' ms']]) {
        const page = await openHeat(`weight=${weight}`);
        await page.locator('.heat-cells').focus();
        for (let cell = 0; cell < 18; cell++) {
            const [, shown] = new RegExp(`: ([0-9.]+)${unit}`).exec(await selection(page)) ?? [];
            const expected = reportedIn(20 * cell, 20 * cell + 20, '--weight', weight);
            assertEqual(Number(shown), expected, `${weight} of cell ${cell}: ${await selection(page)}`);
            await press(page, 'ArrowUp');
        }
        await page.close();
    }
});

await check('a filter of stacks filters the cells of the heat map', async () => {
    const page = await openHeat('weight=samples&search=odd');
    await page.locator('.heat-cells').focus();
    assert((await selection(page)).includes(': 0 samples'), await selection(page));
    await press(page, 'ArrowRight');
    assertEqual(await selection(page), '1 s, 20 ms long: 19 samples, 1.3% of the range', 'a cell of an odd second');
    await page.close();
});

await check('dragging from cell to cell selects the time between them in all views, and undo ends it', async () => {
    const page = await openHeat('weight=samples');
    await page.mouse.move(...(await heatPlace(page, 6, 2)));
    assertEqual(await tooltip(page), '6.04 s, 20 ms long: 20 samples, 0.6% of the range', 'the tooltip');
    await page.mouse.down();
    await page.mouse.move(...(await heatPlace(page, 7, 20)));
    await page.mouse.move(...(await heatPlace(page, 8, 1)));
    await page.mouse.up();
    await settle(page);
    assertEqual(chosen(page).join(), '6040,2000', 'the start and the length of the range');
    await page.getByRole('tab', { name: 'Call Tree' }).click();
    await settle(page);
    assertEqual(Number((await readRows(page))[0].total), reportedIn(6040, 8040, '--weight', 'samples'), 'the tree');
    await press(page, 'Control+z');
    await press(page, 'Control+z');
    assertEqual(parameter(page, 'preview'), null, 'the range after undo');
    await page.close();
});

await check('keys extend and select cells of the heat map', async () => {
    const page = await openHeat();
    await page.locator('.heat-cells').focus();
    await press(page, 'ArrowRight', 'ArrowUp', 'Shift+ArrowRight', 'Shift+ArrowUp', 'Enter');
    assertEqual(chosen(page).join(), '1020,1040', 'the start and the length of the range');
    await press(page, 'Escape');
    assertEqual(parameter(page, 'preview'), null, 'the range after Esc');
    await page.close();
});

await check('nothing complained', async () => assertEqual(complaints.join('\n'), '', 'what the browser says'));
await closeBrowser();
finish();
