// The page with recorded waits: the switch between on-CPU and off-CPU, the
// Waits view with the numbers of `prof report --waits`, and the search for a known lock wait.
//
//     node tests/e2e/page_waits.mjs URL PROF PROFILE QUIET_URL COMPARED_URL CHANGED_URL MUTEX_URL
//
// COMPARED_URL has the profile on both sides, CHANGED_URL two runs of it and two of the quiet one. In MUTEX_URL, its locks
// are mutexes.
import { execFileSync } from 'node:child_process';
import { askUntil, closeBrowser, complaints, numberOf, openPage, selectedRow, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';
import { LOCK, LONGEST, RELEASE } from './waits_profile.mjs';

const [url, prof, file, quiet, compared, changed, mutex] = process.argv.slice(2);
const ROW = '#view .tree-row';
const ALL = `${url}?thread=0w4`;

function report(...options) {
    return JSON.parse(execFileSync(prof, ['report', '--json', '--limit', '0', ...options, file], { encoding: 'utf8' }));
}

/** As the page writes a number of `prof diff`. */
const dash = (text) => (/[1-9]/.test(text) ? text : '—');
const decimal = (value) => dash(Math.abs(value).toFixed(1));
const sign = (value) => (decimal(value) === '—' ? '' : value < 0 ? '−' : '+');

/** The rows of `prof diff --waits` as the page shows them, those that exceed noise first. */
function comparedRows(by, ...options) {
    const quiet = file.replace('waits.json', 'quiet.json');
    const text = execFileSync(prof, ['diff', '--json', `--waits=${by}`, ...options, file, file, '--', quiet, quiet], { encoding: 'utf8' });
    const { waits } = JSON.parse(text);
    const isNoise = (wait) => wait.is_noise ?? true;
    const row = (wait) =>
        [
            isNoise(wait) ? 'noise' : '',
            wait.name,
            decimal(wait.base.ms),
            decimal(wait.new.ms),
            sign(wait.change_ms) + decimal(wait.change_ms),
            wait.new.ms === 0 ? 'gone' : 'both',
            wait.interval ? `${isNoise(wait) ? 'noise ' : ''}±0` : '',
            Math.round(wait.base.count) || '—',
            Math.round(wait.new.count) || '—',
            ...(by === 'reason' ? [] : [wait.reason]),
        ].join('|');
    return [...waits.filter((wait) => !isNoise(wait)), ...waits.filter(isNoise)].map(row);
}

/** Rows of the page in a comparison. */
function readCompared(page) {
    return page.$$eval(ROW, (rows) =>
        rows
            .sort((a, b) => Number(a.dataset.row) - Number(b.dataset.row))
            .map((row) =>
                [
                    row.classList.contains('noise') ? 'noise' : '',
                    row.querySelector('.tree-text bdi').textContent,
                    ...[...row.querySelectorAll('.tree-numbers [role=gridcell]')].map((cell) => cell.textContent),
                ].join('|'),
            ),
    );
}

const parameter = (page, name) => new URL(page.url()).searchParams.get(name);

/** Name, total, count and longest of each row, top to bottom. */
function readWaits(page) {
    return page.$$eval(ROW, (rows) =>
        rows
            .sort((a, b) => Number(a.dataset.row) - Number(b.dataset.row))
            .map((row) => {
                const [, total, count, longest, p99, mean, threads] = [...row.querySelectorAll('.tree-numbers [role=gridcell]')].map((cell) => cell.textContent);
                return { name: row.querySelector('.tree-text bdi').textContent, total, count, longest, p99, mean, threads };
            }),
    );
}

/** As prof report rounds estimates. */
function estimate(value, error, least, digits) {
    if (error < least) return value.toFixed(digits);
    const place = 10 ** Math.floor(Math.min(Math.log10(error), Math.log10(value)));
    return `about ${(Math.round(value / place) * place).toFixed(least < 0.5 && error < 1 ? 1 : 0)}`;
}
const length = (ms) => ms.toFixed(ms >= 100 ? 0 : ms >= 10 ? 1 : ms >= 1 ? 2 : 3);
const plain = (text) => text.replaceAll(',', '');
const shown = ({ name, total, count, longest, p99, mean, threads }) => [name, total, count, longest, p99, mean, threads].map(plain).join(' ');
const wanted = (name) => (group) =>
    [
        plain(name(group)),
        estimate(group.total_ms, group.total_error_ms, 0.05, 1),
        estimate(group.count, group.count_error, 0.5, 0),
        length(group.longest.ms),
        length(group.p99_ms),
        length(group.mean_ms),
        group.threads,
    ].join(' ');
const NAMES = {
    reason: ({ reason }) => reason,
    object: ({ object }) => object,
    stack: ({ callers, runtime_callers }) => callers[runtime_callers] ?? '(no callers)',
    thread: ({ thread }) => ['server', 'owner', 'reader 1', 'reader 2', 'writer'][thread],
    waker: ({ waker }) => waker ?? '(unknown)',
    'object-waker': ({ object, waker }) => object + (waker ? `, ended by ${waker}` : ''),
};

await check('a known lock wait is found in three steps: the view, all threads, the longest wait of the lock', async () => {
    const page = await openPage(url);
    await page.getByRole('tab', { name: 'Waits' }).click();
    await page.waitForSelector(ROW);
    await page.locator('.track-name', { hasText: 'reader 1' }).click();
    await settle(page);
    await page.locator(ROW, { hasText: LOCK }).getByTitle('show it in the stack chart (Enter)').click();
    await page.waitForSelector('.chart');
    await settle(page);
    assertEqual(parameter(page, 'tab'), 'stack-chart', 'the view');
    assertEqual(parameter(page, 'preview'), `${LONGEST.from * 1000}u${(LONGEST.to - LONGEST.from) * 1000}`, 'the range of the wait');
    assertEqual(parameter(page, 'thread'), '2', 'its thread');
    await page.close();
});

await check('a row has the callers of the program first, and the function of libc that they called', async () => {
    const page = await openPage(`${ALL}&tab=waits`, ROW);
    const row = await page.locator(ROW, { hasText: LOCK }).textContent();
    assert(row.includes('Cache::lookup ← serve ← start_thread via pthread_mutex_lock'), `the row is ${row}`);
    await page.close();
});

for (const by of Object.keys(NAMES))
    await check(`waits by ${by} have the numbers of prof report, also in a range`, async () => {
        for (const [address, ...options] of [[''], ['&preview=300m200', '--range', '0.3,0.5']]) {
            const page = await openPage(`${ALL}&tab=waits&waitsBy=${by}${address}`, ROW);
            const groups = report('--waits', ...options).waits[`by_${by.replace('-', '_and_')}`].filter(({ longest }) => longest);
            const rows = (await readWaits(page)).filter(({ longest }) => longest !== '—');
            assertEqual(rows.map(shown).join('\n'), groups.map(wanted(NAMES[by])).join('\n'), 'groups');
            await page.close();
        }
    });

for (const by of ['object', 'reason', 'thread'])
    await check(`in a comparison, waits by ${by} have base, new side and change of prof diff, also in a range`, async () => {
        for (const [address, ...options] of [[''], ['&preview=0u500000', '--range', '0,0.5']]) {
            const page = await openPage(`${changed}?tab=waits&waitsBy=${by}${address}`, ROW);
            assertEqual((await readCompared(page)).map(plain).join('\n'), comparedRows(by, ...options).map(plain).join('\n'), 'rows');
            await page.close();
        }
    });

await check('in a comparison, changes of noise are grey, and each column sorts', async () => {
    const page = await openPage(`${changed}?tab=waits`, ROW);
    const colors = (selector) => page.$$eval(`${ROW}${selector} .change`, (cells) => [...new Set(cells.map((cell) => getComputedStyle(cell).color))]);
    const quietColor = await page.$eval('.tree-numbers .known', (cell) => getComputedStyle(cell).color);
    assertEqual((await colors('.noise')).join(), quietColor, 'the color of noise');
    assert(!(await colors(':not(.noise)')).includes(quietColor), 'changes have the color of noise');
    const heads = page.locator('#view [role=columnheader]');
    for (const [column, title] of (await heads.evaluateAll((all) => all.map((head) => head.getAttribute('aria-label')))).entries()) {
        await heads.nth(column).getByRole('button').click();
        await settle(page);
        assertEqual(await page.locator('#view [role=columnheader][aria-sort]').getAttribute('aria-label'), title, 'the column that sorts');
    }
    await page.getByRole('columnheader', { name: 'Base count' }).getByRole('button').click();
    await settle(page);
    const counts = (await readCompared(page)).map((row) => numberOf(row.split('|')[7]));
    assertEqual(counts.join(), [...counts].sort((a, b) => b - a).join(), 'by count');
    await page.close();
});

await check('in a comparison, Enter shows the longest wait of a row, and one side has its own groups', async () => {
    const page = await openPage(`${changed}?tab=waits`, ROW);
    await page.locator(ROW, { hasText: 'lock' }).first().click();
    await page.keyboard.press('Enter');
    await page.waitForSelector('.chart');
    await settle(page);
    assertEqual(parameter(page, 'preview'), `${LONGEST.from * 1000}u${(LONGEST.to - LONGEST.from) * 1000}`, 'the range of the wait');
    await page.goto(`${compared}?tab=waits&compared=base`);
    await page.waitForSelector(ROW);
    await settle(page);
    const { by_object: objects } = report('--waits').waits;
    const totals = (await readWaits(page)).map(({ total }) => numberOf(total.replace('about ', '')));
    assertEqual(Math.round(totals[0]), Math.round(objects[0].total_ms), 'the longest total of the base');
    await page.close();
});

await check('waits of two ranges are compared in the page', async () => {
    const page = await openPage(`${url}?tab=waits&thread=0w4&range=500m500`, ROW);
    await page.keyboard.press('Control+k');
    await page.locator('.palette input').fill('Compare the selected range');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.compared');
    await settle(page);
    await page.getByRole('tab', { name: 'Waits' }).click();
    await page.waitForSelector(ROW);
    for (const object of ['disk: ', 'network: ']) {
        const row = (await readCompared(page)).find((text) => text.includes(object));
        const sides = ['0,0.5', '0.5,1'].map((range) => report('--waits', '--range', range).waits.by_object.find((group) => group.object.startsWith(object)).total_ms);
        assertEqual(row.split('|').slice(2, 4).join(), sides.map(decimal).join(), `the time for ${object}`);
    }
    await page.close();
});

await check('groups of one object with different wakers are selected one by one', async () => {
    const page = await openPage(`${ALL}&tab=waits&waitsBy=object-waker`, ROW);
    const selected = page.locator(`${ROW}.selected`);
    for (const waker of ['owner', 'reader 1']) {
        await page.locator(ROW, { hasText: `${LOCK}, ended by ${waker} (` }).click();
        assertEqual(await selected.count(), 1, `selected rows after a click on ${waker}`);
        assert((await selected.textContent()).includes(`ended by ${waker} (`), `a click on ${waker} selects ${await selected.textContent()}`);
    }
    await page.close();
});

await check('the pane of a lock has the waiting functions, the function that releases the lock, and what its owner does', async () => {
    const page = await openPage(`${ALL}&tab=waits`, ROW);
    await page.locator(ROW, { hasText: LOCK }).click();
    const pane = page.getByLabel('Waits for the selected object');
    await pane.getByRole('heading', { name: LOCK }).waitFor();
    const waits = report(`--waits=${LOCK}`).object_waits;
    const shown = async (title) => pane.getByRole('table', { name: title }).locator('tbody tr').allInnerTexts();
    const texts = [await shown('Threads wait in'), await shown('Waits end in'), await shown('During the longest waits')];
    assertEqual(texts[0].length, waits.waiters.length, 'call sites of waiters');
    assert(texts[0][0].includes('Cache::lookup ← serve'), texts[0][0]);
    assert(texts[1][0].includes(`owner (501), ${RELEASE.func}:${RELEASE.line}`), texts[1][0]);
    assert(texts[2][0].includes('owner runs in'), texts[2][0]);
    await pane.getByRole('button', { name: texts[0][0].split('\t')[3] }).first().click();
    await page.waitForSelector('.chart');
    assertEqual(parameter(page, 'tab'), 'stack-chart', 'a click on the longest wait');
    await page.close();
});

for (const by of ['waker', 'object-waker'])
    await check(`waits by ${by} have the function and line in which the owner released the lock`, async () => {
        const page = await openPage(`${ALL}&tab=waits&waitsBy=${by}`, ROW);
        const detail = await page.locator(ROW, { hasText: 'owner (501)' }).locator('.tree-lib').innerText();
        assertEqual(detail.split(' · ')[0], `ended in ${RELEASE.func}:${RELEASE.line}`, 'the beginning of the details');
        await page.close();
    });

await check('a click on the first wait shows its beginning in the timeline', async () => {
    const page = await openPage(`${ALL}&tab=waits`, ROW);
    await page.locator(ROW, { hasText: LOCK }).getByTitle('Show the first wait in the stack chart').click();
    await page.waitForSelector('.chart');
    await settle(page);
    assertEqual(parameter(page, 'preview'), '100000000n1000000', 'the range begins with the first wait');
    assertEqual(parameter(page, 'thread'), '2', 'its thread');
    assertEqual(parameter(page, 'weight'), 'time', 'the chart counts waits');
    await page.close();
});

await check('groups follow the search and the threads, and are sorted by their columns', async () => {
    const page = await openPage(`${ALL}&tab=waits`, ROW);
    await page.locator('#stack-search').fill('Cache::lookup');
    await page.keyboard.press('Enter');
    await settle(page);
    const found = report('--waits', '--search', 'Cache::lookup').waits.by_object;
    assertEqual((await readWaits(page)).map(({ name }) => name).join(), found.map(({ object }) => object).join(), 'what matches');
    await page.locator('#stack-search').fill('');
    await page.keyboard.press('Enter');
    await page.getByRole('columnheader', { name: 'Count' }).getByRole('button').click();
    await settle(page);
    const counts = (await readWaits(page)).map(({ count }) => numberOf(count.replace('about ', '')));
    assertEqual(counts.join(), [...counts].sort((a, b) => b - a).join(), 'by count');
    assert(parameter(page, 'sort').includes('waits.count'), 'the order is not in the address');
    await page.close();
});

await check('one column is marked as sorted, and a bar shows the share', async () => {
    const page = await openPage(`${ALL}&tab=waits`, ROW);
    const heads = await page.$$eval('#view [role=columnheader]', (all) => all.map((head) => head.textContent).filter((text) => /[▾▴]/.test(text)));
    assertEqual(heads.join(), 'Total (ms) ▾', 'the titles with an arrow');
    const bar = await page.$eval(`${ROW} [role=gridcell]`, (cell) => getComputedStyle(cell).backgroundImage);
    assert(bar.includes('gradient'), `the background of a share is ${bar}`);
    await page.close();
});

await check('the names of colors fit beside all tabs and the sidebar at 1280 pixels', async () => {
    const page = await openPage(`${ALL}&tab=calltree`);
    const names = await page.$$eval('.legend .legend-name', (all) => all.map((name) => [name.textContent, name.clientWidth >= name.scrollWidth && name.clientWidth > 0]));
    assert(names.length > 0, 'there are none');
    assertEqual(names.filter(([, isWhole]) => !isWhole).join(), '', 'names that are hidden or cut');
    assert(await page.locator('.sidebar').isVisible(), 'there is no sidebar');
    await page.close();
});

await check('by keyboard: arrows choose the groups, Enter shows the longest wait, w the call tree by off-CPU time', async () => {
    const page = await openPage(`${ALL}&tab=waits`, ROW);
    await page.getByRole('radio', { name: 'Object' }).focus();
    await page.keyboard.press('ArrowRight');
    await settle(page);
    assertEqual(parameter(page, 'waitsBy'), 'stack', 'the groups');
    await page.keyboard.press('ArrowLeft');
    await settle(page);
    await page.locator('#view .tree').focus();
    const at = (await readWaits(page)).findIndex(({ name }) => name === LOCK);
    await page.keyboard.press('Home');
    for (let i = 0; i < at; i++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('w');
    await page.waitForSelector('[role="treegrid"] .tree-row.selected');
    await settle(page);
    assertEqual((await selectedRow(page)).name, LOCK, 'the selected row');
    assertEqual(parameter(page, 'weight'), 'off-cpu-time', 'what is counted');
    await page.goBack();
    await page.waitForSelector('#tab-waits[aria-selected="true"]');
    await settle(page);
    await page.locator('#view .tree').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await askUntil((tab) => tab === 'stack-chart', async () => parameter(page, 'tab'));
    await page.close();
});

await check('On-CPU, Off-CPU and Both are side by side, and O goes from one to the next', async () => {
    const page = await openPage(ALL);
    const total = async () => numberOf((await page.locator('[role="treegrid"] .tree-row .number').first().innerText()).replace('%', ''));
    const checked = () => page.$eval('[aria-label="Sample weight"] [aria-checked="true"]', (one) => one.textContent);
    assertEqual(await checked(), 'On-CPU', 'what is counted at first');
    assert((await total()) > 90, 'CPU time');
    for (const [label, weight] of [['Off-CPU', 'off-cpu-time'], ['Both', 'time'], ['On-CPU', null]]) {
        await page.locator('[role="treegrid"]').press('Shift+O');
        await settle(page);
        assertEqual(await checked(), label, 'what is counted');
        assertEqual(parameter(page, 'weight'), weight, 'in the address');
    }
    await page.getByRole('radio', { name: 'Off-CPU' }).click();
    await settle(page);
    assertEqual(parameter(page, 'weight'), 'off-cpu-time', 'what is counted after a click');
    await page.goto(`${url}?thread=0&weight=off-cpu-time`);
    await page.waitForSelector('[role="treegrid"] .tree-row.selected');
    await settle(page);
    assertEqual((await selectedRow(page)).name, 'network: socket:[4711]', 'the heaviest path ends in the longest wait');
    await page.close();
});

await check('a recording without waits has the switch and the view, if it would have them with some', async () => {
    const page = await openPage(quiet);
    const radios = await page.getByRole('radiogroup', { name: 'Sample weight' }).getByRole('radio').allInnerTexts();
    assertEqual(radios.join(), 'On-CPU,Off-CPU,Both,Samples', 'what can be counted');
    assertEqual(await page.getByLabel('Include idle samples').count(), 0, 'boxes for idle samples');
    await page.getByRole('tab', { name: 'Waits' }).click();
    await page.getByText('The selected threads did not wait in this range.').waitFor();
    await page.close();
});

await check('the summary lists the objects of waits, and leads to them', async () => {
    const page = await openPage(`${ALL}&tab=summary`, '.card-waits');
    const { by_object: objects } = report('--waits').waits;
    const names = await page.$$eval('.card-waits .summary-name bdi', (all) => all.map((one) => one.textContent));
    assertEqual(names.join(), objects.slice(0, names.length).map(({ object }) => object).join(), 'objects');
    await page.locator('.card-waits .summary-row', { hasText: LOCK }).click();
    await page.waitForSelector(`${ROW}.selected`);
    await settle(page);
    assertEqual(await page.locator(`${ROW}.selected .tree-text bdi`).first().innerText(), LOCK, 'the selected group');
    await page.close();
});

await check('the overview has the sentences of prof report, and leads to the object and the reason of waits', async () => {
    const text = execFileSync(prof, ['report', '--range', '0.4,0.5', file.replace('waits.json', 'mutex.json')], { encoding: 'utf8' });
    const lines = text.replace(/\s+/g, ' ');
    const page = await openPage(`${mutex}?preview=400m100`);
    await page.waitForFunction(() => document.querySelector('.finding'));
    await page.waitForTimeout(400);
    const sentences = await page.locator('.headline, .finding').allInnerTexts();
    assert(sentences.length > 1 && sentences.every((sentence) => lines.includes(sentence)), `${sentences.join('\n')} in ${lines}`);
    await page.locator('.finding', { hasText: 'time for lock' }).click();
    await page.waitForSelector(`${ROW}.selected`);
    await settle(page);
    assertEqual(await page.locator(`${ROW}.selected .tree-text bdi`).first().innerText(), LOCK, 'the selected object');
    assertEqual(parameter(page, 'thread'), '0w4', 'the threads');
    await page.locator('.run-bar button', { hasText: 'Mutex' }).click();
    await settle(page);
    assertEqual(parameter(page, 'waitsBy'), 'reason', 'the groups');
    await page.close();
});

await check('the summary of a comparison has the waits that have changed most', async () => {
    const page = await openPage(`${changed}?tab=summary`, '.card-waits');
    const rows = await page.$$eval('.card-waits .summary-row', (all) => all.map((row) => `${row.querySelector('bdi').textContent} ${row.querySelector('.summary-amount').textContent}`));
    const wanted = comparedRows('object').map((row) => row.split('|')).map(([, name, , , change]) => `${name} ${change}`);
    assertEqual(rows.join('\n'), wanted.join('\n'), 'objects and changes');
    await page.close();
});

await check('the stack chart has a wait from its start to its end, and its tooltip has the length', async () => {
    const page = await openPage(`${url}?thread=2&tab=stack-chart`, '.chart');
    const track = await page.locator('.track.selected .track-graph').boundingBox();
    await page.mouse.move(track.x + track.width * 0.4, track.y + 10);
    await page.waitForSelector('.tooltip');
    const text = await page.locator('.tooltip').innerText();
    assert(text.includes(LOCK) && text.includes('Waited for 170 ms'), `the tooltip says ${text}`);
    await page.close();
});

await check('nothing is wrong in the console', async () => assertEqual(complaints.join('\n'), '', 'complaints'));

await closeBrowser();
finish();
