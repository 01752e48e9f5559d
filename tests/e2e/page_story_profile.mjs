// A profile with a known lock wait, as a recorder that sees waiting threads saves it: "owner" holds the lock of a cache
// from 100 to 180 ms while it builds the cache again; "reader 1" wants it from 110 ms on and "reader 2" from 150 ms on.
// "reader 3" never does. There are shorter waits at other times. Threads are sampled each millisecond, waiting or not.
//
//     node tests/e2e/page_story_profile.mjs FILE
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { functionTables, WHOLE_LIFE } from './small_profile.mjs';

const LENGTH = 400;
const FUNCS = ['main', 'serve', 'Cache::lookup', 'pthread_mutex_lock', 'futex_wait', 'answer', 'Cache::rebuild', 'idle_loop'];
const LIBRARIES = ['server', 'server', 'server', 'libc.so.6', '[kernel]', 'server', 'server', 'server'];
const STACKS = {
    wait: ['main', 'serve', 'Cache::lookup', 'pthread_mutex_lock', 'futex_wait'],
    answer: ['main', 'serve', 'answer'],
    lookup: ['main', 'serve', 'Cache::lookup'],
    rebuild: ['main', 'Cache::rebuild'],
    idle: ['main', 'idle_loop'],
};
/** What each thread does, until when (ms); afterwards it is idle. */
const LIVES = {
    owner: [['answer', 100], ['rebuild', 180], ['answer', 230]],
    'reader 1': [['lookup', 30], ['wait', 34], ['answer', 110], ['wait', 180], ['lookup', 220]],
    'reader 2': [['answer', 150], ['wait', 180], ['lookup', 200], ['wait', 206], ['answer', 260]],
    'reader 3': [['answer', 320]],
};
export const LONGEST = { thread: 'reader 1', from: 110, to: 180 };

function table(rows, columns) {
    return Object.assign(Object.fromEntries(columns.map((name, at) => [name, rows.map((row) => row[at])])), { length: rows.length });
}

const strings = [...FUNCS, ...new Set(LIBRARIES), 'Lock wait', 'cache_mutex', 'owner'];
const text = (value) => strings.indexOf(value);
const libraries = [...new Set(LIBRARIES)];

/** [frame, offset to the caller], each path once. */
const stackRows = [];
const stackOf = {};
for (const [name, path] of Object.entries(STACKS)) {
    let caller = -1;
    for (const func of path) {
        let at = stackRows.findIndex((row) => row.func === FUNCS.indexOf(func) && row.caller === caller);
        if (at < 0) at = stackRows.push({ func: FUNCS.indexOf(func), caller }) - 1;
        caller = at;
    }
    stackOf[name] = caller;
}

const CATEGORY = { User: 0, Waiting: 1, Idle: 2 };
const categoryOf = (func) => (FUNCS[func] === 'futex_wait' ? CATEGORY.Waiting : FUNCS[func] === 'idle_loop' ? CATEGORY.Idle : CATEGORY.User);

function thread(name, index) {
    const life = LIVES[name];
    const at = (time) => life.find(([, until]) => time < until)?.[0] ?? 'idle';
    const waits = life.flatMap(([what, until], i) => (what === 'wait' ? [[life[i - 1][1], until]] : []));
    const samples = Array.from({ length: LENGTH }, (_, time) => [
        stackOf[at(time)],
        time,
        ['wait', 'idle'].includes(at(Math.max(0, time - 1))) ? 0 : 1000,
    ]);
    return {
        ...WHOLE_LIFE,
        name,
        isMainThread: false,
        processName: 'server',
        pid: '500',
        tid: 500 + index,
        samples: { ...table(samples, ['stack', 'time', 'threadCPUDelta']), weight: null, weightType: 'samples' },
        markers: table(
            waits.map(([from, to]) => [text('Lock wait'), CATEGORY.Waiting, from, to, 1, { type: 'LockWait', lock: text('cache_mutex'), holder: text('owner') }]),
            ['name', 'category', 'startTime', 'endTime', 'phase', 'data'],
        ),
    };
}

function profile() {
    const shared = {
        stringArray: strings,
        stackTable: table(stackRows.map(({ func, caller }, at) => [func, caller < 0 ? 0 : at - caller]), ['frame', 'prefixOffset']),
        ...functionTables(FUNCS.map((name, at) => [name, libraries.indexOf(LIBRARIES[at]), categoryOf(at)]), libraries),
    };
    const color = { User: 'yellow', Waiting: 'red', Idle: 'transparent' };
    return {
        meta: {
            interval: 1,
            startTime: 1767225600000,
            profilingStartTime: 0,
            profilingEndTime: LENGTH,
            processType: 0,
            product: 'server',
            stackwalk: 1,
            version: 36,
            preprocessedProfileVersion: 70,
            sampleUnits: { time: 'ms', eventDelay: 'ms', threadCPUDelta: 'µs' },
            markerSchema: [
                {
                    name: 'LockWait',
                    display: ['marker-chart', 'marker-table', 'timeline-overview'],
                    tableLabel: 'for {marker.data.lock}, held by {marker.data.holder}',
                    fields: [
                        { key: 'lock', label: 'Lock', format: 'unique-string' },
                        { key: 'holder', label: 'Held by', format: 'unique-string' },
                    ],
                },
            ],
            symbolicated: true,
            categories: Object.keys(CATEGORY).map((name) => ({ name, color: color[name], subcategories: ['Other'] })),
        },
        libs: [],
        shared,
        threads: Object.keys(LIVES).map(thread),
    };
}

const [file] = process.argv.slice(2);
if (import.meta.url === pathToFileURL(process.argv[1]).href) writeFileSync(file, JSON.stringify(profile()));
