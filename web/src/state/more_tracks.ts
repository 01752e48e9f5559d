/** The tracks that are no threads: the waits and the markers of a thread, right below it, and counters, below what speaks for their process. */
import type { CounterInfo } from '../engine/markers';
import { trackKey, type TrackSeed } from './tracks';

/** px, with the line below. */
export const COUNTER_HEIGHT = 33;
export const STRIP_HEIGHT = 17;

/** `threads`: the tracks of all threads. */
export function markerTracks(threads: readonly TrackSeed[], hasStrip: (thread: number) => boolean): TrackSeed[] {
    return threads
        .filter((seed) => hasStrip(seed.thread))
        .map((seed) => ({
            ...seed,
            kind: 'markers',
            below: trackKey(seed.kind, seed.index),
            title: 'Markers',
            detail: '',
            words: `markers\n${seed.title}\n${seed.words}`,
            isLead: false,
            activity: 0,
            height: STRIP_HEIGHT,
        }));
}

/** When threads ran and why they waited, right below them. */
export function waitTracks(threads: readonly TrackSeed[], hasWaits: (thread: number) => boolean): TrackSeed[] {
    return threads
        .filter((seed) => hasWaits(seed.thread))
        .map((seed) => ({
            ...seed,
            kind: 'waits',
            below: trackKey(seed.kind, seed.index),
            title: 'Waits',
            detail: '',
            words: `waits\nblocked\n${seed.title}\n${seed.words}`,
            isLead: false,
            activity: 0,
            height: STRIP_HEIGHT,
        }));
}

export function counterTracks(threads: readonly TrackSeed[], counters: readonly CounterInfo[]): TrackSeed[] {
    const leads = new Map(threads.filter((seed) => seed.isLead).map((seed) => [seed.process, seed]));
    const byThread = new Map(threads.map((seed) => [seed.thread, seed]));
    return [...counters]
        .sort((a, b) => a.sortWeight - b.sortWeight || a.index - b.index)
        .map((counter): TrackSeed => {
            const thread = byThread.get(counter.thread);
            // Files write the PID of the thread in other ways, too.
            const process = thread?.process ?? counter.pid;
            const lead = leads.get(process);
            return {
                kind: 'counter',
                index: counter.index,
                process,
                processName: thread?.processName ?? 'Process',
                // Where the thread that it would stand below is hidden at first, it stands alone.
                below: lead && !lead.isQuiet ? trackKey(lead.kind, lead.index) : '',
                title: counter.label || 'Counter',
                detail: '',
                words: counter.description,
                thread: -1,
                isLead: false,
                activity: 0,
                isQuiet: lead?.isQuiet ?? false,
                height: COUNTER_HEIGHT,
            };
        });
}
