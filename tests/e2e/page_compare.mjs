// The page of a comparison has base, new and change in every view, with the numbers of `prof diff`.
//
//     node tests/e2e/page_compare.mjs URL URL_SCALED URL_SCRIPT URL_NEW URL_THREADS URL_RUNS PROF BASE NEW
import { execFileSync } from 'node:child_process';
import { answered, closeBrowser, complaints, openPage, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, scaledUrl, scriptUrl, newUrl, threadsUrl, runsUrl, prof, base, changed] = process.argv.slice(2);

function compared(...options) {
    const all = ['diff', '--json', '--min-percent', '0', '--limit', '0', ...options, base, changed];
    return JSON.parse(execFileSync(prof, all, { encoding: 'utf8' }));
}

/** A change as tables show it. */
function signed(change) {
    return change === 0 ? '—' : `${change < 0 ? '−' : '+'}${Math.abs(change)}`;
}

function relative(row, figure) {
    const [before, after] = [row.base[figure], row.new[figure]];
    if (before === after) return '—';
    if (row.base.total === 0) return 'appeared';
    if (row.new.total === 0) return 'gone';
    return `${after < before ? '−' : '+'}${Math.abs((100 * (after - before)) / before).toFixed(1)}%`;
}

/** The columns of a row, as `prof diff` says them. */
function columns(row, figure, other = figure === 'total' ? 'self' : 'total') {
    const sides = [row.base[figure], row.new[figure]].map((weight) => (weight === 0 ? '—' : String(weight)));
    return [...sides, signed(row.change[figure]), relative(row, figure), signed(row.change[other])];
}

/** How far the change is known, as the list of functions says it. */
function known({ interval, is_noise: isNoise }) {
    if (!interval) return '';
    const half = (interval[1] - interval[0]) / 2;
    const reach = `±${half.toLocaleString('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 })}`;
    return isNoise ? `noise ${reach}` : reach;
}

/** Lines of the list of functions: beside the changes of self and total, their intervals. */
function functionLines(selfs, totals) {
    return selfs.map((row) => {
        const all = columns(row, 'self');
        const total = totals.find(({ name }) => name === row.name);
        return `${row.name}: ${[...all.slice(0, 4), known(row), all[4], known(total)].join(' ')}`;
    });
}

const line = (row, figure) => `${row.name}: ${columns(row, figure).join(' ')}`;

/** The rows on the screen, their numbers first to last. */
async function shown(page, table = '#view') {
    const rows = await page.$$eval(`${table} .tree-row`, (all) =>
        all
            .map((row) => ({
                at: Number(row.dataset.row),
                name: row.querySelector('.tree-text bdi').textContent,
                cells: [...row.querySelectorAll('.tree-numbers > *')].map((cell) => cell.textContent),
            }))
            .sort((a, b) => a.at - b.at),
    );
    return rows.map(({ name, cells }) => `${name}: ${cells.join(' ')}`);
}

async function openAll(page) {
    await page.focus('#view .tree');
    await page.keyboard.press('Home');
    await page.keyboard.press('*');
    await answered(page);
}

const parameter = (page, name) => new URL(page.url()).searchParams.get(name);
const lines = (rows, figure) => rows.map((row) => line(row, figure)).join('\n');

const page = await openPage(url);

await check('the header names both sides, the timeline has the tracks of each side', async () => {
    assertEqual((await page.locator('.compared').innerText()).replace(/\s+/g, ' '), 'Base base.folded New new.folded', 'the header');
    const names = await page.locator('.track-name').allInnerTexts();
    assert(names.some((name) => name.startsWith('Base: ')) && names.some((name) => name.startsWith('New: ')), `tracks are ${names}`);
});

await check('the warnings of both files appear once', async () => {
    assertEqual(await page.getByText('The file has no times').count(), 1, 'sentences about it');
});

await check('the call tree has base, new and change of each row, the largest change first', async () => {
    await openAll(page);
    assertEqual((await shown(page)).join('\n'), lines(compared('--tree').tree, 'total'), 'the tree');
});

await check('the sidebar has the figures of both sides of a row', async () => {
    await page.locator('.tree-row', { hasText: 'compute' }).click();
    await answered(page);
    const cells = await page.locator('.amounts-compared tr').allInnerTexts();
    assertEqual(cells.map((row) => row.replace(/\s+/g, ' ')).join('|'), 'samples Base New Change Change %|Total 350 340 −10 −2.9%|Self 300 280 −20 −6.7%|Whole view 547 617 +70 +12.8%', 'the sidebar');
});

