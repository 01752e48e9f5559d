// Source and assembly in the page, opened by key, mouse, menu and address. The hot line is marked, its costs are those
// of the tree, and lines and instructions select each other.
//
//     node tests/e2e/page_source.mjs URL PROF PROFILE SOURCE
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { askUntil, checkComplaints, closeBrowser, complaints, numberOf, openPage, readRows, selectedRow, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, prof, file, sourceFile] = process.argv.slice(2);
const sourceLines = readFileSync(sourceFile, 'utf8').split('\n');
/** The line that a remark of the source marks. */
const lineOf = (mark) => sourceLines.findIndex((line) => line.includes(`/* ${mark} */`)) + 1;

const param = (page, name) => new URL(page.url()).searchParams.get(name);
const isOpen = (page) => page.locator('.source-panel').count();

/** The lines on the screen: number, text, costs, heat. */
function readLines(page) {
    return page.$eval('.source-editor', (holder) => {
        const root = holder.shadowRoot;
        const at = (element) => Math.round(element.getBoundingClientRect().top);
        const column = (name) =>
            new Map([...root.querySelectorAll(`${name} .cm-gutterElement`)].map((one) => [at(one), one.textContent]));
        const total = column('.cost-gutter.total');
        const self = column('.cost-gutter.self');
        const number = column('.cm-lineNumbers');
        return [...root.querySelectorAll('.cm-line')].map((line) => ({
            line: Number(number.get(at(line))),
            text: line.firstChild?.nodeValue ?? line.textContent,
            content: line.textContent,
            total: total.get(at(line)) ?? '',
            self: self.get(at(line)) ?? '',
            heat: Number(/heat-(\d)/.exec(line.className)?.[1] ?? 0),
            isChosen: line.classList.contains('chosen'),
            inlined: line.querySelector('.inlined')?.title ?? '',
        }));
    });
}

/** Waits until the source is there, with its costs and a chosen line, whose number may come a moment later. */
async function waitForSource(page) {
    await page.waitForSelector('.source-editor .cm-line');
    await settle(page);
    return askUntil(
        (lines) => lines.some((line) => line.isChosen && line.line > 0) && lines.some((line) => line.total !== ''),
        () => readLines(page),
    );
}

function readCode(page) {
    return page.$$eval('.code-row', (rows) =>
        rows.map((row) => {
            const [total, self, address, origin, instruction] = [...row.children].map((cell) => cell.textContent);
            return { total, self, address, origin, instruction, classes: row.className };
        }),
    );
}

async function waitForCode(page) {
    await page.waitForSelector('.code-row');
    await settle(page);
    return askUntil(
        (rows) => rows.some((row) => row.total !== ''),
        () => readCode(page),
    );
}

async function openCode(page) {
    // Whether it was open is remembered.
    if ((await page.locator('.code-pane').count()) === 0) await page.keyboard.press('a');
    return waitForCode(page);
}

/** The names on the way to the selected row, itself included. */
async function rowsAbove(page) {
    const rows = await readRows(page);
    const at = rows.findIndex((row) => row.selected);
    const names = [];
    for (let i = at, level = rows[at].level; i >= 0; i--)
        if (rows[i].level === level) {
            names.unshift(rows[i].name);
            level--;
        }
    return names;
}

/** Selects the row of a function, in the open tree: the first one of that name. */
async function select(page, name) {
    await page.locator('[role="treegrid"]').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('*');
    await settle(page);
    const row = page.locator('.tree-row', { has: page.locator('.tree-text bdi', { hasText: new RegExp(`^${name}$`) }) }).first();
    // Only the rows on the screen exist; how many the kernel adds above it depends on the machine.
    for (let pages = 0; pages < 50 && (await row.count()) === 0; pages++) {
        await page.keyboard.press('PageDown');
        await settle(page);
    }
    await row.click();
    await settle(page);
}

/** A page that shows the source of a function. */
async function openSourceOf(name) {
    const page = await openPage(url);
    await select(page, name);
    await page.keyboard.press('Enter');
    await waitForSource(page);
    return page;
}

