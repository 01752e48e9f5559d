// A user finds out by keyboard and mouse why a program is slow: a known hot line, the thread that wastes the most time,
// and a known lock wait with the holder of the lock. All numbers are those of `prof report`.
//
//     node tests/e2e/page_story.mjs PROF hot URL PROFILE SOURCE | waste URL PROFILE | wait URL PROFILE
//
// Several stories can be told one after another.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { askUntil, closeBrowser, complaints, numberOf, openPage, readRows, selectedRow, settle, shownNumber } from './page_driver.mjs';
import { LONGEST } from './page_story_profile.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [prof, ...stories] = process.argv.slice(2);

function report(file, ...options) {
    const all = ['report', '--json', '--limit', '0', '--min-percent', '0', ...options, file];
    const text = execFileSync(prof, all, { encoding: 'utf8', maxBuffer: 1 << 28 });
    // The page shows times with one digit after the point.
    return JSON.parse(text, (_, value) => (typeof value === 'number' ? shownNumber(value) : value));
}

const parameter = (page, name) => new URL(page.url()).searchParams.get(name);

async function press(page, ...keys) {
    for (const key of keys) await page.keyboard.press(key);
    await settle(page);
}

/** Goes to a view by its tab, and puts the focus into it. */
async function goTo(page, title, awaited) {
    await page.getByRole('tab', { name: title }).click();
    await page.waitForSelector(awaited);
    await settle(page);
}

const LIST = '[role="grid"] .tree-row';
const TREE = '[role="treegrid"] .tree-row.selected';

/** Rows of a list of functions, top to bottom. */
function readFunctions(page, within = '') {
    return page.$$eval(`${within} [role="grid"] .tree-row`, (rows) =>
        rows
            .sort((a, b) => Number(a.dataset.row) - Number(b.dataset.row))
            .map((row) => ({
                name: row.querySelector('.tree-text bdi').textContent,
                total: row.querySelector('.number:not(.self)')?.textContent ?? '',
                self: row.querySelector('.number.self')?.textContent ?? '',
            })),
    );
}

/** "divide: 92.1% total, 91.9% self, 1.05 s" (or "950.3 ms"): what the flame graph says of the selected rect. */
async function readRect(page) {
    const text = await page.locator('#chart-selection').innerText();
    const [, name, time, unit] = /^(.*?): .*?([\d.,]+) (ms|s)\b/.exec(text) ?? [];
    assert(name, `the flame graph says "${text}"`);
    return { name, ms: numberOf(time) * (unit === 's' ? 1000 : 1), digit: unit === 's' ? 10 : 1 };
}

// ---- the hot spot ----

