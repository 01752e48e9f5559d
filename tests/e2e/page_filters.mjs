// Sample weight, idle samples and kernel frames, by menu and by address, with the numbers of `prof report`.
//
//     node tests/e2e/page_filters.mjs URL PROF PROFILE URL_OF_ALLOCATIONS URL_OF_EVENTS PROFILE_OF_EVENTS
import { execFileSync } from 'node:child_process';
import { checkComplaints, closeBrowser, openPage, readRows, selectedRow, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, prof, file, allocations, events, eventsFile] = process.argv.slice(2);

/** As the page writes it: one decimal for ms. */
function written(value, unit) {
    if (value === 0) return '—';
    return unit === 'ms' ? value.toFixed(1) : String(value);
}

const reported = (...options) => reportedOf(file, ...options);

function reportedOf(profile, ...options) {
    const { tree, unit } = JSON.parse(execFileSync(prof, ['report', '--json', ...options, profile], { encoding: 'utf8' }));
    return tree.map((row) => `${row.depth} ${row.name} ${written(row.total, unit)} ${written(row.self, unit)}`).join('\n');
}

async function shown(page) {
    await page.locator('[role="treegrid"]').focus();
    await page.keyboard.press('Home');
    for (let at = -1; (await selectedRow(page)).at !== at; ) {
        at = (await selectedRow(page)).at;
        await page.keyboard.press('*');
        await settle(page);
        const next = (await readRows(page)).find((row) => row.level === 1 && row.at > at);
        for (let i = at; next && i < next.at; i++) await page.keyboard.press('ArrowDown');
    }
    const rows = await readRows(page);
    return rows.map((row) => `${row.level - 1} ${row.name} ${row.total} ${row.self}`).join('\n');
}

const parameter = (page, name) => new URL(page.url()).searchParams.get(name);
const WEIGHTS = [
    ['Weighted samples', null, [], 'Total (samples)'],
    ['Samples', 'samples', ['--weight', 'samples'], 'Total (samples)'],
    ['Time', 'time', ['--weight', 'time'], 'Total (ms)'],
    ['CPU time', 'cpu-time', ['--weight', 'cpu-time'], 'Total (ms)'],
    ['Off-CPU time', 'off-cpu-time', ['--weight', 'off-cpu-time'], 'Total (ms)'],
    ['On-CPU samples', 'on-cpu', ['--weight', 'on-cpu'], 'Total (samples)'],
    ['Off-CPU samples', 'off-cpu', ['--weight', 'off-cpu'], 'Total (samples)'],
];

await check('every weight has the numbers of prof report, in its unit, and is in the address', async () => {
    const page = await openPage(url);
    const select = page.getByLabel('Sample weight');
    const offered = await select.locator('option').allInnerTexts();
    assertEqual(offered.join(), WEIGHTS.map(([label]) => label).join(), 'weights that are offered');
    for (const [label, code, options, title] of [...WEIGHTS.slice(1), WEIGHTS[0]]) {
        await select.selectOption({ label });
        await settle(page);
        assertEqual(parameter(page, 'weight'), code, `weight in the address after ${label}`);
        assertEqual(await shown(page), reported(...options), `the tree by ${label}`);
        assertEqual(await page.getByRole('columnheader', { name: title, exact: true }).count(), 1, `heads ${title}`);
    }
    await page.close();
});

const ALLOCATIONS = [
    ['JavaScript allocations', 'js-allocations', ['main 64 B —', 'build 48 B 48 B', 'parse 16 B 16 B']],
    ['Retained memory', 'native-retained-allocations', ['main 4.5 KiB —', 'parse 4.5 KiB 4.5 KiB']],
    ['Allocated memory', 'native-allocations', ['main 7.5 KiB —', 'parse 4.5 KiB 4.5 KiB', 'build 3 KiB 3 KiB']],
    ['Deallocated memory', 'native-deallocations-memory', ['main -3 KiB —', 'build -3 KiB -3 KiB']],
    ['Deallocation sites', 'native-deallocations-sites', ['main -3.06 KiB -3.06 KiB']],
];
const treeOf = async (page) => (await readRows(page)).map(({ name, total, self }) => `${name} ${total} ${self}`);

