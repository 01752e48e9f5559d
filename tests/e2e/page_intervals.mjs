// The Intervals view: its numbers are those of `prof report --intervals`, and the slowest intervals lead to their cause.
//
//     node tests/e2e/page_intervals.mjs URL PROF PROFILE wakers|none
import { execFileSync } from 'node:child_process';
import { askUntil, checkComplaints, closeBrowser, numberOf, openPage, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, prof, file, wakers] = process.argv.slice(2);
const hasWakers = wakers === 'wakers';
const ROW = '[role=grid][aria-label=Intervals] .tree-row';
const THREADS = '?thread=0w4';

function report(...options) {
    return JSON.parse(execFileSync(prof, ['report', '--json', ...options, file], { encoding: 'utf8' }));
}

const parameter = (page, name) => new URL(page.url()).searchParams.get(name);
const cellsOf = (page) => page.$$eval(ROW, (rows) => rows.map((row) => [...row.querySelectorAll('[role=gridcell]')].map((cell) => cell.textContent)));
const openIntervals = (search = '') => openPage(`${url}${THREADS}&tab=intervals${search}`, ROW);
const ms = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value >= 10 ? 1 : value >= 1 ? 2 : 3));

await check('the rows and the states are equal to the report', async () => {
    const page = await openIntervals();
    const wanted = report('--intervals').intervals;
    const texts = wanted.map((row) => [row.name, `${row.count}`, ...[row.p50_ms, row.p90_ms, row.p99_ms, row.longest.ms].map(ms)]);
    const shown = (await cellsOf(page)).map(([, count, p50, p90, p99, longest, , , name]) => [name, count, p50, p90, p99, longest]);
    assertEqual(shown.join('\n'), texts.join('\n'), 'the rows');
    const states = await page.locator(ROW, { hasText: 'received' }).locator('.interval-states').getAttribute('aria-label');
    const { waits_ms, running_ms, total_ms } = wanted.find(({ name }) => name === 'received');
    for (const [name, value] of [['Pipe', waits_ms.Pipe], ['Running', running_ms]])
        assert(states.includes(`${name} ${((100 * value) / total_ms).toFixed(1)}%`), `${name} of ${states}`);
    await page.setViewportSize({ width: 800, height: 800 });
    const place = () => page.locator(ROW, { hasText: 'received' }).locator('.tree-name').boundingBox();
    const { x } = await askUntil((box) => box.x < 640, place);
    assert(x < 640, `the names begin at ${x} of 800 px`);
    await page.close();
});

await check('the page has as many samples as the report', async () => {
    const page = await openPage(`${url}?thread=0w4&search=/./`);
    const { samples } = report('--functions');
    const matching = report('--functions', '--search', '/./');
    const wanted = `${matching.samples.toLocaleString('en')} of ${samples.toLocaleString('en')} samples match`;
    assert((await page.locator('.search-count').innerText()).startsWith(wanted), `the search does not show ${wanted}`);
    await page.getByRole('button', { name: 'Recording' }).click();
    await page.waitForSelector('dialog[open] .facts');
    const facts = (await page.locator('dialog[open] .facts').first().innerText()).replace(/\s+/g, ' ');
    assert(facts.includes(`Samples ${samples.toLocaleString('en')} `), `the dialog is ${facts}`);
    await page.close();
});

await check('the search and the order limit and sort the rows', async () => {
    const page = await openIntervals('&markerSearch=name:locked,name:computed&sort=intervals.name');
    assertEqual((await cellsOf(page)).map((cells) => cells.at(-1)).join(), 'computed,locked', 'the names');
    await page.close();
});

for (const [name, cause] of [['locked', 'cache_lock'], ['received', 'pipe:'], ['computed', 'compute_slowly']])
    await check(`the slowest 5 % of ${name} lead to ${cause}, and the step can be undone`, async () => {
        const page = await openIntervals(`&markerSearch=name:${name}`);
        await page.keyboard.press('Enter');
        await page.waitForSelector('[role=treegrid] .tree-row');
        await settle(page);
        assertEqual(parameter(page, 'transforms'), `fs-s5-name:"${name}"`, 'the address');
        assert((await page.locator('.transforms').innerText()).includes(`Slowest 5% of ${name}`), 'no chip');
        const wanted = report('--slowest', `5%,name:"${name}"`, '--both', '--inverted', '--search', cause);
        const all = report('--slowest', `5%,name:"${name}"`, '--both', '--search', '-runnable').total; // others use the CPUs, too
        assert(wanted.total > 0.5 * all, `the cause has ${wanted.total} of ${all} ms`);
        await page.locator('#stack-search').fill(cause);
        await settle(page);
        const total = await page.locator('[role=treegrid] .tree-row').first().locator('.number').first().innerText();
        assert(Math.abs(numberOf(total) - wanted.total) < 0.06, `${total} ms of ${wanted.total}`);
        if (hasWakers) {
            await page.getByRole('button', { name: 'Critical path' }).click();
            const sentence = report('--critical-path', '--slowest', `5%,name:"${name}"`).critical_path.sentence;
            assertEqual(await page.locator('.path-sentence').innerText(), sentence, 'the critical path');
            await page.keyboard.press('Escape');
        }
        await page.getByLabel('Undo the last transform').click();
        await settle(page);
        assertEqual(parameter(page, 'transforms'), null, 'the address after the step back');
        await page.close();
    });

