// A profile with events beside its time samples, as `prof record -e page-faults,sched:sched_switch` writes them. main calls parse
// and build; parse has most of the page faults, build gives up the CPU.
//
//     node tests/e2e/page_events_profile.mjs FILE
import { readFileSync, writeFileSync } from 'node:fs';
import { writeProfile } from './small_profile.mjs';

const file = process.argv[2];
const sample = (stack) => ({ stack, ms: 1, cpu: 1000 });
writeProfile(file, {
    product: 'events',
    functions: [
        ['main', 0, 0],
        ['parse', 0, 0],
        ['build', 0, 0],
    ],
    libraries: ['app'],
    categories: [
        ['User', 'yellow'],
        ['Other', 'grey'],
    ],
    samples: [sample([0]), sample([0, 1]), sample([0, 1]), sample([0, 2]), sample([0, 2]), sample([0, 2])],
});

// Indexes of stacks: 0 main, 1 parse, 2 build.
const profile = JSON.parse(readFileSync(file, 'utf8'));
profile.meta.sampledEvents = [
    { name: 'page-faults', period: 100 },
    { name: 'sched:sched_switch', period: 1 },
];
profile.threads[0].eventSamples = [
    { event: 'page-faults', stack: [1, 1, 2, 0], timeDeltas: [1.5, 0.25, 1, 1], weight: [1000, 234, 100, 1], length: 4 },
    { event: 'sched:sched_switch', stack: [2, 2], timeDeltas: [3.5, 1], weight: [1, 1], length: 2 },
];
writeFileSync(file, JSON.stringify(profile));
