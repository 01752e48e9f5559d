// Adds forty threads to a process of a profile. Their names differ only in their digits: pool-0, pool-1...
//
//     node tests/e2e/page_groups_profile.mjs FROM TO
import { readFileSync, writeFileSync } from 'node:fs';

const [from, to] = process.argv.slice(2);
const profile = JSON.parse(readFileSync(from, 'utf8'));
const [main, worker] = profile.threads;
const pool = Array.from({ length: 40 }, (_, at) => ({ ...worker, name: `pool-${at}`, tid: `${1000 + at}`, pid: main.pid }));
profile.threads = [main, ...pool];
profile.counters = [];
delete profile.meta.initialVisibleThreads;
delete profile.meta.initialSelectedThreads;
writeFileSync(to, JSON.stringify(profile));
