// Tracks (choosing, hiding, moving, searching), the command palette, undo and redo, by mouse and keyboard.
//
//     node tests/e2e/page_shell.mjs URL PROFILE THOUSAND
//
// PROFILE is what URL shows; THOUSAND a profile of a thousand threads.
import { readFileSync } from 'node:fs';
import { askUntil, closeBrowser, complaints, openPage, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, file, thousand] = process.argv.slice(2);
const profile = JSON.parse(readFileSync(file, 'utf8'));
const trackCount = profile.threads.length + 1; // and the CPU use of the server
const page = await openPage(url);

/** The tracks that exist, top to bottom, by name. */
const trackNames = () =>
    page.$$eval('.track', (rows) =>
        rows
            .sort((a, b) => a.offsetTop - b.offsetTop)
            .map((row) => row.querySelector('.track-name').textContent),
    );
const label = (name) => page.locator('.track-label', { has: page.getByText(name, { exact: true }) });
const chosen = () => page.$$eval('.track.selected .track-name', (names) => names.map((name) => name.textContent).join());
const countText = () => page.locator('.track-count').innerText();
const parameter = (name) => new URL(page.url()).searchParams.get(name);

/** Scrolls down to a track: only rows near the screen exist. */
async function reach(name) {
    for (let tries = 0; tries < 20 && (await label(name).count()) === 0; tries++) {
        await page.locator('.timeline').evaluate((element) => element.scrollBy(0, 100));
        await settle(page);
    }
}

async function menuOf(name) {
    await reach(name);
    await label(name).click({ button: 'right' });
    await page.waitForSelector('.menu');
}

async function chooseItem(text) {
    await page.getByRole('menuitem', { name: text }).click();
    await settle(page);
}

/** Loads the view of one thread again. */
async function restart() {
    await page.goto(`${url}?thread=1`);
    await page.waitForSelector('.tree-row.selected');
    await settle(page);
}

await check('of many tracks the busiest are shown, and how many there are', async () => {
    assertEqual(await countText(), `16 / ${trackCount} tracks`, 'the count');
    assertEqual((await trackNames()).slice(0, 4).join(), 'server,CPU use,worker A,worker B', 'the first tracks');
    assertEqual(await page.locator('.track.selected').count(), 0, 'marked tracks, though all threads are selected');
    await restart();
    assertEqual(await chosen(), 'worker A', 'the chosen one');
});

await check('a track is hidden by its menu and shown again by going back', async () => {
    await menuOf('worker B');
    await chooseItem('Hide this track');
    assertEqual((await trackNames()).slice(0, 4).join(), 'server,CPU use,worker A,worker C', 'the first tracks');
    assertEqual(parameter('hiddenTracks'), 't2', 'what the address says is hidden');
    await page.goBack();
    await settle(page);
    assertEqual((await trackNames()).slice(0, 4).join(), 'server,CPU use,worker A,worker B', 'the first tracks after back');
});

await check('a chosen track that is hidden leaves the choice to another', async () => {
    await label('worker A').focus();
    await page.keyboard.press('Delete');
    await settle(page);
    assert(!(await trackNames()).includes('worker A'), 'it is still there');
    assertEqual(await chosen(), 'server', 'the chosen one');
    await restart();
});

await check('one track, and one process, can be shown alone', async () => {
    await menuOf('worker C');
    await chooseItem('Show only this track');
    assertEqual((await trackNames()).join(), 'server,worker C', 'heading and track');
    assertEqual(await countText(), `1 / ${trackCount} tracks`, 'the count');
    await restart();
    await menuOf('client');
    await chooseItem('Show only this process');
    assertEqual((await trackNames()).join(), 'client,reader,writer', 'the tracks');
    await page.reload();
    await page.waitForSelector('.tree-row.selected');
    await settle(page);
    assertEqual((await trackNames()).join(), 'client,reader,writer', 'the tracks after a reload');
    await restart();
});

await check('all shown tracks of a process are chosen together', async () => {
    await menuOf('client');
    await chooseItem('Select all threads of this process');
    assertEqual(await chosen(), 'client,reader', 'what is chosen');
    assertEqual(await page.locator('.tree-row .number').first().innerText(), '950', 'samples of the two');
    await restart();
});

