#!/usr/bin/env node
// Times the engine as a page sees it: headless Chromium, the real worker, a profile served gzip-packed from this process.
// "load" is from the call to the answer: download, decompress, parse, index. Medians of five, in ms; each load in a fresh
// worker.
//
//     bench_engine_page.mjs [SAMPLES STACKS THREADS]        (1000000 300000 8)
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, root, syntheticProfile } from '../engine_loader.mjs';

const PAGE = `
import { createEngine } from '${join(root, 'web/src/engine/client.ts')}';
const ROUNDS = 5;
const results = {};
async function measure(name, run, prepare = async () => {}) {
    const times = [];
    for (let round = 0; round < ROUNDS; round++) {
        await prepare(round);
        const start = performance.now();
        await run(round);
        times.push(performance.now() - start);
    }
    results[name] = times.sort((a, b) => a - b)[ROUNDS >> 1];
}
async function all() {
    let engine, info;
    await measure('load, decoded by page', async () => { info = await engine.load('profile.json.gz', () => {}); },
        async () => { engine = createEngine('worker.js'); });
    await measure('load, decoded by browser', async () => { info = await engine.load('encoded.json', () => {}); },
        async () => { engine = createEngine('worker.js'); });
    const whole = { threads: info.threads.map((thread) => thread.index), range: null, transforms: [], search: '', inverted: false };
    const ask = async (change) => { await engine.query({ ...whole, ...change }); await engine.roots(); };
    const forget = async () => { await ask({ range: [1, 2] }); await ask({}); };
    const at = (share) => info.rangeStart + share * (info.rangeEnd - info.rangeStart);
    await measure('range', (round) => ask({ range: [at(0.2 + round / 100), at(0.7)] }), forget);
    await measure('invert', () => ask({ inverted: true }), forget);
    await measure('search', (round) => ask({ search: 'lookup' + round }), forget);
    await measure('functions', () => engine.functions(1000), forget);
    await measure('flame', () => engine.flame([], [0, 1], 1600), forget);
    await measure('stack chart, all threads', () => Promise.all(info.threads.map((thread) => engine.stackChart(thread.index, info.rangeStart, info.rangeEnd, 1600, false))));
    await measure('timeline, all threads', () => Promise.all(info.threads.map((thread) => engine.activity([thread.index], info.rangeStart, info.rangeEnd, 1600, ''))));
}
all().catch((error) => { results.error = String(error); }).then(() => fetch('results', { method: 'POST', body: JSON.stringify(results) }));
`;

const [samples = '1000000', stacks = '300000', threads = '8'] = process.argv.slice(2);
const profile = await readFile(syntheticProfile(samples, stacks, threads));
const directory = await mkdtemp(join(tmpdir(), 'prof-bench-'));
const { build: bundle } = createRequire(join(root, 'web/package.json'))('esbuild');
await bundle({
    stdin: { contents: PAGE, resolveDir: root, loader: 'ts' },
    outfile: join(directory, 'page.js'),
    bundle: true,
    format: 'esm',
});
await bundle({ entryPoints: [join(root, 'web/src/engine/worker.ts')], outfile: join(directory, 'worker.js'), bundle: true, format: 'esm', minify: true });

const files = {
    '/': ['text/html', '<!doctype html><title>bench</title><script type="module" src="page.js"></script>'],
    '/page.js': ['text/javascript', await readFile(join(directory, 'page.js'))],
    '/worker.js': ['text/javascript', await readFile(join(directory, 'worker.js'))],
    '/engine.wasm': ['application/wasm', await readFile(join(build, 'engine.wasm'))],
    '/profile.json.gz': ['application/gzip', profile],
    '/encoded.json': ['application/json', profile, { 'Content-Encoding': 'gzip' }],
};
let finish;
const finished = new Promise((resolve) => {
    finish = resolve;
});
const server = createServer((request, response) => {
    if (request.method === 'POST') {
        let body = '';
        request.on('data', (piece) => (body += piece));
        request.on('end', () => {
            response.end();
            finish(JSON.parse(body));
        });
        return;
    }
    const [type, bytes, headers = {}] = files[request.url] ?? [];
    response.writeHead(type ? 200 : 404, { 'Content-Type': type ?? 'text/plain', 'Content-Length': bytes?.length ?? 0, ...headers });
    response.end(bytes);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const browser = spawn(
    process.env.CHROMIUM ?? 'chromium',
    ['--headless=new', '--no-sandbox', '--disable-gpu', `--user-data-dir=${join(directory, 'profile')}`, `http://127.0.0.1:${server.address().port}/`],
    { stdio: 'ignore' },
);
browser.on('error', (error) => finish({ error: `chromium could not be started: ${error.message}` }));
const timeout = setTimeout(() => finish({ error: 'no answer from the page in two minutes' }), 120_000);
const results = await finished;
clearTimeout(timeout);
browser.kill();
server.close();
server.closeAllConnections();
await new Promise((resolve) => (browser.exitCode === null && browser.signalCode === null && browser.pid ? browser.on('exit', resolve) : resolve()));
await rm(directory, { recursive: true, force: true, maxRetries: 5 });
console.log(`${samples} samples, ${stacks} stacks, ${threads} threads in headless Chromium; ms, medians of 5`);
for (const [name, value] of Object.entries(results)) console.log(`${name.padEnd(26)} ${typeof value === 'number' ? value.toFixed(1).padStart(8) : value}`);
process.exitCode = results.error ? 1 : 0;
