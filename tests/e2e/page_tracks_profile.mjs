// Makes of the profile of page_markers_profile.mjs one for the timeline: its second thread is there from 20 to 80 ms only.
//
//     node tests/e2e/page_tracks_profile.mjs FILE
import { readFileSync, writeFileSync } from 'node:fs';

const [file] = process.argv.slice(2);
const profile = JSON.parse(readFileSync(file, 'utf8'));
const worker = profile.threads[1];
const inside = worker.samples.time.map((time) => time >= 20 && time <= 80);
worker.registerTime = 20;
worker.unregisterTime = 80;
worker.samples.stack = worker.samples.stack.filter((_, at) => inside[at]);
worker.samples.time = worker.samples.time.filter((_, at) => inside[at]);
worker.samples.length = worker.samples.time.length;
writeFileSync(file, JSON.stringify(profile));