async function findHotSpot(url, file, sourceFile) {
    const functions = report(file, '--functions', '--thread', '0').functions;
    const [hottest] = functions;
    const source = readFileSync(sourceFile, 'utf8').split('\n');
    const hotLine = source.findIndex((line) => line.includes('/* HOT */')) + 1;
    const page = await openPage(url);

    await check('hot spot: the first view has it selected, on the heaviest path', async () => {
        assertEqual(hottest.name, 'divide', 'the hottest function for prof report');
        assertEqual((await selectedRow(page)).name, 'divide', 'the selected row');
        const names = (await readRows(page)).map((row) => row.name);
        assert(names.includes('often') && names.includes('main'), `its callers are not open: ${names}`);
    });

    await check('hot spot: the inverted call tree has it on top, with its callers below', async () => {
        await press(page, 'i');
        await page.locator('[role="treegrid"]').focus();
        await press(page, 'Home');
        const top = await selectedRow(page);
        assertEqual(top.name, hottest.name, 'the top');
        assertEqual(numberOf(top.total), hottest.self, 'its time');
        if (top.expanded !== 'true') await press(page, 'ArrowRight');
        const rows = await readRows(page);
        const at = rows.findIndex((row) => row.selected);
        const callers = rows.slice(at + 1).filter((row) => row.level === 2).slice(0, 2);
        const inverted = report(file, '--inverted', '--thread', '0').tree;
        const wanted = inverted.slice(1, inverted.findIndex((row, i) => i > 0 && row.depth === 0)).filter((row) => row.depth === 1);
        assertEqual(callers.map((row) => `${row.name} ${numberOf(row.total)}`).join(), wanted.slice(0, 2).map((row) => `${row.name} ${row.total}`).join(), 'who calls it');
        assertEqual(callers[0].name, 'often', 'who calls it most');
        await press(page, 'i');
    });

    await check('hot spot: it is the first of the functions, with the same times', async () => {
        await goTo(page, 'Functions', LIST);
        const rows = await readFunctions(page);
        for (const [at, row] of rows.slice(0, 5).entries()) {
            const wanted = functions.find((one) => one.name === row.name);
            assertEqual(`${at} ${numberOf(row.total)} ${numberOf(row.self)}`, `${at} ${wanted?.total} ${wanted?.self}`, `numbers of ${row.name}`);
        }
        assertEqual(rows[0].name, hottest.name, 'the first');
    });

    await check('hot spot: the butterfly has the share of each caller', async () => {
        await page.locator(LIST, { hasText: 'divide' }).first().click();
        await press(page, 'b');
        await page.waitForSelector('.wing .tree-row');
        assertEqual(await page.locator('.focus-head h2').innerText(), hottest.name, 'the focus');
        const callers = await page.$$eval('.wing.callers .tree-row[aria-level="1"]', (rows) =>
            rows.map((row) => [row.querySelector('.tree-text bdi').textContent, row.querySelector('.number').textContent]),
        );
        const { tree } = report(file, '--collapse-function', hottest.name, '--inverted', '--thread', '0');
        const end = tree.findIndex((row, at) => at > 0 && row.depth === 0);
        const wanted = tree.slice(1, end < 0 ? undefined : end).filter((row) => row.depth === 1);
        assertEqual(callers.map(([name, total]) => `${name} ${numberOf(total)}`).join(), wanted.map((row) => `${row.name} ${row.total}`).join(), 'the callers');
        const total = (name) => wanted.find((row) => row.name === name)?.total ?? 0;
        const share = total('often') / (total('often') + total('seldom'));
        assert(share > 0.65 && share < 0.85, `often has ${share} of it, which should be three quarters`);
    });

    await check('hot spot: the flame graph, hanging from the leaves, has its rect widest; walking goes to the callers', async () => {
        await goTo(page, 'Flame Graph', '.chart');
        await page.locator('.chart').focus();
        await press(page, 'i');
        // A click into the first row, near the left: the widest rect stands first.
        const { x, y, width } = await page.locator('.chart').boundingBox();
        await page.mouse.click(x + width * 0.2, y + 9);
        await settle(page);
        const rect = await readRect(page);
        assertEqual(rect.name, hottest.name, 'the widest rect');
        assert(Math.abs(rect.ms - hottest.self) <= rect.digit, `it has ${rect.ms} of ${hottest.self} ms`);
        await press(page, 'ArrowDown');
        assertEqual((await readRect(page)).name, 'often', 'who is below');
        await press(page, 'ArrowUp', 'i');
    });

    await check('hot spot: Enter shows its source at the hot line, with the cost of prof report', async () => {
        await goTo(page, 'Call Tree', '[role="treegrid"] .tree-row');
        await page.locator('.tree-row', { has: page.locator('.tree-text bdi', { hasText: /^divide$/ }) }).first().click();
        await page.locator('[role="treegrid"]').press('Enter');
        await page.waitForSelector('.source-editor .cm-line');
        const readChosen = () =>
            page.$eval('.source-editor', (holder) => {
                const line = holder.shadowRoot.querySelector('.cm-line.chosen');
                return line ? { text: line.textContent, heat: /heat-(\d)/.exec(line.className)?.[1] ?? '' } : null;
            });
        const chosen = await askUntil((line) => line?.heat === '5', readChosen);
        assert(chosen?.text.includes('/* HOT */'), `the chosen line is ${chosen?.text}`);
        const row = await page.locator('[role="treegrid"] .tree-row.selected').boundingBox();
        const tree = await page.locator('[role="treegrid"]').boundingBox();
        assert(row.y + row.height <= tree.y + tree.height + 1, 'the source covers the selected row');
        await page.locator('.source-panel button[aria-pressed="true"]', { hasText: '%' }).click();
        const costs = await askUntil((all) => all.length > 0 && !all.some((one) => one.includes('%')), () =>
            page.$eval('.source-editor', (holder) =>
                [...holder.shadowRoot.querySelectorAll('.cost-gutter.self .cm-gutterElement')]
                    .filter((one) => one.style.visibility !== 'hidden' && one.textContent !== '')
                    .map((one) => one.textContent),
            ),
        );
        const { lines } = report(file, '--lines', sourceFile, '--thread', '0');
        const hot = lines.find((line) => line.line === hotLine);
        assert(costs.map(numberOf).includes(hot.self), `no line has ${hot.self} ms itself, but ${costs}`);
        const rest = lines.reduce((sum, line) => sum + (line.line === hotLine ? 0 : line.self), 0);
        assert(hot.self > rest, `the hot line has ${hot.self} ms, all others ${rest}`);
        await press(page, 'Escape');
    });
    await page.close();
}

