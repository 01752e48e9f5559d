#!/usr/bin/env node
// Times the WebAssembly engine in node on a synthetic profile, without downloading and drawing. Measures decompression
// separately, with the DecompressionStream of the page. Medians of five, in ms.
//
//     bench_engine.mjs [SAMPLES STACKS THREADS]        (1000000 300000 8)
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { loadEngine, onLastQuery, syntheticProfile } from '../engine_loader.mjs';

const ROUNDS = 5;
const [samples = '1000000', stacks = '300000', threads = '8'] = process.argv.slice(2);
const file = syntheticProfile(samples, stacks, threads);

const { openEngine, module, layout } = await loadEngine();
const kinds = layout.TRANSFORM_KIND;
const packed = await readFile(file);
const json = gunzipSync(packed);
let engine;
let info;

async function measure(name, run, prepare = () => {}) {
    const times = [];
    for (let round = 0; round < ROUNDS; round++) {
        await prepare(round);
        const start = performance.now();
        await run(round);
        times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    console.log(`${name.padEnd(22)} ${times[ROUNDS >> 1].toFixed(1).padStart(8)}`);
}

async function decompress() {
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    for await (const _ of stream);
}

async function load() {
    const fresh = onLastQuery(await openEngine(module));
    for (let at = 0; at < json.length; at += 65536) fresh.feed(json.subarray(at, at + 65536));
    info = fresh.finish();
    engine = fresh;
}

const all = () => ({ threads: info.threads.map((thread) => thread.index), range: null, transforms: [], search: '', inverted: false });
const ask = (change) => {
    engine.query({ ...all(), ...change });
    return engine.roots();
};
const forget = () => {
    ask({ range: [1, 2] });
    ask({});
};
const part = (from, to) => [info.rangeStart + from * (info.rangeEnd - info.rangeStart), info.rangeStart + to * (info.rangeEnd - info.rangeStart)];

console.log(`${samples} samples, ${stacks} stacks, ${threads} threads, ${(statSync(file).size / 1e6).toFixed(1)} MB packed, ${(json.length / 1e6).toFixed(1)} MB of JSON; ms, medians of ${ROUNDS}`);
await measure('decompress', decompress);
await measure('parse and index', load);
await measure('query', () => ask({}), () => ask({ range: [1, 2] }));
await measure('range', (round) => ask({ range: part(0.2 + round / 100, 0.7) }), forget);
await measure('invert', () => ask({ inverted: true }), forget);
await measure('search', (round) => ask({ search: `lookup${round + 1}` }), forget);
await measure('search, expression', (round) => ask({ search: `/l(oo|i)kup${round}|decode/,-lib:part2` }), forget);
await measure('search, 5 terms', (round) => ask({ search: `oo,e,a,r,l${round}` }), forget);
await measure('functions', () => engine.functions(1e9, 'self'), forget);
await measure('find, opened', () => engine.findFunctions('', 1), forget);
await measure('find, one letter', () => engine.findFunctions('e', 100));
await measure('find, two words', () => engine.findFunctions('look ca', 100));
/** A func, a row and so on in the middle of the heaviest path, where transforms have the most to do. */
const path = (forget(), engine.heaviestPath(1000, 0));
const middle = path[path.length >> 1];
for (const kind of kinds) {
    const hasPath = kind === 'merge-call-node' || kind === 'focus-subtree';
    const index = kind.endsWith('category') || kind === 'collapse-resource' ? 0 : middle;
    const transform = { kind, index, path: hasPath ? path.slice(0, path.length >> 1) : [], inverted: false };
    await measure(kind, () => ask({ transforms: [transform] }), forget);
}
await measure('undo the last', () => ask({}), () => ask({ transforms: [{ kind: 'merge-function', index: middle, path: [], inverted: false }] }));
const width = 1600;
const half = path.slice(0, path.length >> 1);
await measure('flame', () => engine.flame([], [0, 1], width), forget);
await measure('flame, zoomed', () => engine.flame(half, [0, 1], width), forget);
await measure('flame, inverted', () => engine.flame([], [0, 1], width), () => {
    forget();
    ask({ inverted: true });
});
forget();
const chart = (share, sameWidths) => info.threads.forEach((thread) => engine.stackChart(thread.index, ...part(0, share), width, sameWidths));
await measure('stack chart, all', () => chart(1, false));
await measure('stack chart, a tenth', () => chart(0.1, false));
await measure('stack chart, same width', () => chart(1, true));
await measure('expand all, 10k rows', () => engine.descendants(engine.roots().node[0], 10000), forget);
await measure('details', () => engine.details(engine.roots().node[0]), forget);
await measure('timeline, 1600 pixels', () => info.threads.forEach((thread) => engine.activity([thread.index], info.rangeStart, info.rangeEnd, 1600, '')));
console.log(`memory                 ${(engine.memoryBytes() / 2 ** 20).toFixed(0).padStart(8)} MiB`);
