#!/usr/bin/env node
// Times comparisons in the WebAssembly engine, in node: two profiles of one size, one of them alone, and the queries of
// keys. Medians of five, in ms. "Load" is from the bytes of the uncompressed files to the first rows. The two profiles
// share no names of functions and no stacks ("apart"), or are the same ("alike").
//
//     bench_compare.mjs [SAMPLES STACKS THREADS]        (1000000 300000 8)
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { loadEngine, onLastQuery, syntheticProfile } from '../engine_loader.mjs';

const ROUNDS = 5;
const LOAD_GOAL = 1.5; // of one profile
const KEY_GOAL = 60; // ms
const size = process.argv.length > 2 ? process.argv.slice(2) : ['1000000', '300000', '8'];
const { openEngine, module } = await loadEngine();
const ALL = { name: '', range: null, kept: null, source: '' };

const read = async (seed) => gunzipSync(await readFile(syntheticProfile(...size, seed)));
const files = [await read('1'), await read('2')];

function feed(engine, bytes) {
    for (let at = 0; at < bytes.length; at += 65536) engine.feed(bytes.subarray(at, at + 65536));
}

function loadOne(engine) {
    feed(engine, files[0]);
    return engine.finish();
}

function medianOf(times) {
    return [...times].sort((a, b) => a - b)[times.length >> 1];
}

const FIRST = { path: [], depth: 100, share: 0.02, names: 50 };

/** Opens what it is given, and its first rows: [engine, info, ms]. */
async function open(load) {
    const engine = await openEngine(module);
    const start = performance.now();
    const info = load(engine);
    engine.query(everything(info), FIRST);
    return [onLastQuery(engine), info, performance.now() - start];
}

const everything = (info) => ({
    threads: info.threads.map((thread) => thread.index),
    range: null,
    transforms: [],
    search: '',
    inverted: false,
});

function loadTwo(base, next) {
    return (engine) => {
        feed(engine, base);
        engine.finishSide('base');
        feed(engine, next);
        engine.finishSide('new');
        return engine.compare({ base: ALL, new: ALL, forgives: false });
    };
}

async function measureLoads() {
    const cases = {
        one: loadOne,
        apart: loadTwo(files[0], files[1]),
        alike: loadTwo(files[0], files[0]),
    };
    const times = Object.fromEntries(Object.keys(cases).map((name) => [name, []]));
    for (let round = 0; round < ROUNDS; round++)
        for (const [name, load] of Object.entries(cases)) times[name].push((await open(load))[2]);
    const one = medianOf(times.one);
    console.log(`load one               ${one.toFixed(1).padStart(8)}`);
    for (const name of ['apart', 'alike']) {
        const two = medianOf(times[name]);
        console.log(`load two, ${name.padEnd(12)} ${two.toFixed(1).padStart(8)}  ${(two / one).toFixed(2)}x one, goal ${LOAD_GOAL}x`);
    }
}

async function measureKeys(name, load) {
    const [engine, info] = await open(load);
    console.log(`keys of two, ${name}; goal ${KEY_GOAL} ms`);
    const ask = (change = {}) => engine.query({ ...everything(info), ...change }) && engine.roots();
    const forget = () => {
        ask({ range: [1, 2] });
        ask();
    };
    const measure = (what, run, prepare = () => {}) => {
        const times = [];
        for (let round = 0; round < ROUNDS; round++) {
            prepare(round);
            const start = performance.now();
            run(round);
            times.push(performance.now() - start);
        }
        const time = medianOf(times);
        console.log(`  ${what.padEnd(20)} ${time.toFixed(1).padStart(8)}${time > KEY_GOAL ? '  too long' : ''}`);
    };
    forget();
    const path = engine.heaviestPath(1000, 0);
    const middle = path[path.length >> 1];
    const row = () => engine.find(path.slice(0, path.length >> 1), true);
    measure('select: details', () => engine.details(row()), forget);
    measure('open a row', () => engine.children(row()), forget);
    measure('expand all, 10k rows', () => engine.descendants(engine.roots().node[0], 10000), forget);
    measure('search letters', (round) => ask({ search: `lookup${round + 1}` }), forget);
    measure('range', (round) => ask({ range: [info.rangeStart + round, (info.rangeStart + info.rangeEnd) / 2] }), forget);
    measure('base alone', () => ask({ compared: 'base' }), forget);
    measure('invert', () => ask({ inverted: true }), forget);
    measure('functions', () => engine.functions(1e5, 'self'), forget);
    measure('changes by self', () => engine.changes('self'), forget);
    measure('changes by total', () => engine.changes('total'), forget);
    measure('function details', () => engine.functionDetails(middle), forget);
    measure('butterfly', () => engine.butterflyChildren('callers', -1, engine.butterfly({ kind: 'function', index: middle })), forget);
    measure('flame graph', () => engine.flame([], [0, 1], 1600), forget);
    for (const kind of ['merge-function', 'focus-function', 'drop-function', 'collapse-recursion']) {
        const transforms = [{ kind, index: middle, path: [], inverted: false }];
        measure(kind, () => ask({ transforms }), forget);
    }
    const subtree = [{ kind: 'focus-subtree', index: -1, path: path.slice(0, path.length >> 1), inverted: false }];
    measure('focus-subtree', () => ask({ transforms: subtree }), forget);
    console.log(`  memory               ${(engine.memoryBytes() / 2 ** 20).toFixed(0).padStart(8)} MiB`);
}

console.log(`${size[0]} samples, ${size[1]} stacks, ${size[2]} threads on each side; ms, medians of ${ROUNDS}`);
await measureLoads();
await measureKeys('apart', loadTwo(files[0], files[1]));
await measureKeys('alike', loadTwo(files[0], files[0]));
