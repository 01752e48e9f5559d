// Adds a second thread with the first half of the samples to the profile of page_transforms_profile.mjs, and gives one
// function a name with markup.
//
//     node tests/e2e/page_charts_profile.mjs FILE
import { readFileSync, writeFileSync } from 'node:fs';

const [file] = process.argv.slice(2);
const profile = JSON.parse(readFileSync(file, 'utf8'));
const [first] = profile.threads;
const length = first.samples.length >> 1;
const half = (column) => column.slice(0, length);
profile.threads.push({
    ...first,
    isMainThread: false,
    name: 'second',
    tid: 2,
    samples: { ...first.samples, stack: half(first.samples.stack), timeDeltas: half(first.samples.timeDeltas), length },
});
profile.shared.stringArray[profile.shared.stringArray.indexOf('helper')] = '<b onclick="alert(1)">helper</b>&\u0000';
writeFileSync(file, JSON.stringify(profile));
