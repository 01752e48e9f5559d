// Compares the functions that the engine exports to the page (lib/wasm/wasm_*.c) as WebAssembly with the same code
// natively (api_dump.c), bit by bit. The functions compute charts, butterfly, costs of lines and instructions, graphs
// of the timeline, markers, counters and searches of names. Prints TAP.
//
//     node api_reference.mjs API_DUMP PROFILE...
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { loadEngine } from '../engine_loader.mjs';

const NONE = 0xffffffff;
const FIRST_RECORDS = 6;
const NOT_A_NUMBER = 0x7ff8n;
const [dumper, ...files] = process.argv.slice(2);
const { EngineModule, module: compiled, layout } = await loadEngine();
const kinds = layout.TRANSFORM_KIND;
const encoder = new TextEncoder();

// The columns of the answers: see api_dump.c.
const ROWS = '0:w/1:w/2:w/3:w/4:d/5:d/6:b';
const COSTS = '0:w.dd/1:d*2';
const RECTS = '0:w/1:w/2:w/3:d/4:d';

const FIELD_BYTES = { d: 8, w: 4, f: 4, b: 1, '.': 4 };

function fieldBits(letter, data, at) {
    if (letter === 'b') return BigInt(data.getUint8(at));
    if (letter === 'w') return BigInt(data.getUint32(at, true));
    if (letter === 'f') return Number.isNaN(data.getFloat32(at, true)) ? NOT_A_NUMBER : BigInt(data.getUint32(at, true));
    return Number.isNaN(data.getFloat64(at, true)) ? NOT_A_NUMBER : data.getBigUint64(at, true);
}

const scratch = new DataView(new ArrayBuffer(8));

/** FNV-1a over the eight bytes of a field. */
function hashed(hash, bits) {
    scratch.setBigUint64(0, bits, true);
    for (let byte = 0; byte < 8; byte++) hash = Math.imul(hash ^ scratch.getUint8(byte), 16777619);
    return hash;
}

function columnText(view, part) {
    const [, column, fields, , each, all] = /^(\d):([dwfb.]+)(x(\d+)|\*(\d+))?$/.exec(part);
    const count = all ? Number(all) : view.length * Number(each ?? 1);
    const size = [...fields].reduce((sum, letter) => sum + FIELD_BYTES[letter], 0);
    const bytes = count === 0 ? new Uint8Array() : view.bytes(Number(column), count * size);
    const data = new DataView(bytes.buffer);
    const words = [String(count)];
    let hash = 2166136261 | 0;
    for (let i = 0, at = 0; i < count; i++)
        for (const letter of fields) {
            if (letter !== '.') {
                const bits = fieldBits(letter, data, at);
                hash = hashed(hash, bits);
                if (i < FIRST_RECORDS) words.push(bits.toString(16));
            }
            at += FIELD_BYTES[letter];
        }
    return [...words, `#${(hash >>> 0).toString(16)}`].join(' ');
}

const PIECE_BYTES = 3000;
const DEFER_BYTES = 40;
let runsDeferred = 0;
let mostMemories = 0;

class Api {
    requests = [];
    answers = [];

    static async open(file) {
        const api = new Api();
        api.engine = await EngineModule.create(compiled);
        api.exports = api.engine.functions();
        const bytes = readFileSync(file);
        const json = bytes[0] === 0x1f ? gunzipSync(bytes) : bytes;
        const { session } = api.engine;
        const helper = await EngineModule.create(compiled);
        const memories = new Set(); // another one after each growth
        for (let at = 0; at < json.length; at += PIECE_BYTES) {
            const piece = json.subarray(at, at + PIECE_BYTES);
            api.engine.input(piece.length).set(piece);
            api.exports.session_defer(session, at === 0 ? 0 : DEFER_BYTES);
            api.engine.check(api.exports.session_feed(session, piece.length));
            api.putDeferred(piece, helper);
            memories.add(api.exports.memory.buffer);
        }
        api.engine.check(api.exports.session_finish(session));
        mostMemories = Math.max(mostMemories, memories.size);
        return api;
    }

    /** Has the numbers that were deferred in a piece read by another engine: what is loaded so is compared like all else. */
    putDeferred(piece, helper) {
        const { session } = this.engine;
        const view = this.engine.view(this.exports.session_deferred(session));
        const runs = view.records(0, layout.DEFERRED_RUN);
        for (const { run, offset, size, bytes, type } of runs) {
            helper.inputWords([], `[${piece.toString('utf8', offset, offset + size)}]`);
            const elements = helper.view(helper.functions().session_numbers(helper.session, type, size + 2)).bytes(0);
            if (elements.length !== bytes) throw new Error(`${bytes} bytes were counted, not ${elements.length}`);
            this.engine.memory(this.exports.session_deferred_elements(session, run), bytes).set(elements);
            runsDeferred++;
        }
    }