await check('a click on a bar of the histogram selects intervals of its length and longer', async () => {
    const page = await openIntervals('&markerSearch=name:received');
    const [row] = report('--intervals', '--search', 'name:received').intervals;
    await page.locator('.interval-bars button').last().click();
    await page.waitForSelector('[role=treegrid] .tree-row');
    await settle(page);
    const share = (100 * row.histogram.at(-1).count) / row.count;
    assertEqual(parameter(page, 'transforms'), `fs-s${share}-name:"received"`, 'the address');
    await page.close();
});

await check('the timeline of all threads begins at its first track', async () => {
    const page = await openPage(url, '.track');
    await settle(page);
    const [top, hidden] = await page.$eval('.timeline', (timeline) => [timeline.scrollTop, timeline.scrollHeight - timeline.clientHeight]);
    assert(hidden > 20, `only ${hidden} px are out of sight`);
    assertEqual(top, 0, 'the position');
    await page.close();
});

await check('the slowest are compared with the others, per interval, with the numbers of prof diff', async () => {
    const page = await openIntervals('&markerSearch=name:locked');
    await page.keyboard.press('c');
    await page.waitForURL(/tab=functions/);
    await page.waitForSelector('.tree-row', { hasText: 'cache_lock' });
    await settle(page);
    assertEqual(parameter(page, 'transforms'), 'fs-c5-name:"locked"', 'the address');
    assert((await page.locator('.transforms').innerText()).includes('Means of 190 other and 10 slow intervals'), 'no numbers of intervals');
    const diff = JSON.parse(execFileSync(prof, ['diff', '--json', '--slowest', '5%,name:"locked"', file], { encoding: 'utf8' }));
    const wanted = diff.functions.find(({ name }) => name.startsWith('mutex cache_lock'));
    const cells = await page.locator('.tree-row', { hasText: 'mutex cache_lock' }).first().locator('[role=gridcell]').allInnerTexts();
    for (const [at, side] of ['base', 'new'].entries())
        assert(Math.abs(numberOf(cells[at]) - wanted[side].self) < 0.06, `${side}: ${cells[at]} of ${wanted[side].self} ms`);
    const { waits } = JSON.parse(execFileSync(prof, ['diff', '--json', '--waits', '--slowest', '5%,name:"locked"', file], { encoding: 'utf8' }));
    const lock = waits.find(({ name }) => name.startsWith('mutex cache_lock'));
    await page.getByRole('tab', { name: 'Waits' }).click();
    await page.waitForSelector('[role=grid][aria-label=Waits] .tree-row'); // the functions have rows of this name, too
    await settle(page);
    const counts = await page.locator('.tree-row', { hasText: 'mutex cache_lock' }).first().locator('[role=gridcell]').allInnerTexts();
    for (const side of ['base', 'new']) assert(counts.includes(lock[side].count > 0 ? lock[side].count.toFixed(2) : '—'), `${side}: no ${lock[side].count} in ${counts}`);
    await page.goBack();
    await page.goBack();
    await page.waitForSelector(ROW);
    await page.close();
});

await check('two groups of markers are compared, per marker, with the numbers of prof diff, and a reload repeats it', async () => {
    const diff = JSON.parse(execFileSync(prof, ['diff', '--json', '--base-markers', 'name:"received"', '--new-markers', 'name:"locked"', file], { encoding: 'utf8' }));
    const page = await openIntervals('&markerSearch=name:received,name:locked&sort=intervals.name');
    await page.locator(ROW, { hasText: 'received' }).click();
    await page.keyboard.press('u');
    await page.locator(ROW, { hasText: 'locked' }).click();
    await page.getByRole('button', { name: 'Compare with received' }).waitFor();
    await page.keyboard.press('d');
    await page.waitForURL(/tab=functions/);
    for (const visit of ['opened', 'reloaded']) {
        await page.waitForSelector('.tree-row', { hasText: 'cache_lock' });
        await settle(page);
        assertEqual(parameter(page, 'transforms'), 'fs-s100b-name:"received"~fs-s100n-name:"locked"', `the address (${visit})`);
        const bar = (await page.locator('.transforms').innerText()).replace(/\s+/g, ' ');
        assert(bar.includes('Base: each received') && bar.includes('New: each locked') && bar.includes('Means of 200 and 200 intervals'), `${visit}: ${bar}`);
        assertEqual((await page.locator('.compared').innerText()).replace(/\s+/g, ' ').replace(/ of \S+/g, ''), 'Base received New locked', `the sides (${visit})`);
        for (const name of ['mutex cache_lock', 'read pipe:']) {
            const wanted = diff.functions.find((row) => row.name.startsWith(name));
            const cells = await page.locator('.tree-row', { hasText: name }).first().locator('[role=gridcell]').allInnerTexts();
            for (const [at, side] of ['base', 'new'].entries())
                assert(Math.abs(numberOf(cells[at]) - wanted[side].self) < 0.06, `${visit}, ${name}, ${side}: ${cells[at]} of ${wanted[side].self} ms`);
        }
        await page.reload();
    }
    await page.close();
});

await checkComplaints();

await closeBrowser();
finish();