await check('the menu copies where a function is', async () => {
    const page = await openPage(url);
    await select(page, 'divide');
    await page.keyboard.press('Shift+F10');
    await page.getByRole('menuitem', { name: 'Copy source path' }).click();
    const copied = await askUntil((text) => text.startsWith('/'), () => page.evaluate(() => navigator.clipboard.readText()));
    const [path, line = ''] = copied.split(/:(?=\d+$)/);
    assertEqual(path, sourceFile, 'path');
    if (line !== '') assert(sourceLines[Number(line) - 1].includes('divide'), `line ${line} is ${sourceLines[Number(line) - 1]}`);
    await page.close();
});

await check('Enter opens the source at the hottest line of the function, which is the marked one', async () => {
    const page = await openPage(url);
    await select(page, 'divide');
    await page.keyboard.press('Enter');
    const lines = await waitForSource(page);
    const chosen = lines.find((line) => line.isChosen);
    assertEqual(chosen.line, lineOf('HOT'), 'line that is shown');
    assert(chosen.content.includes('/* HOT */'), `its text is ${chosen.content}`);
    const hottest = [...lines].sort((a, b) => b.heat - a.heat)[0];
    assertEqual(hottest.line, lineOf('HOT'), 'hottest line');
    assertEqual(hottest.heat, 5, 'its heat');
    assert(param(page, 'sourceViewIndex') !== null, 'the address does not have the file');
    // The keyboard goes on in the source, and Escape comes back.
    await page.keyboard.press('Escape');
    await settle(page);
    assertEqual(await isOpen(page), 0, 'source panels after Escape');
    assert(await page.evaluate(() => document.activeElement.getAttribute('role') === 'treegrid'), 'the tree has not the focus');
    assertEqual((await selectedRow(page)).name, 'divide', 'selected row');
    await page.close();
});

/** "line total self" of each line with a cost, as `prof report` has it. */
const ONE_DECIMAL = new Intl.NumberFormat('en-US', { useGrouping: false, maximumFractionDigits: 1 });

function reported(...options) {
    const report = JSON.parse(execFileSync(prof, ['report', '--json', '--lines', sourceFile, ...options, file], { encoding: 'utf8' }));
    // Times have one decimal on the page, and 66.05 is not rounded as its binary is.
    const rounded = (weight) => Number(ONE_DECIMAL.format(weight));
    return report.lines.filter((row) => row.total > 0).map((row) => `${row.line} ${rounded(row.total)} ${rounded(row.self)}`);
}

const number = (text) => (text === '' ? 0 : numberOf(text));

/** The same as the page shows it; the whole file is on the screen. */
async function shownCosts(page, wanted) {
    const read = async () =>
        (await readLines(page))
            .filter((row) => row.total !== '')
            .map((row) => `${row.line} ${number(row.total)} ${number(row.self)}`);
    return askUntil((rows) => rows.join() === wanted.join(), read);
}

await check('the costs equal prof report, for all samples, for one row, and after a transform', async () => {
    const page = await openPage(`${url}?chains`);
    await page.setViewportSize({ width: 1280, height: 2400 });
    await select(page, 'divide');
    const path = (await rowsAbove(page)).join(';');
    await page.keyboard.press('Enter');
    await waitForSource(page);
    await page.keyboard.press('f');
    await page.keyboard.press('%');
    const all = reported();
    assertEqual((await shownCosts(page, all)).join('\n'), all.join('\n'), 'costs of all samples');
    await page.keyboard.press('r');
    // Of the row: what the tree has when nothing else is left, but for the callers in the same file.
    const ofRow = reported('--focus-subtree', path.replace('_start;', '_start [lines];')); // the dynamic linker has a _start, too
    assertEqual((await shownCosts(page, ofRow)).join('\n'), ofRow.join('\n'), 'costs of the row');
    assert(ofRow.length > 0 && ofRow.join() !== all.join(), 'the row costs as much as everything');
    await page.keyboard.press('r');
    await page.keyboard.press('Escape');
    await page.locator('[role="treegrid"]').focus();
    await page.keyboard.press('d');
    const without = reported('--drop-function', 'divide');
    assertEqual((await shownCosts(page, without)).join('\n'), without.join('\n'), 'costs without the function');
    await page.close();
});

