/** The tracks that are no threads: the waits and the markers of a thread, right below it, and counters, below what speaks for their process. */
import { type CounterInfo, MARKER_PLACES, type MarkerGraphs, type MarkerPlace } from '../engine/markers';
import { THREAD_HEIGHT, type TrackKind, trackKey, type TrackSeed } from './tracks';

/** px, with the line below. */
export const COUNTER_HEIGHT = 33;
const STRIP_HEIGHT = 17;
const LANES_HEIGHT = 37;

interface Strip {
    kind: TrackKind;
    place: MarkerPlace;
    title: string;
    /** So many lanes that what happens at once lies side by side. */
    lanes: number;
    isQuiet?: boolean;
}

const OVERVIEW: Strip = { kind: 'markers', place: 'overview', title: 'Markers', lanes: 1 };

/** The strips that markers can be shown in, top to bottom. */
const STRIPS: readonly Strip[] = [
    OVERVIEW,
    { kind: 'network', place: 'network', title: 'Network', lanes: 7 },
    { kind: 'fileIo', place: 'fileIo', title: 'File I/O', lanes: 1 },
    { kind: 'memory', place: 'memory', title: 'Memory events', lanes: 1 },
    { kind: 'ipc', place: 'ipc', title: 'IPC', lanes: 1, isQuiet: true },
];

export function stripOf(kind: TrackKind): Strip {
    return STRIPS.find((strip) => strip.kind === kind) ?? OVERVIEW;
}

/** `threads`: the tracks of all threads; `places`: where the markers of each are shown. */
export function markerTracks(threads: readonly TrackSeed[], places: ReadonlyMap<number, number>): TrackSeed[] {
    return STRIPS.flatMap((strip) =>
        threads
            .filter((seed) => ((places.get(seed.thread) ?? 0) & MARKER_PLACES[strip.place]) !== 0)
            .map((seed) => ({
                ...seed,
                kind: strip.kind,
                below: trackKey(seed.kind, seed.index),
                title: strip.title,
                detail: '',
                words: `markers\n${seed.title}\n${seed.words}`,
                isLead: false,
                activity: 0,
                isQuiet: seed.isQuiet || (strip.isQuiet ?? false),
                height: strip.lanes > 1 ? LANES_HEIGHT : STRIP_HEIGHT,
            })),
    );
}

/** What kinds of markers count, below their threads. */
export function graphTracks(threads: readonly TrackSeed[], graphs: readonly MarkerGraphs[]): TrackSeed[] {
    const byThread = new Map(threads.map((seed) => [seed.thread, seed]));
    return graphs.flatMap((one, index) => {
        const seed = byThread.get(one.thread);
        if (!seed) return [];
        const labels = one.graphs.map((graph) => graph.label).join(', ');
        return {
            ...seed,
            kind: 'graph',
            index,
            below: trackKey(seed.kind, seed.index),
            title: one.name,
            detail: labels,
            words: `markers\n${seed.title}\n${seed.words}`,
            isLead: false,
            activity: 0,
            height: THREAD_HEIGHT,
        };
    });
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