    /** `input`: words and then text, and doubles before them; or null to leave what is there. */
    call(name, layout, args, input = null) {
        let hex = '-';
        if (input) {
            const [words, text = '', doubles = []] = input;
            this.engine.inputRequest(doubles, words.map((word) => word | 0), encoder.encode(text));
            const bytes = Buffer.concat([
                Buffer.from(Float64Array.from(doubles).buffer),
                Buffer.from(Int32Array.from(words, (word) => word | 0).buffer),
                Buffer.from(encoder.encode(text)),
            ]);
            hex = `+${bytes.toString('hex')}`;
        }
        this.requests.push([name, hex, layout, ...args].join(' '));
        const exported = this.exports[`session_${name}`];
        if (exported.length !== args.length + 1) throw new Error(`${name} has other arguments now: api_dump.c has to follow`);
        const value = exported(this.engine.session, ...args);
        if (layout === '=') {
            scratch.setFloat64(0, value, true);
            this.answers.push(`${name} ${fieldBits('d', scratch, 0).toString(16)}`);
            return null;
        }
        try {
            if (layout === '?') {
                this.engine.check(value);
                this.answers.push(`${name} done`);
                return value;
            }
            const view = this.engine.view(value);
            this.answers.push([name, view.length, ...layout.split('/').map((part) => columnText(view, part))].join(' '));
            return view;
        } catch (error) {
            this.answers.push(`${name} ${layout === '?' ? 'refused' : 'none'}: ${error.message === 'The engine failed' ? '' : error.message}`);
            return null;
        }
    }
}

const words = (view, size, at) => (view ? Array.from({ length: Math.min(view.length, 4) }, (_, i) => view.ints(0, view.length * size)[i * size + at] >>> 0) : []);
function transformWords({ kind, index, path = [], text = '' }) {
    const bytes = encoder.encode(text);
    const words = new Uint32Array(Math.ceil(bytes.length / 4));
    new Uint8Array(words.buffer).set(bytes);
    return [kinds.indexOf(kind), index, 0, path.length, bytes.length, ...path, ...words];
}

function askQuery(api, { threads, transforms, from, to, search, inverted, weight }, place = 0) {
    const list = transforms.flatMap(transformWords);
    const text = encoder.encode(search).length;
    const request = [place, threads.length, list.length, text, inverted, weight, 0];
    const id = api.call('query', '?', [], [[...request, ...threads, ...list], search, [from, to, 0]]) ?? 0;
    api.call('summary', '0:d', [id]);
    return id;
}

/** What the page shows of one query: rects, both sides of a butterfly, costs of places. Returns the funcs of a rect. */
function askOfQuery(api, info, query, id) {
    const path = [];
    const flame = api.call('flame', '0:ddddddwwwwwww.', [id, 0, 1, 1 / 700]);
    const depth = words(flame, 16, 10);
    words(flame, 16, 11).forEach((func, at) => depth[at] === path.length && func !== NONE && path.push(func));
    api.call('flame_find', '0:d', [id, path.length], [path]);
    for (const [from, to, least] of [[0.25, 0.5, 1 / 100], [0.4, 0.4001, 1 / 3000], [0, 1, 1 / 3]])
        api.call('flame', '0:ddddddwwwwwww.', [id, from, to, least]);
    for (const by of [0, 1, 2]) api.call('groups', '0:w.dddddd', [id, by]);
    for (const by of [-1, 0, 1, 2, 3, 4]) api.call('wait_groups', '0:dddddwwwwww', [id, by]);
    for (let weight = -1; weight <= info.weights.length; weight++) api.call('functions_weighed', '0:w.dddddd', [id, weight]);
    api.call('truncated', '=', []);
    for (const func of [...path, NONE]) {
        api.call('function_details', '?', [id, func]);
        for (const self of [0, 1]) api.call('categories', '0:w.d', [self]);
        api.call('lines', '0:w.dd', []);
    }
    const centers = [...path.map((func) => [0, func]), [0, info.funcCount - 1], [1, 0], [1, 1], [2, 0], [2, 2], [9, 0], [0, NONE]];
    for (const [kind, index] of centers) {
        const butterfly = api.call('butterfly', '?', [id, kind, index]) ?? 0;
        api.call('butterfly_weights', '0:d', [butterfly]);
        for (const side of [0, 1]) {
            const rows = api.call('butterfly_descendants', ROWS, [butterfly, side, NONE, 300]);
            api.call('butterfly_descendants', ROWS, [butterfly, side, words(rows, 1, 0)[1] ?? 3, 5]);
        }
    }
    api.call('hot_lines', '0:wwd/1:d*1', [id, 5]);
    const selections = [
        [0, []],
        [query.inverted ? 2 : 1, path.slice(0, 2)],
        [3, [path.at(-1) ?? 0]],
    ];
    for (const [kind, funcs] of selections) {
        for (const source of [0, 1, 2, NONE])
            for (const func of [NONE, path[0] ?? 0]) {
                api.call('line_costs', COSTS, [id, source, func, kind, funcs.length, 0], [funcs]);
                api.call('inlined_costs', '0:wwd', []);
            }
        for (const symbol of [0, 1, 2, 7]) {
            api.call('address_costs', '0:ddd/1:d*2', [id, symbol, kind, funcs.length, 0], [funcs]);
            api.call('address_costs', '0:ddd/1:d*2', [id, symbol, kind, funcs.length, 5], [[...funcs, 0, 4, 7, 16, 40]]);
        }
        for (const func of path.slice(0, 3)) api.call('symbol_costs', '0:w.dd', [id, func, kind, funcs.length], [funcs]);
    }
    for (const text of ['', 'f', 'run', 'zz', 'ab run', 'lk:'])
        api.call('find_names', '0:wwd', [id, encoder.encode(text).length, 12], [[], text]);
    const texts = 'Show all tracks\0für Größe\0\0lib:x\0';
    const size = encoder.encode(texts).length;
    for (const typed of ['', 'sh trk', 'größe', 'l', 'a b c d e f g h i j'])
        api.call('find_texts', `0:bbx${Math.min(8, typed.split(' ').filter(Boolean).length)}/1:b*${size}/2:w*1`, [encoder.encode(typed).length, size], [[], typed + texts]);
    for (const search of ['', 'a, -"b,c",lib:/x[0-9]+/,/(/', '-', 'file:A'])
        api.call('search_terms', '0:b', [encoder.encode(search).length], [[], search]);
    return path;
}