await check('a double click and the menu also open it, also in the function list', async () => {
    const page = await openPage(url);
    await select(page, 'divide');
    await page.locator('.tree-row.selected .tree-text').dblclick();
    await waitForSource(page);
    await page.getByRole('button', { name: 'Close' }).click();
    assertEqual(await isOpen(page), 0, 'source panels after the close button');
    await page.locator('.tree-row.selected .tree-text').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Show source and assembly' }).click();
    await waitForSource(page);
    await page.goBack();
    await settle(page);
    assertEqual(await isOpen(page), 0, 'source panels after back');
    await page.getByRole('tab', { name: 'Functions' }).click();
    await page.locator('[role="grid"] .tree-row', { hasText: 'divide' }).click();
    await page.keyboard.press('Enter');
    const lines = await waitForSource(page);
    assertEqual(lines.find((line) => line.isChosen)?.line, lineOf('HOT'), 'line that is shown');
    await page.close();
});

await check('n and p walk the hot lines', async () => {
    const page = await openSourceOf('seldom');
    const chosen = async () => (await readLines(page)).find((line) => line.isChosen)?.line;
    const start = await chosen();
    await page.keyboard.press('n');
    const next = await askUntil((line) => line !== start, chosen);
    const hot = (await readLines(page)).filter((line) => line.heat > 0).map((line) => line.line);
    assert(hot.includes(next), `line ${next} is not hot`);
    await page.keyboard.press('p');
    const before = await askUntil((line) => line !== next, chosen);
    assert(hot.includes(before) && before !== next, `line ${before} is not another hot line`);
    await page.close();
});

await check('the address has it all: a pasted one opens the same', async () => {
    const page = await openSourceOf('divide');
    await openCode(page);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('r');
    await page.keyboard.press('f');
    await settle(page);
    const lines = await readLines(page);
    const chosenIn = (all) => all.find((line) => line.isChosen)?.line;
    assertEqual(chosenIn(lines), lineOf('HOT') + 1, 'the line after the hot one');
    await askUntil((address) => address.includes('bottomFullscreen'), async () => page.url());
    for (const name of ['sourceViewIndex', 'assemblyView', 'bottomFullscreen', 'sourceFunc', 'sourceNode', 'sourceCosts', 'sourceLine'])
        assert(param(page, name) !== null, `the address does not have ${name}`);
    const again = await openPage(page.url());
    const there = await waitForSource(again);
    await waitForCode(again);
    const costs = (rows) => rows.filter((row) => row.total !== '').map((row) => `${row.line} ${row.total} ${row.self}`).join('\n');
    assertEqual(costs(there), costs(lines), 'costs of the pasted address');
    assertEqual(chosenIn(there), chosenIn(lines), 'chosen line of the pasted address');
    assertEqual(await again.locator('.source-panel.full').count(), 1, 'source panels in full screen');
    await again.locator('.source-panel').focus();
    await again.keyboard.press('Escape');
    assertEqual(await again.locator('.source-panel.full').count(), 0, 'source panels in full screen after Escape');
    assertEqual(await isOpen(again), 1, 'source panels after Escape');
    await page.close();
    await again.close();
});

await check('the assembly has instructions with costs, jumps, and two syntaxes', async () => {
    const page = await openSourceOf('divide');
    const rows = await openCode(page);
    assert(rows.some((row) => /^div/.test(row.instruction)), 'there is no division');
    const hottest = [...rows].sort((a, b) => Number.parseFloat(b.self || '0') - Number.parseFloat(a.self || '0'))[0];
    assert(hottest.classes.includes('heat-5'), 'the costliest instruction is not marked');
    assertEqual(hottest.origin, `:${lineOf('HOT')}`, 'its line');
    const drawn = await page.locator('.jumps canvas').evaluate((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return data.some((value) => value !== 0);
    });
    assert(drawn, 'no jump is drawn');
    await page.getByRole('button', { name: 'AT&T' }).click();
    const others = await askUntil((all) => all.some((row) => row.instruction.includes('%r')), () => readCode(page));
    assert(others.some((row) => row.instruction.includes('%r')), 'it is not in the syntax of AT&T');
    await page.close();
});

