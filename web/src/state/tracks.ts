/**
 * Which tracks the timeline shows, and in which order: busiest first, what does next to nothing hidden until it is asked
 * for, and on top of that what the user has hidden, shown and moved (track_choice.ts).
 *
 * Each kind of tracks is one file of ../tracks with one entry in kinds.ts: what its tracks are called, which process they belong
 * to, what they draw and tell. Those of threads begin here, because they decide what is shown at first; layoutTracks() groups,
 * sorts and hides.
 */
import type { ThreadInfo } from '../engine/api';

/** A track by its kind's letter and its number among those of its kind: "t12". It outlives a reload. */
export type TrackKey = string;

/** The track of a thread. */
export function threadKey(thread: number): TrackKey {
    return `t${thread}`;
}

/** A track as its source tells of it. */
export interface TrackSeed {
    key: TrackKey;
    /** The id of its kind: see ../tracks/kinds.ts. */
    kind: string;
    /** Among those of its kind: which thread, which counter. */
    index: number;
    /** The PID that it is shown under; '' for the whole system, which comes first. */
    process: string;
    processName: string;
    /** The track right below which it stays, such as the thread of these markers; '' if it has a place of its own. */
    below: TrackKey;
    title: string;
    detail: string;
    /** What else it can be found by. */
    words: string;
    /** The thread that a click on it chooses; -1: none. */
    thread: number;
    /** The threads whose time is beside it; none: it has no such time. */
    members: readonly number[];
    /** Whether it can speak for its process, as the main thread does. */
    isLead: boolean;
    /** ms of CPU time, or of samples: what threads are ranked by. */
    activity: number;
    /** Whether it is hidden until requested. */
    isQuiet: boolean;
    /** px, with the line below it. */
    height: number;
}

/** A row of the timeline: a track, or the heading of a process of which no track that can speak for it is shown. */
export interface TrackRow extends Omit<TrackSeed, 'words' | 'isQuiet'> {
    /** 0: stands for a process, 1: a track below it. */
    level: 0 | 1;
}

export interface Tracks {
    rows: TrackRow[];
    /** Thread indexes of the rows, top to bottom, each once. */
    shown: number[];
    /** How many tracks (not headings) are shown, and how many there are. */
    count: number;
    total: number;
    /** Those that are hidden because they do little, not by the user: how many, and their part of the activity of all threads. */
    quiet: number;
    quietShare: number;
    /** Whether all of them are threads. */
    hasOnlyThreads: boolean;
}

/** What the user has chosen, as exceptions from `base`. */
export interface TrackChoice {
    /** What is shown without exceptions: what does something, all, or nothing. */
    base: 'busy' | 'all' | 'none';
    /** Sorted, each once. */
    shown: TrackKey[];
    hidden: TrackKey[];
    /** Tracks that were moved and those around them, top to bottom; a process by its heading. */
    order: TrackKey[];
}

export const DEFAULT_TRACKS: TrackChoice = { base: 'busy', shown: [], hidden: [], order: [] };

/** px */
export const THREAD_HEIGHT = 42;
const HEADING_HEIGHT = 25;

/** All threads are shown up to this number of busy ones... */
export const MOST_SHOWN_AT_FIRST = 15;
/** ...and those with at least this share of the busiest one's activity. */
const LEAST_SHARE = 0.05;
/** Below this number of threads only those that do nothing at all are hidden. */
const FEW = 6;

/** The number that the system knows: files add ".1" to one that was used again, or by another program after exec. */
function systemNumber(id: string): string {
    return id.replace(/\.\d+$/, '');
}

/** Whether it is no thread, but what a CPU did: samply writes these as threads of a process of their own. */
export function isCpu(thread: ThreadInfo): boolean {
    return thread.pid === '0' && thread.processName === 'CPU';
}

/** The threads shown at first. */
function busyThreads(threads: readonly ThreadInfo[]): Set<number> {
    const sorted = threads.filter((thread) => !isCpu(thread)).sort((a, b) => b.activity - a.activity);
    const best = sorted[0]?.activity ?? 0;
    const least = threads.length <= FEW ? Number.MIN_VALUE : best * LEAST_SHARE;
    const busy = sorted.filter((thread) => thread.activity >= least).slice(0, MOST_SHOWN_AT_FIRST);
    return new Set((busy.length > 0 ? busy : sorted.slice(0, 1)).map((thread) => thread.index));
}

