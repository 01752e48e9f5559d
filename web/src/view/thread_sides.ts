/** The sides of a comparison: the side of a thread, and the matching threads of all sides. */
import type { Comparison, ThreadInfo } from '../engine/api';

/**
 * Returns the side of a thread, with its run if there are several runs: "Base", "New, run 2". Returns '' if the profile
 * is no comparison.
 */
export function sideOfThread(comparison: Comparison | undefined, { side, run }: ThreadInfo): string {
    if (!comparison) return '';
    const runs = side === 0 ? comparison.baseRuns : comparison.newRuns;
    return `${side === 0 ? 'Base' : 'New'}${runs > 1 ? `, run ${run + 1}` : ''}`;
}

type Likeness = (a: ThreadInfo, b: ThreadInfo) => boolean;

/**
 * Tests whether two threads are the same thread of a program, safest test first. The last test is for a renamed
 * program, which still has a main thread.
 */
const LIKENESS: readonly Likeness[] = [
    (a, b) => a.name === b.name && a.processName === b.processName,
    (a, b) => a.name === b.name && a.isMain === b.isMain,
    (a, b) => a.isMain && b.isMain,
];

/** Returns the thread and its matches in all runs of both sides. */
export function threadOnAllSides(threads: readonly ThreadInfo[], index: number): number[] {
    const thread = threads.find((candidate) => candidate.index === index);
    if (!thread) return [index];
    const runs = new Map<string, ThreadInfo[]>();
    for (const other of threads) {
        const run = `${other.side}:${other.run}`;
        runs.set(run, [...(runs.get(run) ?? []), other]);
    }
    const found = [...runs].flatMap(([run, all]) => {
        if (run === `${thread.side}:${thread.run}`) return [index];
        const alike = LIKENESS.find((isLike) => all.some((other) => isLike(thread, other)));
        return alike ? all.filter((other) => alike(thread, other)).map((other) => other.index) : [];
    });
    return [...new Set([index, ...found])];
}