await check('a double click and Enter follow a jump; Ctrl+C copies the line or the instruction', async () => {
    const page = await openSourceOf('divide');
    const copied = (text) => askUntil((found) => found === text, () => page.evaluate(() => navigator.clipboard.readText()));
    await page.keyboard.press('Control+c');
    assertEqual(await copied(sourceLines[lineOf('HOT') - 1]), sourceLines[lineOf('HOT') - 1], 'copied line');
    await openCode(page);
    await page.locator('.code').focus();
    await page.keyboard.press('Home');
    const chosen = async () => (await readCode(page)).find((row) => row.classes.includes('chosen'));
    const addressOf = (text) => text.match(/^j\w+ +0x([0-9a-f]+) <divide\+/)?.[1];
    for (const follow of [() => page.keyboard.press('Enter'), () => page.locator('.code-row.chosen .instruction').dblclick()]) {
        // To the first jump within the function.
        await page.keyboard.press('Home');
        for (let i = 0; i < 200 && !addressOf((await chosen())?.instruction ?? ''); i++) await page.keyboard.press('ArrowDown');
        const jump = await chosen();
        const target = addressOf(jump.instruction);
        assert(target, 'there is no jump');
        await page.keyboard.press('Control+c');
        const text = await copied(jump.instruction);
        assertEqual(text, jump.instruction, 'copied instruction');
        await follow();
        assertEqual((await askUntil((row) => row?.address === target, chosen)).address, target, `instruction after ${jump.instruction}`);
    }
    await page.close();
});

await check('Enter and a double click on a call open the code of the callee, and back returns', async () => {
    const page = await openSourceOf('often');
    await openCode(page);
    const shown = () => page.locator('.symbol-name').innerText();
    const name = (wanted) => askUntil((text) => text === wanted, shown);
    const call = page.locator('.code-row', { hasText: /callq? +0x[0-9a-f]+ <divide>/ }).first();
    for (const follow of [() => page.keyboard.press('Enter'), () => call.dblclick()]) {
        await call.click();
        await follow();
        assertEqual(await name('divide'), 'divide', 'symbol after the call');
        await waitForCode(page);
        const isInCode = () => page.evaluate(() => document.activeElement.classList.contains('code'));
        assert(await askUntil((is) => is, isInCode), 'the keyboard has left the code');
        const lines = await askUntil((all) => all.some((line) => line.isChosen), () => readLines(page));
        assertEqual(lines.find((line) => line.isChosen)?.line, lineOf('HOT'), 'line after the call');
        await page.goBack();
        assertEqual(await name('often'), 'often', 'symbol after going back');
        await waitForCode(page);
    }
    // What nobody has seen running has no code to go to.
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await select(page, 'divide');
    await page.keyboard.press('Enter');
    assertEqual(await name('divide'), 'divide', 'symbol of the row');
    await waitForCode(page);
    await page.locator('.code-row', { hasText: 'puts' }).first().dblclick();
    await page.getByText('No sample in puts@plt').first().waitFor();
    await page.close();
});

await check('a line finds its instructions, and an instruction its line', async () => {
    const page = await openSourceOf('divide');
    await openCode(page);
    const linked = async () => (await readCode(page)).filter((row) => row.classes.includes('linked'));
    const ofHot = await askUntil((rows) => rows.length > 0, linked);
    assert(ofHot.length > 0 && ofHot.every((row) => row.origin === `:${lineOf('HOT')}`), 'other instructions are marked');
    assert(ofHot.some((row) => row.instruction.startsWith('div')), 'the division is not marked');
    await page.locator('.code-row', { hasText: 'puts' }).first().click();
    const lines = await askUntil(
        (all) => all.find((line) => line.isChosen)?.content.includes('puts'),
        () => readLines(page),
    );
    assert(lines.find((line) => line.isChosen)?.content.includes('puts("never")'), 'its line is not marked');
    await page.close();
});