await check('a search in the list of tracks shows, hides and isolates its matches', async () => {
    await page.locator('body').press('T');
    const input = page.getByRole('combobox', { name: 'Search tracks by name, PID or TID' });
    await input.fill('tool, 7001');
    assertEqual(await page.locator('.picker-row').count(), 4, 'number of matches');
    await page.getByRole('button', { name: 'Show only these' }).click();
    await page.keyboard.press('Escape');
    await settle(page);
    assertEqual((await trackNames()).join(), 'client,reader,tool0,tool1,tool2', 'the tracks');
    await page.locator('.track-count').click();
    await input.fill('tool1');
    await input.press('Enter');
    await page.keyboard.press('Escape');
    await settle(page);
    assertEqual((await trackNames()).join(), 'client,reader,tool0,tool2', 'the tracks without one');
    await page.locator('.track-count').click();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.keyboard.press('Escape');
    await settle(page);
    assertEqual(await countText(), `${trackCount} / ${trackCount} tracks`, 'the count of all');
    await restart();
});

await check('the last thread cannot be hidden', async () => {
    await menuOf('client');
    await chooseItem('Show only this track');
    await label('client').focus();
    await page.keyboard.press('Delete');
    await askUntil((text) => text.includes('must stay'), () => page.locator('.notice').innerText());
    assertEqual((await trackNames()).join(), 'client', 'the tracks');
    await restart();
});

await check('tracks are moved by keys and by the mouse, and stay there', async () => {
    await label('worker C').focus();
    await page.keyboard.press('Alt+ArrowUp');
    await settle(page);
    assertEqual((await trackNames()).slice(0, 5).join(), 'server,CPU use,worker A,worker C,worker B', 'the first tracks');
    assertEqual(await page.evaluate(() => document.activeElement.innerText.split('\n')[0]), 'worker C', 'where the focus is');
    const from = await label('worker A').boundingBox();
    const to = await label('worker B').boundingBox();
    await page.mouse.move(from.x + 60, from.y + 10);
    await page.mouse.down();
    await page.mouse.move(to.x + 60, to.y + 8, { steps: 5 });
    await page.waitForSelector('.drop-line');
    await page.mouse.up();
    await settle(page);
    assertEqual((await trackNames()).slice(0, 5).join(), 'server,CPU use,worker C,worker B,worker A', 'the tracks after the drag');
    assertEqual(await chosen(), 'worker A', 'the chosen one, which a drag does not change');
    await page.reload();
    await page.waitForSelector('.tree-row.selected');
    await settle(page);
    assertEqual((await trackNames()).slice(0, 5).join(), 'server,CPU use,worker C,worker B,worker A', 'the tracks after a reload');
    await restart();
});

await check('the keyboard reaches all tracks, although few of them are rendered', async () => {
    await page.locator('.more-tracks button').click();
    await settle(page);
    assert((await trackNames()).length < profile.threads.length, 'all rows exist');
    await page.locator('.track-label').first().focus();
    await page.keyboard.press('Home');
    await settle(page);
    const names = [];
    for (let i = 0; i < profile.threads.length; i++) {
        names.push(await page.evaluate(() => document.activeElement.querySelector('.track-name')?.textContent));
        await page.keyboard.press('ArrowDown');
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    }
    assertEqual(new Set(names).size, profile.threads.length, 'number of tracks that had the focus');
    await restart();
});

await check('the timeline is zoomed and moved by keys', async () => {
    const range = () => {
        const [, start, unit, length] = /^(\d+)([mun])(\d+)$/.exec(parameter('range') ?? '') ?? [];
        const scale = { m: 1, u: 1e3, n: 1e6 }[unit];
        return start === undefined ? null : [Number(start) / scale, Number(length) / scale];
    };
    await page.locator('.track-label').first().focus();
    await page.keyboard.press('q');
    await settle(page);
    const zoomed = range();
    assert(zoomed && zoomed[1] < 999 && zoomed[1] > 100, `the range is ${zoomed}`);
    await page.keyboard.press('d');
    await settle(page);
    const moved = range();
    assert(moved[0] > zoomed[0] && Math.abs(moved[1] - zoomed[1]) < 1, `the range went from ${zoomed} to ${moved}`);
    await page.keyboard.press('a');
    await settle(page);
    assert(range()[0] < moved[0], `the range went from ${moved} to ${range()}`);
    for (let i = 0; i < 20 && range(); i++) {
        await page.keyboard.press('Control+ArrowDown');
        await settle(page);
    }
    assertEqual(range(), null, 'the range in the end');
    await restart();
});

