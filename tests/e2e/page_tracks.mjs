// The drawing and the tooltips of tracks, by mouse and keyboard.
//
//     node tests/e2e/page_tracks.mjs URL URL_OF_GROUPS
import { askUntil, closeBrowser, complaints, openPage, selectedRow, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, groupsUrl, legendUrl, usualUrl] = process.argv.slice(2);
const RANGE = 100; // ms
const parameter = (page, name) => new URL(page.url()).searchParams.get(name);
const tooltip = (page) => page.evaluate(() => document.querySelector('.tooltip')?.innerText ?? '');
const label = (page, name) => page.getByRole('treeitem', { name: new RegExp(`^${name}`) });

/** Puts the mouse on a track, so many ms after the start. */
async function point(page, track, time) {
    const area = await page.locator(`[data-track="${track}"] .track-graph`).boundingBox();
    await page.mouse.move(area.x + (area.width * time) / RANGE, area.y + 10);
    await settle(page);
}

await check('the time before a thread started and after it ended is hatched, with a label', async () => {
    const page = await openPage(url);
    const parts = await page.$$eval('[data-track="t1"] .not-there', (all) =>
        all.map((part) => {
            const graph = part.parentElement.getBoundingClientRect();
            const { left, right } = part.getBoundingClientRect();
            return [left, right].map((x) => Math.round(((x - graph.left) / graph.width) * 100)).join('-');
        }),
    );
    assertEqual(parts.join(), '0-20,80-100', 'percent of the graph');
    assert(await page.locator('[data-track="t1"] .not-there').first().isVisible(), 'they are seen');
    assertEqual(await page.locator('[data-track="t0"] .not-there').count(), 0, 'of a thread that was there all the time');
    await point(page, 't1', 10);
    await askUntil((text) => text === 'Not started yet (starts at 20 ms).', () => tooltip(page));
    await point(page, 't1', 90);
    await askUntil((text) => text === 'Ended at 80 ms.', () => tooltip(page));
    const title = await page.locator('[data-track="t1"] .track-label').getAttribute('title');
    assert(title.includes('started at 20 ms, ended at 80 ms'), title);
    await page.close();
});

await check('a mouse whose button is not pressed drags nothing, wherever it was let go', async () => {
    const page = await openPage(url);
    const { x, y, width, height } = await page.locator('[data-track="t0"] .track-graph').boundingBox();
    const across = async () => {
        for (const share of [0.3, 0.5, 0.7]) await page.mouse.move(x + width * share, y + height / 2);
        await settle(page);
    };
    // Pressed on the graph, left downwards, let go over the tree.
    await page.mouse.move(x + width * 0.2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.2, y + height + 400, { steps: 4 });
    await page.mouse.up();
    await across();
    assertEqual(parameter(page, 'preview'), null, 'the range after a press that was let go elsewhere');
    // Let go where the page does not see it: the next thing that comes has no button pressed.
    await page.mouse.move(x + width * 0.2, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.4, y + height / 2, { steps: 4 });
    await settle(page);
    const chosen = parameter(page, 'preview');
    assert(chosen !== null, 'a drag chooses no range');
    await page.evaluate(() => {
        for (const clientX of [700, 800])
            document.elementFromPoint(clientX, 100).dispatchEvent(
                new PointerEvent('pointermove', { pointerId: 1, clientX, clientY: 100, buttons: 0, bubbles: true }),
            );
    });
    await across();
    assertEqual(parameter(page, 'preview'), chosen, 'the range after the button was let go unseen');
    await page.mouse.up();
    // The label of a track: pressed, left sideways, let go.
    const label = await page.locator('[data-track="t0"] .track-label').boundingBox();
    await page.mouse.move(label.x + 40, label.y + 10);
    await page.mouse.down();
    await page.mouse.move(label.x + 600, label.y + 10, { steps: 4 });
    await page.mouse.up();
    await page.mouse.move(label.x + 40, label.y + 10);
    await page.mouse.move(label.x + 40, label.y + 70, { steps: 4 });
    assertEqual(await page.locator('.drop-line').count(), 0, 'tracks that are moved');
    // A splitter, when the window loses the focus.
    const bar = await page.getByRole('separator', { name: 'Height of the timeline' }).boundingBox();
    await page.mouse.move(bar.x + 300, bar.y + 2);
    await page.mouse.down();
    await page.mouse.move(bar.x + 300, bar.y - 20, { steps: 3 });
    const lower = () => page.locator('.timeline').evaluate((element) => element.getBoundingClientRect().height);
    const before = await lower();
    await page.evaluate(() => window.dispatchEvent(new Event('blur')));
    await page.mouse.move(bar.x + 300, bar.y + 60, { steps: 3 });
    assertEqual(await lower(), before, 'the height after the window lost the focus');
    await page.mouse.up();
    await page.close();
});