function askOfThreads(api, info, path, query, id) {
    const list = query.transforms.flatMap(transformWords);
    const length = info.rangeEnd - info.rangeStart;
    const ranges = [
        [info.rangeStart, info.rangeEnd],
        [info.rangeStart + length / 3, info.rangeStart + length / 2],
        [info.rangeStart + length * 0.499, info.rangeStart + length * 0.5],
    ];
    for (const { index } of info.threads.slice(0, 6))
        for (const [from, to] of ranges) {
            for (const [columns, isSame] of [[300, 0], [37, 1], [1, 0]])
                api.call('stack_chart', '0:ddwwwwwwww', [id, index, from, to, columns, isSame]);
            api.call('activity', '0:w/1:fx211/2:b*211', [index, from, to, 211]);
            for (const search of ['', 'a'])
                api.call('activity_matching', '0:w/1:fx93/2:b*93', [], [
                    [93, 1, query.threads.length, list.length, path.length, search.length, 0, index, ...query.threads, ...list, ...path],
                    search,
                    [from, to],
                ]);
            for (const place of [0, 0.3, 0.6])
                api.call('sample_at', '0:w/1:d*1/2:d*1/3:w*1/4:b*1/5:d*2', [index, from + (to - from) * place, query.threads.length, list.length], [[...query.threads, ...list]]);
            for (const places of [4, 8 | 16 | 32 | 64]) api.call('marker_strip', RECTS, [index, from, to, length / 500, places]);
            for (let schema = 0; schema < 6; schema++)
                for (const graph of [0, 1]) api.call('marker_graph', '0:f/1:w', [index, schema, graph, from, to, 150]);
            api.call('waits', `${RECTS}/5:d*4`, [index, from, to, length / 500]);
            api.call('critical_path', '0:b', [index, from, to]);
        }
}

/** Two queries in turn, and one that is not there any more. */
function askOfSeveral(api, query, id) {
    const other = askQuery(api, { ...query, inverted: 1, transforms: [], weight: 2 }, 1);
    for (const one of [id, other, id, other, id - 4, 0, 3])
        for (const node of [NONE, 0]) api.call('children', ROWS, [one, node]);
    const butterflies = [id, other].map((one) => api.call('butterfly', '?', [one, 0, 0]) ?? 0);
    for (const butterfly of [...butterflies, ...butterflies, 0, 77]) api.call('butterfly_descendants', ROWS, [butterfly, 0, NONE, 50]);
    askQuery(api, query, 4);
}