await check('so has the inverted tree', async () => {
    await page.keyboard.press('i');
    await answered(page);
    const roots = compared('--inverted', '--depth', '1').tree;
    const wanted = roots.map((row) => line(row, 'total'));
    const rows = (await shown(page)).filter((row) => wanted.includes(row));
    assertEqual(rows.join('\n'), wanted.join('\n'), 'its roots');
    await page.keyboard.press('i');
    await answered(page);
});

await check('a transform and a search work on both sides, and are undone', async () => {
    await page.locator('.tree-row', { hasText: 'parse' }).click();
    await page.keyboard.press('m');
    await answered(page);
    await openAll(page);
    assertEqual((await shown(page)).join('\n'), lines(compared('--tree', '--merge-function', 'parse').tree, 'total'), 'the merged tree');
    await page.keyboard.press('Control+z');
    await settle(page);
    await page.keyboard.press('/');
    await page.keyboard.type('compute');
    await settle(page);
    await openAll(page);
    assertEqual((await shown(page)).join('\n'), lines(compared('--tree', '--search', 'compute').tree, 'total'), 'the searched tree');
});

await check('one side is counted alone on wish; the address keeps it, and undo takes it back', async () => {
    await page.goto(url);
    await page.waitForSelector('.tree-row.selected');
    const choose = (name) => page.getByRole('radiogroup', { name: 'Comparison' }).getByRole('radio', { name }).click();
    await choose('New');
    await answered(page);
    assertEqual(parameter(page, 'compared'), 'new', 'the address');
    await page.reload();
    await page.waitForSelector('.tree-row.selected');
    await openAll(page);
    assert((await shown(page)).includes('fresh: 6.5% 40 6.5% 40'), `rows are ${await shown(page)}`);
    assert(!(await shown(page)).some((row) => row.startsWith('old')), 'the new side has what is gone');
    assertEqual(await page.locator('.amounts-compared').count(), 0, 'tables of both sides in the sidebar');
    await choose('Change');
    await answered(page);
    await page.keyboard.press('Control+z');
    await settle(page);
    assertEqual(parameter(page, 'compared'), 'new', 'the address after undo');
    await page.keyboard.press('Control+Z');
    await settle(page);
    await page.focus('#view .tree');
    await page.keyboard.press('y');
    await answered(page);
    assertEqual(parameter(page, 'compared'), 'base', 'the address after a key');
});

await check('functions are listed by the change of their self time, with how far it is known', async () => {
    await page.goto(`${url}?tab=functions`);
    await page.waitForSelector('.tree-row');
    await answered(page);
    await page.waitForSelector('.certainty dt:has-text("Total of the function")');
    const [selfs, totals] = [compared('--functions').functions, compared('--functions', '--total').functions];
    assert(selfs.some((row) => row.is_noise), 'no change is judged');
    const main = (rows) => known(rows.find(({ name }) => name === 'main'));
    assert(main(selfs) === '' && main(totals) !== '', 'self and total of main are known alike');
    assertEqual((await shown(page)).join('\n'), functionLines(selfs, totals).join('\n'), 'the list');
    const text = (await page.locator('.certainty').innerText()).replace(/\s+/g, ' ');
    assert(text.includes('Whole view +70 ±') && text.includes('not more than noise'), `the verdict is ${text}`);
    await page.getByRole('button', { name: 'Base self' }).click();
    await answered(page);
    assert((await shown(page))[0].startsWith('compute: 300 280'), `by the base, ${await shown(page)}`);
});

await check('the sidebar has the intervals of the total and the self time of a function', async () => {
    const figure = (row) => `${signed(row.change)} ${known(row).replace('noise ', '')} samples: not more than noise`;
    const [self, total] = ['self', 'total'].map((by) => {
        const row = compared('--functions', `--${by}`).functions.find(({ name }) => name === 'compute');
        return figure({ ...row, change: row.change[by] });
    });
    await page.goto(url);
    await page.locator('.tree-row', { hasText: 'compute' }).click();
    await page.waitForSelector('.certainty dt:has-text("Total of the function")');
    const text = (await page.locator('.certainty').innerText()).replace(/\s+/g, ' ');
    assert(text.startsWith(`Total of the function ${total} Self of the function ${self} Whole view`), `it is ${text}`);
});

