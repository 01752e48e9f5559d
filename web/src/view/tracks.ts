/**
 * The tracks of the timeline and their order. The busiest tracks come first, and tracks without activity are hidden. The
 * user can hide, show and move tracks (track_choice.ts).
 *
 * Each kind of tracks is one file of timeline/tracks with one entry in kinds.ts, which has the names of the tracks, their
 * process, their drawing and their tooltips. The tracks of threads begin here, because they decide which tracks appear at
 * first. layoutTracks() groups, sorts and hides tracks.
 */

import { formatCount } from '../base/format';
import type { Comparison, ThreadInfo } from '../engine/api';
import { groupsByName, groupsOfOthers, type ThreadGroup } from './thread_groups';
import { sideOfThread } from './thread_sides';

/**
 * The key of a track, which survives a reload: the letter of its kind, and its number among the tracks of this kind
 * ("t12").
 */
export type TrackKey = string;

/** Returns the key of a thread's track. */
export function threadKey(thread: number): TrackKey {
    return `t${thread}`;
}

/** A track from its source. */
export interface TrackSeed {
    key: TrackKey;
    /** The id of the track's kind: see timeline/tracks/kinds.ts. */
    kind: string;
    /** The index among the tracks of this kind, such as the index of the thread or counter. */
    index: number;
    /** The PID of the process that has the track, or '' for the whole system, which comes first. */
    process: string;
    processName: string;
    /**
     * The track that this track stays right below: the thread of markers, or the group of a thread; '' for a separate
     * track.
     */
    below: TrackKey;
    title: string;
    detail: string;
    /** Further words for the search of tracks. */
    words: string;
    /** The thread that a click on the track selects, or -1. */
    thread: number;
    /** The threads whose time the page shows beside the track; empty for no time. */
    members: readonly number[];
    /** Whether the track can represent its process, like the track of the main thread. */
    isLead: boolean;
    /** CPU time or time of samples in ms, by which the page sorts threads. */
    activity: number;
    /** Whether the track is hidden by default. */
    isQuiet: boolean;
    /** Whether the track is hidden because it is a detail, not because it has little activity. */
    isDetail?: boolean;
    /** The height in px, including the line below. */
    height: number;
    /** The side of a comparison: 0 base, 1 new. */
    side?: number;
}

/** A row of the timeline: a track, or the heading of a process that no shown track represents. */
export interface TrackRow extends Omit<TrackSeed, 'words' | 'isQuiet' | 'isDetail'> {
    /** 0 for a row that represents a process, 1 for a track below it, 2 for a thread of a group. */
    level: 0 | 1 | 2;
    /** Whether the threads of a group have rows, or null for other rows. */
    isOpen: boolean | null;
}

export interface Tracks {
    rows: TrackRow[];
    /** Thread indexes of the rows from top to bottom, without duplicates. */
    shown: number[];
    /** The number of shown tracks without headings, and of all tracks. */
    count: number;
    total: number;
    /**
     * The tracks that are hidden for little activity, not by the user, and their part of the activity of all threads.
     */
    quiet: TrackKey[];
    quietShare: number;
    /** Whether all tracks are threads. */
    hasOnlyThreads: boolean;
}

/** The user's choice of tracks, as exceptions from `base`. */
export interface TrackChoice {
    /** The visible tracks without exceptions: those with activity, all, or none. */
    base: 'busy' | 'all' | 'none';
    /** Sorted, without duplicates. */
    shown: TrackKey[];
    hidden: TrackKey[];
    /** Groups whose threads have separate rows. */
    opened: TrackKey[];
    /**
     * Tracks that the user moved and the tracks around them, from top to bottom. A process has the key of its heading.
     */
    order: TrackKey[];
}

export const DEFAULT_TRACKS: TrackChoice = { base: 'busy', shown: [], hidden: [], opened: [], order: [] };

/** The scale of heights. A window as high as a screen of 3840 × 2160 pixels has room for twice the height. */
export const TRACK_SCALE = (globalThis.innerHeight ?? 0) >= 1600 ? 2 : 1;
/** The height of a thread's track, px. */
export const THREAD_HEIGHT = 36 * TRACK_SCALE + 6;
export const LANE_HEIGHT = 9;
const LANE_GAP = 2;
const HEADING_HEIGHT = 25;

/** By default, the page shows all busy threads up to this number, ... */
export const MOST_SHOWN_AT_FIRST = 15;
/** ... and beyond it, threads with at least this share of the busiest thread's activity. */
const LEAST_SHARE = 0.05;
/** Returns the height in px, including the lane of states if the threads have recorded waits. */
export function threadHeight(threads: readonly ThreadInfo[]): number {
    return THREAD_HEIGHT + (threads.some((thread) => thread.hasWaitRows) ? LANE_GAP + LANE_HEIGHT : 0);
}