await check('keys move along the tracks, show the place, and select sample and range', async () => {
    const page = await openPage(url);
    await page.locator('[data-track="t0"] .track-label').focus();
    await page.keyboard.press('ArrowRight');
    await askUntil((text) => text.startsWith('50 ms'), () => tooltip(page));
    const line = () => page.locator('.hover-line').evaluate((element) => element.getBoundingClientRect().left);
    const before = await line();
    await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press('ArrowLeft');
    assertEqual(Math.round((await line()) - before), 18, 'px');
    await page.keyboard.press('[');
    await askUntil((preview) => /^5\d{4}u4\d{4}$/.test(preview ?? ''), () => parameter(page, 'preview'));
    for (let i = 0; i < 4; i++) await page.keyboard.press('Shift+ArrowRight');
    await page.keyboard.press(']');
    const [start, end] = await page.$$eval('.range-edge', (edges) => edges.map((edge) => Number(edge.getAttribute('aria-valuenow'))));
    const width = await page.locator('[data-track="t0"] .track-graph').evaluate((graph) => graph.clientWidth);
    assertEqual(Math.round(((end - start) / RANGE) * width), 80, 'px of the range');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert((await label(page, 'malloc').or(label(page, 'worker')).count()) > 0, 'there are tracks below');
    assertEqual(await page.locator('.hover-line').count(), 1, 'the line stays from track to track');
    await page.keyboard.press('Escape');
    assertEqual(await page.locator('.hover-line, .tooltip').count(), 0, 'until Esc');
    await page.close();
});

await check('the thread that the file wants to be selected is', async () => {
    const page = await openPage(url);
    const selected = page.locator('.track.of-thread:has([aria-selected="true"])');
    assertEqual(await selected.evaluateAll((all) => all.map((track) => track.dataset.track).join()), 't1', 'of two as busy');
    await page.close();
});

await check('each graph is computed and drawn once when the thread, the row or the search changes', async () => {
    const page = await openPage(`${url}?thread=0&chains`);
    await page.evaluate(() => {
        const { clearRect } = CanvasRenderingContext2D.prototype;
        CanvasRenderingContext2D.prototype.clearRect = function (...args) {
            window.work.push(`draw ${this.canvas.closest('[data-track]')?.dataset.track} ${this.canvas.style.height}`);
            return clearRect.apply(this, args);
        };
        const { postMessage } = window.newestWorker;
        window.newestWorker.postMessage = function (request, ...rest) {
            if (request.method === 'activity') window.work.push(`activity ${request.args[0]}`);
            return postMessage.call(this, request, ...rest);
        };
    });
    const workOf = async (act) => {
        await page.evaluate(() => {
            window.work = [];
        });
        await act();
        await settle(page);
        return page.evaluate(() => window.work.sort().join('\n'));
    };
    const graphs = (...threads) => {
        const draws = threads.flatMap((thread) => [36, 5].map((height) => `draw t${thread} ${height}px`));
        return [...threads.map((thread) => `activity ${thread}`), ...draws].sort().join('\n');
    };
    assertEqual(await workOf(() => label(page, 'worker').click()), graphs(0, 1), 'another thread');
    await page.locator('.tree').focus();
    assertEqual(await workOf(() => page.keyboard.press('ArrowRight')), '', 'an open row');
    assertEqual(await workOf(() => page.keyboard.press('ArrowDown')), graphs(1), 'another row');
    assertEqual(await workOf(() => page.locator('#stack-search').fill('e')), graphs(0, 1), 'a search');
    await page.close();
});

await check('Space chooses the thread and the row of its sample at that time', async () => {
    const page = await openPage(`${url}?thread=0`);
    await page.locator('[data-track="t1"] .track-label').focus();
    await page.keyboard.press('ArrowRight');
    await askUntil((text) => text.startsWith('50 ms') && !/\bwork\b/.test(text), () => tooltip(page));
    await page.keyboard.press('Space');
    await askUntil((thread) => thread === '1', () => parameter(page, 'thread'));
    await askUntil((row) => row?.name === 'main', () => selectedRow(page));
    // One sample further: 1 ms is 10 px.
    for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight');
    await askUntil((text) => text.startsWith('51 ms') && /\bwork\b/.test(text), () => tooltip(page));
    await page.keyboard.press('Space');
    await askUntil((row) => row?.name === 'work', () => selectedRow(page));
    await page.keyboard.press('Tab');
    assertEqual(await page.locator('.hover-line').count(), 0, 'the line goes with the focus');
    await page.close();
});