/** What the palette lists, best first: group and title. */
const offered = () => page.$$eval('.palette .picker-row', (rows) => rows.map((row) => [row.querySelector('.picker-group').innerText, row.querySelector('.picker-name').innerText].join(' ')));

/** Opens the palette and types; waits until it has what is expected. */
async function palette(typed, expected) {
    await page.keyboard.press('Control+k');
    const input = page.locator('.palette input');
    await input.fill(typed);
    await page.waitForSelector('.palette .picker-row mark'); // the engine has answered
    return await askUntil((rows) => rows.includes(expected), offered);
}

await check('the palette lists actions with their keys, and runs them', async () => {
    await page.keyboard.press('Control+k');
    await page.waitForSelector('.palette .picker-row kbd');
    const keys = await page.locator('.palette .picker-row', { hasText: 'Invert call stack' }).locator('kbd').innerText();
    assertEqual(keys, 'i', 'the key of a command');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.palette', { state: 'detached' });
    const rows = await palette('invcs', 'Command Invert call stack');
    assertEqual(rows[0], 'Command Invert call stack', 'the best');
    await page.keyboard.press('Enter');
    await askUntil(Boolean, async () => new URL(page.url()).searchParams.has('invertCallstack'));
    await settle(page);
    assert(new URL(page.url()).searchParams.has('invertCallstack'), 'it was not done');
    await restart();
});

await check('the palette has the entries of the menus of the selected row and of its table', async () => {
    await page.getByRole('tab', { name: 'Call Tree' }).click();
    await page.waitForSelector('[role="treegrid"] .tree-row.selected');
    await palette('copystack', 'Selection Copy stack');
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await page.keyboard.press('Enter');
    const name = await page.locator('.tree-row.selected .tree-text bdi').first().innerText();
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    assert((await askUntil((text) => text !== '', copied)).startsWith(name), 'the stack does not begin with the row');
    await palette('percentparent', 'Selection Percent of parent');
    await page.keyboard.press('Enter');
    await page.getByRole('columnheader', { name: 'Of caller', exact: true }).waitFor();
    await palette('percentparent', 'Selection Percent of parent');
    await page.keyboard.press('Enter');
    await page.getByRole('columnheader', { name: 'Total %', exact: true }).waitFor();
    await palette('mergefunction', 'Selection Merge function');
    await page.keyboard.press('Enter');
    await askUntil(Boolean, async () => parameter('transforms') !== null);
    assert(parameter('transforms').startsWith('mf-'), `transforms are ${parameter('transforms')}`);
    await restart();
});

await check('the palette finds functions of the whole profile by a few letters, and goes there', async () => {
    const rows = await palette('vpb', 'Function std::vector<Request>::push_back');
    assertEqual(rows[0], 'Function std::vector<Request>::push_back', 'the best');
    await page.keyboard.press('Enter');
    await askUntil((row) => row?.includes('push_back'), () => page.locator('.tree-row.selected').innerText().catch(() => ''));
    assertEqual(parameter('tab'), 'functions', 'the view');
    assert((await page.locator('.tree-row.selected').innerText()).includes('push_back'), 'it is not selected');
    await palette('malloc', 'Function malloc');
    assertEqual((await offered()).slice(0, 2).join(), 'Function malloc,Function _int_malloc', 'what is found');
    await page.keyboard.press('Control+Enter');
    await askUntil(Boolean, async () => parameter('search') === '"malloc"');
    assertEqual(parameter('search'), '"malloc"', 'the search');
    await restart();
});

/** What is typed into the palette is not answered until `letAnswer`. */
const holdAnswers = () => page.evaluate(() => {
    window.held = [];
    const worker = window.newestWorker;
    worker.postMessage = (message, ...others) => {
        if (message.method === 'findFunctions') window.held.push([message, ...others]);
        else Object.getPrototypeOf(worker).postMessage.call(worker, message, ...others);
    };
});

const letAnswer = () => page.evaluate(() => {
    const worker = window.newestWorker;
    delete worker.postMessage;
    for (const args of window.held) worker.postMessage(...args);
});