await check('Ctrl+F finds lines of the source and instructions, by text and by number', async () => {
    const page = await openSourceOf('divide');
    await openCode(page);
    const chosenLine = async () => (await readLines(page)).find((line) => line.isChosen);
    const until = (is) => askUntil((line) => line !== undefined && is(line), chosenLine);
    const withPuts = sourceLines.flatMap((line, at) => (line.includes('puts') ? [at + 1] : []));
    assert(withPuts.length > 0, 'the program has changed');
    await page.keyboard.press('Control+f');
    await page.keyboard.type('PUTS');
    assertEqual((await until((line) => withPuts.includes(line.line))).line, withPuts.find((line) => line >= lineOf('HOT')) ?? withPuts[0], 'line that is found');
    const marked = await page.$eval('.source-editor', (holder) => [...holder.shadowRoot.querySelectorAll('mark')].map((one) => one.textContent));
    assert(marked.length > 0 && marked.every((text) => text === 'puts'), `what is marked is ${marked}`);
    await page.locator('.find input').fill(':3');
    assertEqual((await until((line) => line.line === 3)).line, 3, 'line by its number');
    await page.locator('.find input').fill('no such text');
    assertEqual(await askUntil((text) => text === 'none', () => page.locator('.find [role="status"]').innerText()), 'none', 'count');
    // The letters were not taken for keys of the panel.
    assertEqual(await page.locator('.code-pane').count(), 1, 'panes of code');
    await page.keyboard.press('Escape');
    assertEqual(await page.locator('.find').count(), 0, 'searches after Escape');
    assertEqual(await isOpen(page), 1, 'source panels after Escape');
    // In the code, from an instruction on, around the end.
    await page.locator('.code-row').first().click();
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    await page.keyboard.type('div');
    const found = async () => (await readCode(page)).find((row) => row.classes.includes('chosen'));
    const first = await askUntil((row) => row?.instruction.includes('div'), found);
    assert(first.instruction.includes('div'), `the chosen instruction is ${first.instruction}`);
    const count = Number(/of (\d+)/.exec(await page.locator('.find [role="status"]').innerText())[1]);
    for (let i = 0; i < count; i++) await page.keyboard.press('Enter');
    assertEqual((await askUntil((row) => row?.address === first.address, found)).address, first.address, 'instruction after a round');
    await page.close();
});

await check('a line shows the calls that are inlined into it', async () => {
    const page = await openPage(url);
    await select(page, 'scramble');
    await page.keyboard.press('Enter');
    const lines = await waitForSource(page);
    const line = lines.find((one) => one.line === lineOf('INLINED'));
    assert(line.inlined.includes('mix'), `it tells ${line.inlined}`);
    await page.close();
});

await check('functions that are inlined have a mark, and others have none', async () => {
    const page = await openPage(url);
    await page.keyboard.press('3');
    await settle(page);
    const marks = await page.$$eval('.tree-row .tree-text', (all) =>
        all.map((text) => [text.querySelector('bdi').textContent, text.querySelector('.inlined')?.title ?? '']),
    );
    const markOf = (name) => marks.find(([one]) => one === name)?.[1];
    assertEqual(markOf('mix'), 'Inlined into its callers in all samples', 'the mark of mix');
    assertEqual(markOf('divide'), '', 'the mark of divide');
    await page.close();
});

await check('the code of an inlined function is that of each function that it is a part of', async () => {
    const page = await openPage(`${url}?tab=functions`, '[role="grid"] .tree-row');
    await page.locator('[role="grid"] .tree-row', { has: page.locator('.tree-text bdi', { hasText: /^mix$/ }) }).click();
    await page.keyboard.press('Enter');
    await waitForSource(page);
    await openCode(page);
    const shown = () => page.locator('.symbol-name').innerText();
    const names = [await shown()];
    assertEqual(await page.locator('.stepper', { hasText: '1 of 2' }).count(), 1, 'number of steppers');
    await page.getByRole('button', { name: 'Next symbol' }).click();
    names.push(await askUntil((name) => name !== names[0], shown));
    assertEqual(names.sort().join(), 'scramble,seldom', 'symbols');
    await waitForCode(page);
    const address = page.url();
    assert(/^\d+$/.test(param(page, 'assemblyView')), 'the address does not have the symbol');
    const again = await openPage(address, '[role="grid"] .tree-row');
    await waitForCode(again);
    assertEqual(await again.locator('.symbol-name').innerText(), await shown(), 'symbol of the pasted address');
    await page.close();
    await again.close();
});

