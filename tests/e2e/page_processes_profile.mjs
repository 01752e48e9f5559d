// Makes a build of the threads of a profile: make (42) starts cc a.c (43) and cc b.c (44), and exits with status 2.
//
//     node tests/e2e/page_processes_profile.mjs FROM TO
import { readFileSync, writeFileSync } from 'node:fs';

const [from, to] = process.argv.slice(2);
const profile = JSON.parse(readFileSync(from, 'utf8'));
const { stringArray } = profile.shared;
const name = (text) => stringArray.push(text) - 1;
const [processName, execName] = [name('Process'), name('Exec')];
profile.meta.sampleUnits = { time: 'ms', eventDelay: 'ms', threadCPUDelta: 'µs' };
profile.meta.logicalCPUs = 2;
profile.counters = [];
const build = [
    { pid: '42', process: 'make', command: 'make -j2', end: 'exit status 2', start: 0, until: 100 },
    { pid: '43', process: 'cc', command: 'cc -c src/a.c', end: 'exit status 0', parent: '42', start: 10, until: 60 },
    { pid: '44', process: 'cc', command: 'cc -c src/b.c', end: 'killed by SIGTERM', parent: '42', start: 20, until: 40 },
];
for (const [at, { start, until, command, ...payload }] of build.entries()) {
    const thread = profile.threads[at];
    const { pid } = payload;
    Object.assign(thread, { pid, isMainThread: true, processName: payload.process });
    Object.assign(thread, { registerTime: start, processStartupTime: start, unregisterTime: until, processShutdownTime: until });
    thread.samples.threadCPUDelta = thread.samples.time.map((time) => (at > 0 && time > start && time < until ? 400 : 0));
    thread.markers = {
        name: [processName, execName],
        category: [0, 0],
        startTime: [start, start],
        endTime: [until, null],
        phase: [1, 0],
        data: [{ type: 'Process', ...payload }, { type: 'Exec', command, pid }],
        length: 2,
    };
}
writeFileSync(to, JSON.stringify(profile));
