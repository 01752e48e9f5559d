#!/usr/bin/env node
// Times the lanes of thread states: ms per frame of panning and zooming, for the engine (in its worker) and for the
// script of the page, which paints the pixels. The goal is 8 ms of script and 16 ms of the engine, for the tracks on a
// screen.
//
//     bench_lanes.mjs [WAITS THREADS]        (5000000 200)
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { loadParts } from '../e2e/page_modules.mjs';
import { build, loadEngine, root } from '../engine_loader.mjs';

const [waits = '5000000', threads = '200'] = process.argv.slice(2);
const FRAMES = 60;
const LANES = 20; // tracks of a tall window
const WIDTH = 1900;
const ROWS = 9;

const file = join(build, `bench/waits-${waits}-${threads}.json.gz`);
if (!existsSync(file)) {
    const generator = join(build, 'bench/generate_waits');
    execFileSync('make', ['-s', '-C', root, relative(root, generator)], { stdio: 'inherit' });
    execFileSync(generator, [waits, threads, file], { stdio: 'inherit' });
}
const { openEngine, module } = await loadEngine();
const [drawStates, lanesOf] = await loadParts(['timeline/draw_states', 'timeline/lane_answer']);
const engine = await openEngine(module);
const json = gunzipSync(await readFile(file));
for (let at = 0; at < json.length; at += 1 << 20) engine.feed(json.subarray(at, at + (1 << 20)));
const info = engine.finish();
const asked = Array.from({ length: LANES }, (_, at) => ({ key: `t${at}`, threads: [info.threads.length - 1 - at] }));
const colors = Array.from({ length: 16 }, (_, at) => ({ color: at, stripe: at }));
const length = info.rangeEnd - info.rangeStart;
const pixels = new Uint32Array(WIDTH * ROWS);

/** The times of frames, each with a range. */
function measure(name, rangeOf, lanes = asked) {
    const engineTimes = [];
    const scriptTimes = [];
    for (let frame = 0; frame < FRAMES; frame++) {
        const range = rangeOf(frame);
        const start = performance.now();
        const answer = engine.stateLanes(lanes.map((lane) => lane.threads), ...range, WIDTH);
        const middle = performance.now();
        for (const lane of lanesOf.lanesOf(lanes, range, answer, () => 0).values()) {
            pixels.fill(0);
            drawStates.paintLane(pixels, lane, ROWS, colors);
        }
        engineTimes.push(middle - start);
        scriptTimes.push(performance.now() - middle);
    }
    const text = (times) => {
        times.sort((a, b) => a - b);
        return `${times[0].toFixed(1).padStart(8)} ${times[FRAMES >> 1].toFixed(1).padStart(8)}`;
    };
    console.log(`${name.padEnd(28)}${text(engineTimes)}  ${text(scriptTimes)}`);
}

console.log(`${waits} waits, ${threads} threads, ${LANES} lanes of ${WIDTH} pixels, ${FRAMES} frames; ms a frame`);
console.log(`${' '.repeat(28)}  engine: least, median; script: least, median`);
const first = performance.now();
engine.stateLanes(asked.map((lane) => lane.threads), info.rangeStart, info.rangeEnd, WIDTH);
console.log(`first request: ${(performance.now() - first).toFixed(1)} ms`);
for (const part of [1, 0.1, 0.001])
    measure(`pan, ${part * 100} % of the range`, (frame) => {
        const from = info.rangeStart + (part < 1 ? ((frame / FRAMES) * (1 - part)) : frame / 1e4) * length;
        return [from, from + part * length];
    });
measure('zoom, 100 % to 0.01 %', (frame) => {
    const part = 0.0001 ** (frame / FRAMES);
    const from = info.rangeStart + 0.4 * length * (1 - part);
    return [from, from + part * length];
});
measure('pan, one lane of all threads', (frame) => [info.rangeStart + frame, info.rangeEnd + frame], [
    { key: 'r0', threads: info.threads.map((thread) => thread.index) },
]);
