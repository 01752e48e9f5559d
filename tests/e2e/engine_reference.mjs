// The WebAssembly half of test_engine_reference. Sends the queries of engine_dump.c to the engine of the page, and
// compares the answers line by line. Prints TAP.
//
//     node engine_reference.mjs ENGINE_DUMP PROFILE...
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { loadEngine, onLastQuery } from '../engine_loader.mjs';

const MOST_ROWS = 500;
const DETAILED_ROWS = 40;
const PATH_DEPTH = 17;
const PATH_SHARE = 0.1;
const INLINED = { no: 0, some: 1, yes: 2 };
const RECURSION = { none: 0, indirect: 1, direct: 2 };
const [dumper, ...files] = process.argv.slice(2);
const { openEngine, module, layout } = await loadEngine();
const kinds = layout.TRANSFORM_KIND;

const scratch = new DataView(new ArrayBuffer(8));
function bits(value) {
    scratch.setFloat64(0, value);
    return scratch.getBigUint64(0).toString(16).padStart(16, '0');
}

async function load(file) {
    const bytes = readFileSync(file);
    const json = bytes[0] === 0x1f ? gunzipSync(bytes) : bytes;
    const engine = onLastQuery(await openEngine(module));
    for (let at = 0; at < json.length; at += 1000) engine.feed(json.subarray(at, at + 1000));
    return { engine, info: engine.finish() };
}

/** Stacks of transforms that do something to this profile: of the funcs on the heaviest path, of libraries, categories. */
function transformLists(engine, info) {
    engine.query({ threads: info.threads.map((thread) => thread.index), range: null, transforms: [], search: '', inverted: false });
    const path = engine.heaviestPath(30, 0);
    const inverted = [...path].reverse().slice(0, 2);
    const middle = path[path.length >> 1] ?? 0;
    const leaf = path[path.length - 1] ?? 0;
    const of = (kind, index = -1, nodes = [], isInverted = false) => ({ kind, index, path: nodes, inverted: isInverted });
    return [
        [],
        [of('merge-function', middle), of('collapse-recursion', leaf), of('focus-function', path[0] ?? 0)],
        [of('merge-call-node', -1, path.slice(0, 3)), of('collapse-resource', 0), of('drop-category', 1)],
        [of('focus-subtree', -1, inverted, true), of('drop-function', leaf), of('collapse-direct-recursion', middle)],
        [of('focus-subtree', -1, path.slice(0, 2)), of('collapse-function-subtree', middle)],
        [of('focus-category', 0), of('focus-self', leaf)],
        [of('drop-resource', 1), of('merge-resource', 0)],
        [of('collapse-resource', 1), of('focus-resource', 1)],
    ];
}

/** Every thread alone and all together, ranges, searches, both directions; the timeline; places in it. */
function requestsFor(engine, info) {
    const requests = [];
    const all = info.threads.map((thread) => thread.index).slice(0, 8);
    const length = info.rangeEnd - info.rangeStart;
    const ranges = [[0, 0], [info.rangeStart + length / 4, info.rangeStart + length / 2]];
    const lists = transformLists(engine, info);
    for (const threads of [all, ...all.slice(0, 3).map((thread) => [thread])])
        for (const [from, to] of ranges)
            for (const search of ['', 'lookup', 'Func', 'e,A', 'lib', '-/u(n|s)/,lib:/[ap]/', '"funca::run(int)"'])
                for (const inverted of [0, 1]) requests.push({ kind: 'query', threads, from, to, transforms: [], search, inverted });
    // The graphs come after a query with transforms, and show what these leave.
    for (const transforms of lists)
        for (const search of ['', 'e'])
            for (const inverted of [0, 1]) requests.push({ kind: 'query', threads: all, from: 0, to: 0, transforms, search, inverted });
    requests.push({ kind: 'query', threads: all, from: 0, to: 0, transforms: lists[2], search: '', inverted: 0 });
    for (const thread of all)
        for (const search of ['', 'Func', 'lookup']) {
            requests.push({ kind: 'activity', thread, from: info.rangeStart, to: info.rangeEnd, width: 321, search });
            requests.push({ kind: 'activity', thread, from: info.rangeStart + length / 3, to: info.rangeStart + length / 2, width: 64, search });
        }
    // Rows that exist: the callers, or the callees, of what the middle of a thread shows.
    for (const thread of all) {
        const funcs = engine.sampleAt(thread, info.rangeStart + length / 2)?.path ?? [];
        for (const inverted of [0, 1])
            for (const search of ['', 'Func'])
                for (const path of [1, 2, 30].map((most) => (inverted ? [...funcs].reverse() : funcs).slice(0, most)))
                    requests.push({ kind: 'path', thread, from: info.rangeStart, to: info.rangeEnd, width: 65, inverted, path, search });
    }
    for (const thread of all)
        for (let i = 0; i < 50; i++) requests.push({ kind: 'sample', thread, time: info.rangeStart + (length * (i - 2)) / 46 });
    return requests;
}

