// A page that follows a recording from its start to the saved profile.
//
//     node tests/e2e/page_live.mjs DIRECTORY SHARES-TARGET
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { closeBrowser, complaints, openPage, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [directory, target] = process.argv.slice(2);
const file = `${directory}/live.json.gz`;

/** Starts prof; resolves when it prints an address. */
async function start(...args) {
    const child = spawn(process.env.PROF, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    process.on('exit', () => child.kill()); // also after a failure: prof then ends its program
    let said = '';
    const address = await new Promise((resolve, reject) => {
        child.stderr.on('data', (text) => {
            said += text;
            const match = /http:\S+/.exec(said);
            if (match) resolve(match[0]);
        });
        child.on('exit', () => reject(new Error(said)));
    });
    return { child, url: address, said: () => said };
}

const prof = await start('record', '--live', '-n', '-P', '0', '-o', file, target, '1', '3600');
const { url } = prof;
const page = await openPage(url);
const bar = page.getByRole('region', { name: 'Recording' });
const button = (name) => bar.getByRole('button', { name, exact: true });
const samples = async () => Number(/([\d,]+) samples/.exec(await bar.innerText())[1].replaceAll(',', ''));
const selected = page.locator('.tree-row.selected');
/** The texts of the rows: names and numbers. */
const rows = async (of) => (await of.locator('.tree-row').allInnerTexts()).join('\n');
const total = async () => Number((await selected.innerText()).split('\n')[1].replaceAll(',', ''));

async function until(holds, what) {
    for (let i = 0; i < 600; i++) {
        if (await holds()) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`it never came to that: ${what}`);
}

/** Waits for `count` more profiles than the page has been told of. */
async function moreSamples(count = 2) {
    for (let i = 0; i < count; i++) {
        const before = await samples();
        await until(async () => (await samples()) > before, 'more samples');
    }
}

await check('the page follows while the program runs', async () => {
    await moreSamples();
    assertEqual(complaints.join('\n'), '', 'what the page complained of');
});

await check('the page fetches only new samples', async () => {
    const ask = async (query = '') => (await fetch(new URL(`profile.json${query}`, url))).json();
    const rows = ({ added }) => added.reduce((sum, { length = 0 }) => sum + length, 0);
    const { addedFrom, addedNext } = await ask();
    await moreSamples();
    const asked = await page.workers()[0].evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
    assert(/profile\.json\?added=\d+-\d+$/.test(asked.at(-1)), `the page asked for ${asked.at(-1)}`);
    const part = await ask(`?added=${addedNext}`);
    assertEqual(addedFrom, 0, 'where a whole profile begins');
    assert(part.addedFrom > 0, 'a part begins at the start');
    assert(rows(part) < rows(await ask()), 'a part has all samples');
    assertEqual((await ask('?added=77-5')).addedFrom, 0, 'where the answer to a page of another recording begins');
});

let hasLanes = false;
await check('the lanes of CPUs grow while the program runs', async () => {
    hasLanes = (await page.locator('[data-track="z0"]').count()) > 0; // ptrace sees no switches
    if (!hasLanes) return;
    const lanes = page.locator('.cpu-lane');
    await page.locator('[data-track="z0"] .track-label').focus();
    await page.keyboard.press('ArrowRight');
    /** The number of pixels with a color at the bottom of all lanes. */
    const filled = () =>
        lanes.evaluateAll((all) =>
            all.reduce((sum, canvas) => {
                const { data } = canvas.getContext('2d').getImageData(0, canvas.height - 2, canvas.width, 1);
                return sum + data.filter((value, at) => at % 4 === 3 && value > 0).length;
            }, 0),
        );
    await until(async () => (await filled()) > 0, 'colors in the lanes');
    await moreSamples(3);
    const most = await lanes.first().evaluate((canvas) => canvas.width);
    await until(async () => (await filled()) > most / 2, 'colors of half of the time, after more samples');
    await page.keyboard.press('ArrowLeft');
});

await check('the selection and open rows stay while the weight grows', async () => {
    await until(async () => (await page.locator('.tree-row').count()) > 2, 'a tree with some rows');
    await page.locator('.tree-row').nth(1).click();
    await settle(page);
    const [name, open, weight] = [await selected.innerText(), await page.locator('.tree-row').count(), await total()];
    await until(async () => (await total()) > weight, 'a larger weight');
    const lastLines = (text) => text.split('\n').slice(-2).join();
    assertEqual(lastLines(await selected.innerText()), lastLines(name), 'the selected row');
    assert((await page.locator('.tree-row').count()) >= open, 'rows were closed');
});

await check('a range stays where it is', async () => {
    await page.goto(`${page.url()}&range=100m400`);
    await page.waitForSelector('.tree-row.selected');
    await settle(page);
    const weight = await total();
    await moreSamples(3);
    assertEqual(await total(), weight, 'the weight within the range');
    assert(page.url().includes('range=100m400'), page.url());
    await page.getByRole('navigation', { name: 'Zoom history' }).getByRole('button').first().click();
    await until(async () => (await total()) > weight, 'the weight of the full range');
});

await check('Space freezes the view and follows again', async () => {
    await page.keyboard.press(' ');
    await button('Follow').waitFor();
    await settle(page);
    const weight = await total();
    await moreSamples(3);
    assertEqual(await total(), weight, 'the weight while frozen');
    await page.keyboard.press(' ');
    await until(async () => (await total()) > weight, 'a larger weight');
});

await check('the recording pauses, resumes and takes marks', async () => {
    await button('Pause').click();
    await button('Resume').waitFor();
    await button('Resume').click();
    await button('Pause').waitFor();
    await button('Mark…').click();
    await page.keyboard.type('the second  phase');
    await page.keyboard.press('Enter');
    await page.locator('.notice').getByText('marked').waitFor();
    await button('Mark…').click();
    await page.keyboard.press('Escape');
    await button('Mark…').waitFor();
});

/** A program that asks for both, reads none of it, and is stopped. */
const STALLED = `
const [port, head] = process.argv.slice(1);
for (const path of ['live', 'profile.json']) {
    const socket = require('node:net').connect(Number(port), '127.0.0.1', () => {
        socket.pause();
        socket.write(head.replace('PATH', path), () => console.log(path));
    });
}`;

await check('programs that never read, and killed programs, delay nothing', async () => {
    const { port, pathname, host } = new URL(url);
    const head = `GET ${pathname}PATH HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
    const stalled = spawn(process.execPath, ['-e', STALLED, port, head], { stdio: ['ignore', 'pipe', 'inherit'] });
    let asked = '';
    stalled.stdout.on('data', (text) => {
        asked += text;
    });
    await until(() => asked.includes('live') && asked.includes('profile.json'), 'both are asked for');
    stalled.kill('SIGSTOP');
    await moreSamples(3);
    stalled.kill('SIGKILL');
    await moreSamples();
});

await check('only the page itself reaches the recording', async () => {
    const stop = { method: 'POST', body: 'stop' };
    const foreign = { ...stop, headers: { Origin: 'http://evil.example' } };
    assertEqual((await fetch(new URL('live/control', url), foreign)).status, 403, 'the status for another page');
    assertEqual((await fetch(new URL('/live/control', url), stop)).status, 404, 'without the secret');
    assertEqual((await fetch(new URL('/live', url))).status, 404, 'of events without the secret');
    const refused = await fetch(new URL('live/control', url), { method: 'POST', body: 'status' });
    assert((await refused.json()).error.includes('takes pause'), 'another request was taken');
    await moreSamples(1);
});

/** Scrolls the rows, and opens them all, so that there is something to scroll. */
async function scrollRows(top) {
    await page.setViewportSize({ width: 1280, height: 330 });
    await page.locator('.tree-row').first().click();
    await page.keyboard.press('*');
    await settle(page);
    await page.keyboard.press('ArrowDown');
    await settle(page);
    await page.locator('.tree').evaluate((tree, to) => tree.scrollTo(0, to), top);
    await settle(page);
    return page.locator('.tree').evaluate((tree) => tree.scrollTop);
}

let query = '';
await check('at the end the page has the saved profile, with the same selection and scroll position', async () => {
    const top = await scrollRows(60);
    assert(top > 50, `the rows have no more than ${top} px to scroll`);
    const name = (await selected.innerText()).split('\n').slice(-2).join();
    await button('Stop').click();
    await bar.waitFor({ state: 'detached' });
    await page.waitForSelector('.tree-row.selected');
    await settle(page);
    assertEqual((await selected.innerText()).split('\n').slice(-2).join(), name, 'the selected row');
    assertEqual(await page.locator('.tree').evaluate((tree) => tree.scrollTop), top, 'where the rows are scrolled');
    await page.setViewportSize({ width: 1280, height: 800 });
    await settle(page);
    query = new URL(page.url()).search;
    assert(prof.said().includes('live.json.gz'), prof.said());
    assertEqual((await fetch(new URL('profile.json?added=', url))).status, 410, 'the status for more of what has ended');
    assertEqual(complaints.join('\n'), '', 'what the page complained of');
});

await check('it shows the same as the file', async () => {
    const shown = await rows(page);
    const whole = await page.locator('.breadcrumb').innerText();
    const loaded = await start('load', '-n', '-P', '0', file);
    const other = await openPage(loaded.url + query);
    await settle(other);
    const first = (text) => text.split('\n').slice(0, 10).join('\n'); // two rows
    assertEqual(first(shown), first(await rows(other)), 'the first rows');
    assertEqual(whole, await other.locator('.breadcrumb').innerText(), 'the ranges');
    const profile = JSON.parse(gunzipSync(readFileSync(file)));
    assertEqual(profile.threads.some(({ cpuSlices }) => cpuSlices), hasLanes, 'lanes of CPUs at the end and before');
    assert(JSON.stringify(profile.threads.map(({ markers }) => markers.data)).includes('"the second phase"'), 'the mark');
    loaded.child.removeAllListeners('exit');
    loaded.child.kill('SIGINT');
    await once(loaded.child, 'exit');
});

await check('a flight recorder is followed, and times mean the same in every profile', async () => {
    const recorder = await start('record', '--live', '-n', '-P', '0', '--last', '1s', '-o', `${directory}/last.json.gz`, target, '4', '3600');
    const other = await openPage(recorder.url);
    const served = async () => (await (await fetch(new URL('profile.json', recorder.url))).json()).meta;
    const { startTime } = await served();
    await until(async () => (await served()).profilingStartTime > 0, 'the oldest samples are dropped');
    assertEqual((await served()).startTime, startTime, 'the zero of times');
    await other.locator('.track-label', { hasText: 'TID' }).last().click();
    await settle(other);
    const selectedThread = async () => /TID \d+/.exec(await other.locator('.track-label[aria-selected=true]').innerText())[0];
    const thread = await selectedThread();
    await other.getByRole('region', { name: 'Recording' }).getByRole('button', { name: 'Stop' }).click();
    await other.getByRole('region', { name: 'Recording' }).waitFor({ state: 'detached' });
    await settle(other);
    assertEqual(await selectedThread(), thread, 'the selected thread');
    recorder.child.removeAllListeners('exit');
    recorder.child.kill('SIGINT');
    await once(recorder.child, 'exit');
    assertEqual(complaints.join('\n'), '', 'what the page complained of');
});

await closeBrowser();
await check('prof ends at a request', async () => {
    prof.child.removeAllListeners('exit');
    const ended = once(prof.child, 'exit');
    prof.child.kill('SIGINT');
    assertEqual((await ended)[0], 0, 'the exit status');
});
finish();