// ---- the thread that wastes the most ----

const label = (page, name) => page.locator('.track-label', { has: page.getByText(name, { exact: true }) });

/** The tracks with their CPU time, ms. */
async function readTracks(page) {
    const scale = { s: 1000, ms: 1, µs: 1e-3, ns: 1e-6 };
    const texts = await page.$$eval('.track[data-thread]', (rows) =>
        rows.map((row) => [row.querySelector('.track-name').textContent, row.querySelector('.track-busy').textContent]),
    );
    return texts.map(([name, busy]) => {
        const [, number, unit] = /^([\d.,]+) (s|ms|µs|ns)$/.exec(busy) ?? [];
        return { name, ms: number ? numberOf(number) * scale[unit] : 0 };
    });
}

async function findWaste(url, file) {
    const all = report(file, '--functions');
    const cpuOf = (name) => all.threads.find((thread) => thread.name === name)?.cpu_ms ?? 0;
    const page = await openPage(url);
    let worst;

    await check('waste: the tracks show the thread with the most CPU time', async () => {
        const tracks = await readTracks(page);
        worst = tracks.reduce((most, track) => (track.ms > most.ms ? track : most));
        assertEqual(worst.name, 'watcher', 'the busiest track');
        assertEqual(await page.locator('.track.selected').count(), 0, 'marked tracks, though all threads are selected');
        const sum = tracks.reduce((ms, track) => ms + track.ms, 0);
        const share = worst.ms / sum;
        assert(share > 0.4 && share < 0.6, `it has ${share} of all CPU time, which should be half`);
        assert(Math.abs(share - cpuOf('watcher') / all.total) < 0.05, `it has ${cpuOf('watcher')} of ${all.total} ms`);
    });

    await check('waste: isolated, its track is alone; nearly all is spent asking for changes', async () => {
        await label(page, 'watcher').click({ button: 'right' });
        await page.getByRole('menuitem', { name: 'Show only this track' }).click();
        await settle(page);
        assertEqual((await readTracks(page)).filter((track) => track.ms > 0).map((track) => track.name).join(), 'watcher', 'tracks that are left');
        await goTo(page, 'Functions', LIST);
        const [first] = await readFunctions(page);
        const [wanted] = report(file, '--functions', '--thread', 'watcher').functions;
        assertEqual(`${first.name} ${numberOf(first.total)} ${numberOf(first.self)}`, `${wanted.name} ${wanted.total} ${wanted.self}`, 'the first function');
        assertEqual(first.name, 'poll_changes', 'what it does');
        assert(wanted.self > 0.8 * cpuOf('watcher'), `it takes ${wanted.self} of ${cpuOf('watcher')} ms`);
    });

    await check('waste: after back, the working threads appear again, selected together with Ctrl', async () => {
        for (let step = 0; step < 4 && (await label(page, 'render-1').count()) === 0; step++) await press(page, 'Control+z');
        await goTo(page, 'Functions', LIST);
        await label(page, 'render-1').click();
        await label(page, 'render-2').click({ modifiers: ['Control'] });
        await settle(page);
        const [first] = await readFunctions(page);
        const [wanted] = report(file, '--functions', '--thread', 'render-1', '--thread', 'render-2').functions;
        assertEqual(`${first.name} ${numberOf(first.self)}`, `${wanted.name} ${wanted.self}`, 'the first function of both');
        assertEqual(first.name, 'draw_frame', 'what they do');
    });
    await page.close();
}

// ---- the lock wait ----

