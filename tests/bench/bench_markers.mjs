#!/usr/bin/env node
// Times a profile of many threads and markers. In headless Chromium: from the start of the navigation to the painted call
// tree and graphs, and from a click on a tab to its painted answer. In node, over the same engine: what the views of
// markers ask for, of all threads at once; "first" is the first time, which reads the payloads. Medians of five, in ms.
//
//     bench_markers.mjs [SAMPLES STACKS THREADS MARKERS COUNTERS]        (100000 30000 1000 100000 6)
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { build, loadEngine, root } from '../engine_loader.mjs';
import { median, serve } from './served.mjs';

const ROUNDS = 5;
const FIRST_SCREEN_GOAL = 500; // ms
const ANSWER_GOAL = 50; // ms

const { chromium } = createRequire(join(root, 'web/package.json'))('playwright-core');
const [samples = '100000', stacks = '30000', threads = '1000', markers = '100000', counters = '6'] = process.argv.slice(2);
const file = join(build, `bench/markers-${samples}-${stacks}-${threads}-${markers}-${counters}.json.gz`);
if (!existsSync(file)) {
    execFileSync('make', ['-s', '-C', root, 'build/bench/generate_profile'], { stdio: 'inherit' });
    const generator = join(build, 'bench/generate_profile');
    execFileSync(generator, [samples, stacks, threads, file, '30', '1', markers, counters], { stdio: 'inherit' });
}

const results = [];
const note = (name, times, goal) => results.push([name, median(times), goal]);

// ---- the engine ----

const { openEngine, module } = await loadEngine();
const bytes = gunzipSync(readFileSync(file));
const rounds = {};
for (let round = 0; round < ROUNDS; round++) {
    const engine = await openEngine(module);
    engine.feed(bytes);
    const info = engine.finish();
    const time = (name, run) => {
        const start = performance.now();
        run();
        (rounds[name] ??= []).push(performance.now() - start);
    };
    const range = [info.rangeStart, info.rangeEnd];
    const part = [range[0] + (range[1] - range[0]) * 0.4, range[0] + (range[1] - range[0]) * 0.6];
    const query = { threads: info.threads.map((thread) => thread.index), range, search: '', place: 'table' };
    const byStart = [{ column: 'start', descending: false }];
    const chart = { ...query, place: 'chart' };
    time('list of markers, first', () => engine.markers(query, byStart));
    time('another range', () => engine.markers({ ...query, range: part }, byStart));
    time('sorted by duration', () => engine.markers(query, [{ column: 'duration', descending: true }]));
    time('search, first', () => engine.markers({ ...query, search: 'part/1' }, byStart));
    time('search', () => engine.markers({ ...query, search: 'part/12,-name:log' }, byStart));
    time('texts of 100 rows', () => engine.markerRows(query, [...Array(100).keys()], 'table'));
    time('rows of the chart', () => engine.markerChart(chart));
    time('rects of the chart, all', () => engine.markerRects(chart, range, (range[1] - range[0]) / 1600, 0, 5000));
    time('rects of the chart, a screen', () => engine.markerRects(chart, part, (part[1] - part[0]) / 1600, 0, 100));
    time('graphs of counters', () => info.counters.forEach(({ index }) => engine.counterGraph(index, range, 1600)));
}
for (const [name, times] of Object.entries(rounds)) note(name, times, ANSWER_GOAL);

// ---- the page ----

/** In the page: the time when the call tree and the first graph have been painted. */
function paintedAt() {
    return new Promise((resolve) => {
        const look = () => {
            const isThere =
                document.querySelector('.tree-row.selected bdi') && document.querySelector('canvas.track-canvas[data-theme]');
            if (isThere) requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
            else requestAnimationFrame(look);
        };
        look();
    });
}

const { server, url } = await serve(file);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
    const firsts = [];
    const tabs = {};
    for (let round = 0; round < ROUNDS; round++) {
        const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
        const page = await context.newPage();
        await page.goto(url, { waitUntil: 'commit' });
        firsts.push(await page.evaluate(paintedAt));
        await page.waitForTimeout(500);
        for (const [title, awaited] of [['Marker Table', '.tree-row'], ['Marker Chart', '.chart-canvas']]) {
            const took = await page.evaluate(
                ([name, selector]) =>
                    new Promise((resolve) => {
                        const tab = [...document.querySelectorAll('[role="tab"]')].find((one) => one.textContent === name);
                        const start = performance.now();
                        const look = () => {
                            if (document.querySelector(`#view ${selector}`))
                                requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)));
                            else requestAnimationFrame(look);
                        };
                        tab.click();
                        requestAnimationFrame(look);
                    }),
                [title, awaited],
            );
            (tabs[title] ??= []).push(took);
            await page.waitForTimeout(300);
        }
        await context.close();
    }
    note('first screen: the call tree and graphs', firsts, FIRST_SCREEN_GOAL);
    for (const [title, times] of Object.entries(tabs)) note(`tab ${title}, busiest thread`, times, ANSWER_GOAL);
} finally {
    await browser.close();
    server.kill();
}

console.log(`${threads} threads, ${markers} markers, ${samples} samples, ${counters} counters`);
for (const [name, ms, goal] of results)
    console.log(`${name.padEnd(42)} ${ms.toFixed(1).padStart(8)} ms  ${(ms / goal).toFixed(2)} of the goal of ${goal} ms`);
