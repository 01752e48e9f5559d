/**
 * Groups of threads that share a row of the timeline: threads of a process whose names differ only in digits
 * ("worker-*"), and threads without much activity, if together they have most of the process's activity.
 */
import type { ThreadInfo } from '../engine/api';

/** The minimum size of a group, because the user sees fewer threads at a glance. */
export const LEAST_IN_GROUP = 8;

export interface ThreadGroup {
    /** The index of the group's first thread, which identifies the group in the address. */
    index: number;
    title: string;
    threads: ThreadInfo[];
    activity: number;
}

export function activityOf(threads: readonly ThreadInfo[]): number {
    return threads.reduce((sum, thread) => sum + thread.activity, 0);
}

function groupOf(title: string, threads: ThreadInfo[]): ThreadGroup {
    return { index: threads[0]?.index ?? 0, title, threads, activity: activityOf(threads) };
}

/** Groups threads by `nameOf`, without threads whose name is ''. */
export function partsOf(
    threads: readonly ThreadInfo[],
    nameOf: (thread: ThreadInfo) => string,
): Map<string, ThreadInfo[]> {
    const parts = new Map<string, ThreadInfo[]>();
    for (const thread of threads) {
        const name = nameOf(thread);
        const part = parts.get(name);
        if (part) part.push(thread);
        else if (name !== '') parts.set(name, [thread]);
    }
    return parts;
}

/** Groups threads by name. Main threads represent their process, and are in no group. */
export function groupsByName(threads: readonly ThreadInfo[]): ThreadGroup[] {
    const nameOf = ({ isMain, name, pid }: ThreadInfo): string =>
        isMain || name === '' ? '' : `${pid}\n${name.replace(/\d+/g, '*')}`;
    return [...partsOf(threads, nameOf)]
        .filter(([, part]) => part.length >= LEAST_IN_GROUP)
        .map(([name, part]) => groupOf(name.slice(name.indexOf('\n') + 1), part));
}

/**
 * Returns for each process the group of its `quiet` threads, if they have at least half of the activity of its threads.
 */
export function groupsOfOthers(threads: readonly ThreadInfo[], quiet: readonly ThreadInfo[]): ThreadGroup[] {
    const processes = partsOf(threads, (thread) => thread.pid);
    return [...partsOf(quiet, ({ isMain, pid }) => (isMain ? '' : pid))]
        .map(([pid, part]) => ({ group: groupOf('Other threads', part), all: activityOf(processes.get(pid) ?? []) }))
        .filter(
            ({ group, all }) =>
                group.threads.length >= LEAST_IN_GROUP && group.activity > 0 && group.activity >= all / 2,
        )
        .map(({ group }) => group);
}
