#!/usr/bin/env node
// A live page over a long recording: `prof record --live` with a headless Chromium on its page, which is used meanwhile. What
// an append of new samples costs the server (CPU time, with what two pages ask for) and the engine of the page (wall time,
// without that in which bytes arrive; and CPU time, of the same engine in node), the time from a key to the painted answer, the recorder's share of a CPU, and the memory of the recorder, of the
// server and of the page's process: in the first, second and last third. At the end the page and `prof report` have to
// agree about the saved profile.
//
//     bench_live_page.mjs [SECONDS [OPTIONS OF RECORD AND COMMAND ...]]     (60 -r 4000 build/targets/shares 8 3600)
//
// A command without an end, or -p: the recording is stopped by the page's button. On two CPUs the default has the samples
// of eight CPUs at 1 kHz.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, loadEngine, root } from '../engine_loader.mjs';
import { median } from './served.mjs';

const SAMPLE_MS = 5000;
const GOALS = { 'append: engine, ms': 20, 'key to paint: arrow, ms': 60, 'key to paint: invert, ms': 60 };
const PROF = process.env.PROF ?? join(build, 'prof');

const { chromium } = createRequire(join(root, 'web/package.json'))('playwright-core');
const [seconds = '60', ...rest] = process.argv.slice(2);
const what = rest.length > 0 ? rest : ['-r', '4000', join(build, 'targets/shares'), '8', '3600'];
const directory = mkdtempSync(join(tmpdir(), 'prof-bench-'));
const file = join(directory, 'live.json.gz');

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** ms of CPU time of the threads that a process has. */
function cpuTime(pid) {
    let total = 0;
    for (const thread of readdirSync(`/proc/${pid}/task`))
        try {
            total += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
        } catch {} // it has ended
    return total / 1e6;
}

/** MB: resident and its own. */
function memory(pid) {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/RssAnon:\s*(\d+)/.exec(status)[1]) / 1e3;
}

function childNamedProf(pid) {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    return Number(children.find((child) => readFileSync(`/proc/${child}/comm`, 'utf8').trim() === 'prof'));
}

/** In the page: runs `act`, resolves with the ms until the tree answered it, as `isAnswer` sees, and was painted. */
function timeKey(key, of) {
    const start = performance.now();
    const read = () => document.querySelector(of === 'selected' ? '.tree-row.selected' : '.tree-row')?.querySelector('bdi')?.textContent;
    const before = read();
    return new Promise((resolve) => {
        const finish = (ms) => {
            observer.disconnect();
            clearTimeout(timer);
            resolve(ms);
        };
        const observer = new MutationObserver(() => {
            if (read() === before) return;
            requestAnimationFrame(() => setTimeout(() => finish(performance.now() - start)));
        });
        const timer = setTimeout(() => finish(null), 5000);
        observer.observe(document.querySelector('.tree'), { subtree: true, childList: true, characterData: true, attributes: true });
        document.querySelector('[role="treegrid"]').dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    });
}

const prof = spawn(PROF, ['record', '--live', '-n', '-P', '0', '-o', file, ...what], { stdio: ['ignore', 'ignore', 'pipe'] });
let said = '';
const url = await new Promise((resolve, reject) => {
    prof.stderr.on('data', (text) => {
        said += text;
        const match = /http:\S+/.exec(said);
        if (match) resolve(match[0]);
    });
    prof.on('exit', () => reject(new Error(said)));
});
const server = childNamedProf(prof.pid);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
page.on('pageerror', (error) => console.log(`the page: ${error.message}`));
await page.goto(url);
await page.waitForSelector('.tree-row.selected');
const session = await browser.newBrowserCDPSession();
async function rendererMemory() {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    return Math.max(...processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => memory(id)));
}
const generationOf = async () => (await page.evaluate(() => document.querySelector('.live-bar')?.textContent ?? '')).match(/([\d,]+) samples/)?.[1].replaceAll(',', '') ?? '0';
const pageHeap = await page.context().newCDPSession(page);

/** The same engine in this process: CPU time, which a busy machine does not change, of one append like the page's. */
const { openEngine, module } = await loadEngine();
const engine = await openEngine(module);
let next = '';
async function appendHere() {
    const bytes = new Uint8Array(await (await fetch(new URL(`profile.json?added=${next}`, url))).arrayBuffer());
    const before = process.cpuUsage();
    if (next) engine.begin();
    engine.feed(bytes);
    next = engine.finish().addedNext;
    return process.cpuUsage(before).user / 1e3;
}

