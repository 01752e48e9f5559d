/** The intervals of markers by name: the selected name, and the steps to the slowest intervals of a name. */
import { signal } from '@preact/signals';
import type { FilteredSides, Transform } from '../engine/api';
import type { IntervalStats } from '../engine/markers';
import type { ChosenPart, SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import { EMPTY_VIEW, encodeView } from '../view/codec';
import { showNotice } from '../window/windows';
import { searchForName } from './marker_filter';

/** Shares of the slowest intervals in percent. */
export const SHARES = ['1', '5', '10'] as const;

const BOTH = 'time';

export function createIntervals({ engine, host, info, store }: SessionBase & { store: StorePart }) {
    const { changeView, fullRange, selectedThreads, transforms, view } = store;
    const selectedInterval = signal<string | null>(null);
    const slowestShare = signal<(typeof SHARES)[number]>('5');

    /** Returns whether a search can select the markers of a name. */
    const canSelect = ({ name }: IntervalStats): boolean => searchForName(name) !== '';

    function transformOf({ name }: IntervalStats, share: number, sides?: FilteredSides): Transform {
        const text = searchForName(name);
        const made: Transform = { kind: 'filter-samples', index: -1, path: [], inverted: false, text, slowest: share };
        return sides ? { ...made, sides } : made;
    }

    /** Intervals last in wall time, so their waits count, too. */
    const weight = (): string => (info.value.hasWaits ? BOTH : view.value.weight);

    /** Limits all views to the slowest intervals, and replaces the previous limit. `share` is 0 to 1. */
    function showSlowest(stats: IntervalStats, share = Number(slowestShare.value) / 100): void {
        const others = transforms.value.filter(({ slowest }) => !slowest);
        const made = transformOf(stats, share);
        changeView({ transforms: [...others, made], tab: 'calltree', weight: weight() }, 'push');
    }

    /** Limits all views to the intervals of `least` ms or longer in the whole recording. */
    async function showLonger(stats: IntervalStats, least: number): Promise<void> {
        const query = { threads: selectedThreads.value, range: fullRange.value, search: searchForName(stats.name) };
        const [all = stats] = await engine.intervals(query);
        const longer = all.histogram.filter(({ from_ms }) => from_ms >= least);
        showSlowest(stats, longer.reduce((sum, { count }) => sum + count, 0) / all.count);
    }

    /** Opens a comparison of the slowest intervals with the other intervals. Both sides are means per interval. */
    function compareSlowest(stats: IntervalStats): void {
        const percent = slowestShare.value;
        const made = transformOf(stats, Number(percent) / 100, 'split');
        const kept = info.value.threads.map(({ index }) => selectedThreads.value.includes(index));
        const first = { ...EMPTY_VIEW, transforms: [made], tab: 'functions' as const, weight: weight() };
        const names: [string, string] = [`the other ${stats.name}`, `the slowest ${percent}% ${stats.name}`];
        host.compareIntervals(kept, names, encodeView(first, 0, 0));
    }

    /** The name whose intervals are the base of the next comparison, or null. */
    const baseName = signal<string | null>(null);

    function setBase({ name }: IntervalStats): void {
        baseName.value = name;
        showNotice('Now select the intervals to compare with these');
    }

    /** Opens a comparison of the intervals of a name with those of the base. Both sides are means per interval. */
    function compareWithBase({ name }: IntervalStats): void {
        if (baseName.value === null) return;
        const part = (of: string): ChosenPart => ({
            range: null,
            threads: selectedThreads.value,
            name: of,
            markers: [{ text: searchForName(of) }],
        });
        host.compareParts(part(baseName.value), part(name));
    }

    /** Selects the longest interval, and its thread. */
    function goToLongest({ longest: { from_ms: from, ms, thread } }: IntervalStats): void {
        changeView({ threads: [thread], ranges: [], tab: 'stack-chart', weight: weight() }, 'push');
        store.setPreview([from, from + ms]);
    }

    return {
        selectedInterval,
        slowestShare,
        canSelect,
        showSlowest,
        showLonger,
        compareSlowest,
        baseName,
        setBase,
        compareWithBase,
        goToLongest,
    };
}

export type IntervalsPart = ReturnType<typeof createIntervals>;
