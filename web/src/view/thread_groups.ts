/**
 * Groups of threads that one row of the timeline stands for: threads of a process whose names are equal except for
 * digits ("worker-*"), and threads that are each too quiet for a row, but hold most of the process together.
 */
import type { ThreadInfo } from '../engine/api';

/** Fewer threads than this are seen at a glance one by one. */
export const LEAST_IN_GROUP = 8;

export interface ThreadGroup {
    /** The first of its threads, which names the group in the address. */
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

/** Threads by `nameOf`, without those whose name is ''. */
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

/** Main threads speak for their process, and are in no group. */
export function groupsByName(threads: readonly ThreadInfo[]): ThreadGroup[] {
    const nameOf = ({ isMain, name, pid }: ThreadInfo): string =>
        isMain || name === '' ? '' : `${pid}\n${name.replace(/\d+/g, '*')}`;
    return [...partsOf(threads, nameOf)]
        .filter(([, part]) => part.length >= LEAST_IN_GROUP)
        .map(([name, part]) => groupOf(name.slice(name.indexOf('\n') + 1), part));
}

/** For each process, the group of its `quiet` threads, if they have at least half of the activity of all its threads. */
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