const figures = [];
async function sample(last) {
    const start = performance.now();
    const append = await page.workers()[0].evaluate(() => {
        const [measure] = performance.getEntriesByName('append');
        return measure && { ms: measure.duration, memory: measure.detail };
    });
    const fetched = await page.workers()[0].evaluate(() => {
        const all = performance.getEntriesByType('resource').filter(({ name }) => name.includes('added='));
        performance.clearResourceTimings();
        return { count: all.length, bytes: all.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) };
    });
    const row = { at: (start - begin) / 1000 };
    await appendHere();
    await pause(1200);
    row.cpu = await appendHere();
    row.arrow = await page.evaluate(`(${timeKey})('${figures.length % 2 ? 'ArrowUp' : 'ArrowDown'}', 'selected')`);
    await pause(300);
    row.invert = await page.evaluate(`(${timeKey})('i', 'first')`);
    await pause(300);
    row.back = await page.evaluate(`(${timeKey})('i', 'first')`);
    const used = { recorder: cpuTime(prof.pid), server: cpuTime(server), at: performance.now() };
    row.recorder = last ? (used.recorder - last.recorder) / (used.at - last.at) : null;
    row.server = last && fetched.count ? (used.server - last.server) / fetched.count : null;
    row.kilobytes = fetched.count ? fetched.bytes / fetched.count / 1e3 : null;
    row.appends = fetched.count;
    row.append = append?.ms ?? null;
    row.wasm = append ? append.memory / 1e6 : null;
    row.samples = Number(await generationOf());
    row.memory = [memory(prof.pid), memory(server), await rendererMemory()];
    const { usedSize } = await pageHeap.send('Runtime.getHeapUsage');
    row.heap = usedSize / 1e6;
    figures.push(row);
    if (process.env.VERBOSE) console.log(JSON.stringify(row, (_, value) => (typeof value === 'number' ? Math.round(value * 1000) / 1000 : value)));
    return used;
}

// All threads: the most that a key has to answer for.
const begin = performance.now();
await pause(2000);
await page.locator('[role="treegrid"]').focus();
const labels = page.locator('.track-label[role="treeitem"]');
await labels.first().click();
await page.keyboard.down('Shift');
await labels.last().click();
await page.keyboard.up('Shift');
await page.locator('[role="treegrid"]').focus();
let used = await sample(null);
while (performance.now() - begin < Number(seconds) * 1000 && prof.exitCode === null) {
    await pause(SAMPLE_MS - 2000);
    if ((await page.locator('.live-bar').count()) === 0) break;
    used = await sample(used).catch((error) => (console.log(error.message), used));
}

/** Medians of thirds. */
const third = (at) => figures.slice(Math.floor((figures.length * at) / 3), Math.ceil((figures.length * (at + 1)) / 3));
const print = (name, of) => {
    const medians = [0, 1, 2].map((at) => {
        const values = third(at).map(of).filter((value) => value !== null && value !== undefined && !Number.isNaN(value));
        return values.length > 0 ? median(values) : Number.NaN;
    });
    const goal = GOALS[name];
    console.log(`${name.padEnd(34)}${medians.map((value) => value.toFixed(2).padStart(10)).join('')}${goal ? `   goal <= ${goal}` : ''}`);
};
console.log(`${what.join(' ')}: ${seconds} s; medians of each third`);
print('samples', ({ samples }) => samples);
print('append: server, ms of CPU time', (row) => row.server);
print('append: engine, ms', (row) => row.append);
print('append: engine, ms of CPU time', (row) => row.cpu);
print('append: kB', (row) => row.kilobytes);
print('key to paint: arrow, ms', (row) => row.arrow);
print('key to paint: invert, ms', (row) => row.invert);
print('key to paint: uninvert, ms', (row) => row.back);
print('recorder, of a CPU', (row) => row.recorder);
print('memory: recorder, MB', (row) => row.memory[0]);
print('memory: server, MB', (row) => row.memory[1]);
print('memory: process of the page, MB', (row) => row.memory[2]);
print('  the engine, MB', (row) => row.wasm);
print('  the heap of the page, MB', (row) => row.heap);

// ---- the end ----

const bar = page.locator('.live-bar');
if ((await bar.count()) > 0) await bar.getByRole('button', { name: 'Stop', exact: true }).click().catch(() => undefined);
await bar.waitFor({ state: 'detached', timeout: 300_000 });
await page.waitForTimeout(3000);
/** Name and library of each row on the screen, and its numbers. Those whose names are there twice are left out. */
async function rowsOf(of) {
    const rows = new Map();
    for (const text of await of.locator('.tree-row').allInnerTexts()) {
        const cells = text.split('\n');
        const name = cells.slice(-2).join();
        rows.set(name, rows.has(name) ? null : cells.slice(0, -2).join());
    }
    return rows;
}
const rows = await rowsOf(page);
const query = new URL(page.url()).search;
const after = await rendererMemory();
const loaded = spawn(PROF, ['load', '-n', '-P', '0', file], { stdio: ['ignore', 'ignore', 'pipe'] });
const address = await new Promise((resolve) => {
    let text = '';
    loaded.stderr.on('data', (piece) => {
        text += piece;
        const match = /http:\S+/.exec(text);
        if (match) resolve(match[0]);
    });
});
const other = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
await other.goto(address + query);
await other.waitForSelector('.tree-row.selected');
await other.waitForTimeout(5000);
const rowsOfFile = await rowsOf(other);
const both = [...rows].filter(([name, numbers]) => numbers && rowsOfFile.get(name));
const different = both.filter(([name, numbers]) => numbers !== rowsOfFile.get(name));
const isSame = both.length > 0 && different.length === 0;
console.log(`memory of the page's process with the saved profile: ${after.toFixed(0)} MB; the file has ${(statSync(file).size / 1e6).toFixed(1)} MB`);
console.log(`${both.length} rows are on the page and on one that was opened from the file; with other numbers: ${different.length}`);
const report = spawnSync(PROF, ['report', file], { encoding: 'utf8', maxBuffer: 1 << 28 });
console.log((report.stdout + report.stderr).split('\n').slice(0, 30).join('\n'));
console.log([...rows].slice(0, 8).join(' | '));
await browser.close();
loaded.kill('SIGINT');
prof.kill('SIGINT');
rmSync(directory, { recursive: true });
process.exit(isSame ? 0 : 1);
