#!/usr/bin/env node
// The worker of the page in a browser: its messages about foreign files, and the queries that it drops. Prints TAP.
// CHROMIUM names the browser's program.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
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

/**
 * A file that is large enough for helpers: threads of so many samples, their columns written here without ever being arrays.
 * `odd`: an element in the middle of the stacks of the last thread.
 */
function largeProfile(odd = '1') {
    const THREADS = 4;
    const SAMPLES = 1_600_000; // a thread; a multiple of how often the parts are repeated
    const repeated = (elements) => Array(SAMPLES / elements.length).fill(elements.map(String).join()).join();
    const columns = { stack: repeated([0, 1, 2, null, 1]), timeDeltas: repeated([0.25, 1.001, 3, 1e-7]), threadCPUDelta: repeated([1000, null]) };
    const comma = columns.stack.indexOf(',', columns.stack.length / 2);
    const oddStack = `${columns.stack.slice(0, comma)},${odd}${columns.stack.slice(columns.stack.indexOf(',', comma + 1))}`;
    const text = JSON.stringify({ ...profile, threads: [] });
    const { samples, ...rest } = profile.threads[0];
    const threads = Array.from({ length: THREADS }, (_, i) => {
        const stack = i === THREADS - 1 ? oddStack : columns.stack;
        const table = `{"stack":[${stack}],"timeDeltas":[${columns.timeDeltas}],"threadCPUDelta":[${columns.threadCPUDelta}],"length":${SAMPLES}}`;
        return `{${JSON.stringify({ ...rest, tid: i }).slice(1, -1)},"samples":${table}}`;
    });
    return Buffer.from(text.replace('"threads":[]', `"threads":[${threads.join()}]`));
}
const gzip = gzipSync(json);
const LATE_MS = 400; // more than a graph of the timeline waits for what was asked after it
const html = '<!doctype html><title>test</title>';
// It tells when it is ready, and of every piece that it has read, before its answer lets the load end.
const helper = readFileSync(join(web, 'helper.js'), 'utf8');
const watched = `const tell = (what) => {
    const request = new XMLHttpRequest();
    request.open('POST', what, false);
    request.send();
};
const send = self.postMessage;
self.postMessage = (message, parts) => {
    if (message !== 'ready') tell('helped');
    send.call(self, message, parts);
    if (message === 'ready') tell('ready');
};\n${helper}`;
const files = {
    '/helper.js': ['text/javascript', watched],
    '/helped': ['text/plain', ''],
    '/ready': ['text/plain', ''],
    '/broken-off.json': ['application/json', json],
    '/': ['text/html', html],
    '/worker.js': ['text/javascript', readFileSync(join(web, 'worker.js'))],
    '/engine.wasm': ['application/wasm', readFileSync(join(web, 'engine.wasm'))],
    '/plain.json': ['application/json', json],
    '/late.json': ['application/json', json],
    '/packed.json.gz': ['application/gzip', gzip],
    '/encoded.json': ['application/json', gzip, { 'Content-Encoding': 'gzip' }],
    '/cut.json': ['application/json', json.subarray(0, 900)],
    '/cut.json.gz': ['application/gzip', gzip.subarray(0, gzip.length - 30)],
    '/broken.json.gz': ['application/gzip', Buffer.concat([gzip.subarray(0, 40), Buffer.alloc(200, 0x55)])],
    '/page.html': ['text/html', html],
    '/empty.json': ['application/json', Buffer.alloc(0)],
    '/one-byte.json': ['application/json', Buffer.from([0x1f])],
};
const large = { '/large.json': '1', '/large-minus.json': '-1', '/large-text.json': '"one"', '/large-fraction.json': '1.5', '/large-nested.json': '[1,2]' };
let helped = 0;
let begun = 0; // loads of a large file: each answers one request
let settled; // when a helper is there, or none will be
let settle = () => {};
const server = createServer((request, response) => {
    if (request.url === '/helped') helped++;
    if (large[request.url]) begun++;
    if (large[request.url]) files[request.url] ??= ['application/json', largeProfile(large[request.url])];
    if (request.url === '/ready' || !files[request.url]) settle();
    const [type, bytes, headers = {}] = files[request.url] ?? ['text/plain', ''];
    response.writeHead(files[request.url] ? 200 : 404, { 'Content-Type': type, 'Content-Length': bytes.length, ...headers });
    if (request.url === '/broken-off.json') return response.write(bytes.subarray(0, 900), () => response.destroy());
    if (request.url === '/late.json') return setTimeout(() => response.end(bytes), LATE_MS);
    if (!large[request.url]) return response.end(bytes);
    response.write(bytes.subarray(0, bytes.length / 4)); // the rest when it is known who is there
    settled.then(() => response.end(bytes.subarray(bytes.length / 4)));
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

/** Posts calls to a fresh worker all at once, and gives what came back: for each a value or { error }; and in which order. */
const ask = (calls) =>
    page.evaluate(
        (calls) =>
            new Promise((resolve) => {
                const worker = new Worker('worker.js', { type: 'module' });
                const answers = [];
                const order = []; // of the calls, as they are answered
                let progress = 0;
                worker.onmessage = ({ data }) => {
                    if (data.kind === 'progress') progress++;
                    else {
                        answers[data.id] = data.kind === 'error' ? { error: data.message } : data.value;
                        order.push(data.id);
                    }
                    if (Object.keys(answers).length < calls.length) return;
                    worker.terminate();
                    resolve({ answers, order, progress });
                };
                calls.forEach(([method, ...args], id) => {
                    const absolute = method === 'load' ? [new URL(args[0], location.href).href] : args;
                    worker.postMessage({ id, method, args: absolute });
                });
            }),
        calls,
    );
/** The numbers of the first queries in place 0 and, after it, in place 1: the page takes them from the answers. */
const FIRST = 4;
const SECOND = 9;
const all = { threads: [0], transforms: [], search: '', of: null };
const query = (search) => ['query', { threads: [0], range: null, search, inverted: false, transforms: [] }];

for (const name of ['plain.json', 'packed.json.gz', 'encoded.json']) {
    const { answers, progress } = await ask([['load', name], query(''), ['funcs', [2]]]);
    check(`${name} is read`, answers[0].sampleCount === 3 && answers[1].rootTotal === 3, answers);
    check(`${name} reports progress`, progress > 0, progress);
    check(`names of ${name} keep their characters`, answers[2][0].name === '\u00fc\u{1f600}', answers[2]);
}

const complaints = {
    'cut.json': /truncated/,
    'cut.json.gz': /damaged or truncated/,
    'broken.json.gz': /damaged or truncated|JSON|byte/i,
    'broken-off.json': /download stopped/,
    'page.html': /JSON|HTML|profile/i,
    'empty.json': /empty/i,
    'one-byte.json': /./,
    'missing.json': /404/,
};
for (const [name, sentence] of Object.entries(complaints)) {
    const { answers } = await ask([['load', name]]);
    check(`${name} gives a sentence`, sentence.test(answers[0].error ?? ''), answers[0]);
}

async function askOfLarge(calls) {
    settled = new Promise((resolve) => {
        settle = resolve;
    });
    helped = begun = 0;
    return (await ask(calls)).answers;
}

/** What a large file gives with helpers, and without: then there is no such file as theirs. */
async function withAndWithout(calls) {
    const together = await askOfLarge(calls);
    const pieces = helped;
    const loads = begun;
    const kept = files['/helper.js'];
    delete files['/helper.js'];
    const alone = await askOfLarge(calls);
    files['/helper.js'] = kept;
    const [[, name]] = calls;
    writeFileSync(join(directory, name), files[`/${name}`][1]);
    delete files[`/${name}`]; // it is large
    return { together, alone, pieces, loads, same: JSON.stringify(together) === JSON.stringify(alone) };
}

const directory = mkdtempSync(join(tmpdir(), 'prof-worker-'));
const everything = { threads: [0, 1, 2, 3], range: null, search: '', inverted: false, transforms: [] };
const activityOf = (threads) => ['activity', threads, 0, 1e6, 500, { ...all, threads: everything.threads, search: 'work' }];
const questions = [
    ['query', everything], ['roots', FIRST], ['descendants', FIRST, 0, 100], ['activity', [3], 0, 1e6, 500, all],
    activityOf([0, 1, 2, 3]), ...everything.threads.map((thread) => activityOf([thread])),
];
let largeAnswers;
for (const name of ['large.json', 'large-minus.json']) {
    const { together, alone, pieces, loads, same } = await withAndWithout([['load', name], ...questions]);
    if (name === 'large.json') largeAnswers = together;
    check(`helpers read pieces of ${name}, which is not read again`, pieces > 0 && loads === 1, [pieces, loads]);
    check(`and it is the same as without them`, same && together[0].sampleCount === together[1].rootTotal && together[1].rootTotal > 5e6, together.map((answer, i) => [answer, alone[i]]).slice(1, 3));
}
/** Where all numbers of a column are the sums of those of the other graphs, but for rounding. */
const isSum = (sum, graphs, column) => Object.entries(sum[column]).every(([at, value]) => Math.abs(graphs.reduce((total, graph) => total + graph[column][at], 0) - value) < 1e-4);
const [sum, ...ofThreads] = largeAnswers.slice(5);
check('the graph of several threads is the sum of theirs', sum.strip[100] > 0 && sum.matching[100] > 0.1 && ['shares', 'matching'].every((column) => isSum(sum, ofThreads, column)), [sum.categories, sum.shares[100], sum.matching[100]]);
if (process.env.PROF) {
    const report = JSON.parse(execFileSync(process.env.PROF, ['report', '--functions', '--json', join(directory, 'large.json')], { encoding: 'utf8' }));
    const [, { rootTotal }, , { func, self }] = largeAnswers;
    const selfOf = (name) => report.functions.find((entry) => entry.name === name)?.self;
    const same = Array.from(func, (index, row) => selfOf(profile.shared.stringArray[index]) === self[row]);
    check('prof report has the same numbers', report.total === rootTotal && same.length === 2 && same.every(Boolean), [report, largeAnswers.slice(1, 4)]);
}
for (const name of ['large-text.json', 'large-fraction.json', 'large-nested.json']) {
    const { together, pieces, loads, same } = await withAndWithout([['load', name]]);
    check(`${name} is refused with the same sentence as without helpers`, pieces > 0 && loads === 2 && same && /threads\[3\].samples.stack/.test(together[0].error), [together, pieces, loads]);
}

const early = await ask([query('')]);
check('a question before loading gives a sentence', early.answers[0].error === 'No profile is loaded', early);

const many = await ask([['load', 'plain.json'], query('main'), query('nowhere'), query('\u00fc'), ['roots', FIRST]]);
check('queries that were overtaken are skipped', many.answers[1] === null && many.answers[2] === null, many.answers);
check('the last query is answered', many.answers[3]?.rootTotal === 2, many.answers[3]);
check('rows are those of the last query', many.answers[4]?.total[0] === 2, many.answers[4]);

const typed = await ask([
    ['load', 'plain.json'], query(''), ['roots', FIRST], ['functions', FIRST, 9, 'self'], ['findTexts', 'wo', ['work']],
    ['findFunctions', FIRST, 'wo', 9],
]);
check('a search for typed text runs before all other queries', typed.order.join() === '0,4,5,1,2,3', typed.order);
check('functions are found while no query is open', typed.answers[5][0]?.func === 1 && typed.answers[5].length === 1, typed.answers[5]);

const along = await ask([
    ['load', 'plain.json'], query(''), ['childrenAlong', FIRST, -1, [0, 1, 2]], ['childrenAlong', FIRST, -1, [0, 2]],
]);
const firstFuncs = along.answers.slice(2).map((levels) => levels.map(({ func }) => func[0]).join());
check('the children along a path end with it, and where it does not exist', firstFuncs.join(' ') === '0,1,2 0,1', firstFuncs);

const first = (path, names) => [...query(''), { path, depth: 9, share: 0, names }];
const opened = await ask([['load', 'plain.json'], first([0, 2], 9)]);
const absent = await ask([['load', 'plain.json'], first([2], 0)]);
const levelsOf = ({ answers: [, answer] }) => [answer.path.join(), answer.levels.map(({ func }) => func.join()).join(' '), answer.names.length].join('; ');
check('a query brings the levels along a path as far as it exists, and names of their rows', levelsOf(opened) === '0,2; 1; 3', levelsOf(opened));
check('and the levels along the heaviest path elsewhere', levelsOf(absent) === '0,1,2; 1 2; 0', levelsOf(absent));

const below = await ask([
    ['load', 'plain.json'], query(''), ['heaviestBelow', FIRST, -1, 9, null], ['heaviestBelow', FIRST, -1, 2, 0], ['heaviestBelow', FIRST, -1, 9, 4],
]);
const chains = below.answers.slice(2).map((path) => path.join());
check('the heaviest chain below a node ends at a leaf, at its limit, or where the node itself costs more', chains.join(' ') === '0,1,2 0,1 ', chains);

const graph = ['activity', [0], 0, 1, 10, all];
const rows = ['roots', FIRST];
const late = await ask([['load', 'late.json'], graph, graph, graph, rows, rows, rows]);
const taken = late.order.slice(1).map((id) => (id > 3 ? 'rows' : 'graph'));
const several = await ask([['load', 'late.json'], ['activity', [0, 0, 0, 0, 0], 0, 1, 10, all], rows, rows, rows]);
check('a graph of several threads takes turns after each', several.order.join() === '0,2,3,4,1', several.order);
check('graphs that have waited long alternate with new queries', taken.slice(0, 4).sort().join() === 'graph,graph,rows,rows', taken);

/** In how many of ten bursts, graphs first, to a worker that rests, the last call was answered first. */
const lastWasFirst = await page.evaluate(
    async ([load, query, graph, rows]) => {
        const worker = new Worker('worker.js', { type: 'module' });
        let ids = 0;
        const answered = (calls) =>
            new Promise((resolve) => {
                const order = [];
                const first = ids;
                worker.onmessage = ({ data }) => {
                    if (data.kind !== 'progress') order.push(data.id - first);
                    if (order.length === calls.length) resolve(order);
                };
                for (const [method, ...args] of calls) {
                    worker.postMessage({ id: ids++, method, args });
                    for (const start = performance.now(); performance.now() < start + 0.5; ); // as the page's own work
                }
            });
        await answered([['load', new URL(load, location.href).href]]);
        await answered([query]);
        let count = 0;
        for (let burst = 0; burst < 10; burst++) {
            await new Promise((resolve) => setTimeout(resolve, 50));
            const [first] = await answered([graph, graph, graph, graph, graph, graph, graph, graph, rows]);
            if (first === 8) count++;
        }
        worker.terminate();
        return count;
    },
    ['plain.json', query(''), graph, rows],
);
check('a query right behind graphs runs before them', lastWasFirst >= 7, lastWasFirst); // not 10: a busy machine

const wrong = await ask([['load', 'plain.json'], query(''), ['children', FIRST, 77], ['path', FIRST, -5], ['details', FIRST, 1e9], ['activity', [9], 0, 1, 10, all], ['heaviestPath', FIRST, 17, 0]]);
check('handles that do not exist give sentences', wrong.answers.slice(2, 6).every((answer) => /has no (node|thread) /.test(answer.error ?? '')), wrong.answers);
check('and the worker lives on', wrong.answers[6].length === 3, wrong.answers[6]);

// Two queries at a time, what is asked of them in turn: the stacks that match "ü", and inverted all of them.
const inverted = { ...query('')[1], inverted: true };
const turns = await ask([
    ['load', 'plain.json'], query('\u00fc'), ['query', inverted, undefined, 1],
    ['roots', FIRST], ['roots', SECOND], ['functions', FIRST, 9, 'self'], ['functions', SECOND, 9, 'self'],
    ['groups', FIRST, 'library'], ['groups', SECOND, 'category'], ['children', FIRST, 0], ['children', SECOND, 0],
    ['butterfly', FIRST, { kind: 'function', index: 1 }], ['butterfly', SECOND, { kind: 'function', index: 2 }],
    ['butterflyChildren', 1, 'callers', -1], ['butterflyChildren', 2, 'callers', -1], ['butterflyChildren', 1, 'callees', -1],
    ['release', FIRST], ['roots', FIRST], ['roots', SECOND], ['butterflyChildren', 1, 'callers', -1], ['butterflyChildren', 2, 'callers', -1],
    ['release', SECOND], ['roots', SECOND],
]);
const at = turns.answers;
const funcsOf = (answer) => Array.from(answer.func ?? []).join();
check('queries have numbers of their own', at[1].id === FIRST && at[2].id === SECOND, [at[1], at[2]]);
check('a search returns the number of shown and of all matches', at[1].samples === 2 && at[1].allSamples === 3 && at[1].allTotal === 3, at[1]);
check('roots belong to the named query', funcsOf(at[3]) === '0' && funcsOf(at[4]) === '2,1', [at[3], at[4]]);
check('and so are functions', at[5].length === 1 && at[5][0].func === 2 && at[5][0].self === 2 && at[6].find(({ func }) => func === 1).self === 1, [at[5], at[6]]);
check('libraries of one query and categories of the other', at[7][0].func === -1 && at[7][0].self === 2 && at[8].length === 1 && at[8][0].self === 3, [at[7], at[8]]);
check('children of the same handle: below main is work, and main calls work', funcsOf(at[9]) === '1' && funcsOf(at[10]) === '0', [at[9], at[10]]);
check('a butterfly has the callers of its own function', funcsOf(at[13]) === '0' && funcsOf(at[14]) === '1' && funcsOf(at[15]) === '2', at.slice?.(13, 16) ?? at);
check('queries of a released query and its butterfly are rejected', [17, 19].every((i) => /is closed/.test(at[i].error ?? '')), [at[17], at[19]]);
check('the other query still exists', funcsOf(at[18]) === '2,1' && funcsOf(at[20]) === '1', [at[18], at[20]]);
check('until it is released', /is closed/.test(at[22].error ?? ''), at[22]);

console.log(`1..${count}`);
await browser.close();
rmSync(directory, { recursive: true });
server.close();
server.closeAllConnections();