/** Below this number of threads, only threads without any activity are hidden. */
const FEW = 6;

/** Returns the PID or TID of the system. Files add ".1" if a process reused the number, or executed another program. */
function systemNumber(id: string): string {
    return id.replace(/\.\d+$/, '');
}

/** Returns whether the thread is a CPU, which samply writes as a thread of another process. */
export function isCpu(thread: ThreadInfo): boolean {
    return thread.pid === '0' && thread.processName === 'CPU';
}

/** Returns the threads that are shown by default. `all` is the number of threads in the profile. */
function busyThreads(threads: readonly ThreadInfo[], all: number): Set<number> {
    const sorted = [...threads].sort((a, b) => b.activity - a.activity);
    const best = sorted[0]?.activity ?? 0;
    const least = all <= FEW ? Number.MIN_VALUE : best * LEAST_SHARE;
    const busy = sorted.filter((thread) => thread.activity >= least).slice(0, MOST_SHOWN_AT_FIRST);
    return new Set((busy.length > 0 ? busy : sorted.slice(0, 1)).map((thread) => thread.index));
}

/**
 * Returns the first rows: threads, and groups of other threads. `initial` has the threads that the file selects instead
 * of the busiest.
 */
function firstRows(threads: readonly ThreadInfo[], initial: readonly number[]) {
    const wanted = new Set(initial);
    const some = threads.filter((thread) => !isCpu(thread) && !wanted.has(thread.index));
    const alike = groupsByName(some);
    const grouped = new Set(alike.flatMap((group) => group.threads.map((thread) => thread.index)));
    const single = some.filter((thread) => !grouped.has(thread.index));
    const busy = initial.length > 0 ? wanted : busyThreads(single, threads.length);
    const quiet = single.filter((thread) => !busy.has(thread.index));
    return { busy, groups: [...alike, ...(initial.length > 0 ? [] : groupsOfOthers(some, quiet))] };
}

function groupTrack(group: ThreadGroup, isQuiet: boolean, comparison: Comparison | undefined): TrackSeed {
    const [first] = group.threads;
    const side = first ? sideOfThread(comparison, first) : '';
    return {
        key: `r${group.index}`,
        kind: 'group',
        index: group.index,
        process: first?.pid ?? '',
        processName: `${side === '' ? '' : `${side}: `}${first?.processName || 'Process'}`,
        below: '',
        title: group.title,
        detail: `${side === '' ? '' : `${side} · `}${formatCount(group.threads.length)} threads`,
        words: 'group',
        thread: -1,
        members: group.threads.map((thread) => thread.index),
        isLead: false,
        activity: group.activity,
        isQuiet,
        height: threadHeight(group.threads),
    };
}

/** The track of one CPU, or of all CPUs together. */
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

/** Returns whether the track is a group, whose members have rows while the group is open. */
function isGroup({ kind }: Pick<TrackSeed, 'kind'>): boolean {
    return kind === 'group' || kind === 'cpus';
}

/** Returns whether the track is a thread of a group or a CPU, which has a row while the group is open. */
export function isMember(seed: Pick<TrackSeed, 'kind' | 'below'>): boolean {
    return (seed.kind === 'thread' || seed.kind === 'lane') && seed.below !== '';
}

/**
 * Returns the tracks of threads and of their groups. The main thread or the only thread of a process represents the
 * process. `initial` has the threads that the file selects instead of the busiest.
 */