function transformsText(transforms) {
    const one = ({ kind, index, path, inverted }) => `${kinds.indexOf(kind)}:${Math.max(index, 0)}:${Number(inverted)}:${path.join(',')}`;
    return transforms.map(one).join(';') || '-';
}

function lineOf(request) {
    if (request.kind === 'query')
        return `query ${request.inverted} ${request.from} ${request.to} ${request.threads.join(',')} ${transformsText(request.transforms)} ${request.search}`;
    if (request.kind === 'activity')
        return `activity ${request.thread} ${request.from} ${request.to} ${request.width} ${request.search}`;
    if (request.kind === 'path')
        return `path ${request.thread} ${request.from} ${request.to} ${request.width} ${request.inverted} ${request.path.join(',')} ${request.search}`;
    return `sample ${request.thread} ${request.time}`;
}

function answerQuery(engine, request, out) {
    const range = request.from === 0 && request.to === 0 ? null : [request.from, request.to];
    const { threads, transforms, search } = request;
    const summary = engine.query({ threads, range, transforms, search, inverted: request.inverted === 1 });
    out.push(`summary ${summary.nodeCount} ${bits(summary.rootTotal)} ${bits(summary.samples)}`);
    const rows = engine.descendants(-1, MOST_ROWS);
    for (let i = 0; i < rows.node.length; i++)
        out.push(`row ${rows.depth[i]} ${rows.func[i]} ${rows.category[i]} ${rows.hasChildren[i]} ${bits(rows.total[i])} ${bits(rows.self[i])}`);
    const weights = (list) => list.map(({ category, weight }) => ` ${category} ${bits(weight)}`).join('');
    for (let i = 0; i < Math.min(rows.node.length, DETAILED_ROWS); i++) {
        const details = engine.details(rows.node[i]);
        const lines = details.lines.map(({ line, total, self }) => ` ${line} ${bits(total)} ${bits(self)}`).join('');
        out.push(`details ${INLINED[details.inlined]}${weights(details.categoriesTotal)} self${weights(details.categoriesSelf)} lines${lines}`);
    }
    out.push(['path', ...engine.heaviestPath(PATH_DEPTH, PATH_SHARE)].join(' '));
    for (const { func, total, self } of engine.functions(MOST_ROWS, 'self')) out.push(`func ${func} ${bits(total)} ${bits(self)}`);
    const path = engine.heaviestPath(PATH_DEPTH, PATH_SHARE);
    for (const kind of kinds) {
        const hasPath = kind === 'merge-call-node' || kind === 'focus-subtree';
        const transform = { kind, index: path[path.length >> 1] ?? 1, path: hasPath ? path.slice(0, 2) : [], inverted: false };
        out.push(['rewritten', ...engine.rewritePaths(transform, [path])[0]].join(' '));
    }
    if (path.length > 0) out.push(`recursion ${RECURSION[engine.recursion(path[0])]}`);
}

function answer(engine, request, out) {
    if (request.kind === 'query') {
        answerQuery(engine, request, out);
    } else if (request.kind === 'activity' || request.kind === 'path') {
        const of = request.path ? { path: request.path, inverted: request.inverted === 1 } : null;
        const { categories, shares, matching } = engine.activity([request.thread], request.from, request.to, request.width, request.search, of);
        categories.forEach((category, row) => {
            const values = (matching ?? shares).subarray(row * request.width, (row + 1) * request.width);
            // The native answer has only the categories that the search leaves over.
            if (values.some((value) => value !== 0)) out.push(`activity ${category} ${Array.from(values, bits).join(' ')}`);
        });
    } else {
        const sample = engine.sampleAt(request.thread, request.time);
        out.push(sample ? `sample ${bits(sample.time)} ${bits(sample.cpu ?? -1)} ${bits(sample.notRunning?.[1] ?? -1)}` : 'sample');
    }
}

console.log(`1..${files.length}`);
let number = 0;
for (const file of files) {
    const { engine, info } = await load(file);
    const requests = requestsFor(engine, info);
    const mine = [];
    for (const request of requests) answer(engine, request, mine);
    const input = `${requests.map(lineOf).join('\n')}\n`;
    const native = execFileSync(dumper, [file], { input, maxBuffer: 1 << 30, encoding: 'utf8' }).trimEnd().split('\n');
    const different = mine.findIndex((line, at) => line !== native[at]);
    const same = different < 0 && mine.length === native.length;
    console.log(`${same ? 'ok' : 'not ok'} ${++number} - ${basename(file)}: ${mine.length} lines of answers are the same`);
    if (!same) {
        const at = different < 0 ? Math.min(mine.length, native.length) : different;
        console.log(`# line ${at + 1} of ${mine.length} and ${native.length}\n# wasm:   ${mine[at]}\n# native: ${native[at]}`);
        process.exitCode = 1;
    }
}
