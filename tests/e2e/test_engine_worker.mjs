#!/usr/bin/env node
// The worker of the page in a browser: what it says of files that are no profiles, and which questions it may skip. Prints
// TAP. CHROMIUM names the browser's program.
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = fileURLToPath(new URL('../..', import.meta.url));
const web = join(process.env.BUILD ?? join(root, 'build'), 'web');
if (!existsSync(join(root, 'web/node_modules/playwright-core')) || !existsSync(join(web, 'worker.js'))) {
    console.log('1..0 # SKIP the page or playwright-core is not there');
    process.exit(0);
}
const { chromium } = createRequire(join(root, 'web/package.json'))('playwright-core');

const FUNCS = 3;
const none = (length) => new Array(length).fill(null);
const profile = {
    meta: { interval: 1, startTime: 0, processType: 0, product: 'demo', stackwalk: 1, version: 36, preprocessedProfileVersion: 70, markerSchema: [] },
    libs: [],
    shared: {
        stringArray: ['main', 'work', '\u00fc\u{1f600}'],
        stackTable: { frame: [0, 1, 2], prefixOffset: [0, 1, 1], length: FUNCS },
        frameTable: {
            address: [-1, -1, -1], lib: [-1, -1, -1], inlineDepth: [0, 0, 0], category: none(3), subcategory: none(3), func: [0, 1, 2],
            nativeSymbol: none(3), innerWindowID: none(3), line: none(3), column: none(3), originalLocation: none(3), length: FUNCS,
        },
        funcTable: {
            name: [0, 1, 2], isJS: [false, false, false], relevantForJS: [false, false, false], resource: [-1, -1, -1], source: none(3),
            lineNumber: none(3), columnNumber: none(3), originalLocation: none(3), length: FUNCS,
        },
        resourceTable: { name: [], host: [], type: [], length: 0 },
        nativeSymbols: { libIndex: [], address: [], name: [], functionSize: [], length: 0 },
        sources: { id: [], filename: [], startLine: [], startColumn: [], sourceMapURL: [], content: [], length: 0 },
        sourceLocationTable: { source: [], line: [], column: [], length: 0 },
    },
    threads: [
        {
            processType: 'default', processStartupTime: 0, processShutdownTime: null, registerTime: 0, unregisterTime: null, pausedRanges: [],
            name: 'app', isMainThread: true, processName: 'app', pid: '1', tid: 1,
            samples: { stack: [2, 2, 1], timeDeltas: [0, 1, 1], weight: null, weightType: 'samples', length: 3 },
            markers: { data: [], name: [], startTime: [], endTime: [], phase: [], category: [], length: 0 },
        },
    ],
};
const json = Buffer.from(JSON.stringify(profile));
const gzip = gzipSync(json);
const html = '<!doctype html><title>test</title>';
const files = {
    '/': ['text/html', html],
    '/worker.js': ['text/javascript', readFileSync(join(web, 'worker.js'))],
    '/engine.wasm': ['application/wasm', readFileSync(join(web, 'engine.wasm'))],
    '/plain.json': ['application/json', json],
    '/packed.json.gz': ['application/gzip', gzip],
    '/encoded.json': ['application/json', gzip, { 'Content-Encoding': 'gzip' }],
    '/cut.json': ['application/json', json.subarray(0, 900)],
    '/cut.json.gz': ['application/gzip', gzip.subarray(0, gzip.length - 30)],
    '/broken.json.gz': ['application/gzip', Buffer.concat([gzip.subarray(0, 40), Buffer.alloc(200, 0x55)])],
    '/page.html': ['text/html', html],
    '/empty.json': ['application/json', Buffer.alloc(0)],
    '/one-byte.json': ['application/json', Buffer.from([0x1f])],
};
const server = createServer((request, response) => {
    const [type, bytes, headers = {}] = files[request.url] ?? ['text/plain', ''];
    response.writeHead(files[request.url] ? 200 : 404, { 'Content-Type': type, ...headers });
    response.end(bytes);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

let count = 0;
function check(name, passed, detail) {
    console.log(`${passed ? 'ok' : 'not ok'} ${++count} - ${name}`);
    if (!passed) {
        console.log(`# ${JSON.stringify(detail)}`);
        process.exitCode = 1;
    }
}

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage();
await page.goto(`http://127.0.0.1:${server.address().port}/`);

/** Posts calls to a fresh worker all at once, and gives what came back: for each a value or { error }. */
const ask = (calls) =>
    page.evaluate(
        (calls) =>
            new Promise((resolve) => {
                const worker = new Worker('worker.js', { type: 'module' });
                const answers = [];
                let progress = 0;
                worker.onmessage = ({ data }) => {
                    if (data.kind === 'progress') progress++;
                    else answers[data.id] = data.kind === 'error' ? { error: data.message } : data.value;
                    if (Object.keys(answers).length < calls.length) return;
                    worker.terminate();
                    resolve({ answers, progress });
                };
                calls.forEach(([method, ...args], id) => {
                    const absolute = method === 'load' ? [new URL(args[0], location.href).href] : args;
                    worker.postMessage({ id, method, args: absolute });
                });
            }),
        calls,
    );
const query = (search) => ['query', { threads: [0], range: null, search, inverted: false, transforms: [] }];

for (const name of ['plain.json', 'packed.json.gz', 'encoded.json']) {
    const { answers, progress } = await ask([['load', name], query(''), ['funcs', [2]]]);
    check(`${name} is read`, answers[0].sampleCount === 3 && answers[1].rootTotal === 3, answers);
    check(`${name} reports progress`, progress > 0, progress);
    check(`names of ${name} keep their characters`, answers[2][0].name === '\u00fc\u{1f600}', answers[2]);
}

const complaints = {
    'cut.json': /cut|end/i,
    'cut.json.gz': /damaged or cut off/,
    'broken.json.gz': /damaged or cut off|JSON|byte/i,
    'page.html': /JSON|HTML|profile/i,
    'empty.json': /empty/i,
    'one-byte.json': /./,
    'missing.json': /404/,
};
for (const [name, sentence] of Object.entries(complaints)) {
    const { answers } = await ask([['load', name]]);
    check(`${name} gives a sentence`, sentence.test(answers[0].error ?? ''), answers[0]);
}

const early = await ask([query('')]);
check('a question before loading gives a sentence', early.answers[0].error === 'No profile is loaded', early);

const many = await ask([['load', 'plain.json'], query('main'), query('nowhere'), query('\u00fc'), ['roots']]);
check('queries that were overtaken are skipped', many.answers[1] === null && many.answers[2] === null, many.answers);
check('the last query is answered', many.answers[3]?.rootTotal === 2, many.answers[3]);
check('rows are those of the last query', many.answers[4]?.total[0] === 2, many.answers[4]);

const wrong = await ask([['load', 'plain.json'], query(''), ['children', 77], ['path', -5], ['details', 1e9], ['activity', 9, 0, 1, 10, ''], ['heaviestPath', 17]]);
check('handles that do not exist give sentences', wrong.answers.slice(2, 6).every((answer) => /there is no/.test(answer.error ?? '')), wrong.answers);
check('and the worker lives on', wrong.answers[6].length === 3, wrong.answers[6]);

console.log(`1..${count}`);
await browser.close();
server.close();
server.closeAllConnections();