/** Serves the profile after a change, for as long as `use` takes. */
async function withChanged(change, use) {
    const profile = JSON.parse(gunzipSync(readFileSync(file)));
    change(profile);
    const changed = `${file}.json`;
    writeFileSync(changed, JSON.stringify(profile));
    const server = spawn(prof, ['load', '--no-open', '--port', '0', changed], { stdio: ['ignore', 'ignore', 'pipe'] });
    try {
        const address = await new Promise((found, fail) => {
            let output = '';
            server.stderr.on('data', (text) => {
                output += text;
                const match = /http:\/\/\S+/.exec(output);
                if (match) found(match[0]);
            });
            server.on('exit', () => fail(new Error(`it is not served: ${output}`)));
        });
        await use(address);
    } finally {
        server.kill();
    }
}

const sourceOf = ({ shared }) => shared.sources.filename.findIndex((name) => shared.stringArray[name] === sourceFile);

await check('a text that the profile holds is shown without asking the server', async () => {
    const text = `${'held line\n'.repeat(sourceLines.length)}`;
    await withChanged(
        (profile) => {
            profile.shared.sources.content[sourceOf(profile)] = profile.shared.stringArray.push(text) - 1;
        },
        async (address) => {
            const page = await openPage(address);
            await select(page, 'divide');
            await page.keyboard.press('Enter');
            const lines = await waitForSource(page);
            const chosen = lines.find((line) => line.isChosen);
            assertEqual(`${chosen.line} ${chosen.content}`, `${lineOf('HOT')} held line`, 'the chosen line');
            await page.close();
        },
    );
});

await check('without source text, the panel shows the reason and a remedy, and the costs of lines', async () => {
    const before = complaints.length;
    await withChanged(
        (profile) => {
            const name = profile.shared.sources.filename[sourceOf(profile)];
            profile.shared.stringArray[name] = '/gone/<b>lines</b>.c';
        },
        async (address) => {
            const page = await openPage(address);
            await select(page, 'divide');
            await page.keyboard.press('Enter');
            await page.waitForSelector('.source-pane .empty');
            await page.waitForSelector('.code-row'); // by itself
            const share = await page.$eval('.source-panes', (panes) => panes.querySelector('.code-pane').clientWidth / panes.clientWidth);
            assert(share > 0.6, `the assembly has ${share} of the width, beside a sentence`);
            assert((await page.locator('.source-pane .pane-header').count()) === 0, 'there are headings of no columns');
            await page.focus('[aria-label="Width of the source"]');
            await page.keyboard.press('ArrowRight');
            const wider = await page.$eval('.source-panes', (panes) => panes.querySelector('.code-pane').clientWidth / panes.clientWidth);
            assert(wider < share, 'a key does not move the edge');
            const words = await page.locator('.source-pane .empty').innerText();
            assert(words.includes('/gone/<b>lines</b>.c'), 'the file is not named');
            assert(words.includes('does not come from this file'), 'it does not say why');
            assert(words.includes('--symbol-dir'), 'it does not say what to do');
            const row = page.locator('.source-pane .lines tbody tr', { has: page.getByText(String(lineOf('HOT')), { exact: true }) });
            await askUntil((count) => count === 1, () => row.count());
            assert(/%/.test(await row.innerText()), 'the hot line has no cost');
            await page.close();
        },
    );
    // The browser itself notes that the server has refused.
    const refused = complaints.splice(before).filter((text) => !text.includes('404'));
    assertEqual(refused.join(), '', 'complaints');
});

