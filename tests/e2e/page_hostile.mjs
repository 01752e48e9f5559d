// A profile whose texts try to break the page, and the checks that they do not.
//
//     node tests/e2e/page_hostile.mjs write FILE      writes the profile
//     node tests/e2e/page_hostile.mjs URL             checks the page that `prof load -n FILE` serves
import { writeFile } from 'node:fs/promises';
import { assert, assertEqual, check, complaints, finish, openPage, readRows, settle } from './page_driver.mjs';

const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
const RIGHT_TO_LEFT = 'safe\u202Elmx.exe\u2066\u200B';
const CONTROLS = 'tab\tnull\u0000escape\u001b[31mred\nline';
const LONG = `long_${'A'.repeat(1 << 20)}`;
const PILED = `z${'\u0335\u0321\u0310'.repeat(400)}`;
const NAMES = ['main', MARKUP, RIGHT_TO_LEFT, CONTROLS, LONG, PILED, '', '(truncated)'];

function table(rows, columns) {
    return { ...columns, length: rows };
}

function hostileProfile() {
    const stringArray = [...NAMES, MARKUP];
    const funcs = NAMES.length;
    const column = (value) => NAMES.map(() => value);
    const indexes = NAMES.map((_, at) => at);
    // Every name is called by main; the last one is a root of its own.
    const stacks = NAMES.map((_, at) => (at === 0 || at === funcs - 1 ? 0 : at));
    const samples = NAMES.flatMap((_, at) => new Array(funcs - at).fill(at));
    return {
        meta: {
            interval: 1,
            startTime: 1767225600000,
            processType: 0,
            product: MARKUP,
            stackwalk: 1,
            version: 36,
            preprocessedProfileVersion: 70,
            markerSchema: [],
            categories: [{ name: MARKUP, color: 'grey', subcategories: ['Other'] }],
            symbolicated: true,
            arguments: RIGHT_TO_LEFT,
            extra: [{ label: MARKUP, entries: [{ label: MARKUP, format: 'string', value: CONTROLS }] }],
        },
        libs: [],
        shared: {
            stringArray,
            stackTable: table(funcs, { frame: indexes, prefixOffset: stacks }),
            frameTable: table(funcs, {
                address: column(-1),
                lib: column(-1),
                inlineDepth: column(0),
                category: column(0),
                subcategory: column(0),
                func: indexes,
                nativeSymbol: column(null),
                innerWindowID: column(0),
                line: column(null),
                column: column(null),
                originalLocation: column(null),
            }),
            funcTable: table(funcs, {
                name: indexes,
                isJS: column(false),
                relevantForJS: column(false),
                resource: column(0),
                source: column(null),
                lineNumber: column(null),
                columnNumber: column(null),
                originalLocation: column(null),
            }),
            resourceTable: table(1, { name: [funcs], host: [null], type: [1] }),
            nativeSymbols: table(0, { libIndex: [], address: [], name: [], functionSize: [] }),
            sources: table(0, { id: [], filename: [], startLine: [], startColumn: [], sourceMapURL: [], content: [] }),
            sourceLocationTable: table(0, { source: [], line: [], column: [] }),
        },
        threads: [
            {
                processType: 'default',
                processStartupTime: 0,
                processShutdownTime: null,
                registerTime: 0,
                unregisterTime: null,
                pausedRanges: [],
                name: MARKUP,
                isMainThread: true,
                processName: RIGHT_TO_LEFT,
                pid: '1',
                tid: 1,
                samples: table(samples.length, {
                    stack: samples,
                    timeDeltas: samples.map(() => 1),
                    weight: null,
                    weightType: 'samples',
                }),
                markers: table(0, { data: [], name: [], startTime: [], endTime: [], phase: [], category: [] }),
            },
        ],
    };
}

const [argument, file] = process.argv.slice(2);
if (argument === 'write' && file) {
    await writeFile(file, JSON.stringify(hostileProfile()));
    process.exit(0);
}
if (!argument) {
    console.error('usage: node page_hostile.mjs URL | write FILE');
    process.exit(2);
}

const page = await openPage(argument);
const tree = page.locator('[role="treegrid"]');
await tree.focus();
await page.keyboard.press('Home');
await page.keyboard.press('*');
await settle(page);
const names = (await readRows(page)).map((row) => row.name);

/** Selects the row with this beginning. */
async function selectName(start) {
    await tree.focus();
    await page.keyboard.press('Home');
    for (let i = 0; i < names.findIndex((name) => name.startsWith(start)); i++) await page.keyboard.press('ArrowDown');
    await settle(page);
}

await check('markup in names is shown as it is written', async () => {
    assert(names.includes(MARKUP), `the rows are ${JSON.stringify(names.map((name) => name.slice(0, 40)))}`);
    assertEqual(await page.locator('img, #app script').count(), 0, 'number of elements made of names');
    assert(!/^[12]$/.test(await page.title()), 'a name ran as a script');
});

await check('marks that turn the reading direction are spelled out', async () => {
    const shown = names.find((name) => name.startsWith('safe'));
    assert(shown?.includes('U+202E') && shown.includes('U+2066') && shown.includes('U+200B'), `it is shown as ${shown}`);
});

await check('control characters are spelled out', async () => {
    const shown = names.find((name) => name.startsWith('tab'));
    for (const code of ['U+0009', 'U+0000', 'U+001B', 'U+000A']) assert(shown?.includes(code), `it is shown as ${shown}`);
});

await check('a name of a megabyte is cut in its row and bounded in the sidebar', async () => {
    const shown = names.find((name) => name.startsWith('long_')) ?? '';
    assert(shown.length > 100 && shown.length < 2000, `its row has ${shown.length} characters`);
    await selectName('long_');
    const sidebar = await page.locator('.sidebar').innerText();
    assert(sidebar.length < 50_000, `the sidebar has ${sidebar.length} characters`);
    assert(/1,048,581 characters/.test(sidebar), 'the sidebar does not say how long the name is');
});

await check('marks piled on a letter stay in their row', async () => {
    const overflow = await page.$$eval('.tree-row', (rows) => rows.filter((row) => row.offsetHeight > 24).length);
    assertEqual(overflow, 0, 'number of rows that are too high');
});

await check('a function without a name can be selected', async () => {
    assert(names.includes(''), 'there is no such row');
});

await check('a cut stack is marked and explained', async () => {
    assertEqual(await page.locator('.tree-row.cut').count(), 1, 'number of marked rows');
    await selectName('(truncated)');
    assert(/cut here/.test(await page.locator('.sidebar').innerText()), 'the sidebar does not explain it');
});

await check('texts of the recording are shown as they are written', async () => {
    await page.getByRole('button', { name: 'Recording' }).click();
    await page.waitForSelector('dialog[open] .facts');
    const text = await page.locator('dialog[open]').innerText();
    assert(text.includes(MARKUP), 'the markup is missing');
    await page.keyboard.press('Escape');
});

await check('the console stays clean', async () => assertEqual(complaints.join(' | '), '', 'complaints'));
await finish();
