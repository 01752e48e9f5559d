// The Processes view: its rows are those of `prof report --processes`, a click selects the threads of a process and of
// its descendants, and the sentence selects the time in which one process runs at a time.
//
//     node tests/e2e/page_processes.mjs URL PROF PROFILE
import { execFileSync } from 'node:child_process';
import { checkComplaints, closeBrowser, openPage, settle, shownNumber } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, prof, file] = process.argv.slice(2);
const ROW = '[role=treegrid][aria-label=Processes] .tree-row';
const wanted = JSON.parse(execFileSync(prof, ['report', '--processes', '--json', file], { encoding: 'utf8' }));
const parameter = (page, name) => new URL(page.url()).searchParams.get(name);
const openProcesses = (more = '') => openPage(`${url}?tab=processes${more}`, ROW);
const namesOf = (page) => page.$$eval(`${ROW} .tree-text > bdi`, (names) => names.map((name) => name.textContent).join());

await check('the rows are those of the report', async () => {
    const page = await openProcesses();
    const rows = await page.$$eval(ROW, (all) =>
        all.map((row) => ({
            level: Number(row.getAttribute('aria-level')),
            numbers: [...row.querySelectorAll('.number')].map((cell) => Number(cell.textContent.replace(/—/, '0').replaceAll(',', ''))),
            text: row.querySelector('.tree-text').textContent,
        })),
    );
    assertEqual(rows.length, 3, 'the number of processes');
    for (const [at, row] of wanted.processes.entries()) {
        const { level, numbers, text } = rows[at];
        assertEqual(level, row.depth + 1, `the level of ${row.pid}`);
        const [, wall, cpu, tree, path] = numbers;
        const numbersOfReport = [row.to_ms - row.from_ms, row.cpu_ms, row.descendants ? row.tree_cpu_ms : 0, row.path_ms];
        assertEqual([wall, cpu, tree, path].join(), numbersOfReport.map(shownNumber).join(), `the numbers of ${row.pid}`);
        assert(text.startsWith(`${row.name}${row.argument && ` ${row.argument}`}`) && text.includes(row.pid), `the name is ${text}`);
        assertEqual(text.includes(row.exit), row.exit !== 'exit status 0', `a failure of ${row.pid}`);
    }
    const { from_ms: from, to_ms: to } = wanted.path[1];
    const bar = page.locator(`${ROW} .on-path`).nth(2);
    const width = await bar.evaluate((element) => element.getBoundingClientRect().width / element.parentElement.clientWidth);
    assert(Math.abs(width - (to - from) / 100) < 0.02, `the longest step has ${width} of the width`);
    await page.close();
});

await check('a click selects the threads of a process and of its descendants', async () => {
    const page = await openProcesses();
    await page.locator(ROW).nth(1).click();
    await settle(page);
    assertEqual(parameter(page, 'thread'), '1', 'the thread of cc');
    await page.locator(ROW).nth(0).click();
    await settle(page);
    assertEqual(parameter(page, 'thread'), '0w2', 'all threads');
    await page.keyboard.press('ArrowDown');
    assertEqual(parameter(page, 'thread'), '0w2', 'arrows only move');
    await page.keyboard.press('Enter');
    await settle(page);
    assertEqual(parameter(page, 'thread'), '1', 'the thread of the call tree');
    await page.waitForSelector('#tab-calltree[aria-selected=true]');
    await page.close();
});

await check('a tree closes, and a list by CPU time has no levels', async () => {
    const page = await openProcesses();
    await page.locator(`${ROW} .twisty`).first().click();
    assertEqual(await namesOf(page), 'make', 'closed');
    await page.keyboard.press('ArrowRight');
    assertEqual(await namesOf(page), 'make,cc a.c,cc b.c', 'open');
    await page.getByRole('columnheader', { name: 'CPU (ms)', exact: true }).locator('.sort').click();
    await settle(page);
    assertEqual(await namesOf(page), 'cc a.c,cc b.c,make', 'the most CPU time first');
    await page.close();
});

await check('the sentence selects the time in which one process runs at a time', async () => {
    const page = await openProcesses();
    const sentence = page.locator('.process-sentences button');
    assertEqual(await sentence.innerText(), wanted.sentence, 'the sentence');
    await sentence.click();
    await settle(page);
    const [from, to] = parameter(page, 'preview').split(/[^\d.]+/).map(Number);
    assert(to > from, `the range is ${parameter(page, 'preview')}`);
    await page.close();
});

await checkComplaints();

await closeBrowser();
finish();