await check('allocations are weights in bytes, in every range, and time samples stay the same', async () => {
    const page = await openPage(allocations);
    const select = page.getByLabel('Sample weight');
    const before = (await treeOf(page)).join();
    for (const [label, code, rows] of ALLOCATIONS) {
        await select.selectOption({ label });
        await settle(page);
        assertEqual(parameter(page, 'weight'), code, `weight in the address after ${label}`);
        assertEqual((await treeOf(page)).join(), rows.join(), `the tree by ${label}`);
        assertEqual(await page.getByRole('columnheader', { name: 'Total (bytes)', exact: true }).count(), 1, 'heads in bytes');
    }
    await select.selectOption({ label: 'Samples' });
    await settle(page);
    assertEqual((await treeOf(page)).join(), before, 'the tree of samples');
    await page.close();
});

await check('memory that is deallocated after the range is retained in the range, and searches keep their matches', async () => {
    const address = new URL(allocations);
    address.searchParams.set('weight', 'native-retained-allocations');
    address.searchParams.set('range', '1m3');
    let page = await openPage(address.href);
    assertEqual((await treeOf(page)).join(), 'main 2 KiB —,build 2 KiB 2 KiB', 'the tree of the range');
    await page.close();
    address.searchParams.delete('range');
    address.searchParams.set('weight', 'native-allocations');
    address.searchParams.set('search', 'build');
    page = await openPage(address.href);
    assertEqual((await treeOf(page)).join(), 'main 3 KiB —,build 3 KiB 3 KiB', 'the tree of the search');
    await page.close();
});

const EVENTS = [
    ['page-faults', ['main 1,335 1', 'parse 1,234 1,234', 'build 100 100']],
    ['sched:sched_switch', ['main 2 —', 'build 2 2']],
];

await check('events are weights beside time, with their names as units, by choice and by address', async () => {
    const page = await openPage(events);
    const select = page.getByLabel('Sample weight');
    const before = (await treeOf(page)).join();
    for (const [name, rows] of EVENTS) {
        await select.selectOption({ label: name });
        await settle(page);
        assertEqual(parameter(page, 'weight'), name, `weight in the address after ${name}`);
        assertEqual((await treeOf(page)).join(), rows.join(), `the tree by ${name}`);
        assertEqual((await shown(page)).replaceAll(',', ''), reportedOf(eventsFile, '--weight', name), `prof report --weight ${name}`);
        assertEqual(await page.getByRole('columnheader', { name: `Total (${name})`, exact: true }).count(), 1, `heads ${name}`);
        const again = await openPage(page.url());
        assertEqual(await shown(again), await shown(page), `the tree of the pasted address with ${name}`);
        await again.close();
    }
    await select.selectOption({ label: 'CPU time' });
    await settle(page);
    assertEqual(await shown(page), reportedOf(eventsFile, '--weight', 'cpu-time'), 'CPU time beside them');
    await select.selectOption({ label: 'Samples' });
    await settle(page);
    assertEqual((await treeOf(page)).join(), before, 'the tree of samples');
    await page.close();
});

await check('the events of a range are inside the range', async () => {
    const address = new URL(events);
    address.searchParams.set('weight', 'page-faults');
    address.searchParams.set('range', '1m2');
    const page = await openPage(address.href);
    const total = (await readRows(page))[0]?.total;
    const json = execFileSync(prof, ['report', '--json', '--weight', 'page-faults', '--range', '1ms,3ms', eventsFile], { encoding: 'utf8' });
    assertEqual(total.replaceAll(',', ''), String(JSON.parse(json).total), 'the total of the range');
    await page.close();
});

