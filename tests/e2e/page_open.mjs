// Opens files in the page by dropping and choosing them, and saves the profile under its name. The page prints a
// message about a foreign file, and keeps the shown profile.
//
//     node tests/e2e/page_open.mjs URL DIRECTORY
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { askUntil, closeBrowser, complaints, openPage, readRows, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, directory] = process.argv.slice(2);
const page = await openPage(url);

const product = () => page.locator('.product').innerText();
const firstRow = async () => (await readRows(page))[0];

/** Drops a file of the directory on the page. */
async function drop(name) {
    const content = readFileSync(join(directory, name)).toString('base64');
    const transfer = await page.evaluateHandle(
        ([bytes, fileName]) => {
            const data = new DataTransfer();
            data.items.add(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], fileName));
            return data;
        },
        [content, name],
    );
    await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
    await transfer.dispose();
}

async function restart() {
    await page.goto(url);
    await page.waitForSelector('.tree-row.selected');
    await settle(page);
}

await check('a dropped file takes the place of the profile, from its first view on', async () => {
    await page.keyboard.press('i');
    await settle(page);
    await drop('many.json');
    await askUntil((name) => name === 'many threads', product);
    await settle(page);
    assertEqual(await product(), 'many threads', 'the name of the profile');
    assertEqual(await page.locator('.track-count').innerText(), '16 / 21 tracks', 'the number of tracks');
    const row = await firstRow();
    assertEqual(`${row.name} ${row.total}`, 'main 7,295', 'the first row');
    assert(!page.url().includes('invertCallstack'), 'the view is that of the profile before');
    await page.keyboard.press('3');
    await settle(page);
    const names = (await readRows(page)).map((one) => one.name);
    assert(names.includes('parse_request') && !names.includes('walk'), `the functions are ${names.join()}`);
    await restart();
    assertEqual(await product(), 'walker', 'the name after a reload');
});

await check('a dropped JSLB file is opened, packed or not', async () => {
    for (const name of ['slabs.jslb', 'slabs.jslb.gz']) {
        await drop(name);
        await askUntil((text) => text === 'many threads', product);
        await settle(page);
        const row = await firstRow();
        assertEqual(`${row.name} ${row.total}`, 'main 7,295', `the first row of ${name}`);
        await restart();
    }
});

const imported = {
    'small.folded': ['collapsed stacks', 'main 45'],
    'go-cpu.pprof': ['pprof profile', 'runtime.main 1,480.0'],
    'small.perf-script': ['text of perf script', 'main 2.0'],
    'small.speedscope.json': ['speedscope profile', 'main 80.0'],
    'small.cpuprofile': ['V8 CPU profile', 'outer 9.0'],
    'small.trace.json': ['Chrome trace', 'a 5.0'],
};
for (const [name, [from, row]] of Object.entries(imported))
    await check(`a dropped ${from} is opened`, async () => {
        await drop(name);
        await askUntil((text) => text === from, product);
        await settle(page);
        const first = await firstRow();
        assertEqual(`${first.name} ${first.total}`, row, `the first row of ${name}`);
        const note = (await page.locator('body').innerText()).includes('has no times');
        assertEqual(note, name === 'small.folded' || name === 'go-cpu.pprof', 'whether it says that there are no times');
        await restart();
    });

await check('gzip is known by its content, whatever the name', async () => {
    await drop('gzip without its ending');
    await askUntil((name) => name === 'many threads', product);
    assertEqual(await product(), 'many threads', 'the name of the profile');
    await restart();
});

await check('the only file of a zip archive is opened', async () => {
    await drop('one.zip');
    await askUntil((name) => name === 'many threads', product);
    assertEqual(await product(), 'many threads', 'the name of the profile');
    await restart();
});

