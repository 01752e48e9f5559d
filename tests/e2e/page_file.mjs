// Opens pages that are one file, from the disk, in Chromium and, where FIREFOX names it, in Firefox:
//
//     node tests/e2e/page_file.mjs DIRECTORY URL
//
// DIRECTORY has what test_page_file made: hostile.html, small.html, small.json.gz, report.json. URL serves small.json.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { closeBrowser, complaints, foreign, openPage, settle } from './page_driver.mjs';
import { askUntil, countQuestions, numberOf, readRows, shownNumber } from './page_rows.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';
import { MARKUP, TITLE_THIEF } from './page_hostile_profile.mjs';

const [directory, served] = process.argv.slice(2);
const addressOf = (name, query = '') => pathToFileURL(join(directory, name)).href + query;
const report = JSON.parse(readFileSync(join(directory, 'report.json'), 'utf8'));

/** All threads, by their indexes: fewer than 32 of them are one digit each. */
const all = `?thread=${report.threads.map((thread) => thread.index.toString(32)).join('')}`;

/** Compares the rows down the open path with the report's. */
async function compare(page) {
    await page.focus('[role="treegrid"]');
    await page.keyboard.press('Home');
    await page.keyboard.press('*');
    await page.keyboard.press('t'); // names as they are written
    await settle(page);
    const rows = await readRows(page);
    await page.keyboard.press('t');
    let compared = 0;
    rows.forEach((row, at) => {
        const entry = report.tree[at];
        if (row.level !== (entry?.depth ?? -1) + 1) return;
        assertEqual(row.name, entry.name, `name in row ${at}`);
        const wanted = `${shownNumber(entry.total)} ${shownNumber(entry.self)}`;
        assertEqual(`${numberOf(row.total)} ${numberOf(row.self)}`, wanted, `numbers of ${row.name}`);
        compared++;
    });
    assert(compared >= 3, `only ${compared} rows were compared`);
}

await check('the file is no more than 1 MB larger than the profile', () => {
    const more = statSync(join(directory, 'small.html')).size - statSync(join(directory, 'small.json.gz')).size;
    assert(more < 1e6, `${more} bytes`);
});

await check('names of a profile are nowhere in the text of the file', () => {
    const text = readFileSync(join(directory, 'hostile.html'), 'utf16le');
    assert(text.startsWith('\ufeff<!doctype html>'), 'it does not begin as UTF-16');
    assert(!text.includes('<img') && !text.includes('document.title=2'), 'a name is');
    assertEqual(text.split('<script').length, text.split('</script').length, 'number of scripts that begin');
});

const page = await openPage(addressOf('small.html', all));

await check('Chromium shows the numbers of the report', () => compare(page));

await check('its style is read', async () => {
    assertEqual(await page.$eval('.tree-row', (row) => getComputedStyle(row).display), 'flex', 'display of a row');
});

await check('the address holds the view', async () => {
    await page.getByRole('tab', { name: 'Flame Graph' }).click();
    await settle(page);
    assert(/tab=flame/.test(page.url()), page.url());
});