await check('on and off the CPU make the whole time', async () => {
    const sum = (weight) =>
        JSON.parse(execFileSync(prof, ['report', '--json', '--weight', weight, file], { encoding: 'utf8' })).total;
    assertEqual(sum('cpu-time') + sum('off-cpu-time'), sum('time'), 'the sum');
    assertEqual(sum('time'), 22, 'time');
    assertEqual(sum('cpu-time'), 6, 'CPU time');
    assertEqual(sum('off-cpu'), 11, 'weight of samples off the CPU');
});

const STACKS = [
    ['User frames', 'user', ['--frames', 'user']],
    ['Kernel frames', 'kernel', ['--frames', 'kernel']],
    ['All frames', null, []],
];

await check('frames of the kernel are left out, or alone, and the selected row stays', async () => {
    const page = await openPage(url);
    await shown(page);
    await page.locator('.tree-row', { hasText: 'work' }).click();
    const select = page.getByLabel('Frame filter');
    for (const [label, code, options] of STACKS) {
        await select.selectOption({ label });
        await settle(page);
        if (code === 'user') assertEqual((await selectedRow(page)).name, 'work', 'selected row');
        assertEqual(parameter(page, 'implementation'), code, `frames in the address after ${label}`);
        assertEqual(await shown(page), reported(...options), `the tree of ${label}`);
        if (label === 'User frames') assertEqual(await shown(page), reported('--merge-category', 'Kernel'), 'the tree without the category');
        if (label === 'Kernel frames') assertEqual(await shown(page), reported('--focus-category', 'Kernel'), 'the tree of the category');
        assertEqual(await page.locator('.transforms').count(), 0, 'bars of transforms');
    }
    await page.close();
});

await check('idle samples are dropped after the transforms, and the address has the choice', async () => {
    const page = await openPage(url);
    await page.getByLabel('Include idle samples').click();
    await settle(page);
    assertEqual(parameter(page, 'hideIdleSamples'), '', 'idle samples in the address');
    assertEqual(await shown(page), reported('--drop-category', 'Idle'), 'the tree');
    await page.locator('.tree-row', { hasText: 'work' }).first().click();
    await page.keyboard.press('m');
    await settle(page);
    assertEqual(await shown(page), reported('--merge-function', 'work', '--drop-category', 'Idle'), 'the tree after a transform');
    const again = await openPage(page.url());
    assert(!(await again.getByLabel('Include idle samples').isChecked()), 'the pasted address has them');
    assertEqual(await shown(again), await shown(page), 'the tree of the pasted address');
    await again.close();
    await page.goBack();
    await page.goBack();
    await settle(page);
    assertEqual(await shown(page), reported(), 'the tree after going back');
    await page.close();
});

await check('G leaves the frames of a category out, as a transform', async () => {
    const page = await openPage(url);
    await shown(page);
    await page.locator('.tree-row', { hasText: 'sys_read' }).click();
    await page.keyboard.press('G');
    await settle(page);
    assertEqual(parameter(page, 'transforms'), 'mg-1', 'transforms in the address');
    assertEqual(await shown(page), reported('--merge-category', 'Kernel'), 'the tree');
    await page.close();
});

await check('text typed during a search stays, and is searched; back changes the field', async () => {
    const page = await openPage(url);
    const field = page.locator('#stack-search');
    await page.evaluate(() => {
        const input = document.querySelector('#stack-search');
        const type = (text) => {
            input.value = text;
            input.dispatchEvent(new Event('input', { bubbles: true }));
        };
        type('w');
        input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })); // searches at once
        type('wo'); // before the page has shown that search
    });
    await settle(page);
    assertEqual(await field.inputValue(), 'wo', 'what is in the field');
    assertEqual(parameter(page, 'search'), 'wo', 'the search in the address');
    await page.goBack();
    await settle(page);
    assertEqual(await field.inputValue(), '', 'what is in the field after back');
    await page.close();
});

await checkComplaints();

await closeBrowser();
finish();
