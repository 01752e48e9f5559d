// A profile with many threads. A server has workers whose work decreases with their number, a client has three threads,
// and other processes have one thread each. main of a process calls every function.
//
//     node tests/e2e/page_shell_profile.mjs FILE [THREADS]
import { writeFileSync } from 'node:fs';
import { functionTables, WHOLE_LIFE } from './small_profile.mjs';

const [file, wanted = '60'] = process.argv.slice(2);
const names = ['main', 'accept_connection', 'parse_request', 'std::vector<Request>::push_back', 'HttpServer::handle', 'render', 'malloc', '_int_malloc', 'idle_wait'];
const libraries = ['server', 'libc.so.6'];
const strings = [...names, ...libraries, 'Request served'];
const inLibc = (at) => (names[at].includes('malloc') ? 1 : 0);
const count = names.length;

// main calls the others; handle calls render, push_back malloc, and this _int_malloc.
const stacks = { frame: names.map((_, at) => at), prefix: [-1, 0, 0, 2, 0, 4, 3, 6, 0] };
const stackTable = {
    frame: stacks.frame,
    prefixOffset: stacks.prefix.map((prefix, at) => (prefix < 0 ? 0 : at - prefix)),
    length: count,
};

/** A thread with `busy` samples in the second that the profile has. */
function thread(name, processName, pid, tid, isMainThread, busy) {
    const stack = Array.from({ length: busy }, (_, at) => (at * 7 + tid) % (count - 1));
    return {
        ...WHOLE_LIFE,
        name,
        isMainThread,
        processName,
        pid: String(pid),
        tid,
        samples: {
            stack,
            time: stack.map((_, at) => (at * 1000) / Math.max(1, busy)),
            weight: null,
            weightType: 'samples',
            length: busy,
        },
        markers: markersOf(name),
    };
}

/** A, B ... Z, AA, AB ...: with numbers in their names threads would be one group. */
function letters(number) {
    const before = Math.floor((number - 1) / 26);
    return (before > 0 ? letters(before) : '') + String.fromCharCode(65 + ((number - 1) % 26));
}

/** The first worker tells of three requests. */
function markersOf(name) {
    const times = name === 'worker A' ? [100, 300, 700] : [];
    return {
        data: times.map(() => null),
        name: times.map(() => strings.indexOf('Request served')),
        startTime: times,
        endTime: times.map(() => null),
        phase: times.map(() => 0),
        category: times.map(() => 0),
        length: times.length,
    };
}

const threads = [thread('server', 'server', 100, 100, true, 400)];
for (let i = 1; i < Number(wanted) - 6; i++) threads.push(thread(`worker ${letters(i)}`, 'server', 100, 100 + i, false, Math.max(0, 600 - 25 * i)));
threads.push(thread('client', 'client', 7000, 7000, true, 500));
threads.push(thread('reader', 'client', 7000, 7001, false, 450));
threads.push(thread('writer', 'client', 7000, 7002, false, 300));
for (let i = 0; i < 3; i++) threads.push(thread(`tool${i}`, `tool${i}`, 9000 + i, 9000 + i, true, 60 - 20 * i));

writeFileSync(
    file,
    JSON.stringify({
        meta: {
            interval: 1,
            startTime: 1767225600000,
            profilingStartTime: 0,
            profilingEndTime: 1000,
            processType: 0,
            product: 'many threads',
            stackwalk: 1,
            version: 36,
            preprocessedProfileVersion: 70,
            markerSchema: [],
            symbolicated: true,
            categories: [
                { name: 'User', color: 'yellow', subcategories: ['Other'] },
                { name: 'Library', color: 'blue', subcategories: ['Other'] },
                { name: 'Other', color: 'grey', subcategories: ['Other'] },
            ],
        },
        libs: [],
        shared: {
            stringArray: strings,
            stackTable,
            ...functionTables(names.map((name, at) => [name, inLibc(at), inLibc(at)]), libraries),
        },
        threads,
    }),
);