await check('costs and headings of the code stay in sight when it is scrolled sideways', async () => {
    const page = await openPage(url);
    await page.setViewportSize({ width: 700, height: 800 });
    await select(page, 'divide');
    await page.keyboard.press('Enter');
    await waitForSource(page);
    await openCode(page);
    const lefts = () =>
        page.$$eval('.code .pane-header .cost, .code-row:first-child .cost, .code-row:first-child .instruction', (cells) =>
            cells.map((cell) => Math.round(cell.getBoundingClientRect().left)),
        );
    const before = await lefts();
    assertEqual(before.length, 5, 'cells');
    await page.$eval('.code', (code) => code.scrollTo(60, 0));
    const [headTotal, headSelf, total, self, instruction] = await lefts();
    assertEqual([headTotal, headSelf, total, self].join(), before.slice(0, 4).join(), 'where the costs are');
    assertEqual(instruction, before[4] - 60, 'where the instruction is');
    const band = await page.$eval('.code', (code) => {
        const [head, rows] = ['.pane-header', '.code-rows'].map((name) => code.querySelector(name).getBoundingClientRect());
        return [head.right >= rows.right, rows.right >= code.scrollWidth - 60 + code.getBoundingClientRect().left - 1];
    });
    assertEqual(band.join(), 'true,true', 'whether the band of the headings goes as far as the code');
    await page.close();
});

await check('the addresses and arrows of the code leave room for the instructions', async () => {
    const page = await openSourceOf('divide');
    await openCode(page);
    const [from, to] = await page.$eval('.code-row', (row) => [
        row.getBoundingClientRect().left,
        row.querySelector('.instruction b').getBoundingClientRect().left,
    ]);
    assert(to - from < 280, `an instruction begins after ${to - from} px`);
    await page.close();
});

await check('long names of inlined functions leave room for the instructions', async () => {
    const page = await openPage(url);
    await page.route('**/symbolicate/v5', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: (await response.text()).replaceAll('"mix"', '"mix_and_many_more_letters"') });
    });
    await select(page, 'scramble');
    await page.keyboard.press('Enter');
    await waitForSource(page);
    await openCode(page);
    const width = () => page.locator('.code-row .origin', { hasText: 'mix' }).first().evaluate((cell) => cell.clientWidth);
    const beside = await width();
    assert(beside < 100, `where an instruction comes from takes ${beside} px of half a window`);
    await page.setViewportSize({ width: 1920, height: 800 });
    await page.keyboard.press('f');
    const wide = await askUntil((now) => now > beside + 30, width);
    assert(wide < 160, `it takes ${wide} px of a large window`);
    await page.close();
});

await check('a message above the code counts the instructions that the disassembler does not know', async () => {
    const page = await openPage(url);
    await page.route('**/asm/v1', async (route) => {
        const answer = await route.fetch();
        await route.fulfill({ response: answer, json: { ...(await answer.json()), note: '3 instructions are newer' } });
    });
    await select(page, 'divide');
    await page.keyboard.press('Enter');
    await waitForSource(page);
    await openCode(page);
    assertEqual((await page.locator('.code-pane .note').innerText()).trim(), '3 instructions are newer', 'the note');
    await page.close();
});

/** What the panes say of a function, after a change of the profile. */
async function sentencesOf(change, name) {
    const before = complaints.length;
    let words = [];
    await withChanged(change, async (address) => {
        const page = await openPage(address);
        await select(page, name);
        await page.keyboard.press('Enter');
        await page.waitForSelector('.source-panel');
        if ((await page.locator('.code-pane').count()) === 0) await page.keyboard.press('a');
        await page.waitForSelector('.code-pane .empty');
        await page.waitForSelector('.source-pane .empty, .source-pane .cm-line');
        await settle(page);
        words = [await page.locator('.source-pane').innerText(), await page.locator('.code-pane').innerText()];
        await page.close();
    });
    const refused = complaints.splice(before).filter((text) => !text.includes('404'));
    assertEqual(refused.join(), '', 'complaints');
    return words;
}

