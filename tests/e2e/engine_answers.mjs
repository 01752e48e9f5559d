// Compares the rects of charts (web/src/engine/charts.ts) with the rows of the tree and with other zoom levels, and the
// timeline (timeline.ts) with the samples.
//
//     node tests/e2e/engine_answers.mjs PROFILE
import { readFileSync } from 'node:fs';
import { loadEngine, onLastQuery } from '../engine_loader.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const { openEngine, module } = await loadEngine();
const engine = onLastQuery(await openEngine(module));
const file = readFileSync(process.argv[2]);
engine.feed(file);
const info = engine.finish();
const thread = info.threads.reduce((best, one) => (one.activity > best.activity ? one : best)).index;
const ask = (search = '') => engine.query({ threads: [thread], range: null, search, inverted: false, transforms: [] });
const near = (a, b) => Math.abs(a - b) < 1e-9;
const FINE = 1e7;

function rowsByNode() {
    const rows = engine.descendants(-1, 1e6);
    return new Map(
        Array.from(rows.node, (node, at) => [
            node,
            Object.fromEntries(['depth', 'func', 'category', 'total', 'self'].map((key) => [key, rows[key][at]])),
        ]),
    );
}

await check('each rect of a flame graph is a row of the tree', () => {
    ask();
    const rows = rowsByNode();
    const { part, rects } = engine.flame([], [0, 1], FINE);
    assertEqual(part.join(), '0,1', 'the part');
    assertEqual(rects.func.length, rows.size, 'number of rects');
    rects.node.forEach((node, rect) => {
        for (const [key, value] of Object.entries(rows.get(node))) assertEqual(rects[key][rect], value, `the ${key} of a rect`);
        assertEqual(rects.count[rect], 1, 'how many it stands for');
        assertEqual(rects.matches[rect], 1, 'whether it matches no search');
        const parent = rects.parent[rect];
        assert(parent < 0 ? rects.depth[rect] === 0 : rects.depth[parent] + 1 === rects.depth[rect], 'a rect is not on its caller');
        const whole = parent < 0 ? [0, 1] : [rects.start[parent], rects.end[parent]];
        assert(rects.start[rect] >= whole[0] - 1e-9 && rects.end[rect] <= whole[1] + 1e-9, 'a rect is wider than its caller');
        assertEqual(engine.path(node).at(-1), rects.func[rect], 'the function at the end of the path');
    });
});

await check('stacks that are too narrow to draw are counted', () => {
    ask();
    let most = 0;
    for (const pixels of [1, 2, 4, 8, 16]) {
        const { rects } = engine.flame([], [0, 1], pixels);
        const all = [...rects.func.keys()];
        for (const rect of all) {
            const isAggregate = rects.func[rect] === -1;
            assert(isAggregate ? rects.count[rect] > 1 : rects.count[rect] === 1, `a rect stands for ${rects.count[rect]}`);
            if (!isAggregate) continue;
            const below = engine.children(rects.parent[rect] < 0 ? -1 : rects.node[rects.parent[rect]]);
            const beside = all.filter((other) => rects.parent[other] === rects.parent[rect] && rects.depth[other] === rects.depth[rect]);
            const count = beside.reduce((sum, other) => sum + rects.count[other], 0);
            assert(count <= below.node.length, `${count} rects where there are ${below.node.length} rows`);
            most = Math.max(most, rects.count[rect]);
        }
    }
    assert(most > 0, 'nothing was too narrow');
});