await check('its policy allows nothing but its own script and blobs', async () => {
    const policy = await page.getAttribute('meta[http-equiv="Content-Security-Policy"]', 'content');
    assert(policy.startsWith("default-src 'none';") && !/unsafe-inline|unsafe-eval'? |connect-src|https?:|\*/.test(policy.replace("'wasm-unsafe-eval'", '')), policy);
    const isBlocked = await page.evaluate(async (address) => {
        const script = document.createElement('script');
        script.textContent = 'window.hasRun = true';
        document.body.append(script);
        return !window.hasRun && (await fetch(address).then(() => false, () => true));
    }, served);
    assert(isBlocked, 'an inline script has run, or a server was asked');
    complaints.splice(0, complaints.length, ...complaints.filter((text) => !/Content Security Policy|Failed to load/.test(text)));
    foreign.splice(0, foreign.length, ...foreign.filter((address) => !address.startsWith(served)));
});
await page.close();

await check('a saved view is the one that it opens with, and names that hold markup do nothing', async () => {
    const hostile = await openPage(addressOf('hostile.html'));
    assert(await hostile.getByRole('checkbox', { name: 'Invert call stack' }).isChecked(), 'the tree is not inverted');
    await hostile.keyboard.press('t'); // names as they are written
    await settle(hostile);
    assert((await readRows(hostile)).some((row) => row.name === MARKUP), 'the name is not shown');
    assert(!TITLE_THIEF.test(await hostile.title()), 'a name ran as a script');
    await hostile.close();
});

await check('a server that names another charset is not believed', async () => {
    const other = createServer((_, answer) => answer.writeHead(200, { 'Content-Type': 'text/html; charset=iso-8859-1' }).end(readFileSync(join(directory, 'small.html'))));
    await new Promise((listening) => other.listen(0, '127.0.0.1', listening));
    const from = await openPage(`http://127.0.0.1:${other.address().port}/`);
    await from.close();
    other.closeAllConnections();
    other.close();
});

/** Saves what an item of the menu of the header saves, into the directory. */
async function save(from, item, name) {
    await from.getByRole('button', { name: 'Save', exact: true }).click();
    const [file] = await Promise.all([from.waitForEvent('download'), from.getByRole('menuitem', { name: item }).click()]);
    await file.saveAs(join(directory, name));
    return file.suggestedFilename();
}

await check('the page saves itself as a file, and that does, too, with the view', async () => {
    const first = await openPage(`${served}${all}&search=parse`);
    assertEqual(await save(first, 'Web page of this view', 'saved.html'), 'many-threads-page.html', 'the name of the file');
    await first.close();
    const second = await openPage(addressOf('saved.html'));
    assertEqual(await second.locator('.filter-bar .search input').inputValue(), 'parse', 'the search');
    await save(second, 'Web page of this view', 'again.html');
    await second.close();
    // The browser may pack in other blocks: the text is compared without the profile.
    const textOf = (name) => readFileSync(join(directory, name), 'utf16le').replace(/(<script type="text\/plain" id="profile"[^>]*>)[^<]*/, '$1').replace(/\s+/g, '');
    assert(textOf('saved.html').length > 1e5, 'the saved page is short');
    assert(textOf('again.html') === textOf('saved.html'), 'the saved page of the saved page is another');
});

await check('the licenses can be saved, of a file and of a served page', async () => {
    for (const address of [addressOf('small.html'), served]) {
        const from = await openPage(address);
        await from.keyboard.press('Control+k');
        await from.locator('.palette input').fill('licenses');
        const row = from.locator('.palette .picker-row', { hasText: 'Save the licenses' });
        const [file] = await Promise.all([from.waitForEvent('download'), row.click()]);
        assert(/The prof authors/.test(readFileSync(await file.path(), 'utf8')), address);
        await from.close();
    }
});

await check('the menu is walked with keys, and Escape goes back to its button', async () => {
    const first = await openPage(`${served}${all}`);
    const focused = () => first.evaluate(() => document.activeElement?.textContent ?? '');
    await first.getByRole('button', { name: 'Save', exact: true }).focus();
    await first.keyboard.press('Enter');
    assert((await focused()).startsWith('Profile'), await focused());
    await first.keyboard.press('s');
    assert((await focused()).startsWith('speedscope'), await focused());
    await first.keyboard.press('End');
    assert((await focused()).startsWith('Table'), await focused());
    await first.keyboard.press('Escape');
    assertEqual(await first.getByRole('menu').count(), 0, 'menus');
    assertEqual((await focused()).trim(), 'Save', 'the focus');
    await first.close();
});

await check('the dialog shows the remaining and the removed data, and saves the remaining data', async () => {
    const first = await openPage(`${served}?thread=0`);
    await first.getByRole('button', { name: 'Save', exact: true }).click();
    await first.getByRole('menuitem', { name: 'Without personal data' }).click();
    const preview = first.locator('.share-preview');
    await preview.waitFor();
    assert(/of ([2-9]|1\d) threads/.test(await preview.innerText()), (await preview.innerText()).replaceAll('\n', ' '));
    await first.getByRole('checkbox', { name: /Selected threads/ }).check();
    await first.getByRole('checkbox', { name: /Names of functions/ }).check();
    await first.getByRole('textbox', { name: 'Libraries that keep their names' }).fill('libc.so*');
    await askUntil((text) => /of 1 thread/.test(text) && /names of [1-9]\d* functions in other libraries/.test(text), () => preview.innerText());
    await first.getByRole('radio', { name: /Profile/ }).click();
    const [file] = await Promise.all([first.waitForEvent('download'), first.getByRole('button', { name: 'Save', exact: true }).last().click()]);
    assertEqual(file.suggestedFilename(), 'many-threads-sanitized.json.gz', 'the name of the file');
    const text = gunzipSync(readFileSync(await file.path())).toString();
    assert(text.includes('malloc') && text.includes('(hidden)') && !text.includes('parse_request'), 'names');
    assertEqual(JSON.parse(text).threads.length, 1, 'number of threads');
    await first.close();
});

await check('notes name a range, pin a function, and are in the address', async () => {
    const first = await openPage(served);
    const notes = first.getByRole('list', { name: 'Notes' }).getByRole('listitem');
    const written = () => first.evaluate(() => new URL(location.href).searchParams.getAll('note'));
    const focused = (label) => askUntil((name) => name === label, () => first.evaluate(() => document.activeElement.getAttribute('aria-label')));
    await first.keyboard.press('P');
    await focused('Name');
    await first.keyboard.type('start');
    await first.keyboard.press('Tab');
    await first.keyboard.type('nothing <b>yet</b>\n');
    await first.getByRole('tab', { name: 'Functions' }).click();
    await settle(first);
    const pinned = await first.locator('.tree-row.selected .func-name').innerText();
    await first.keyboard.press('Shift+F10');
    await first.getByRole('menuitem', { name: 'Add a note' }).click();
    await focused('Comment');
    await first.keyboard.type('slow\n');
    await askUntil((texts) => texts.length === 2 && texts.join().includes('slow'), written);
    assertEqual((await written()).map((text) => text.split('\n').slice(1, 3).join()).join('|'), `start,nothing <b>yet</b>|${pinned},slow`, 'the notes in the address');
    assertEqual(await notes.getByRole('button').first().innerText(), 'Full range', 'the place of the range');
    await first.getByRole('button', { name: 'Copy as Markdown' }).click();
    await askUntil((text) => text.includes('start') && text.includes(`| ${pinned} |`), () => first.evaluate(() => navigator.clipboard.readText()));
    const again = await openPage(first.url(), '.note');
    await again.locator('.note-place').last().click();
    await again.waitForSelector('#tab-butterfly[aria-selected=true]');
    await again.getByRole('tab', { name: 'Notes' }).click();
    await again.locator('.note-place').first().click();
    await askUntil((address) => /preview=/.test(address), () => again.url());
    await again.close();
    await first.getByRole('button', { name: 'Delete this note' }).first().click();
    await askUntil((texts) => texts.length === 1, written);
    await first.getByRole('tab', { name: 'Notes' }).focus();
    await first.keyboard.press('Control+z');
    await askUntil((texts) => texts.length === 2, written);

    const [saved] = await Promise.all([first.waitForEvent('download'), first.keyboard.press('Control+s')]);
    const [noted, page] = ['noted.json.gz', 'noted.html'].map((name) => join(directory, name));
    await saved.saveAs(noted);
    const { entries } = JSON.parse(gunzipSync(readFileSync(noted)).toString()).meta.extra.find(({ label }) => label === 'Notes');
    assertEqual(JSON.stringify(entries[0].value.slice(2)), '["start","nothing <b>yet</b>"]', 'the saved note about a range');
    assertEqual(`${entries[1].value[0]} ${entries[1].value[2]}`, `${pinned} slow`, 'the saved note about a function');
    assert(entries[1].value[1] !== '' && (await notes.last().innerText()).includes(entries[1].value[1]), 'no library beside the function');
    const prof = (...options) => execFileSync(process.env.PROF, options, { encoding: 'utf8' });
    assert(prof('report', noted).includes('start: nothing <b>yet</b>'), 'the report lacks the note about the range');
    assert(prof('report', '--summary', '--markdown', noted).includes('## Notes\n\n- 0.000 s to '), 'the summary lacks the notes');
    const { notes: reported } = JSON.parse(prof('report', '--json', noted));
    assertEqual(`${reported[0].name} ${reported[1].function} ${reported[1].comment}`, `start ${pinned} slow`, 'the notes of the JSON');
    prof('export', '-o', page, noted);
    const loaded = await openPage(pathToFileURL(page).href);
    await loaded.getByRole('tab', { name: 'Notes' }).click();
    await loaded.locator('.note-place', { hasText: pinned }).click();
    await loaded.waitForSelector('#tab-butterfly[aria-selected=true]');
    await settle(loaded);
    assertEqual(await loaded.locator('.focus-head h2').first().innerText(), pinned, 'the function of the loaded note');
    await loaded.close();

    // An address of another recording: the function has another number.
    const place = new URL(first.url());
    const texts = place.searchParams.getAll('note').map((text) => text.replace(/^function-\d+/, 'function-1'));
    place.searchParams.delete('note');
    for (const text of texts) place.searchParams.append('note', text);
    const other = await openPage(place.href, '.note');
    await other.locator('.note-place').last().click();
    await other.waitForSelector('#tab-butterfly[aria-selected=true]');
    await settle(other);
    assertEqual(await other.locator('.focus-head h2').first().innerText(), pinned, 'the function of a note with another number');
    await other.close();

    await first.getByRole('button', { name: 'Save', exact: true }).click();
    await first.getByRole('menuitem', { name: 'Without personal data' }).click();
    await first.getByRole('radio', { name: /Profile/ }).click();
    const shared = async () => {
        const [file] = await Promise.all([first.waitForEvent('download'), first.getByRole('button', { name: 'Save', exact: true }).last().click()]);
        return gunzipSync(readFileSync(await file.path())).toString();
    };
    const preview = first.locator('.share-preview');
    await askUntil((text) => /notes about ranges and functions, in 2 notes/.test(text), () => preview.innerText());
    assert(!(await shared()).includes('nothing <b>'), 'the notes stay');
    await first.getByRole('button', { name: 'Save', exact: true }).click();
    await first.getByRole('menuitem', { name: 'Without personal data' }).click();
    await first.getByRole('checkbox', { name: 'Notes' }).uncheck();
    assert((await shared()).includes('nothing <b>'), 'the notes are gone');
    await first.close();
});

await check('nothing was asked for over a network, and nothing went wrong', () => {
    assertEqual(foreign.filter((address) => !/^(blob|file):/.test(address) && !address.startsWith(served)).join(), '', 'asked for');
    assertEqual(complaints.join('\n'), '', 'console');
});
await closeBrowser();

await check('Firefox shows the numbers of the report', async () => {
    if (!process.env.FIREFOX) return 'there is no firefox';
    const packages = createRequire(new URL('../../web/package.json', import.meta.url));
    const { default: puppeteer } = await import(pathToFileURL(packages.resolve('puppeteer-core')).href);
    const browser = await puppeteer.launch({ browser: 'firefox', executablePath: process.env.FIREFOX, headless: true });
    try {
        const firefox = await browser.newPage();
        const errors = [];
        firefox.on('pageerror', (error) => errors.push(error.message));
        await firefox.evaluateOnNewDocument(countQuestions);
        await firefox.goto(addressOf('small.html', all));
        await firefox.waitForSelector('.tree-row.selected');
        await settle(firefox);
        await compare(firefox);
        assertEqual(errors.join('\n'), '', 'errors');
    } finally {
        await browser.close();
    }
});

finish();