await check('a message about a changed program appears once', async () => {
    const otherId = (id) => id.replace(/^../, (start) => (start === '00' ? '11' : '00'));
    const [source, code] = await sentencesOf((profile) => {
        const lib = profile.libs.find((one) => one.name === 'lines');
        lib.codeId = otherId(lib.codeId);
        lib.breakpadId = otherId(lib.breakpadId);
    }, 'divide');
    assert(source.includes('build ID') && source.includes('--symbol-dir'), `of the source it says ${source}`);
    assert(code.includes('The reason is the same as for the source') && !code.includes('build ID'), `of the code it says ${code}`);
});

await check('JIT code has its script, and a message about missing instructions', async () => {
    const script = `${file}.js`;
    writeFileSync(script, 'let words = "a script";\n'.repeat(60));
    const inScript = (hasLines) => (profile) => {
        const { funcTable, frameTable, resourceTable, sources, stringArray } = profile.shared;
        const func = funcTable.name.findIndex((name) => stringArray[name] === 'divide');
        resourceTable.name[funcTable.resource[func]] = stringArray.push('JIT') - 1;
        for (const [name, column] of Object.entries(sources))
            if (Array.isArray(column)) column.push(name === 'filename' ? stringArray.push(script) - 1 : null);
        funcTable.source[func] = sources.length++;
        frameTable.func.forEach((one, frame) => {
            if (one !== func) return;
            frameTable.nativeSymbol[frame] = null;
            frameTable.address[frame] = -1;
            frameTable.lib[frame] = -1;
            if (!hasLines) frameTable.line[frame] = null;
        });
    };
    const [source, code] = await sentencesOf(inScript(true), 'divide');
    assert(!source.includes('line numbers'), `of lines with costs it says ${source}`);
    const [without] = await sentencesOf(inScript(false), 'divide');
    assert(without.includes('no line numbers. JIT compilers that write a jitdump'), `without lines it says ${without}`);
    assert(!source.includes('not found'), `of the source it says ${source}`);
    assert(code.includes('JIT code'), `it says ${code}`);
});

await check('the summary lists the hottest lines as prof report does, and opens them by mouse and by key', async () => {
    const options = ['report', '--json', '--hot-lines', '--limit', '12', '--min-percent', '0', file];
    const report = JSON.parse(execFileSync(prof, options, { encoding: 'utf8' }));
    const page = await openPage(`${url}?tab=summary`, '.card-lines .summary-row');
    await page.getByRole('button', { name: /^All .* threads/ }).click({ timeout: 1000 }).catch(() => undefined);
    await settle(page);
    const shown = await page.$$eval('.card-lines .summary-row', (rows) =>
        rows.map((row) => `${row.querySelector('.share').textContent} ${row.querySelector('bdi').textContent}`),
    );
    const percent = (weight) => (100 * weight) / report.total;
    const share = (weight) => (percent(weight) < 0.05 ? '<0.1%' : `${percent(weight).toFixed(1)}%`);
    const expected = report.hot_lines.map((row) => `${share(row.self)} ${row.file.split('/').at(-1)}:${row.line}`);
    assertEqual(shown.join('\n'), expected.join('\n'), 'lines');
    const note = await page.locator('.card-lines > p').innerText();
    const unknown = report.total - report.self_with_line;
    const words = unknown > report.total * 1e-9 ? `; ${share(unknown)} has no line number` : '';
    assertEqual(note, `By self time${words}`, 'the note');
    const index = report.hot_lines.findIndex((row) => row.file === sourceFile);
    const row = page.locator('.card-lines .summary-row').nth(index);
    const { line } = report.hot_lines[index];
    await row.click();
    const byMouse = await waitForSource(page);
    assertEqual(byMouse.find((one) => one.isChosen)?.line, line, 'the line that the mouse opens');
    await page.keyboard.press('Escape');
    await row.focus();
    await page.keyboard.press('Enter');
    const byKey = await waitForSource(page);
    assertEqual(byKey.find((one) => one.isChosen)?.line, line, 'the line that Enter opens');
    await page.close();
});

await checkComplaints();

await closeBrowser();
finish();
