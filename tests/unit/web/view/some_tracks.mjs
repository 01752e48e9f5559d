// Threads and their tracks, for the tests of tracks.
import { loadParts } from '../../../e2e/page_modules.mjs';

const [tracks] = await loadParts(['view/tracks']);

/** A number without digits: threads whose names differ in digits alone form a group. */
export function letters(number) {
    return [...String(number)].map((digit) => 'abcdefghij'[digit]).join('');
}
export function thread(index, activity, more) {
    return {
        index,
        name: `thread ${letters(index)}`,
        processName: 'server',
        pid: '1',
        tid: String(100 + index),
        argument: '',
        isMain: index === 0,
        start: null,
        end: null,
        activity,
        ...more,
    };
}

/** Tracks of threads as the page lays them out: `choice` says what differs from the first view. */
export function layout(threads, choice = {}, selected = []) {
    return tracks.layoutTracks(tracks.threadTracks(threads), { ...tracks.DEFAULT_TRACKS, ...choice }, selected);
}

/** A main thread of 40 ms, and so many workers of 4. */
export const workers = (count, name = (index) => `worker-${index}`) => [
    thread(0, 40),
    ...Array.from({ length: count }, (_, index) => thread(index + 1, 4, { name: name(index) })),
];
export const written = (rows) => rows.map((row) => `${row.key}${row.isOpen === null ? '' : row.isOpen ? '-' : '+'}`).join();

/** Three processes of four threads each, the first of which is the main one; the busiest process is the last. */
export const PROCESSES = Array.from({ length: 12 }, (_, index) =>
    thread(index, 1000 * (1 + Math.floor(index / 4)) - index, { pid: String(Math.floor(index / 4)), isMain: index % 4 === 0 }),
);