async function findWait(url, file) {
    const page = await openPage(url);
    const range = ['--range', `${LONGEST.from}ms,${LONGEST.to}ms`];
    const wait = LONGEST.to - LONGEST.from;

    await check('lock wait: the longest marker of all threads is the wait of the reader, with its object', async () => {
        await page.locator('.track-label').first().click({ button: 'right' });
        await page.getByRole('menuitem', { name: 'Select all threads of this process' }).click();
        await settle(page);
        await goTo(page, 'Marker Table', LIST);
        await page.getByRole('button', { name: 'Duration' }).click();
        await settle(page);
        const first = await page.locator(LIST).first().innerText();
        assert(first.includes(`${wait} ms`) && first.includes('Lock wait'), `the first row is ${first}`);
        assert(first.includes('for cache_mutex, held by owner'), `the first row is ${first}`);
        await page.locator(LIST).first().click();
        const sidebar = await askUntil((text) => text.includes('cache_mutex'), () => page.locator('.sidebar').innerText());
        for (const part of ['Held by', 'owner', LONGEST.thread]) assert(sidebar.includes(part), `the sidebar lacks ${part}: ${sidebar}`);
    });

    await check('lock wait: Enter selects its time; the reader only waits in it, without CPU time', async () => {
        await page.locator('[role="grid"]').press('Enter');
        await settle(page);
        assertEqual(parameter(page, 'preview'), `${LONGEST.from * 1000}u${wait * 1000}`, 'the chosen range');
        await label(page, LONGEST.thread).click();
        await goTo(page, 'Call Tree', '[role="treegrid"] .tree-row');
        await press(page, 'i');
        await page.locator('[role="treegrid"]').focus();
        await press(page, 'Home', '*');
        const shown = (await readRows(page)).map((row) => `${row.level - 1} ${row.name} ${numberOf(row.total)}`);
        const { tree } = report(file, '--inverted', '--thread', LONGEST.thread, ...range);
        assertEqual(shown.join(), tree.map((row) => `${row.depth} ${row.name} ${row.total}`).join(), 'the inverted tree');
        assertEqual(shown.slice(0, 3).join(), `0 futex_wait ${wait},1 pthread_mutex_lock ${wait},2 Cache::lookup ${wait}`, 'what it waits in');
        await press(page, 'i');
    });

    await check('lock wait: in the same time the holder builds the cache again', async () => {
        await label(page, 'owner').click();
        await settle(page);
        await page.locator('[role="treegrid"]').focus();
        await press(page, 'Home', '*');
        const shown = (await readRows(page)).map((row) => `${row.level - 1} ${row.name} ${numberOf(row.total)} ${numberOf(row.self)}`);
        const { tree } = report(file, '--thread', 'owner', ...range);
        assertEqual(shown.join(), tree.map((row) => `${row.depth} ${row.name} ${row.total} ${row.self}`).join(), 'the tree');
        assertEqual(shown.at(-1), `1 Cache::rebuild ${wait} ${wait}`, 'what it does');
    });

    await check('lock wait: a search finds the other waiting threads and their times', async () => {
        await press(page, 'Escape');
        assertEqual(parameter(page, 'preview'), null, 'the chosen range after Esc');
        await page.locator('.track-label').first().click({ button: 'right' });
        await page.getByRole('menuitem', { name: 'Select all threads of this process' }).click();
        await press(page, '/');
        await page.keyboard.type('futex_wait,Cache::lookup');
        await press(page, 'Enter');
        await goTo(page, 'Functions', LIST);
        const found = (await readFunctions(page)).map((row) => `${row.name} ${numberOf(row.total)} ${numberOf(row.self)}`);
        const wanted = report(file, '--functions', '--search', 'futex_wait,Cache::lookup').functions;
        assertEqual(found.sort().join(), wanted.map((row) => `${row.name} ${row.total} ${row.self}`).sort().join(), 'the functions');
        assert(found.some((row) => row.startsWith('futex_wait 110 ')), `all waits are not 110 samples: ${found}`);
    });
    await page.close();
}

const TOLD = { hot: [findHotSpot, 3], waste: [findWaste, 2], wait: [findWait, 2] };
while (stories.length > 0) {
    const [tell, count] = TOLD[stories.shift()];
    await tell(...stories.splice(0, count));
}
await check('nothing complained', () => assertEqual(complaints.join('; '), '', 'complaints of the browser'));
await closeBrowser();
finish();