await check('the summary has the intervals of the whole change and of the largest change', async () => {
    await page.goto(`${url}?tab=summary`);
    await page.waitForSelector('.summary-head strong:has-text("parse")');
    await page.waitForFunction(() => document.querySelector('.summary-head').textContent.includes('95%'));
    const { functions, total_change: all } = compared('--functions');
    const reach = (row) => `95%: ${known({ interval: row.interval, is_noise: false })} samples, not more than noise`;
    assertEqual(
        (await page.locator('.summary-head p').first().innerText()).replace(/\s+/g, ' '),
        `547 samples in the base, 617 samples in the new side: +70 samples (+12.8%), ${reach(all)}. Largest change of self time: parse (+60 samples, ${reach(functions[0])}).`,
        'the head',
    );
});

await check('the wall time and the order of the recordings are shown', async () => {
    const order = 'One side was recorded before the other: changes of the machine in between count as changes, too.';
    const wallTime = '3 ms to 161 ms, +5,267% (95%: ±0)';
    const head = async () => (await page.locator('.summary-head').innerText()).replace(/\s+/g, ' ');
    await page.goto(`${runsUrl}?tab=summary&weight=cpu-time`);
    await page.waitForSelector('.summary-note');
    assert((await head()).includes(`more than noise. Wall time: ${wallTime}. Largest`), `the head is ${await head()}`);
    assert((await head()).includes(order), `the head is ${await head()}`);
    await page.getByRole('button', { name: 'Recording' }).click();
    await page.waitForSelector('dialog[open] table');
    const facts = (await page.locator('dialog[open]').innerText()).replace(/\s+/g, ' ');
    assert(facts.includes(`Wall time ${wallTime} Order ${order}`), `the dialog is ${facts}`);
    await page.goto(`${runsUrl}?tab=functions&weight=cpu-time`);
    await page.waitForSelector('.amounts-compared');
    const amounts = () => page.locator('.amounts-compared').innerText();
    assert(/Wall time\s+3(\.0)?\s+161(\.0)?\s+\+158(\.0)?\s+\+5,267%/.test(await amounts()), `the sidebar is ${await amounts()}`);
    await page.goto(`${runsUrl}?tab=functions&weight=cpu-time&search=leaf`);
    await page.waitForSelector('.amounts-compared');
    assert(!(await amounts()).includes('Wall time'), `of a search, the sidebar is ${await amounts()}`);
    await page.goto(`${runsUrl}?tab=summary&weight=cpu-time&search=leaf`);
    await page.waitForSelector('.summary-note');
    assert(!(await head()).includes('Wall time'), `of what the search leaves, the head is ${await head()}`);
    await page.goto(`${url}?tab=summary`);
    await page.waitForSelector('.summary-note');
    assert(!(await head()).includes('Wall time') && !(await head()).includes(order), `of samples, the head is ${await head()}`);
    assert((await head()).includes('One run per side: the variation between runs is unknown'), 'one run is taken for several');
});

await check('a butterfly has the change of callers and callees', async () => {
    const { butterfly } = compared('--butterfly', 'compute');
    await page.goto(`${url}?tab=butterfly`);
    await page.waitForSelector('.wing-list .tree-row');
    await page.locator('.wing-list .tree-row', { hasText: 'compute' }).click();
    await page.waitForSelector('.focus-head p:has-text("95%")');
    const row = compared('--functions', '--total').functions.find(({ name }) => name === 'compute');
    const reach = `95%: ${known(row).replace('noise ', '')} samples, not more than noise`;
    const head = (await page.locator('.focus-head p').innerText()).replace(/\s+/g, ' ');
    assertEqual(head, `350 samples → 340 samples: −10 samples (−2.9%) total, ${reach}; −20 samples self`, 'the head');
    assertEqual((await shown(page, '.wing.callees')).join('\n'), lines(butterfly.callees, 'total'), 'callees');
    const callers = butterfly.callers.map((row) => `${row.name}: ${columns(row, 'total').slice(0, 4).join(' ')}`);
    assertEqual((await shown(page, '.wing.callers')).join('\n'), callers.join('\n'), 'callers');
});

/** What both sides have of each function that main calls: as wide are its rects, in the order of their names. */
const WIDTHS = { compute: 690, fresh: 40, old: 20, parse: 260, steady: 154 };

/** The place of a function's rect in the window. */
async function rectOf(name) {
    const { x, y, width, height } = await page.locator('.chart').boundingBox();
    const names = Object.keys(WIDTHS);
    const sum = (list) => list.reduce((all, func) => all + WIDTHS[func], 0);
    const before = sum(names.slice(0, names.indexOf(name)));
    return [x + ((before + WIDTHS[name] / 2) / sum(names)) * width, y + height - 1.5 * 18];
}