await check('a click in the palette runs the row under the mouse, though the engine is asked about newer text', async () => {
    await palette('invcs', 'Command Invert call stack');
    await holdAnswers();
    await page.locator('.palette input').fill('theme');
    await page.locator('.palette .picker-row', { hasText: 'Invert call stack' }).click();
    await letAnswer();
    await askUntil(Boolean, async () => new URL(page.url()).searchParams.has('invertCallstack'));
    await restart();
});

await check('an outdated list of the palette is dimmed, and Enter uses the typed text', async () => {
    const isBehind = () => page.locator('.palette .picker-list.behind').count();
    await palette('invcs', 'Command Invert call stack');
    assertEqual(await isBehind(), 0, 'lists that are behind, after an answer');
    await page.locator('.palette input').fill('xqzj');
    await page.locator('.palette .picker-empty').waitFor();
    await askUntil((count) => count === 0, isBehind);
    await page.keyboard.press('Enter');
    assertEqual(await page.locator('.palette').count(), 1, 'palettes after Enter where nothing is found');
    await holdAnswers();
    await page.locator('.palette input').fill('invcs');
    assertEqual(await isBehind(), 1, 'lists that are behind, before the answer');
    await page.keyboard.press('Enter');
    await letAnswer();
    await askUntil(Boolean, async () => new URL(page.url()).searchParams.has('invertCallstack'));
    await restart();
});

await check('the chosen entry of the palette stays chosen when the answer arrives', async () => {
    const active = () => page.locator('.palette .picker-row.active');
    const name = () => active().locator('.picker-name').innerText();
    await palette('stack', 'Command Invert call stack');
    const wanted = await page.locator('.palette .picker-row .picker-name').nth(2).innerText();
    await page.locator('.palette input').fill('');
    await page.locator('.palette .picker-row mark').first().waitFor({ state: 'detached' });
    await holdAnswers();
    await page.locator('.palette input').fill('stack');
    let steps = 0;
    for (; (await name()) !== wanted; steps++) {
        assert(steps < 100, `${wanted} is not listed`);
        await page.keyboard.press('ArrowDown');
    }
    assert(steps > 0 && steps !== 2, 'its place says nothing');
    await letAnswer();
    await page.locator('.palette .picker-row mark').first().waitFor();
    assertEqual(await name(), wanted, 'the entry');
    await page.keyboard.press('Escape');
    await restart();
});

await check('the palette shows the share of a function, and marks the matching letters', async () => {
    await palette('malloc', 'Function malloc');
    const rows = await page.$$eval('.palette .picker-row', (all) =>
        all.map((row) => ({
            group: row.querySelector('.picker-group').innerText,
            share: row.querySelector('.picker-amount:not(.picker-group)')?.innerText ?? '',
            marked: [...row.querySelectorAll('mark')].map((mark) => mark.textContent).join(''),
        })),
    );
    const functions = rows.filter((row) => row.group === 'Function');
    assert(functions.some((row) => /^<?\d+(\.\d+)?%$/.test(row.share)), `no share in ${JSON.stringify(functions)}`);
    const unmarked = rows.filter((row) => !/malloc/i.test(row.marked));
    assertEqual(unmarked.length, 0, 'entries that do not show why they are there');
    await page.keyboard.press('Escape');
});

await check('the palette knows other words for commands, and shows them', async () => {
    for (const [typed, entry] of [
        ['export', 'Command Save this view as an image'],
        ['png', 'Command Save the timeline as an image'],
        ['share', 'Command Copy a link to this view'],
        ['shortcuts', 'Command Keys'],
        ['compare', 'Command Open this view in a new window'],
    ]) {
        await palette(typed, entry);
        const marked = page.locator('.palette .picker-row', { hasText: entry.replace('Command ', '') }).locator('.picker-detail mark');
        assertEqual(await marked.first().innerText(), typed, `what is marked for ${typed}`);
        await page.keyboard.press('Escape');
    }
});

await check('the palette finds zooming, and explains it without a selection', async () => {
    await palette('zoom', 'Command Zoom into the selection');
    await page.locator('.palette .picker-row', { hasText: 'Zoom into the selection' }).click();
    await page.waitForSelector('.palette', { state: 'detached' });
    await askUntil((text) => text.includes('drag in the timeline'), () => page.locator('.notice').innerText());
});