await check('an inverted flame graph aggregates its narrow leaf functions, and shows them in a part', async () => {
    const other = onLastQuery(await openEngine(module));
    const narrow = Array.from({ length: 400 }, (_, at) => `main;narrow${at} 1\n`);
    other.feed(new TextEncoder().encode(`main;hot 600\n${narrow.join('')}`));
    other.finish();
    other.query({ threads: [0], range: null, search: '', inverted: true, transforms: [] });
    const roots = (part) => {
        const { rects } = other.flame([], part, FINE);
        return Array.from(rects.depth.keys()).filter((rect) => rects.depth[rect] === 0).map((rect) => [rects.count[rect], rects.start[rect], rects.end[rect]]);
    };
    const [[hot, , end], [count, start], ...more] = roots([0, 1]);
    assertEqual([hot, count, more.length].join(), '1,400,0', 'what the rects stand for');
    assert(near(end, 0.6) && near(start, 0.6), `the rects meet at ${end} and ${start}`);
    assertEqual(roots([0.7, 0.8]).filter(([one, from, to]) => one === 1 && from < 1 - 1e-6 && to > 1e-6).length, 100, 'functions of a tenth');
});

await check('a part of a flame graph is that part of the whole', () => {
    ask();
    const { rects: whole } = engine.flame([], [0, 1], FINE);
    const at = new Map(Array.from(whole.node, (node, rect) => [node, rect]));
    const wide = [...whole.func.keys()].filter((rect) => whole.depth[rect] > 0 && whole.end[rect] - whole.start[rect] > 0.05);
    const zooms = [[[], 0, 1], ...wide.slice(0, 10).map((rect) => [engine.path(whole.node[rect]), whole.start[rect], whole.end[rect]])];
    for (const [path, left, right] of zooms)
        for (const shown of [[0, 1], [0.25, 0.5], [0, 0.75], [-1, 0.5], [0.5, 9]]) {
            const from = Math.max(0, left + (right - left) * shown[0]);
            const to = Math.min(1, left + (right - left) * shown[1]);
            const { part, rects } = engine.flame(path, shown, FINE);
            assert(near(part[0], from) && near(part[1], to), `${shown} of ${[left, right]} is ${part}`);
            rects.node.forEach((node, rect) => {
                const same = at.get(node);
                for (const side of ['start', 'end']) {
                    const expected = (whole[side][same] - from) / (to - from);
                    assert(Math.abs(rects[side][rect] - expected) < 1e-6, `the ${side} of a rect is ${rects[side][rect]}, not ${expected}`);
                }
            });
            const inside = [...whole.func.keys()].filter((rect) => whole.end[rect] > from + 1e-6 && whole.start[rect] < to - 1e-6);
            assert(rects.func.length >= inside.length, 'rects are missing');
        }
});

await check('both charts mark the matches of a search', () => {
    ask();
    const name = engine.funcs(Array.from(engine.roots().func))[0].name;
    ask(name);
    const chart = engine.stackChart(thread, info.rangeStart, info.rangeEnd, 200, false);
    for (const rects of [engine.flame([], [0, 1], FINE).rects, chart]) {
        const known = [...rects.func.keys()].filter((rect) => rects.func[rect] >= 0);
        const names = engine.funcs(known.map((rect) => rects.func[rect]));
        known.forEach((rect, at) => assertEqual(rects.matches[rect], Number(names[at].name.toLowerCase().includes(name.toLowerCase())), `whether ${names[at].name} matches`));
        assert(known.some((rect) => rects.matches[rect] === 1) && known.some((rect) => rects.matches[rect] === 0), 'all match, or none');
    }
});