/** What was counted of all CPUs together is beside them. */
function cpuTrack(thread: ThreadInfo): TrackSeed {
    const isOne = /\d$/.test(thread.name);
    return {
        key: `u${thread.index}`,
        kind: 'cpu',
        index: thread.index,
        process: thread.pid,
        processName: 'CPUs',
        below: '',
        title: isOne ? thread.name : 'All CPUs',
        detail: '',
        words: `cpu\n${thread.name}`,
        thread: thread.index,
        members: [thread.index],
        isLead: false,
        activity: thread.activity,
        isQuiet: thread.activity === 0,
        height: THREAD_HEIGHT,
    };
}

/** The tracks of threads: a process's main thread, or its only one, stands for it. `initial`: those to be seen at first, if
 * the file says so, in place of the busiest. */
export function threadTracks(threads: readonly ThreadInfo[], initial: readonly number[] = []): TrackSeed[] {
    const busy = initial.length > 0 ? new Set(initial) : busyThreads(threads);
    const sizes = new Map<string, number>();
    for (const thread of threads) sizes.set(thread.pid, (sizes.get(thread.pid) ?? 0) + 1);
    return threads.map((thread) => {
        if (isCpu(thread)) return cpuTrack(thread);
        const isLead = thread.isMain || sizes.get(thread.pid) === 1;
        const processName = thread.processName || thread.name || 'Process';
        const named = thread.name !== '' && thread.name !== processName ? `${thread.name} · ` : '';
        return {
            key: threadKey(thread.index),
            kind: 'thread',
            index: thread.index,
            process: thread.pid,
            processName,
            below: '',
            title: isLead ? processName : thread.name || 'thread',
            detail: isLead ? `${named}PID ${systemNumber(thread.pid)}` : `TID ${systemNumber(thread.tid)}`,
            words: `${thread.name}\n${thread.processName}\n${thread.pid}\n${thread.tid}`,
            thread: thread.index,
            members: [thread.index],
            isLead,
            activity: thread.activity,
            isQuiet: !busy.has(thread.index),
            height: THREAD_HEIGHT,
        };
    });
}

/** The tracks that a search for them finds; terms with a comma between are alternatives. */
export function matchingTracks<Track extends TrackSeed>(seeds: readonly Track[], search: string): Track[] {
    const terms = search
        .toLowerCase()
        .split(',')
        .map((term) => term.trim())
        .filter((term) => term !== '');
    if (terms.length === 0) return [...seeds];
    return seeds.filter((seed) => {
        const text = `${seed.title}\n${seed.detail}\n${seed.processName}\n${seed.words}`.toLowerCase();
        return terms.some((term) => text.includes(term));
    });
}

/** A process with its tracks, those that stay below another one left out. */
export interface TrackGroup {
    /** Names the process where its place among the others is meant. */
    key: TrackKey;
    process: string;
    activity: number;
    seeds: TrackSeed[];
}

/** The processes in the order in which they are shown, each with all of its tracks in order. */
export function groupTracks(seeds: readonly TrackSeed[], order: readonly TrackKey[]): TrackGroup[] {
    const places = new Map(order.map((key, at) => [key, at]));
    const place = (key: TrackKey): number => places.get(key) ?? order.length;
    const placeOf = (seed: TrackSeed): number => (order.length === 0 ? 0 : place(seed.key));
    const groups = new Map<string, TrackGroup>();
    for (const seed of seeds) {
        let group = groups.get(seed.process);
        if (!group) {
            group = { key: `p${groups.size}`, process: seed.process, activity: 0, seeds: [] };
            groups.set(seed.process, group);
        }
        if (seed.kind === 'thread') group.activity += seed.activity;
        if (seed.below === '') group.seeds.push(seed);
    }
    const sorted = [...groups.values()].sort(
        (a, b) =>
            place(a.key) - place(b.key) ||
            Number(b.process === '') - Number(a.process === '') ||
            b.activity - a.activity,
    );
    // Other kinds follow the threads of their process, in the order of their sources.
    for (const group of sorted)
        group.seeds.sort(
            (a, b) =>
                Number(b.isLead) - Number(a.isLead) ||
                placeOf(a) - placeOf(b) ||
                Number(a.kind !== 'thread') - Number(b.kind !== 'thread') ||
                (a.kind === 'thread' ? b.activity - a.activity : 0),
        );
    return sorted;
}