await check('of several files in a zip archive one is chosen', async () => {
    await drop('two.zip');
    await page.waitForSelector('.picker.entries');
    assertEqual(await page.locator('.picker-row').count(), 2, 'number of files');
    await page.keyboard.type('gz');
    await page.keyboard.press('Enter');
    await askUntil((name) => name === 'many threads', product);
    assertEqual(await product(), 'many threads', 'the name of the profile');
    await restart();
});

const wrong = {
    'words.txt': /text of an unknown kind/,
    'other.json': /not a profile/,
    'empty.json': /empty/,
    'cut.json': /truncated/,
    'cut.json.gz': /damaged or truncated/,
    'cut.jslb': /truncated/,
    'cut.zip': /zip archive is damaged or truncated/,
    'none.zip': /zip archive contains no file/,
    'lzma.zip': /method 14/,
};
for (const [name, sentence] of Object.entries(wrong))
    await check(`${name} causes a message, and the view stays`, async () => {
        await drop(name);
        await page.waitForSelector('dialog[open] [role="alert"]');
        const text = await page.locator('dialog[open]').innerText();
        assert(text.includes(name) && sentence.test(text), `it says ${text}`);
        await page.keyboard.press('Escape');
        await page.waitForSelector('dialog[open]', { state: 'detached' });
        assertEqual(await product(), 'walker', 'the profile that is shown');
        await page.locator('[role="treegrid"]').focus();
        await page.keyboard.press('Home');
        await settle(page);
        await page.keyboard.press('ArrowLeft');
        await page.keyboard.press('ArrowRight');
        await settle(page);
        assertEqual((await firstRow()).expanded, 'true', 'whether the tree can still be opened');
    });

await check('a file is chosen by key and by button', async () => {
    // A listener makes the browser ask the test instead of the user, from some time on.
    page.on('filechooser', () => undefined);
    await settle(page);
    for (const open of [() => page.keyboard.press('o'), () => page.getByRole('button', { name: 'Open a file' }).click()]) {
        const [chooser] = await Promise.all([page.waitForEvent('filechooser'), open()]);
        await chooser.setFiles(join(directory, 'many.json'));
        await askUntil((name) => name === 'many threads', product);
        assertEqual(await product(), 'many threads', 'the name of the profile');
        await restart();
    }
});