await check('rects of a stack chart lie where their time is, on their callers', () => {
    ask();
    const columns = 100;
    const length = info.rangeEnd - info.rangeStart;
    const rects = engine.stackChart(thread, info.rangeStart, info.rangeEnd, columns, false);
    const known = new Set(Array.from(rowsByNode().values(), (row) => `${row.depth} ${row.func}`));
    assert(rects.func.length > 1, 'there are no rects');
    rects.func.forEach((func, rect) => {
        const parent = rects.parent[rect];
        assert(func === -1 || known.has(`${rects.depth[rect]} ${func}`), 'a rect has a function that no row has at its depth');
        assert(rects.start[rect] >= 0 && rects.end[rect] <= 1 && rects.start[rect] < rects.end[rect], 'a rect is outside');
        assert(rects.first[rect] <= rects.last[rect], 'a rect ends before it begins');
        for (const [side, time] of [['start', 'first'], ['end', 'last']])
            assert(Math.abs(info.rangeStart + rects[side][rect] * length - rects[time][rect]) <= (2 * length) / columns, `the ${side} of a rect is not where its time is`);
        if (func === -1) return; // a column of several has no callers
        assert(parent < 0 ? rects.depth[rect] === 0 : rects.depth[parent] === rects.depth[rect] - 1, 'a rect is not on its caller');
        assert(parent < 0 || (rects.start[parent] <= rects.start[rect] && rects.end[parent] >= rects.end[rect]), 'a rect is wider than its caller');
    });
});

await check('with a search, a graph of the timeline has the same categories', () => {
    ask();
    const width = 100;
    const all = engine.activity([thread], info.rangeStart, info.rangeEnd, width, '');
    assertEqual(all.matching, null, 'what matches without a search');
    assert(all.categories.length > 1, 'all is of one category');
    let left = 0;
    for (const func of new Set(engine.descendants(-1, 1e6).func)) {
        const [{ name }] = engine.funcs([func]);
        const its = new Set(engine.functionDetails(func).categoriesTotal.map((one) => one.category));
        const some = engine.activity([thread], info.rangeStart, info.rangeEnd, width, `"${name}"`);
        assertEqual(some.shares.join(), all.shares.join(), 'the whole, beside a search');
        some.matching.forEach((share, at) => assert(share <= all.shares[at] + 1e-6, `${name} has more than there is`));
        all.categories.forEach((category, row) => {
            const sum = some.matching.subarray(row * width, (row + 1) * width).reduce((total, share) => total + share, 0);
            assertEqual(sum > 0, its.has(category), `whether ${name} has something of category ${category}`);
        });
        some.matchingStrip.forEach((pixel, at) => assert(pixel <= all.strip[at], `${name} has samples where there are none`));
        left += some.matching.some((share) => share > 0) ? 1 : 0;
        assertEqual(some.matching.some((share) => share > 0), some.matchingStrip.some((pixel) => pixel === 2), `whether there is anything of ${name}`);
    }
    assert(left > 1, 'nothing is left');
});

await check('a graph that is asked for again is the same, whatever became of the first answer', () => {
    ask();
    const of = (search) => engine.activity([thread], info.rangeStart, info.rangeEnd, 50, search);
    const text = ({ categories, shares, matching, strip, matchingStrip }) => [categories, shares, matching ?? '', strip, matchingStrip ?? ''].map(String).join();
    for (const search of ['', 'a', 'e']) {
        const first = of(search);
        const expected = text(first);
        for (const rows of [first.shares, first.matching, first.strip, first.matchingStrip]) rows?.fill(7);
        assertEqual(text(of(search)), expected, `the second answer about "${search}"`);
    }
});

await check('the graph of several threads is the sum of their graphs, and parts of the time add up to the whole', () => {
    ask();
    const width = 50;
    const threads = info.threads.map((one) => one.index);
    const of = (some) => engine.activity(some, info.rangeStart, info.rangeEnd, width, '');
    const height = ({ shares }, x) => shares.reduce((sum, share, at) => sum + (at % width === x ? share : 0), 0);
    const parts = threads.map((one) => of([one]));
    const sum = of(threads);
    for (let x = 0; x < width; x++) {
        const expected = parts.reduce((total, part) => total + height(part, x), 0);
        assert(Math.abs(height(sum, x) - expected) < 1e-4, `pixel ${x}: ${height(sum, x)} and ${expected}`);
    }
    const middle = (info.rangeStart + info.rangeEnd) / 2;
    const before = engine.threadTimes([info.rangeStart, middle]);
    const after = engine.threadTimes([middle, info.rangeEnd]);
    assertEqual(before.length, threads.length, 'times');
    info.threads.forEach(({ activity }, at) => assert(Math.abs(before[at] + after[at] - activity) < 1e-6, `${before[at]} and ${after[at]} of ${activity}`));
    assert(before.some((time) => time > 0) && after.some((time) => time > 0), 'each half has some');
});