export function threadTracks(
    threads: readonly ThreadInfo[],
    initial: readonly number[] = [],
    comparison?: Comparison,
): TrackSeed[] {
    const { busy, groups } = firstRows(threads, initial);
    const best = Math.max(0, ...groups.map((group) => group.activity));
    const isQuietGroup = (group: ThreadGroup): boolean =>
        initial.length > 0 || group.activity < best * LEAST_SHARE || best === 0;
    const seeds = groups.map((group) => groupTrack(group, isQuietGroup(group), comparison));
    const groupOf = new Map(seeds.flatMap((seed) => seed.members.map((thread) => [thread, seed] as const)));
    const sizes = new Map<string, number>();
    for (const thread of threads) sizes.set(thread.pid, (sizes.get(thread.pid) ?? 0) + 1);
    const ofThreads = threads.map((thread): TrackSeed => {
        if (isCpu(thread)) return cpuTrack(thread);
        const group = groupOf.get(thread.index);
        const isLead = thread.isMain || sizes.get(thread.pid) === 1;
        const side = sideOfThread(comparison, thread);
        const name = thread.processName || thread.name || 'Process';
        const program = thread.argument === '' ? name : `${name} ${thread.argument}`;
        const processName = side === '' ? program : `${side}: ${program}`;
        const named = thread.name !== '' && thread.name !== name ? `${thread.name} · ` : '';
        return {
            key: threadKey(thread.index),
            kind: 'thread',
            index: thread.index,
            process: thread.pid,
            processName,
            below: group?.key ?? '',
            title: isLead ? processName : thread.name || 'thread',
            detail: isLead
                ? `${named}PID ${systemNumber(thread.pid)}`
                : `${side === '' ? '' : `${side} · `}TID ${systemNumber(thread.tid)}`,
            words: `${thread.name}\n${thread.processName}\n${thread.pid}\n${thread.tid}`,
            thread: thread.index,
            members: [thread.index],
            isLead,
            activity: thread.activity,
            isQuiet: group ? group.isQuiet : !busy.has(thread.index),
            height: threadHeight([thread]),
            side: thread.side,
        };
    });
    return [...ofThreads, ...seeds];
}

/** Returns the tracks that a search finds. Terms with commas between them are alternatives. */
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

/** A process with its tracks, without tracks that stay below another track. */
export interface TrackGroup {
    /** The key of the process in the order of processes. */
    key: TrackKey;
    process: string;
    activity: number;
    /** The side of a comparison. The base comes first. */
    side: number;
    seeds: TrackSeed[];
}

/** Returns the rank of a track in its process: the sum of the process, then threads, then other kinds. */
function rankOf({ kind }: TrackSeed): number {
    if (kind === 'sum') return 0;
    return kind === 'thread' || kind === 'group' ? 1 : 2;
}

/**
 * Returns the processes in the order of the page, each with all of its tracks in order. If `isGrowing`, processes keep
 * the order of their starts.
 */
export function groupTracks(seeds: readonly TrackSeed[], order: readonly TrackKey[], isGrowing = false): TrackGroup[] {
    const byActivity = (a: { activity: number }, b: { activity: number }): number =>
        isGrowing ? 0 : b.activity - a.activity;
    const places = new Map(order.map((key, at) => [key, at]));
    const place = (key: TrackKey): number => places.get(key) ?? order.length;
    const placeOf = (seed: TrackSeed): number => (order.length === 0 ? 0 : place(seed.key));
    const groups = new Map<string, TrackGroup>();
    for (const seed of seeds) {
        let group = groups.get(seed.process);
        if (!group) {
            group = { key: `p${groups.size}`, process: seed.process, activity: 0, side: 0, seeds: [] };
            groups.set(seed.process, group);
        }
        if (seed.kind === 'thread') group.activity += seed.activity;
        if (seed.side) group.side = seed.side;
        if (seed.below === '') group.seeds.push(seed);
    }
    const sorted = [...groups.values()].sort(
        (a, b) =>
            place(a.key) - place(b.key) ||
            Number(b.process === '') - Number(a.process === '') ||
            a.side - b.side ||
            byActivity(a, b),
    );
    // Other kinds follow the threads of their process, in the order of their sources.
    for (const group of sorted)
        group.seeds.sort(
            (a, b) =>
                Number(b.isLead) - Number(a.isLead) ||
                placeOf(a) - placeOf(b) ||
                rankOf(a) - rankOf(b) ||
                (rankOf(a) === 1 ? byActivity(a, b) : 0),
        );
    return sorted;
}

/**
 * Returns whether this number of threads means all threads of the profile, or all threads except for hidden ones, so
 * that the user chose none.
 */
export function areAll(seeds: readonly TrackSeed[], choice: TrackChoice, threads: number): boolean {
    const all = new Set(seeds.filter((seed) => seed.kind === 'thread').map((seed) => seed.thread));
    return threads + choice.hidden.length >= all.size;
}

/**
 * Returns whether a choice shows a track. Selected threads stay visible unless the user hid each of them, or they are
 * too many to see together, or they are all threads of a group, whose row then represents them.
 */