/** Its color, beside its name. */
async function colorOf(name) {
    return page.evaluate(
        ([left, top]) => {
            const canvas = document.querySelector('.chart-canvas');
            const { x, y, width } = canvas.getBoundingClientRect();
            const ratio = canvas.width / width;
            return [...canvas.getContext('2d').getImageData((left - x) * ratio, (top - y - 7) * ratio, 1, 1).data];
        },
        await rectOf(name),
    );
}

await check('the flame graph is blue for less time and orange for more time, and has the figures', async () => {
    await page.goto(`${url}?tab=flame-graph`);
    await page.waitForSelector('.chart');
    await answered(page);
    const [gone, more, same] = [await colorOf('old'), await colorOf('parse'), await colorOf('steady')];
    assert(gone[2] > gone[0] + 40, `what is gone is ${gone}`);
    assert(more[0] > more[2] + 40, `what is more is ${more}`);
    assert(Math.max(...same.slice(0, 3)) - Math.min(...same.slice(0, 3)) < 30, `what is the same is ${same}`);
    await page.mouse.move(...(await rectOf('parse')));
    const text = (await page.locator('.tooltip').innerText()).replace(/\s+/g, ' ');
    assert(text.includes('Base 100 samples New 160 samples Change +60 samples +60.0%'), `the tooltip is ${text}`);
    assert((await page.locator('.change-legend').innerText()).includes('Less in new'), 'there is no legend');
});

await check('a click on a track of one side chooses the thread of both', async () => {
    await page.goto(url);
    await page.waitForSelector('.tree-row.selected');
    await page.locator('.track-label', { hasText: 'Base: ' }).click();
    await answered(page);
    assert((await shown(page)).some((row) => row.startsWith('main: 547 617 +70 +12.8%')), `rows are ${await shown(page)}`);
});

await check('the header has the number of runs and the scale', async () => {
    await page.goto(scaledUrl);
    await page.waitForSelector('.tree-row.selected');
    const text = (await page.locator('.compared').innerText()).replace(/\s+/g, ' ');
    assertEqual(text, 'Base base.folded New new.folded and 1 more (mean of 2 runs) new × 0.625 for the same function parse', 'the header');
    await openAll(page);
    assert((await shown(page)).includes('parse: 100 100 — — —'), `rows are ${await shown(page)}`);
});