/** Saves; the name that is proposed, and the bytes. */
async function save(by) {
    const [download] = await Promise.all([page.waitForEvent('download'), by()]);
    return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

await check('the profile is saved as it was loaded, under its name', async () => {
    const { name, bytes } = await save(() => page.keyboard.press('Control+s'));
    assertEqual(name, 'walker.json.gz', 'the name of the file');
    assert(bytes.equals(readFileSync(join(directory, 'walker.json.gz'))), 'the bytes are others');
});

await check('back after a dropped file shows the profile before, as it was; forward the file again', async () => {
    await restart();
    await page.keyboard.press('i');
    await page.keyboard.press('3');
    await settle(page);
    const before = page.url();
    const rows = (await readRows(page)).map((row) => row.name).join();
    await drop('many.json');
    await askUntil((name) => name === 'many threads', product);
    await settle(page);
    await page.keyboard.press('5');
    await settle(page);
    await page.keyboard.press('Control+z');
    await settle(page);
    assertEqual(await product(), 'many threads', 'the profile after one step back');
    await page.keyboard.press('Control+z');
    await settle(page);
    assertEqual(await product(), 'many threads', 'the profile after undoing what there is');
    await page.goBack();
    await askUntil((name) => name === 'walker', product);
    await settle(page);
    assertEqual(page.url(), before, 'the address');
    assertEqual((await readRows(page)).map((row) => row.name).join(), rows, 'the rows of the profile before');
    await page.goForward();
    await askUntil((name) => name === 'many threads', product);
    await settle(page);
    const row = await firstRow();
    assertEqual(`${row.name} ${row.total}`, 'main 7,295', 'the first row of the file');
});

await check('the undo step of a removed file shows a message, and the view stays', async () => {
    await restart();
    await drop('many.json');
    await askUntil((name) => name === 'many threads', product);
    await page.keyboard.press('i');
    await settle(page);
    await page.reload();
    await page.waitForSelector('dialog[open] [role="alert"]');
    const text = await page.locator('dialog[open]').innerText();
    assert(text.includes('many.json') && /Open the file again/.test(text), `it says ${text}`);
    await page.keyboard.press('Escape');
    await settle(page);
    assertEqual(await product(), 'walker', 'the profile');
    assert(!page.url().includes('invertCallstack'), 'the view is that of the file');
    await page.keyboard.press('3');
    await settle(page);
    const shown = page.url();
    await page.evaluate(() => history.go(-2)); // the first step of the file
    await page.waitForSelector('dialog[open] [role="alert"]');
    await page.keyboard.press('Escape');
    await askUntil((address) => address === shown, () => page.url());
    assertEqual(await product(), 'walker', 'the profile after going back to the file');
    assertEqual(await page.locator('[role="tab"][aria-selected="true"]').innerText(), 'Functions', 'the view after it');
    await restart();
});

/** Bytes of the page's heap after a collection, and what else grows when something is kept. */
async function held(session) {
    await session.send('HeapProfiler.enable');
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters');
    return { heap: usedSize, nodes, listeners: jsEventListeners, workers: page.workers().length };
}

await check('ten profiles that were opened and closed take no more than one', async () => {
    const session = await page.context().newCDPSession(page);
    // Playwright keeps the last element that a locator has found, and with it the page that the element was on.
    const shown = () => page.evaluate(() => history.state?.session);
    const open = async () => {
        const before = await shown();
        await drop('many.json');
        await askUntil((id) => id !== before, shown);
        await settle(page);
        for (const view of ['1', '4', '5', '6', '7', '2']) {
            await page.keyboard.press(view);
            await settle(page);
        }
    };
    await open();
    await open(); // what is compiled and cached for all is there now
    const one = await held(session);
    for (let round = 0; round < 9; round++) await open();
    // A history entry and a file for each of the nine; one page takes 360,000 bytes, 880 elements and 190 listeners.
    const fits = (now) =>
        now.heap < one.heap + 50_000 && now.nodes < one.nodes + 50 && now.listeners < one.listeners + 10;
    let ten = await held(session);
    for (let again = 0; !fits(ten) && again < 10; again++) {
        await page.evaluate(() => new Promise(requestAnimationFrame)); // a collection while a task runs may leave some
        ten = await held(session);
    }
    const text = `${JSON.stringify(one)} became ${JSON.stringify(ten)}`;
    console.log(`# ${text}`);
    assertEqual(ten.workers, 1, 'the number of engines');
    assert(fits(ten), `something of a closed profile is kept: ${text}`);
    await restart();
});

await check('a crashed engine shows a message, and a reload restores the view', async () => {
    await restart();
    await page.keyboard.press('i');
    await settle(page);
    const url = page.url();
    await page.evaluate(() => window.newestWorker.dispatchEvent(new ErrorEvent('error', { message: 'out of memory' })));
    const line = page.getByRole('alert').filter({ hasText: 'has stopped working' });
    await line.waitFor();
    assert((await line.innerText()).includes('out of memory'), 'it does not say why');
    await page.keyboard.press('3'); // what is asked now is answered at once: with the same sentence
    await page.getByText('out of memory').nth(1).waitFor();
    await page.evaluate((before) => history.replaceState(history.state, '', before), url);
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.waitForSelector('.tree-row.selected');
    await settle(page);
    assert(await page.getByRole('checkbox', { name: 'Invert call stack' }).isChecked(), 'the view is another');
    await restart();
});

await check('a name of its own is in the title, in the address and in the name of the file', async () => {
    await page.locator('h1.product').dblclick();
    await page.getByRole('textbox', { name: 'Profile name' }).fill('before: a/b <fix>');
    await page.keyboard.press('Enter');
    await settle(page);
    assertEqual(await product(), 'before: a/b <fix>', 'the name');
    assertEqual(await page.title(), 'before: a/b <fix> · Call Tree – prof', 'the title of the window');
    assertEqual(new URL(page.url()).searchParams.get('profileName'), 'before: a/b <fix>', 'the name in the address');
    await page.getByRole('button', { name: 'Save' }).click();
    const { name } = await save(() => page.getByRole('menuitem', { name: /^Profile/ }).click());
    assertEqual(name, 'before-a-b-fix.json.gz', 'the name of the file');
    await page.goBack();
    await settle(page);
    assertEqual(await page.title(), 'walker · Call Tree – prof', 'the title after back');
});

await check('an opened file is saved with its own ending', async () => {
    await drop('many.json');
    await askUntil((name) => name === 'many threads', product);
    const { name, bytes } = await save(() => page.keyboard.press('Control+s'));
    assertEqual(name, 'many-threads.json', 'the name of the file');
    assert(bytes.equals(readFileSync(join(directory, 'many.json'))), 'the bytes are others');
});

await check('a dropped profile without names gets the names of the server, and back and forward keep them', async () => {
    await restart();
    await drop('name less.json');
    await askUntil((name) => name === 'nameless', product);
    await settle(page);
    assertEqual((await firstRow()).name, 'named_function', 'the first row');
    assertEqual(await page.getByRole('button', { name: 'No symbols' }).count(), 0, 'what says that names are missing');
    const { bytes } = await save(() => page.keyboard.press('Control+s'));
    assert(bytes.equals(readFileSync(join(directory, 'name less.json'))), 'what is saved is not what was opened');
    await page.goBack();
    await askUntil((name) => name === 'walker', product);
    await page.goForward();
    await askUntil((name) => name === 'nameless', product);
    await settle(page);
    assertEqual((await firstRow()).name, 'named_function', 'the first row after back and forward');
    await page.locator('[role="treegrid"]').focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('.code-row'); // the source was read from standard input, and is nowhere
    await restart();
});

await check('so does the base of a comparison', async () => {
    const chooser = page.waitForEvent('filechooser');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('Compare with a profile');
    await page.waitForSelector('.palette [role=option]');
    await settle(page);
    await page.keyboard.press('Enter');
    await (await chooser).setFiles(join(directory, 'name less.json'));
    await page.waitForSelector('.compared');
    await settle(page);
    const names = await page.locator('.tree-row bdi').allInnerTexts();
    assert(names.includes('named_function'), `rows are ${names.join()}`);
    await restart();
});

await check('where prof cannot look up names, the page has the command that does', async () => {
    const before = complaints.length;
    await page.route('**/names', (route) => route.abort());
    await drop('name less.json');
    await askUntil((name) => name === 'nameless', product);
    await settle(page);
    assert((await firstRow()).name.startsWith('0x'), 'there are names');
    const chip = page.getByRole('button', { name: 'No symbols' });
    assertEqual(await chip.innerText(), "No symbols: run prof load 'name less.json'", 'what is said');
    await chip.click();
    assertEqual(await page.evaluate(() => navigator.clipboard.readText()), "prof load 'name less.json'", 'what is copied');
    await page.unroute('**/names');
    complaints.splice(before); // of the request that was not answered
    await restart();
});

await check('a profile that lacks most names shows a message with a remedy', async () => {
    await drop('half named.json');
    await askUntil((name) => name === 'half named', product);
    await settle(page);
    const chip = page.locator('.trust.doubtful');
    assertEqual((await chip.innerText()).trim(), '100% of the time without function names', 'what is said');
    await chip.click();
    const dialog = page.locator('dialog[open]');
    await dialog.getByText('1 of 3 (33.3 %)').first().waitFor(); // its content is loaded on demand
    for (const text of ['1 of 3 (33.3 %)', 'prof symbolicate FILE'])
        assert((await dialog.innerText()).includes(text), `the recording does not say ${text}`);
    await page.keyboard.press('Escape');
    await page.click('#tab-summary');
    await settle(page);
    assert((await page.locator('.card-trust').innerText()).includes('prof symbolicate FILE'), 'the summary does not say what to do');
    await restart();
});

await check('the summary names the process that reached a limit of the recorder', async () => {
    await drop('greedy.json');
    await askUntil((name) => name === 'greedy', product);
    await page.click('#tab-summary');
    await settle(page);
    assertEqual(await page.locator('.card-trust .problem').first().innerText(), 'greedy (7) takes too long to unwind', 'the problem');
    await restart();
});

/** All that the page says: texts, titles, labels. */
const saidTexts = () =>
    page.evaluate(() => {
        const attributes = ['title', 'aria-label', 'aria-valuetext', 'aria-description'];
        const said = [...document.querySelectorAll('*')].flatMap((element) => attributes.map((name) => element.getAttribute(name) ?? ''));
        return [document.body.innerText, ...said].join('\n');
    });

/** Fails where the page says how long something takes. */
async function saysNoTime(where) {
    const said = await saidTexts();
    const times = said.match(/.*\b\d[\d.,]*\s?(ns|µs|ms|s|min)\b.*/g) ?? [];
    assertEqual(times.join('\n'), '', `times ${where}`);
    return said;
}

await check('a file that counts has counts wherever others have times', async () => {
    await drop('counts.folded');
    await askUntil((name) => name === 'collapsed stacks', product);
    await settle(page);
    await saysNoTime('in the call tree');
    assertEqual(await page.locator('.breadcrumb').innerText(), 'Full range (285 samples)', 'the full range');
    assertEqual(await page.locator('.track-busy').first().innerText(), '285 samples', 'the amount of the thread');
    assertEqual(await page.locator('.ruler .tick').first().innerText(), '0 samples', 'the first label of the axis');
    for (const tab of await page.locator('[role=tab]').all()) {
        await tab.click();
        await settle(page);
        const name = await tab.innerText();
        await saysNoTime(`in the tab ${name}`);
        const chart = page.locator('.chart canvas').first();
        if ((await chart.count()) > 0) {
            await chart.hover({ position: { x: 500, y: 8 } });
            await settle(page);
            await saysNoTime(`under the mouse in ${name}`);
        }
    }
    const graph = await page.locator('.track-graph').first().boundingBox();
    const at = (share) => [graph.x + share * graph.width, graph.y + 10];
    await page.mouse.move(...at(0.4));
    await askUntil((text) => text.includes('sample '), () => page.locator('.tooltip').innerText());
    await saysNoTime('under the mouse in the timeline');
    await page.mouse.down();
    await page.mouse.move(...at(0.6), { steps: 4 });
    await page.mouse.up();
    await settle(page);
    const range = /samples \d+–\d+/.exec(await page.locator('.range-label').innerText())?.[0] ?? 'none';
    assert((await saysNoTime('with a selection')).includes(`${range} selected`), `the selection ${range} is not in the breadcrumb`);
    await page.keyboard.press('z');
    await settle(page);
    assert((await saysNoTime('zoomed in')).includes(range), 'the range is not in the breadcrumb');
    for (const title of ['Recording', 'Save']) {
        await page.locator('.header .button', { hasText: title }).click();
        await page.waitForSelector(title === 'Save' ? '[role=menu]' : 'dialog[open]');
        await settle(page);
        const said = await saysNoTime(`behind ${title}`);
        if (title === 'Recording') assert(!said.includes('Length') && !said.includes('Interval'), 'the recording has a length or an interval');
        await page.keyboard.press('Escape');
        await page.waitForSelector(title === 'Save' ? '[role=menu]' : 'dialog[open]', { state: 'detached' });
    }
    await restart();
});

await check('nothing went wrong meanwhile', async () => {
    assertEqual(complaints.join('\n'), '', 'what pages complained of');
});

await closeBrowser();
finish();
