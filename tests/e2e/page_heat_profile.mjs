// Writes a profile of 30 seconds that is busy for the first 100 ms of each second, and longer in the seventh second.
//
//     node tests/e2e/page_heat_profile.mjs FILE
import { writeProfile } from './small_profile.mjs';

const SECONDS = 30;
const BURST = 100;
const LONG = 300;

const sample = (stack, ms, cpu) => ({ stack, ms, cpu, weight: 1 });
const samples = [];
for (let second = 0; second < SECONDS; second++) {
    const busy = second === 6 ? LONG : BURST;
    samples.push(sample([0], second === 0 ? 0 : 1000 - (second === 7 ? LONG : BURST) + 1, 0));
    for (let ms = 1; ms < busy; ms++) samples.push(sample([0, second % 2 ? 1 : 2], 1, 1000));
}

writeProfile(process.argv[2], {
    product: 'bursts',
    functions: [
        ['main', 0, 0],
        ['odd', 0, 0],
        ['even', 0, 0],
    ],
    libraries: ['app'],
    categories: [
        ['User', 'yellow'],
        ['Other', 'grey'],
    ],
    samples,
});
