/** Which tracks the timeline shows, and in which order: busiest first, what does next to nothing hidden behind a button. */
import type { ThreadInfo } from '../engine/api';

/** A row of the timeline: a thread, or the heading of a process whose main thread is not among the rows. */
export interface TrackRow {
    kind: 'thread' | 'process';
    /** Index of the thread; -1 for headings. */
    thread: number;
    title: string;
    detail: string;
    /** 0: speaks for a process, 1: a thread below it. */
    level: 0 | 1;
    /** ms of CPU time, or of samples. */
    activity: number;
}

export interface Tracks {
    rows: TrackRow[];
    /** Thread indexes of the rows, top to bottom. */
    shown: number[];
    /** How many threads are hidden because they do little. */
    hidden: number;
}

/** All threads are shown up to this number of busy ones... */
const MOST_SHOWN_AT_FIRST = 15;
/** ...and those with at least this share of the busiest one's activity. */
const LEAST_SHARE = 0.05;
/** Below this number of threads only those that do nothing at all are hidden. */
const FEW = 6;

/** The number that the system knows: files add ".1" to one that was used again, or by another program after exec. */
function systemNumber(id: string): string {
    return id.replace(/\.\d+$/, '');
}

/** The threads to show without being asked for the rest. */
export function busyThreads(threads: readonly ThreadInfo[]): Set<number> {
    const sorted = [...threads].sort((a, b) => b.activity - a.activity);
    const best = sorted[0]?.activity ?? 0;
    const least = threads.length <= FEW ? Number.MIN_VALUE : best * LEAST_SHARE;
    const busy = sorted.filter((thread) => thread.activity >= least).slice(0, MOST_SHOWN_AT_FIRST);
    return new Set((busy.length > 0 ? busy : sorted.slice(0, 1)).map((thread) => thread.index));
}

function matches(thread: ThreadInfo, terms: readonly string[]): boolean {
    const text = `${thread.name}\n${thread.processName}\n${thread.pid}\n${thread.tid}`.toLowerCase();
    return terms.some((term) => text.includes(term));
}

/**
 * The rows for `threads`. A `filter` (comma: or) looks at names and numbers of all threads; without one, `all` decides
 * about the quiet ones, and `selected` threads are always shown.
 */
export function layoutTracks(
    threads: readonly ThreadInfo[],
    filter: string,
    all: boolean,
    selected: readonly number[],
): Tracks {
    const terms = filter
        .toLowerCase()
        .split(',')
        .map((term) => term.trim())
        .filter((term) => term !== '');
    const busy = busyThreads(threads);
    const isShown = (thread: ThreadInfo): boolean =>
        terms.length > 0 ? matches(thread, terms) : all || busy.has(thread.index) || selected.includes(thread.index);

    const processes = new Map<string, ThreadInfo[]>();
    for (const thread of threads) {
        const group = processes.get(thread.pid);
        if (group) group.push(thread);
        else processes.set(thread.pid, [thread]);
    }
    const activity = (group: readonly ThreadInfo[]): number => group.reduce((sum, thread) => sum + thread.activity, 0);
    const sorted = [...processes.values()].sort((a, b) => activity(b) - activity(a));

    const rows: TrackRow[] = [];
    for (const group of sorted) {
        const visible = group
            .filter(isShown)
            .sort((a, b) => Number(b.isMain) - Number(a.isMain) || b.activity - a.activity);
        const [first] = visible;
        if (!first) continue;
        const leads = first.isMain || group.length === 1;
        const processName = first.processName || first.name || 'Process';
        if (!leads)
            rows.push({
                kind: 'process',
                thread: -1,
                title: processName,
                detail: `PID ${systemNumber(first.pid)}`,
                level: 0,
                activity: activity(group),
            });
        for (const thread of visible) {
            const isLead = leads && thread === first;
            const title = isLead ? processName : thread.name || 'thread';
            const named = isLead && thread.name !== '' && thread.name !== processName ? `${thread.name} · ` : '';
            const detail = isLead ? `${named}PID ${systemNumber(thread.pid)}` : `TID ${systemNumber(thread.tid)}`;
            rows.push({
                kind: 'thread',
                thread: thread.index,
                title,
                detail,
                level: isLead ? 0 : 1,
                activity: thread.activity,
            });
        }
    }
    const shown = rows.filter((row) => row.kind === 'thread').map((row) => row.thread);
    const hidden =
        terms.length > 0
            ? 0
            : threads.length - (all ? threads.filter((thread) => busy.has(thread.index)).length : shown.length);
    return { rows, shown, hidden };
}