function askOfMarkers(api, info) {
    const length = info.rangeEnd - info.rangeStart;
    const threads = info.threads.map(({ index }) => index).slice(0, 5);
    for (const list of [threads, threads.slice(0, 1)])
        for (const search of ['', 'o', 'name:Work', '-cat:User', 'took,text:a'])
            for (const [from, to, places] of [[info.rangeStart, info.rangeEnd, 1], [info.rangeStart + length / 4, info.rangeStart + length / 3, 2]]) {
                const bytes = encoder.encode(search).length;
                api.call('marker_query', '?', [list.length, from, to, bytes, places], [list, search]);
                for (const keys of [[], [0, 1], [1, 1, 2, 0], [3, 0, 2, 1]]) api.call('marker_sorted', '0:w', [keys.length / 2], [keys]);
                api.call('marker_chart', '0:wwwww', []);
                for (const pixel of [0, length / 300, length]) api.call('marker_rects', RECTS, [from, to, pixel, 0, 50]);
                const some = [0, 1, 2, 5, 17, 40, 1e6];
                for (const label of [0, 1]) api.call('marker_texts', '0:b', [some.length, label], [some]);
                for (const marker of some) api.call('marker_details', '0:b', [NONE, marker]);
                api.call('marker_details', '0:b', [0, 3]);
            }
    for (let counter = 0; counter <= info.counters.length; counter++) {
        for (const [from, to] of [[info.rangeStart, info.rangeEnd], [info.rangeStart + length / 4, info.rangeStart + length / 3]]) {
            api.call('counter_graph', '0:f', [counter, from, to, 150]);
            api.call('counter_totals', '0:d', [counter, from, to]);
        }
        for (let i = -1; i < 12; i++) api.call('counter_at', '0:d', [counter, info.rangeStart + (length * i) / 10]);
    }
}

function askAll(api) {
    const text = api.call('info', '0:b', []);
    const info = JSON.parse(api.engine.decode(text));
    const threads = info.threads.map(({ index }) => index).slice(0, 8);
    const length = info.rangeEnd - info.rangeStart;
    const middle = [info.rangeStart + length / 4, info.rangeStart + length / 2];
    const lists = [
        [],
        [{ kind: 'merge-function', index: 1 }],
        [{ kind: 'collapse-recursion', index: 0 }, { kind: 'drop-category', index: 1 }],
        [{ kind: 'merge-resource', index: 0 }, { kind: 'focus-resource', index: 1 }],
        [{ kind: 'drop-resource', index: 1 }, { kind: 'collapse-resource', index: 0 }],
        [{ kind: 'filter-samples', index: 0, text: '-a' }, { kind: 'merge-function', index: 1 }, { kind: 'filter-samples', index: 0, text: '' }],
    ];
    let path = [];
    let queries = 0;
    for (const transforms of lists)
        for (const [from, to] of transforms.length === 0 ? [[-1e300, 1e300], middle] : [[-1e300, 1e300]])
            for (const search of ['', 'run,-lib:zz'])
                for (const inverted of [0, 1]) {
                    const query = { threads, transforms, from, to, search, inverted, weight: queries++ % info.weights.length };
                    const id = askQuery(api, query);
                    path = askOfQuery(api, info, query, id);
                }
    const last = { threads, transforms: lists[1], from: -1e300, to: 1e300, search: '', inverted: 0, weight: 0 };
    const id = askQuery(api, last);
    askOfThreads(api, info, path, last, id);
    askOfThreads(api, info, path, { ...last, transforms: lists[2] }, id); // that no query has
    askOfSeveral(api, last, id);
    for (const source of [0, 1, NONE]) {
        api.call('source', '0:w', [source]);
        api.call('source_places', '0:w.d', [source]);
    }
    for (const symbol of [0, 1, 2, 7]) api.call('address_lines', '0:dwwww', [symbol]);
    askOfMarkers(api, info);
}

console.log(`1..${files.length + 2}`);
let number = 0;
for (const file of files) {
    const api = await Api.open(file);
    askAll(api);
    const input = `${api.requests.join('\n')}\n`;
    const native = execFileSync(dumper, [file], { input, maxBuffer: 1 << 30, encoding: 'utf8' }).trimEnd().split('\n');
    const mine = api.answers;
    const at = mine.findIndex((line, i) => line !== native[i]);
    const isSame = at < 0 && mine.length === native.length;
    console.log(`${isSame ? 'ok' : 'not ok'} ${++number} - ${basename(file)}: ${mine.length} answers of the exported functions are the same`);
    if (!isSame) {
        console.log(`# request: ${api.requests[at]?.slice(0, 200)}\n# wasm:   ${mine[at]?.slice(0, 600)}\n# native: ${native[at]?.slice(0, 600)}`);
        process.exitCode = 1;
    }
}
function check(isSo, what) {
    console.log(`${isSo ? 'ok' : 'not ok'} ${++number} - ${what}`);
    if (!isSo) process.exitCode = 1;
}
check(runsDeferred > 1000, `numbers were deferred and read by another engine (${runsDeferred} runs)`);
check(mostMemories < 4, `while a file arrives the memory grows in few steps (${mostMemories} at most)`);
