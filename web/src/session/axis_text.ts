/**
 * The axis of the timeline as text. Only this module chooses its unit: time, or the weight in a file without times,
 * whose samples are in sequence, each as long as its weight (lib/import/profile_builder.c).
 */
import { computed } from '@preact/signals';
import { formatCount, formatDuration } from '../base/format';
import type { ProfileInfo } from '../engine/api';
import type { SessionBase } from './session_base';
import type { StorePart } from './store';

export type AxisUnit = 'ms' | 'samples';

/** Weights in ms are CPU time, and so is the sum of those before a place; bytes and events count as rows. */
export function axisUnitOf({ timesAreOrder, weights }: Pick<ProfileInfo, 'timesAreOrder' | 'weights'>): AxisUnit {
    return timesAreOrder && weights[0]?.unit !== 'ms' ? 'samples' : 'ms';
}

/** How much lies between two places: "12.5 ms", "285 samples". */
export function formatLength(length: number, unit: AxisUnit): string {
    if (unit === 'ms') return formatDuration(length);
    const count = formatCount(length);
    return `${count} ${count === '1' ? 'sample' : 'samples'}`;
}

/** A place, counted from the start of the axis: "12.5 ms"; "sample 1" is the first. */
export function formatPlace(place: number, unit: AxisUnit): string {
    return unit === 'ms' ? formatDuration(place) : `sample ${formatCount(Math.floor(place) + 1)}`;
}

/** A range by its first and last sample, "samples 121–340"; of a range of time its length, "220 ms". */
export function formatRange([from, to]: readonly [number, number], unit: AxisUnit): string {
    if (unit === 'ms') return formatDuration(to - from);
    const first = Math.floor(from) + 1;
    const last = Math.max(first, Math.ceil(to));
    return first === last ? formatPlace(from, unit) : `samples ${formatCount(first)}–${formatCount(last)}`;
}

export function createAxisText(session: SessionBase & { store: StorePart }) {
    const { info } = session;
    const { fullRange } = session.store;

    const unit = computed(() => axisUnitOf(info.value));

    function placeText(time: number): string {
        return formatPlace(time - fullRange.value[0], unit.value);
    }

    function lengthText(length: number): string {
        return formatLength(length, unit.value);
    }

    function rangeText([from, to]: readonly [number, number]): string {
        const zero = fullRange.value[0];
        return formatRange([from - zero, to - zero], unit.value);
    }

    return { unit, placeText, lengthText, rangeText };
}

export type AxisTextPart = ReturnType<typeof createAxisText>;