function showsTrack(
    seeds: readonly TrackSeed[],
    choice: TrackChoice,
    selected: ReadonlySet<number>,
): (seed: TrackSeed) => boolean {
    const shown = new Set(choice.shown);
    const hidden = new Set(choice.hidden);
    const opened = new Set(choice.opened);
    const isFew =
        choice.base === 'none' || (selected.size <= MOST_SHOWN_AT_FIRST && !areAll(seeds, choice, selected.size));
    const groups = new Map(seeds.filter(isGroup).map((seed) => [seed.key, seed]));
    const chosen = new Set(
        [...groups.values()]
            .filter(
                (group) => isFew && group.members.length > 0 && group.members.every((thread) => selected.has(thread)),
            )
            .map((group) => group.key),
    );
    const isShown = (seed: TrackSeed): boolean => {
        if (hidden.has(seed.key)) return false;
        if (shown.has(seed.key) || chosen.has(seed.key)) return true;
        if (
            isFew &&
            (seed.kind === 'thread' || seed.kind === 'cpu') &&
            selected.has(seed.thread) &&
            !chosen.has(seed.below)
        )
            return true;
        const group = isMember(seed) ? groups.get(seed.below) : undefined;
        if (group) return opened.has(group.key) && isShown(group);
        return choice.base === 'all' || (choice.base === 'busy' && !seed.isQuiet);
    };
    return isShown;
}

function rowOf(seed: TrackSeed, level: TrackRow['level'], isOpen: boolean | null = null): TrackRow {
    const { words: _words, isQuiet: _isQuiet, isDetail: _isDetail, ...rest } = seed;
    return { ...rest, level, isOpen };
}

function headingOf(group: TrackGroup, first: TrackRow): TrackRow {
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
        members: [...new Set(group.seeds.flatMap((seed) => seed.members))],
        isLead: true,
        activity: first.kind === 'cpu' ? group.seeds.reduce((sum, seed) => sum + seed.activity, 0) : group.activity,
        height: HEADING_HEIGHT,
        level: 0,
        isOpen: null,
    };
}

/** Returns the rows for `seeds`. `selected` has the selected threads. For `isGrowing`, see groupTracks(). */
export function layoutTracks(
    seeds: readonly TrackSeed[],
    choice: TrackChoice,
    selected: readonly number[],
    isGrowing = false,
): Tracks {
    const isShown = showsTrack(seeds, choice, new Set(selected));
    const opened = new Set(choice.opened);
    const below = new Map<TrackKey, TrackSeed[]>();
    for (const seed of seeds) {
        if (seed.below === '') continue;
        const list = below.get(seed.below);
        if (list) list.push(seed);
        else below.set(seed.below, [seed]);
    }
    for (const list of below.values()) list.sort((a, b) => (isMember(a) && isMember(b) ? b.activity - a.activity : 0));
    const rows: TrackRow[] = [];
    const add = (seed: TrackSeed, level: TrackRow['level']): void => {
        const isOn = isShown(seed);
        if (isOn) rows.push(rowOf(seed, level, isGroup(seed) ? opened.has(seed.key) : null));
        // A requested thread appears without its group.
        for (const member of below.get(seed.key) ?? [])
            if (isOn || isMember(member)) add(member, isOn && isMember(member) && level > 0 ? 2 : 1);
    };
    for (const group of groupTracks(seeds, choice.order, isGrowing)) {
        const at = rows.length;
        const [first] = group.seeds.filter(isShown);
        for (const seed of group.seeds) add(seed, seed.isLead && seed === first ? 0 : 1);
        const [top] = rows.slice(at);
        if (top && !top.isLead) rows.splice(at, 0, headingOf(group, top));
    }
    const tracks = rows.filter((row) => row.kind !== 'process');
    const hidden = new Set(choice.hidden);
    const shown = new Set(tracks.map((row) => row.key));
    const quiet =
        choice.base === 'busy'
            ? seeds.filter(
                  (seed) =>
                      seed.isQuiet &&
                      !seed.isDetail &&
                      !shown.has(seed.key) &&
                      !shown.has(seed.below) &&
                      !hidden.has(seed.key) &&
                      !isOfMany(seed),
              )
            : [];
    const all = activityOf(seeds);
    /** A closed group represents its threads. */
    const threadsOf = (row: TrackRow): readonly number[] => {
        if (row.thread >= 0) return [row.thread];
        return row.isOpen === false ? row.members.filter((thread) => !hidden.has(threadKey(thread))) : [];
    };
    return {
        rows,
        shown: [...new Set(tracks.flatMap(threadsOf))],
        count: tracks.length,
        total: seeds.length,
        quiet: quiet.map((seed) => seed.key),
        quietShare: all > 0 ? activityOf(quiet) / all : 0,
        hasOnlyThreads: quiet.every((seed) => seed.kind === 'thread'),
    };
}

/** Returns whether the track sums up other tracks. */
function isOfMany(seed: TrackSeed): boolean {
    return seed.kind === 'group' || seed.kind === 'sum';
}

function activityOf(seeds: readonly TrackSeed[]): number {
    return seeds.reduce((sum, seed) => sum + (seed.kind === 'thread' ? seed.activity : 0), 0);
}
