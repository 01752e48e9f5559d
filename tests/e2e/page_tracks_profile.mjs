// Changes the profile of page_markers_profile.mjs for tests of the timeline. Its second thread lives from 20 to 80 ms,
// and has network loads, messages between processes, and markers with numbers to draw.
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

const { markers } = worker;
function add(name, start, end, data) {
    markers.name.push(profile.shared.stringArray.push(name) - 1);
    markers.category.push(0);
    markers.startTime.push(start);
    markers.endTime.push(end);
    markers.phase.push(end === null ? 0 : 1);
    markers.data.push(data);
    markers.length++;
}
add('Load 1: /one', 22, 40, { type: 'Network', URI: 'https://example.org/one', count: 2048, id: 1 });
add('Load 2: /two', 30, 60, { type: 'Network', URI: 'https://example.org/two', count: 100, id: 2 });
add('IPCOut', 50, null, { type: 'IPC', messageType: 'PTest::Msg_Go', direction: 'sending', otherPid: '43' });
add('frame', 30, 40, { type: 'Frame', cost: 3 });
add('frame', 50, 60, { type: 'Frame', cost: 7 });
add('frame', 70, 75, { type: 'Frame' });
profile.meta.markerSchema.push({
    name: 'Frame',
    display: ['marker-table'],
    fields: [{ key: 'cost', label: 'Cost of the frame', format: 'integer' }],
    graphs: [{ key: 'cost', type: 'bar', color: 'magenta' }],
});
// Of three threads, all as busy.
profile.meta.initialVisibleThreads = [1, 0];
profile.meta.initialSelectedThreads = [1];
writeFileSync(file, JSON.stringify(profile));
