// A profile with recorded waits, as `prof record` saves it: each wait is two rows of its thread's samples. In the program
// "server", the thread "owner" holds the lock of a cache from 300 to 480 ms while it builds the cache again; "reader 1"
// waits for it from 310 ms on and "reader 2" from 400 ms on. That is their longest wait for it. There are waits for
// other things, too, and waits too short for rows of their own, and CPU time shorter than the sampling interval.
//
// "quiet" was recorded like this, but no thread has waited.
//
//     node tests/e2e/waits_profile.mjs FILE [quiet|cpus]
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { WHOLE_LIFE } from './small_profile.mjs';

export const LENGTH = 1000;
export const LOCK = 'lock 0x7f0000001040';
export const LONGEST = { thread: 'reader 1', from: 310, to: 480.25 };
const REASONS = ['Other', 'Lock', 'Sleep', 'Disk', 'Network', 'Pipe', 'Page fault', 'Child', 'Runnable'];
const CATEGORIES = { User: ['yellow', ['Other']], Kernel: ['orange', ['Other']], Idle: ['transparent', REASONS] };
const LIBRARIES = ['server', 'libc.so.6'];
const OF_LIBC = new Set(['pthread_mutex_lock', 'pthread_mutex_unlock', 'poll', 'read', 'fsync', 'nanosleep']);

/** Where "owner" releases the lock, in a function without samples. */
export const RELEASE = { func: 'Cache::publish', line: 54 };

const strings = [];
const text = (value) => {
    const at = strings.indexOf(value);
    return at < 0 ? strings.push(value) - 1 : at;
};

function columns(rows, names) {
    return Object.assign(Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])])), { length: rows.length });
}

/** Functions, frames and stacks, each once. */
class Tables {
    funcs = [];
    stacks = [];

    func(name, reason) {
        const at = this.funcs.findIndex((func) => func.label === name && func.reason === reason);
        return at < 0 ? this.funcs.push({ label: name, reason }) - 1 : at;
    }

    /** The stack of a path, root first; of a wait, with what it waited for. */
    stack(path, reason, what) {
        let caller = -1;
        for (const frame of [...path.map((name) => this.func(name)), ...(reason ? [this.func(what, reason)] : [])]) {
            const at = this.stacks.findIndex((row) => row.frame === frame && row.caller === caller);
            caller = at < 0 ? this.stacks.push({ frame, caller }) - 1 : at;
        }
        return caller;
    }

    shared() {
        const rows = this.funcs.map(({ label, reason }, func) => ({
            address: -1,
            lib: -1,
            inlineDepth: 0,
            category: reason ? 2 : 0,
            subcategory: reason ? REASONS.indexOf(reason) : 0,
            func,
            nativeSymbol: null,
            innerWindowID: 0,
            line: label === RELEASE.func ? RELEASE.line : null,
            column: null,
            originalLocation: null,
            name: text(label),
            isJS: false,
            relevantForJS: false,
            resource: reason ? -1 : OF_LIBC.has(label) ? 1 : 0,
            source: null,
            lineNumber: null,
            columnNumber: null,
        }));
        const libraries = LIBRARIES.map((name) => ({ name: text(name), host: null, type: 1 }));
        return {
            stackTable: columns(
                this.stacks.map(({ frame, caller }, at) => ({ frame, prefixOffset: caller < 0 ? 0 : at - caller })),
                ['frame', 'prefixOffset'],
            ),
            frameTable: columns(rows, ['address', 'lib', 'inlineDepth', 'category', 'subcategory', 'func', 'nativeSymbol', 'innerWindowID', 'line', 'column', 'originalLocation']),
            funcTable: columns(rows, ['name', 'isJS', 'relevantForJS', 'resource', 'source', 'lineNumber', 'columnNumber', 'originalLocation']),
            resourceTable: columns(libraries, ['name', 'host', 'type']),
            nativeSymbols: { libIndex: [], address: [], name: [], functionSize: [], length: 0 },
            sources: { id: [], filename: [], startLine: [], startColumn: [], sourceMapURL: [], content: [], length: 0 },
            sourceLocationTable: { source: [], line: [], column: [], length: 0 },
            stringArray: strings,
        };
    }
}

/** A thread as it goes on, from `start` (ms) on. All times are exact in binary. */
class Life {
    rows = [];

    constructor(tables, name, start = 0) {
        Object.assign(this, { tables, name, start, now: start, off: 0, cpu: 0, pending: 0 });
    }

    /** Runs until then, with a sample each `interval` of time, in which it runs for `cpu` of it: the rest are waits too short for rows. */
    run(path, until, { interval = 1, cpu = interval } = {}) {
        const stack = this.tables.stack(path);
        while (this.now + interval <= until) {
            this.now += interval;
            this.cpu += cpu + this.pending;
            this.off += interval - cpu;
            this.rows.push({ stack, time: this.now, threadCPUDelta: 1000 * (cpu + this.pending), weight: this.cpu });
            this.cpu = this.pending = 0;
        }
        this.pending += until - this.now;
        this.now = until;
        return this;
    }

    /** `waker`: who ended it, and `end`: with which path, as far as that was recorded. */
    wait(path, reason, what, until, waker = null, end = null) {
        const stack = this.tables.stack(path, reason, what);
        this.rows.push({ stack, time: this.now, threadCPUDelta: 1000 * this.pending, weight: 0 });
        this.cpu += this.pending;
        this.pending = 0;
        this.rows.push({ stack, time: until, threadCPUDelta: 0, weight: until - this.now + this.off, waker, wakerStack: end && this.tables.stack(end) });
        this.off = 0;
        this.now = until;
        return this;
    }