/** Whether a choice shows a track. Chosen threads stay on the screen unless they were hidden one by one, or
 * are too many to be seen together. */
function showsTrack(choice: TrackChoice): (seed: TrackSeed, selected: ReadonlySet<number>) => boolean {
    const shown = new Set(choice.shown);
    const hidden = new Set(choice.hidden);
    return (seed, selected) => {
        if (hidden.has(seed.key)) return false;
        if (shown.has(seed.key) || choice.base === 'all') return true;
        const isFew = selected.size <= MOST_SHOWN_AT_FIRST || choice.base === 'none';
        if (isFew && (seed.kind === 'thread' || seed.kind === 'cpu') && selected.has(seed.thread)) return true;
        return choice.base === 'busy' && !seed.isQuiet;
    };
}

function rowOf(seed: TrackSeed, level: 0 | 1): TrackRow {
    const { words: _words, isQuiet: _isQuiet, ...rest } = seed;
    return { ...rest, level };
}

function headingOf(group: TrackGroup, first: TrackSeed): TrackRow {
    const isSystem = group.process === '';
    return {
        kind: 'process',
        index: Number(group.key.slice(1)),
        key: group.key,
        process: group.process,
        processName: first.processName,
        below: '',
        title: isSystem ? 'System' : first.processName,
        detail: isSystem || first.kind === 'cpu' ? '' : `PID ${systemNumber(group.process)}`,
        thread: -1,
        members: group.seeds.flatMap((seed) => seed.members),
        isLead: true,
        activity: first.kind === 'cpu' ? group.seeds.reduce((sum, seed) => sum + seed.activity, 0) : group.activity,
        height: HEADING_HEIGHT,
        level: 0,
    };
}

/** The rows for `seeds`; `selected` are the chosen threads. */
export function layoutTracks(seeds: readonly TrackSeed[], choice: TrackChoice, selected: readonly number[]): Tracks {
    const isShown = showsTrack(choice);
    const chosen = new Set(selected);
    const below = new Map<TrackKey, TrackSeed[]>();
    for (const seed of seeds) {
        if (seed.below === '') continue;
        const list = below.get(seed.below);
        if (list) list.push(seed);
        else below.set(seed.below, [seed]);
    }
    const rows: TrackRow[] = [];
    for (const group of groupTracks(seeds, choice.order)) {
        const visible = group.seeds.filter((seed) => isShown(seed, chosen));
        const [first] = visible;
        if (!first) continue;
        if (!first.isLead) rows.push(headingOf(group, first));
        for (const seed of visible) {
            rows.push(rowOf(seed, seed.isLead && seed === first ? 0 : 1));
            for (const one of below.get(seed.key) ?? []) if (isShown(one, chosen)) rows.push(rowOf(one, 1));
        }
    }
    const tracks = rows.filter((row) => row.kind !== 'process');
    const hidden = new Set(choice.hidden);
    const shown = new Set(tracks.map((row) => row.key));
    const quiet =
        choice.base === 'busy'
            ? seeds.filter((seed) => seed.isQuiet && !shown.has(seed.key) && !hidden.has(seed.key))
            : [];
    const all = activityOf(seeds);
    return {
        rows,
        shown: [...new Set(tracks.filter((row) => row.thread >= 0).map((row) => row.thread))],
        count: tracks.length,
        total: seeds.length,
        quiet: quiet.length,
        quietShare: all > 0 ? activityOf(quiet) / all : 0,
        hasOnlyThreads: quiet.every((seed) => seed.kind === 'thread'),
    };
}

function activityOf(seeds: readonly TrackSeed[]): number {
    return seeds.reduce((sum, seed) => sum + (seed.kind === 'thread' ? seed.activity : 0), 0);
}
