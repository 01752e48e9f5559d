// Gives the profile of page_transforms_profile.mjs a second thread, which only does the first half of what the first does,
// and one of its functions a name that is markup.
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