await check('simultaneous loads are side by side below their thread, and messages appear on request', async () => {
    const page = await openPage(url);
    const { top, height } = await page.locator('[data-track="n1"] canvas').evaluate((canvas) => canvas.getBoundingClientRect());
    const area = await page.locator('[data-track="n1"] .track-graph').boundingBox();
    const told = new Set();
    for (let lane = 0; lane < 7; lane++) {
        await page.mouse.move(area.x + area.width * 0.35, top + (height * (lane + 0.5)) / 7);
        await settle(page);
        told.add((await tooltip(page)).match(/https:\S+/)?.[0]);
    }
    assertEqual([...told].sort().join(), 'https://example.org/one,https://example.org/two', 'both, at the same time');
    assertEqual(await page.locator('[data-track="i1"]').count(), 0, 'messages at first');
    assertEqual(await page.locator('[data-track="t2"]').count(), 0, 'the thread that the file leaves out at first');
    await page.getByRole('button', { name: /^Show \d+ less busy/ }).click();
    await settle(page);
    assertEqual(await page.locator('[data-track="t2"]').count(), 1, 'that thread, then');
    assertEqual(await page.locator('[data-track="i1"]').count(), 0, 'messages, which are no less busy thread');
    await page.locator('[data-track="t2"] .track-label').focus();
    await page.keyboard.press('A');
    await settle(page);
    await page.locator('[data-track="i1"] .track-label').focus();
    await page.keyboard.press('ArrowRight');
    await askUntil((text) => text.includes('PTest::Msg_Go') && text.includes('sending'), () => tooltip(page));
    await page.keyboard.press('Delete');
    await askUntil((hidden) => hidden === 'i1', () => parameter(page, 'hiddenTracks'));
    await page.close();
});

/** The heights (parts of the canvas) that are drawn at some times. */
function drawnAt(page, track, times) {
    return page.locator(`[data-track="${track}"] canvas`).evaluate(
        (canvas, shares) => {
            const context = canvas.getContext('2d');
            return shares.map((share) => {
                const { data } = context.getImageData(Math.floor(canvas.width * share), 0, 1, canvas.height);
                const top = Array.from({ length: canvas.height }, (_, y) => data[4 * y + 3]).findIndex((alpha) => alpha > 0);
                return top < 0 ? 0 : 1 - top / canvas.height;
            });
        },
        times.map((time) => time / RANGE),
    );
}

await check('the times beside the tracks are of the shown or selected range, and their order stays', async () => {
    const page = await openPage(url);
    const texts = () => page.$$eval('.track.of-thread', (all) => all.map((track) => `${track.dataset.track} ${track.querySelector('.track-busy').textContent}`).join());
    await askUntil((text) => text === 't0 90 ms,t1 55 ms', texts);
    const title = () => page.locator('[data-track="t0"] .track-label').getAttribute('title');
    assert(/busy for 90 ms: \d+\.\d% of the range/.test(await title()), JSON.stringify(await title()));
    await page.goto(`${url}?thread=1&range=0m50`);
    await askUntil((text) => text === 't0 45 ms,t1 27 ms', texts);
    await page.goto(`${url}?thread=1&range=0m50&preview=20m10`);
    await askUntil((text) => text === 't0 9 ms,t1 9 ms', texts);
    await page.goto(`${url}?thread=1&range=90m5`);
    await askUntil((text) => text === 't0 5 ms,t1 idle', texts);
    await page.close();
});

await check('numbers of markers that their kind wants to be drawn have a track', async () => {
    const page = await openPage(url);
    const track = page.locator('.track.of-graph');
    assertEqual(await track.count(), 1, 'of the one thread that has such markers');
    assertEqual((await track.locator('.track-label').innerText()).replace(/\s+/g, ' ').trim(), 'Frame Cost of the frame', 'label');
    const [low, none, high, without] = await drawnAt(page, 'g0', [35, 45, 55, 72]);
    assert(none === 0 && without === 0, `nothing between them (${none}) and without a number (${without})`);
    assert(high > 0.85 && low > 0.35 && low < 0.55, `3 of 7: ${low}, ${high}`);
    await point(page, 'g0', 55);
    await askUntil((text) => text.includes('frame') && /Cost of the frame\s+7/.test(text), () => tooltip(page));
    await point(page, 'g0', 45);
    await askUntil((text) => text === '', () => tooltip(page));
    await page.close();
});