    thread(index) {
        if (this.cpu > 0) this.rows.findLast(({ weight }) => weight === 0).weight = this.cpu;
        const wakers = this.rows.some(({ waker }) => waker)
            ? {
                  waker: this.rows.map(({ waker }) => waker ?? null),
                  wakerStack: this.rows.map(({ wakerStack }) => wakerStack ?? null),
              }
            : {};
        return {
            ...WHOLE_LIFE,
            registerTime: this.start,
            unregisterTime: LENGTH,
            name: this.name,
            isMainThread: index === 0,
            processName: 'server',
            pid: '500',
            tid: 500 + index,
            samples: { ...columns(this.rows, ['stack', 'time', 'threadCPUDelta', 'weight']), ...wakers, weightType: 'tracing-ms' },
            markers: { data: [], name: [], startTime: [], endTime: [], phase: [], category: [], length: 0 },
        };
    }
}

function lives(tables) {
    const poll = ['main', 'accept_loop', 'poll'];
    const lookup = ['start_thread', 'serve', 'Cache::lookup'];
    const lock = [...lookup, 'pthread_mutex_lock'];
    const answer = ['start_thread', 'serve', 'answer'];
    const main = new Life(tables, 'server');
    main.run(['main', 'setup'], 12.25);
    for (let at = 1; at <= 9; at++) main.wait(poll, 'Network', 'network: socket:[4711]', 100 * at).run(['main', 'accept_loop', 'accept'], 100 * at + 0.25);
    main.wait(poll, 'Network', 'network: socket:[4711]', LENGTH);

    const owner = new Life(tables, 'owner', 12);
    owner.run(answer, 200, { cpu: 0.75 }).wait([...answer, 'nanosleep'], 'Sleep', 'sleep', 300);
    owner.run(['start_thread', 'Cache::rebuild'], 480).run(answer, 700).wait([...answer, 'nanosleep'], 'Sleep', 'sleep', LENGTH);

    const first = new Life(tables, 'reader 1', 12);
    first.run(lookup, 100).wait(lock, 'Lock', LOCK, 104).run(answer, 310).wait(lock, 'Lock', LOCK, LONGEST.to, 'owner (501)', ['start_thread', 'Cache::rebuild', RELEASE.func, 'pthread_mutex_unlock']);
    first.run(lookup, 520.25).wait([...lookup, 'read'], 'Page fault', 'page fault', 523).run(answer, 600);
    first.wait([...answer, 'read'], 'Pipe', 'pipe:[77]', 700.5, 'cat (77), not recorded').run(answer, 720).wait([...answer, 'read'], 'Pipe', 'pipe:[77]', LENGTH);

    const second = new Life(tables, 'reader 2', 12);
    second.run(answer, 300).wait([...answer], 'Runnable', 'runnable', 306).run(answer, 400).wait(lock, 'Lock', LOCK, 482, 'reader 1 (502)');
    second.run(lookup, 500).wait(lock, 'Lock', 'lock 0x7f0000002080', 510).run(answer, 600);
    second.wait([...answer, 'read'], 'Pipe', 'pipe:[77]', 900, 'cat (77), not recorded').run(answer, LENGTH);

    const writer = new Life(tables, 'writer', 12);
    for (let at = 0; at < 8; at++)
        writer
            .run(['start_thread', 'flush', 'write_page'], 50 + 100 * at)
            .wait(['start_thread', 'flush', 'fsync'], 'Disk', 'disk: /var/lib/server/cache.db', 90 + 100 * at + 2 * at);
    writer.run(['start_thread', 'flush', 'write_page'], 900).wait([], 'Other', 'wait', LENGTH);
    return [main, owner, first, second, writer];
}

export function waitsProfile() {
    strings.length = 0;
    const tables = new Tables();
    const threads = lives(tables).map((life, index) => life.thread(index));
    return {
        meta: {
            interval: 1,
            startTime: 1767225600000,
            profilingStartTime: 0,
            profilingEndTime: LENGTH + 1, // readers leave out samples at the end itself
            processType: 0,
            product: 'server',
            stackwalk: 1,
            version: 36,
            preprocessedProfileVersion: 70,
            sampleUnits: { time: 'ms', eventDelay: 'ms', threadCPUDelta: 'µs' },
            markerSchema: [],
            symbolicated: true,
            categories: Object.entries(CATEGORIES).map(([name, [color, subcategories]]) => ({ name, color, subcategories })),
        },
        libs: [],
        shared: tables.shared(),
        threads,
    };
}

/** "reader 1" moves from CPU 0 to CPU 1, where it runs for half of 100 ms; then "owner" runs on CPU 1. */
const SLICES = {
    1: { cpu: [1], timeDeltas: [600], duration: [100], offCpu: [0], length: 1 },
    2: { cpu: [0, 1], timeDeltas: [200, 200], duration: [100, 100], offCpu: [0, 50], length: 2 },
};

const KINDS = {
    cpus({ threads }) {
        for (const [thread, slices] of Object.entries(SLICES)) threads[thread].cpuSlices = slices;
    },
    quiet({ threads }) {
        threads.length = 1;
        const { samples } = threads[0];
        const ran = samples.threadCPUDelta.findIndex((_, at) => samples.weight[at] === 0); // the rows before the first wait
        for (const column of ['stack', 'time', 'threadCPUDelta', 'weight']) samples[column].length = ran;
        samples.length = ran;
        threads[0].unregisterTime = samples.time[ran - 1];
    },
};

const [file, kind] = process.argv.slice(2);
if (import.meta.url === pathToFileURL(process.argv[1]).href) {
    const profile = waitsProfile();
    KINDS[kind]?.(profile);
    writeFileSync(file, JSON.stringify(profile));
}
