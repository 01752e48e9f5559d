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

/** A track by its kind's letter and its number among those of its kind: "t12". It outlives a reload. */
export type TrackKey = string;

/** The track of a thread. */
export function threadKey(thread: number): TrackKey {
    return `t${thread}`;
}

/** A track as its source describes it. */
export interface TrackSeed {
    key: TrackKey;
    /** The id of its kind: see timeline/tracks/kinds.ts. */
    kind: string;
    /** Among those of its kind: which thread, which counter. */
    index: number;
    /** The PID that it is shown under; '' for the whole system, which comes first. */
    process: string;
    processName: string;
    /** The track right below which it stays: the thread of these markers, the group of this thread; '' if it has a place of its own. */
    below: TrackKey;
    title: string;
    detail: string;
    /** More words for the search of tracks. */
    words: string;
    /** The thread that a click on it chooses; -1: none. */
    thread: number;
    /** The threads whose time is beside it; none: it has no such time. */
    members: readonly number[];
    /** Whether it can speak for its process, as the main thread does. */
    isLead: boolean;
    /** ms of CPU time, or of samples. The order of threads follows this number. */
    activity: number;
    /** Whether it is hidden until requested. */
    isQuiet: boolean;
    /** Whether the track is hidden because it is a detail, not because it has little activity. */
    isDetail?: boolean;
    /** px, with the line below it. */
    height: number;
    /** Of a comparison: 0 base, 1 new. */
    side?: number;
}

/** A row of the timeline: a track, or the heading of a process of which no track that can speak for it is shown. */
export interface TrackRow extends Omit<TrackSeed, 'words' | 'isQuiet' | 'isDetail'> {
    /** 0: stands for a process, 1: a track below it, 2: a thread of a group. */
    level: 0 | 1 | 2;
    /** Whether its threads have rows; null: it is no group. */
    isOpen: boolean | null;
}

export interface Tracks {
    rows: TrackRow[];
    /** Thread indexes of the rows, top to bottom, each once. */
    shown: number[];
    /** How many tracks (not headings) are shown, and how many there are. */
    count: number;
    total: number;
    /** Those that are hidden because they do little, not by the user, and their part of the activity of all threads. */
    quiet: TrackKey[];
    quietShare: number;
    /** Whether all tracks are threads. */
    hasOnlyThreads: boolean;
}

/** The user's choice of tracks, as exceptions from `base`. */
export interface TrackChoice {
    /** The visible tracks without exceptions: those with activity, all, or none. */
    base: 'busy' | 'all' | 'none';
    /** Sorted, each once. */
    shown: TrackKey[];
    hidden: TrackKey[];
    /** Groups whose threads have rows of their own. */
    opened: TrackKey[];
    /** Tracks that were moved and those around them, top to bottom; a process by its heading. */
    order: TrackKey[];
}

export const DEFAULT_TRACKS: TrackChoice = { base: 'busy', shown: [], hidden: [], opened: [], order: [] };

/** px: a window as high as one of 3840 × 2160 pixels has room for twice the height. */
export const TRACK_SCALE = (globalThis.innerHeight ?? 0) >= 1600 ? 2 : 1;
/** px */
export const THREAD_HEIGHT = 36 * TRACK_SCALE + 6;
export const LANE_HEIGHT = 9;
const LANE_GAP = 2;
const HEADING_HEIGHT = 25;

/** All threads are shown up to this number of busy ones... */
export const MOST_SHOWN_AT_FIRST = 15;
/** ...and those with at least this share of the busiest one's activity. */
const LEAST_SHARE = 0.05;
/** px: the lane of states is below the activity of threads whose waits were recorded. */
export function threadHeight(threads: readonly ThreadInfo[]): number {
    return THREAD_HEIGHT + (threads.some((thread) => thread.hasWaitRows) ? LANE_GAP + LANE_HEIGHT : 0);
}

/** Below this number of threads only those that do nothing at all are hidden. */
const FEW = 6;

/** The number that the system knows: files add ".1" to one that was used again, or by another program after exec. */
function systemNumber(id: string): string {
    return id.replace(/\.\d+$/, '');
}

/** Whether the thread is the work of a CPU, which samply writes as a thread of another process. */
export function isCpu(thread: ThreadInfo): boolean {
    return thread.pid === '0' && thread.processName === 'CPU';
}

/** Of `threads` those that are shown at first; `all`: how many the profile has. */
function busyThreads(threads: readonly ThreadInfo[], all: number): Set<number> {
    const sorted = [...threads].sort((a, b) => b.activity - a.activity);
    const best = sorted[0]?.activity ?? 0;
    const least = all <= FEW ? Number.MIN_VALUE : best * LEAST_SHARE;
    const busy = sorted.filter((thread) => thread.activity >= least).slice(0, MOST_SHOWN_AT_FIRST);
    return new Set((busy.length > 0 ? busy : sorted.slice(0, 1)).map((thread) => thread.index));
}

/** The first rows: threads, and groups of other threads. `initial`: the threads that the file selects, instead of the busiest. */
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

/** Whether it has members, which have rows while it is open. */
function isGroup({ kind }: Pick<TrackSeed, 'kind'>): boolean {
    return kind === 'group' || kind === 'cpus';
}

/** Whether it is a thread of a group, or a CPU, which has a row where the group is open. */
export function isMember(seed: Pick<TrackSeed, 'kind' | 'below'>): boolean {
    return (seed.kind === 'thread' || seed.kind === 'lane') && seed.below !== '';
}

/** The tracks of threads and of their groups: a process's main thread, or its only one, stands for it. `initial`: those to be seen at first, if
 * the file says so, in place of the busiest. */
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
    /** Of a comparison: the base comes first. */
    side: number;
    seeds: TrackSeed[];
}

/** The sum of a process comes before its threads, and other kinds after the threads. */
function rankOf({ kind }: TrackSeed): number {
    if (kind === 'sum') return 0;
    return kind === 'thread' || kind === 'group' ? 1 : 2;
}

/** The processes in the order in which they are shown, each with all of its tracks in order. `isGrowing`: they stay in the order in which
 * they began. */
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

/** Whether this number of threads is all threads of the profile, or all except the hidden ones, so the user chose none. */
export function areAll(seeds: readonly TrackSeed[], choice: TrackChoice, threads: number): boolean {
    const all = new Set(seeds.filter((seed) => seed.kind === 'thread').map((seed) => seed.thread));
    return threads + choice.hidden.length >= all.size;
}

/** Whether a choice shows a track. Chosen threads stay on the screen unless they were hidden one by one, or
 * are too many to be seen together, or are all of a group, whose row then stands for them. */
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

/** The rows for `seeds`; `selected` are the chosen threads, `isGrowing`: see groupTracks(). */
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
    /** A group that is closed stands for its threads. */
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

/** Whether the track sums up other tracks. */
function isOfMany(seed: TrackSeed): boolean {
    return seed.kind === 'group' || seed.kind === 'sum';
}

function activityOf(seeds: readonly TrackSeed[]): number {
    return seeds.reduce((sum, seed) => sum + (seed.kind === 'thread' ? seed.activity : 0), 0);
}