await check('a group of threads has the sum of their graphs, and opens and closes like a tree', async () => {
    const page = await openPage(groupsUrl);
    const keys = () => page.$$eval('.track', (all) => all.map((track) => track.dataset.track).join());
    const group = page.getByRole('treeitem', { name: /^pool-\*/ });
    const isOpen = () => group.getAttribute('aria-expanded');
    const busy = async (key) => Number.parseFloat(await page.locator(`[data-track="${key}"] .track-busy`).textContent());
    assertEqual(await page.locator('.track.of-thread').count(), 1, 'threads with a row at first');
    assertEqual(await isOpen(), 'false', 'at first');
    assert((await group.innerText()).includes('40 threads'), 'how many it has');
    await group.focus();
    await page.keyboard.press('ArrowRight');
    await askUntil((open) => open === 'true', isOpen);
    assertEqual(parameter(page, 'openTracks'), 'r1', 'in the address');
    await page.locator('.timeline').evaluate((timeline) => timeline.scrollTo(0, 0));
    await page.keyboard.press('ArrowDown');
    await askUntil((level) => level === '3', () => page.evaluate(() => document.activeElement?.getAttribute('aria-level')));
    const member = await page.evaluate(() => document.activeElement?.closest('[data-track]')?.dataset.track);
    const all = await busy('r1');
    assert(Math.abs(all * 1000 - 40 * (await busy(member))) < 20, `${all} s of 40 times ${await busy(member)} ms`);
    await page.keyboard.press('ArrowUp');
    await askUntil((level) => level === '2', () => page.evaluate(() => document.activeElement?.getAttribute('aria-level')));
    await page.keyboard.press('ArrowLeft');
    await askUntil((open) => open === 'false', isOpen);
    await page.keyboard.press('Enter');
    await askUntil((thread) => thread === '1wx8', () => parameter(page, 'thread'));
    assertEqual(await group.getAttribute('aria-selected'), 'true', 'all of its threads are chosen');
    const graph = await page.locator('[data-track="r1"] .track-graph').boundingBox();
    await page.mouse.move(graph.x + graph.width / 2, graph.y + 10);
    await askUntil((text) => /CPUs in use, at most \d+\.\d in view/.test(text), () => tooltip(page));
    await group.focus();
    await page.keyboard.press('Delete');
    await askUntil((hidden) => hidden === 'r1', () => parameter(page, 'hiddenTracks'));
    assert(!/r1/.test(await keys()), await keys());
    await page.close();
});

await check('each category in the legend has its color in sight beside the tabs of a usual window', async () => {
    const page = await openPage(legendUrl);
    for (const width of [1920, 1440, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await settle(page);
        const cut = await page.$$eval('.legend li', (all) => {
            const legend = document.querySelector('.legend').getBoundingClientRect();
            const isOut = (square) => square.left < legend.left - 1 || square.right > legend.right + 1 || square.bottom > legend.bottom;
            return all.filter((li) => isOut(li.querySelector('.category-square').getBoundingClientRect())).map((li) => li.innerText);
        });
        assertEqual(await page.locator('.legend li').count(), 10, 'categories in the legend');
        assertEqual(cut.join(), '', `out of sight at ${width} px`);
        const widths = await page.$$eval('.legend-name', (names) => names.map((name) => name.offsetWidth));
        assert(widths.every((name) => name === 0) || widths.every((name) => name >= 24), `px of names at ${width} px: ${widths}`);
    }
    await page.close();
});

await check('the categories of a usual recording are named beside the sidebar', async () => {
    const page = await openPage(usualUrl);
    assertEqual(await page.locator('.sidebar').count(), 1, 'sidebars');
    const names = () => page.$$eval('.legend-name', (all) => all.map((one) => [one.innerText, one.scrollWidth <= one.clientWidth].join(' ')));
    await askUntil((now) => now.length === 4, names);
    assertEqual((await names()).sort().join(), 'Kernel true,Library true,Other true,User true', 'names, and whether they are whole');
    await page.close();
});

await check('nothing went wrong meanwhile', () => assertEqual(complaints.join('\n'), '', 'complaints'));
await closeBrowser();
finish();