await check('sides are normalized on the page; the address keeps it, and undo takes it back', async () => {
    await page.goto(url);
    await page.waitForSelector('.tree-row.selected');
    const scale = async () => (await page.locator('.compared').innerText()).replace(/\s+/g, ' ').replace(/.*new\.folded ?/, '');
    await page.getByRole('combobox', { name: 'Normalization' }).selectOption('wall-time');
    await answered(page);
    const wanted = compared('--tree', '--by', 'wall-time').scale;
    assert(wanted !== 1, 'both sides took as long');
    assertEqual(await scale(), `new × ${Number(wanted.toPrecision(4))} for the same wall time`, 'the header');
    await page.locator('.tree-row', { hasText: 'parse' }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Normalize by this function' }).click();
    await answered(page);
    assertEqual(parameter(page, 'scaledBy'), 'function:parse', 'the address');
    await page.reload();
    await page.waitForSelector('.tree-row.selected');
    await openAll(page);
    assertEqual(await scale(), 'new × 0.625 for the same function parse', 'the header');
    assert((await shown(page)).includes('parse: 100 100 — — —'), `rows are ${await shown(page)}`);
    await page.keyboard.press('Control+z');
    await settle(page);
    assertEqual(parameter(page, 'scaledBy'), 'wall-time', 'the address after undo');
    await page.goto(scaledUrl);
    await page.waitForSelector('.tree-row.selected');
    await page.getByRole('combobox', { name: 'Normalization' }).selectOption('none');
    await answered(page);
    await openAll(page);
    assert((await shown(page)).includes('parse: 100 160 +60 +60.0% +60'), `rows are ${await shown(page)}`);
});

await check('source lines have the costs of both sides, in the color of the change', async () => {
    await page.goto(`${scriptUrl}?weight=samples`);
    await page.waitForSelector('.tree-row.selected');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.cm-gutterElement.heat-5');
    const costs = await page.$$eval('.cm-gutterElement[class*=heat-]', (all) =>
        all.map((cost) => `${/tone-(\w+)/.exec(cost.className)?.[1]} ${cost.textContent}`),
    );
    // Base and new are a column each.
    assertEqual(costs.join(), 'more 66.7%,less 33.3%,more 106.7%,less 13.3%', 'the costs');
    assertEqual(await page.locator('.source-pane .cost').allInnerTexts().then((texts) => texts.join()), 'Base,New', 'their titles');
});

/** Runs a command of the palette. */
async function command(text) {
    await page.keyboard.press('Control+k');
    await page.keyboard.type(text);
    await page.waitForSelector('.palette [role=option]');
    await settle(page);
    await page.keyboard.press('Enter');
}

await check('the page compares its profile with a file, and two ranges of it', async () => {
    await page.goto(newUrl);
    await page.waitForSelector('.tree-row.selected');
    const chooser = page.waitForEvent('filechooser');
    await command('Compare with a profile');
    await (await chooser).setFiles(base);
    await page.waitForSelector('.compared');
    await answered(page);
    await openAll(page);
    const tree = (await shown(page)).join('\n');
    assertEqual(tree, lines(compared('--tree').tree, 'total'), 'the tree');
    const [saved] = await Promise.all([page.waitForEvent('download'), command('Save the profile')]);
    const report = execFileSync(prof, ['report', '--json', '--min-percent', '0', '--limit', '0', await saved.path()], {
        encoding: 'utf8',
    });
    assertEqual(lines(JSON.parse(report).tree, 'total'), tree, 'the tree of the comparison that the page has saved');
    await page.goBack();
    await page.waitForSelector('.product');
    // The first 160 samples are those of parse, the next 280 those of compute.
    await page.goto(`${newUrl}?range=160m100`);
    await page.waitForSelector('.tree-row.selected');
    await command('Compare the selected range');
    await page.waitForSelector('.compared');
    await answered(page);
    await openAll(page);
    const text = (await page.locator('.compared').innerText()).replace(/\s+/g, ' ');
    assert(
        text.startsWith('Base samples 61–160 of') && text.includes('New samples 161–260 of'),
        `the header is ${text}`,
    );
    assert((await shown(page)).some((row) => row.startsWith('compute: — 280 +280 appeared')), `rows are ${await shown(page)}`);
    const rows = (await shown(page)).join('\n');
    await page.reload();
    await page.waitForSelector('.compared');
    await answered(page);
    await openAll(page);
    assertEqual((await page.locator('.compared').innerText()).replace(/\s+/g, ' '), text, 'the header after a reload');
    assertEqual((await shown(page)).join('\n'), rows, 'the rows after a reload');
});

await check('the page compares two ranges that were selected one after the other', async () => {
    await page.goto(`${newUrl}?range=160m100`);
    await page.waitForSelector('.tree-row.selected');
    await command('Use the selected range');
    await page.keyboard.press('Z');
    await settle(page);
    await command('Compare the selection with the base');
    await page.waitForSelector('.compared');
    await answered(page);
    const text = (await page.locator('.compared').innerText()).replace(/\s+/g, ' ');
    assert(/Base .*, samples 161–260, of/.test(text) && !/New .*samples \d/.test(text), `the header is ${text}`);
});

await check('the page compares threads with the others, and ignores the chosen differences of names', async () => {
    await page.goto(`${threadsUrl}?thread=1`);
    await page.waitForSelector('.tree-row.selected');
    await command('Compare the selected threads');
    await page.waitForSelector('.compared');
    await answered(page);
    await openAll(page);
    const header = (await page.locator('.compared').innerText()).replace(/\s+/g, ' ');
    assert(header.includes('Base thread') && header.includes('New thread'), `the header is ${header}`);
    const names = (rows) => rows.map((row) => row.split(':')[0]).sort().join(' ');
    assertEqual(names(await shown(page)), 'grow<…> grow<…> main shrink shrink.isra.0', 'functions by their whole names');
    const ofOneSide = (await shown(page)).filter((row) => /appeared|gone/.test(row));
    assertEqual(ofOneSide.length, 4, 'functions that one of the threads alone has');
    await command('Match functions ignoring template');
    await page.waitForFunction(() => document.querySelector('.compared') && window.unanswered === 0);
    await settle(page);
    await openAll(page);
    const matched = await shown(page);
    assertEqual(names(matched), 'grow<…> main shrink', 'functions by what their names have in common');
    assertEqual(matched.filter((row) => /appeared|gone/.test(row)).join(), '', 'functions of one side');
    await command('Match functions by full');
    await page.waitForFunction(() => document.querySelector('.compared') && window.unanswered === 0);
    await settle(page);
    await openAll(page);
    assertEqual((await shown(page)).length, 5, 'functions by their whole names again');
});

await check('nothing went wrong on the way', async () => {
    assertEqual(complaints.join('; '), '', 'what the page complained of');
    assertEqual(await page.locator('[role=alert]').count(), 0, 'sentences about what went wrong');
});

await closeBrowser();
finish();