await check('printing prints the view without its controls', async () => {
    await page.emulateMedia({ media: 'print' });
    for (const name of ['.header .button', '.filter-bar', '.splitter', '.tab[aria-selected="false"]'])
        assertEqual(await page.locator(name).filter({ visible: true }).count(), 0, `how many ${name} are printed`);
    assertEqual(await page.locator('.tab[aria-selected="true"]').isVisible(), true, 'whether the name of the view is');
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    const themes = () => page.$$eval(':root, canvas[data-theme]', (all) => [...new Set(all.map(({ dataset }) => dataset.theme))].join());
    await askUntil((theme) => theme === 'light', themes);
    await page.emulateMedia({ media: 'screen' });
    await askUntil((theme) => theme === 'dark', themes);
    await page.emulateMedia({ colorScheme: 'light' });
    assertEqual(await page.locator('.filter-bar').isVisible(), true, 'whether it is there again on the screen');
});

await check('the palette finds markers of the chosen threads by their names', async () => {
    await palette('reqser', 'Marker Request served');
    await page.keyboard.press('Enter');
    await askUntil((tab) => tab === 'marker-table', async () => parameter('tab'));
    await settle(page);
    assertEqual(parameter('markerSearch'), 'name:"Request served"', 'the search');
    assertEqual(await page.locator('.tree-row').count(), 3, 'number of markers');
    await restart();
});

await check('rows are compact on request, with the selected one in view, and stay so', async () => {
    const heights = () => page.$$eval('.tree-row', (rows) => [...new Set(rows.map((row) => row.offsetHeight))].join());
    assertEqual(await heights(), '20', 'px of a row');
    const name = await page.locator('.tree-row.selected .tree-name').innerText();
    await palette('density', 'Command Compact rows');
    await page.keyboard.press('Enter');
    await askUntil((height) => height === '16', heights);
    const tops = await page.$$eval('.tree-row', (rows) => rows.map((row) => row.getBoundingClientRect().top).sort((a, b) => a - b));
    assert(tops.every((top, at) => at === 0 || top - tops[at - 1] === 16), `rows begin at ${tops}`);
    await page.waitForSelector('.tree-row.selected');
    assertEqual(await page.locator('.tree-row.selected .tree-name').innerText(), name, 'the selected row');
    await page.reload();
    await page.waitForSelector('.tree-row.selected');
    assertEqual(await heights(), '16', 'px of a row after a reload');
    await palette('density', 'Command Default row height');
    await page.keyboard.press('Enter');
    await askUntil((height) => height === '20', heights);
    await restart();
});

await check('numbers of the sidebar are below one another in all lists of categories', async () => {
    await page.waitForSelector('.sidebar .bars');
    const edges = await page.$$eval('.sidebar .bars:not(.lines)', (tables) =>
        tables.map((table) => [...table.querySelectorAll('tr:first-child td')].map((cell) => Math.round(cell.getBoundingClientRect().right)).join()),
    );
    assert(edges.length > 1, `only ${edges.length} lists`);
    assertEqual([...new Set(edges)].length, 1, `right edges: ${edges.join(' and ')}`);
});

await check('all keys are in the list of keys', async () => {
    await page.keyboard.press('Control+k');
    await page.waitForSelector('.palette .picker-row kbd');
    const keys = await page.$$eval('.palette .picker-row kbd', (elements) => elements.map((element) => element.textContent));
    await page.keyboard.press('Escape');
    await page.waitForSelector('.palette', { state: 'detached' });
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open] .keys');
    const listed = new Set(await page.$$eval('.keys kbd', (elements) => elements.map((element) => element.textContent)));
    const missing = keys.filter((key) => !listed.has(key) && !/^\d$/.test(key));
    assertEqual(missing.join(), '', 'what is missing');
    assert(keys.length > 10, `only ${keys.length} keys are offered`);
    const everywhere = await page.locator('.keys section').first().locator('kbd').allInnerTexts();
    const twice = everywhere.filter((key, at) => everywhere.indexOf(key) !== at);
    assertEqual(twice.join(), '', 'keys that are listed twice');
    await page.keyboard.press('Escape');
    await restart();
});

