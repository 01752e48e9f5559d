/** Commands that make comparisons: with another profile, of two ranges, of two groups of threads. */
import type { ChosenPart } from '../session/session_base';
import type { Range } from '../view/codec';
import { markerGroups } from '../view/marker_groups';
import { showNotice } from '../window/windows';
import { type Command, command } from './command';
import type { CommandSession } from './commands';

/**
 * Returns the range directly before a range, at most as long, and the range itself, in ms after the start of the
 * profile. Returns null if the range begins at the start.
 */
export function rangesToCompare([from, to]: Range, start: number): [base: Range, next: Range] | null {
    const [begin, end] = [from - start, to - start];
    const base: Range = [Math.max(0, 2 * begin - end), begin];
    return begin > base[0] ? [base, [begin, end]] : null;
}

/** Names a side of a comparison of threads. */
export function sideName(names: readonly string[]): string {
    return names.length === 1 ? `thread ${names[0]}` : `${names.length} threads`;
}

export function compareCommands({ host, info, made, store }: CommandSession): Command[] {
    const { selectedThreads, view } = store;

    /** A comparison has two sides, so it cannot be compared again. A running recording cannot be compared. */
    const canBeCompared = (): boolean => !info.value.comparison && !info.value.isLive;

    function rangesInView(): ReturnType<typeof rangesToCompare> {
        const range = view.value.preview ?? view.value.ranges[view.value.ranges.length - 1];
        return range ? rangesToCompare(range, info.value.rangeStart) : null;
    }

    /** Compares the selected threads with the other threads. */
    function compareThreads(): void {
        const { threads } = info.value;
        const isNew = threads.map((_, at) => selectedThreads.value.includes(at));
        const nameOf = (side: boolean): string =>
            sideName(threads.filter((_, at) => isNew[at] === side).map(({ name }) => name));
        host.compareThreads(isNew, [nameOf(false), nameOf(true)]);
    }

    /** Returns the selected threads, the zoomed or selected range, and the markers outside of which samples are dropped. */
    function selectedPart(): ChosenPart {
        const range = view.value.preview ?? view.value.ranges[view.value.ranges.length - 1];
        const start = info.value.rangeStart;
        const threads = selectedThreads.value;
        const names = info.value.threads.filter(({ index }) => threads.includes(index)).map(({ name }) => name);
        const markers = markerGroups(view.value.transforms);
        return { range: range ? [range[0] - start, range[1] - start] : null, threads, name: sideName(names), markers };
    }

    /** The part that the user keeps as the base of a comparison, or null. */
    let base: ChosenPart | null = null;

    function keepBase(): void {
        base = selectedPart();
        showNotice('Select another range, threads or markers, then run "Compare the selection with the base"');
    }

    function compareRanges(): void {
        const ranges = rangesInView();
        if (ranges) host.compareRanges(...ranges);
    }

    return [
        command('Compare with a base profile', host.compareWith, { isOffered: canBeCompared }),
        command('Compare the selected range with the range before', compareRanges, {
            isOffered: () => canBeCompared() && rangesInView() !== null,
        }),
        command('Use the selected range, threads and markers as the base of a comparison', keepBase, {
            isOffered: canBeCompared,
        }),
        command('Compare the selection with the base', () => base && host.compareParts(base, selectedPart()), {
            isOffered: () => canBeCompared() && base !== null,
        }),
        command('Compare the selected threads with the others', compareThreads, {
            isOffered: () => canBeCompared() && selectedThreads.value.length < info.value.threads.length,
        }),
        command('Match functions ignoring template arguments and compiler suffixes', () => host.matchFunctions(true), {
            isOffered: () => made !== null && !made.forgives,
        }),
        command('Match functions by full name', () => host.matchFunctions(false), {
            isOffered: () => made?.forgives === true,
        }),
    ];
}