await check('a place of the timeline has the sample that was taken there', () => {
    ask();
    const { threads, shared } = JSON.parse(file);
    const { samples } = threads[thread];
    const { frame, prefixOffset } = shared.stackTable;
    const seen = new Set();
    for (let at = 1; at < samples.length; at++) {
        const path = [];
        for (let stack = samples.stack[at], offset = 1; stack !== null && offset > 0; stack -= offset) {
            path.unshift(shared.frameTable.func[frame[stack]]);
            offset = prefixOffset[stack];
        }
        const found = engine.sampleAt(thread, samples.time[at] - 0.2);
        assertEqual(found.time, samples.time[at], 'the time');
        assertEqual(found.path.join(), path.join(), `the stack at ${samples.time[at]} ms`);
        assertEqual(found.category, shared.frameTable.category[frame[samples.stack[at]]], `the category at ${samples.time[at]} ms`);
        assertEqual(found.cpu, samples.threadCPUDelta[at] / 10, `the CPU use at ${samples.time[at]} ms`);
        assertEqual(found.dropped, false, 'whether it was dropped');
        seen.add(found.cpu);
    }
    assertEqual([...seen].sort().join(), '0,100', 'what was seen');
    assertEqual(engine.sampleAt(thread, -100), null, 'the sample of a place before all');
});

/** An engine whose memory is taken up to 2 GiB already, by another session in it. The pages are not touched. */
async function openBeyond2GiB() {
    const { instantiate } = WebAssembly;
    let exports;
    WebAssembly.instantiate = async (...args) => {
        const instance = await instantiate(...args);
        exports = instance.exports;
        return instance;
    };
    try {
        const beyond = await openEngine(module);
        const isTaken = exports.session_input(exports.session_new(1, 2), 2 ** 31 - 2 ** 20) !== 0;
        return isTaken ? { beyond, exports } : null;
    } finally {
        WebAssembly.instantiate = instantiate;
    }
}

await check('rows beyond 2 GiB of memory have answers like other rows', async () => {
    const opened = await openBeyond2GiB();
    if (!opened) return 'this machine does not give 2 GiB of address space';
    const { beyond, exports } = opened;
    beyond.feed(file);
    assertEqual(JSON.stringify(beyond.finish()), JSON.stringify(info), 'what the profile is');
    assert(exports.session_input(exports.session_new(1, 2), 2 ** 22) < 0, 'memory is taken below 2 GiB still');
    const query = { threads: [thread], range: null, search: '', inverted: false, transforms: [] };
    const answers = (one) => {
        const { id, ...answer } = one.query(query, { path: [], depth: 100, share: 0, names: 50 });
        const rects = one.flame(id, [], [0, 1], FINE);
        return JSON.stringify([answer, one.functions(id, 100), one.funcs(one.functions(id, 100).map(({ func }) => func)), rects]);
    };
    const first = await openEngine(module);
    first.feed(file);
    first.finish();
    assertEqual(answers(beyond), answers(first), 'the answers');
    assertEqual(beyond.find(beyond.query(query).id, [], false), -1, 'the node of no path');
});

await check('a profile that needs too much memory fails with a sentence that names the limit', async () => {
    const { EngineModule } = await loadEngine();
    const engine = await EngineModule.create(module);
    let sentence = '';
    try {
        engine.input(2 ** 32 - 2 ** 16);
    } catch (error) {
        sentence = error.message;
    }
    assert(sentence.includes('at most 4 GiB'), `it says ${JSON.stringify(sentence)}`);
});

finish();