await check('the palette finds threads, also hidden threads', async () => {
    await palette('tool2', 'Thread tool2');
    await page.keyboard.press('Enter');
    await askUntil((name) => name === 'tool2', chosen);
    await settle(page);
    assertEqual(await chosen(), 'tool2', 'the chosen one');
    assertEqual(parameter('shownTracks'), 'txr', 'what the address says is shown');
    await restart();
});

await check('digits go to the views', async () => {
    await page.keyboard.press('2');
    await settle(page);
    const second = await page.getByRole('tab').nth(1);
    assertEqual(await second.getAttribute('aria-selected'), 'true', 'whether the second view is shown');
    await page.keyboard.press('1');
    await settle(page);
    assertEqual(await page.getByRole('tab').first().getAttribute('aria-selected'), 'true', 'whether the first view is shown');
    await page.keyboard.press('2');
    await page.getByRole('treegrid').press('Enter');
    await page.locator('.source-panel').waitFor();
    await page.locator('.source-panel button').first().focus();
    for (const [digit, view] of [['5', '.chart'], ['5', '.chart'], ['3', '.tree']]) {
        await page.locator('.source-panel button').first().focus();
        await page.keyboard.press(digit);
        await askUntil(Boolean, () => page.evaluate((within) => document.activeElement?.matches(`#view ${within}, #view ${within} *`), view));
    }
    await restart();
});

await check('steps are undone and redone by key', async () => {
    await page.goto('about:blank');
    await restart();
    const searchInput = page.getByRole('textbox', { name: 'Filter stacks' });
    await searchInput.fill('malloc');
    await searchInput.press('Enter');
    await settle(page);
    await page.keyboard.press('i');
    await settle(page);
    const state = () => `${parameter('search') ?? ''} ${new URL(page.url()).searchParams.has('invertCallstack')}`;
    assertEqual(state(), 'malloc true', 'the view');
    await page.keyboard.press('Control+z');
    await askUntil((now) => now === 'malloc false', async () => state());
    assertEqual(state(), 'malloc false', 'the view after one step back');
    assertEqual(await page.locator('.notice').innerText(), 'Undone: inversion', 'what is said of it');
    await settle(page);
    await page.keyboard.press('Control+z');
    await askUntil((now) => now === ' false', async () => state());
    assertEqual(state(), ' false', 'the view after two steps back');
    await settle(page);
    await page.keyboard.press('Control+z');
    await askUntil((text) => text.includes('Nothing to undo'), () => page.locator('.notice').innerText());
    assertEqual(state(), ' false', 'the view after three, which were two');
    await page.keyboard.press('Control+Shift+Z');
    await askUntil((now) => now === 'malloc false', async () => state());
    await settle(page);
    await page.keyboard.press('Control+y');
    await askUntil((now) => now === 'malloc true', async () => state());
    assertEqual(state(), 'malloc true', 'the view after all was done again');
    await settle(page);
    await page.keyboard.press('Control+y');
    await askUntil((text) => text.includes('Nothing to redo'), () => page.locator('.notice').innerText());
    await restart();
});

await check('of a thousand tracks, only visible tracks are rendered', async () => {
    const transfer = await page.evaluateHandle((text) => {
        const data = new DataTransfer();
        data.items.add(new File([text], 'thousand.json'));
        return data;
    }, readFileSync(thousand, 'utf8'));
    await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
    await askUntil((text) => text === '16 / 1,001 tracks', countText);
    await settle(page);
    assertEqual(await countText(), '16 / 1,001 tracks', 'the count');
    await page.keyboard.press('T');
    await page.getByRole('button', { name: 'Show all' }).click();
    assert((await page.locator('.picker-row').count()) < 60, 'all rows of the list exist');
    await page.keyboard.press('Escape');
    await settle(page);
    assertEqual(await countText(), '1,001 / 1,001 tracks', 'the count of all');
    assert((await page.locator('.track').count()) < 60, 'all tracks exist');
    await page.locator('.track-label').first().focus();
    await page.keyboard.press('End');
    await askUntil((name) => name === 'tool2', () => page.evaluate(() => document.activeElement.querySelector('.track-name')?.textContent));
    await page.keyboard.press('Space');
    await askUntil((name) => name === 'tool2', chosen);
    assertEqual(await chosen(), 'tool2', 'the chosen one');
});

await check('nothing went wrong meanwhile', async () => {
    assertEqual(complaints.join('\n'), '', 'what pages complained of');
});

await closeBrowser();
finish();
