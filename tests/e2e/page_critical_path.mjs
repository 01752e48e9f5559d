// The dialog of the critical path has the sentence, parts and segments of `prof report --critical-path`. A click on a
// row selects its thread and range.
//
//     node tests/e2e/page_critical_path.mjs URL PROF PROFILE WITHOUT_WAKERS_URL
import { execFileSync } from 'node:child_process';
import { checkComplaints, closeBrowser, numberOf, openPage, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, prof, file, without] = process.argv.slice(2);
const DIALOG = 'dialog[open]';
const ROWS = `${DIALOG} [role=grid] tbody tr`;

function report(...options) {
    const text = execFileSync(prof, ['report', '--critical-path', '--json', ...options, file], { encoding: 'utf8' });
    return JSON.parse(text).critical_path;
}

const parameter = (page, name) => new URL(page.url()).searchParams.get(name);
const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);
const cellsOf = (page, selector) => page.$$eval(selector, (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));

async function openPath(page) {
    await page.keyboard.press('Control+k');
    await page.locator('.palette input').fill('critical path');
    await page.locator('.palette .picker-row', { hasText: 'Critical path of the selected range' }).first().click();
    await page.waitForSelector(DIALOG);
}

const STATES = { runs: 'Running', runnable: 'Runnable', waits: 'Waiting', unseen: 'Short waits', absent: 'Not alive' };
const whole = report();

await check('the dialog has the sentence and the parts of the report', async () => {
    const page = await openPage(`${url}?thread=${whole.thread}`, '.page');
    await openPath(page);
    await page.waitForSelector(ROWS);
    assertEqual(await page.locator('.path-sentence').innerText(), whole.sentence, 'the sentence');
    const rows = await cellsOf(page, `${DIALOG} table:not([role=grid]) tbody tr`);
    const shown = whole.parts.slice(0, 12);
    assertEqual(
        rows.slice(0, shown.length).map(([, ms, , state]) => `${ms} ${state}`).join(),
        shown.map(({ estimated, ms, state }) => `${estimated ? 'about ' : ''}${ms.toFixed(1)} ${STATES[state]}`).join(),
        'the parts',
    );
    const second = rows.find(([, , thread, state]) => thread === 'second' && state === 'Running');
    assert(second, 'no part is CPU time of second');
    assert(/first waits for mutex lock_b/.test(second[6]), `second runs while ${second[6]}`);
    assertEqual(second[5], 'compute', 'its function');
    await page.close();
});

await check('segments follow one another, and a click selects the thread and the range of one', async () => {
    const page = await openPage(`${url}?thread=${whole.thread}`, '.page');
    await openPath(page);
    await page.waitForSelector(ROWS);
    const rows = await cellsOf(page, ROWS);
    const total = sum(whole.segments.map(({ from_ms, to_ms }) => to_ms - from_ms));
    const listed = sum(rows.map(([, ms]) => numberOf(ms)));
    assert(Math.abs(listed - total) < 0.06 * rows.length, `the segments are ${listed} of ${total} ms`);
    const at = rows.findIndex(([, ms, thread, state]) => thread === 'second' && state === 'Running' && numberOf(ms) > 1);
    const [, ms, , , where] = rows[at];
    assert(where.startsWith('compute < second'), `the row is ${where}`);
    await page.locator(ROWS).nth(at).click();
    await settle(page);
    const { thread } = whole.segments.find(({ stack }) => stack[1] === 'second');
    assertEqual(parameter(page, 'thread'), String(thread), 'the thread');
    const [, from, unit, length] = /^(\d+)(\D)(\d+)$/.exec(parameter(page, 'preview'));
    const scale = { n: 1e-6, u: 1e-3, m: 1 }[unit];
    assert(Math.abs(length * scale - numberOf(ms)) < 0.06, `the range has ${length * scale} ms, the row ${ms}`);
    const starts = whole.segments.filter((segment) => segment.thread === thread).map(({ from_ms: start }) => start - whole.segments[0].from_ms);
    assert(starts.some((start) => Math.abs(start - from * scale) < 0.01), `no segment of the report begins at ${from * scale} ms`);
    assertEqual(await page.locator(DIALOG).count(), 0, 'open dialogs');
    await page.close();
});

await check('by keyboard: arrows choose a segment, Enter goes there, Escape closes', async () => {
    const page = await openPage(`${url}?thread=${whole.thread}`, '.page');
    await openPath(page);
    await page.waitForSelector(ROWS);
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowDown');
    const rows = await cellsOf(page, ROWS);
    const selected = await page.$$eval(ROWS, (all) => all.findIndex((row) => row.getAttribute('aria-selected') === 'true'));
    assertEqual(selected, rows.length - 1, 'the selected row');
    await page.keyboard.press('Escape');
    await page.waitForSelector(DIALOG, { state: 'detached' });
    assertEqual(parameter(page, 'preview'), null, 'the range after Escape');
    await openPath(page);
    await page.waitForSelector(ROWS);
    await page.keyboard.press('Enter');
    await page.waitForSelector(DIALOG, { state: 'detached' });
    await settle(page);
    assert(parameter(page, 'preview') !== null, 'Enter selects no range');
    await page.close();
});

await check('the path is of the selected range', async () => {
    const page = await openPage(`${url}?thread=${whole.thread}&preview=60m30`, '.page');
    await openPath(page);
    await page.waitForSelector(ROWS);
    const { sentence } = report('--range', '60ms,90ms');
    assert(sentence.startsWith('Of 30.0 ms'), `the report has ${sentence}`);
    assertEqual(await page.locator('.path-sentence').innerText(), sentence, 'the sentence');
    await page.close();
});

await check('the menu of a track has the path of its thread', async () => {
    const page = await openPage(`${url}?thread=${whole.thread}`, '.page');
    const { thread } = whole.segments.find(({ stack }) => stack[1] === 'second');
    await page.locator(`[data-track="t${thread}"] .track-label`).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Critical path of the selected range' }).click();
    await page.waitForSelector(ROWS);
    assertEqual(await page.locator('.path-sentence').innerText(), report('--thread', 'second').sentence, 'the sentence');
    await page.close();
});

await check('the menu of a marker has the path of its range', async () => {
    const page = await openPage(`${url}?thread=${whole.thread}&tab=marker-table`, '.page');
    await page.locator('.tree-row', { hasText: 'Process' }).first().click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Critical path of its time range' }).click();
    await page.waitForSelector(ROWS);
    assertEqual(await page.locator('.path-sentence').innerText(), report('--marker', 'Process').sentence, 'the sentence');
    await page.close();
});

await check('without wakers, one sentence shows how to record them', async () => {
    const page = await openPage(without, '.page');
    await openPath(page);
    const text = await page.locator(`${DIALOG} [role=status]`).innerText();
    assert(/^This profile has no wakers.*sudo prof record/.test(text), `the dialog has ${text}`);
    await page.close();
});

await checkComplaints();

await closeBrowser();
finish();
