/**
 * The positions on the timeline's axis as text. The unit is time, or in a file without times the weight: there, samples
 * are in sequence, each as long as its weight (lib/import/profile_builder.c).
 */
import { computed } from '@preact/signals';
import { formatCount, formatDuration } from '../base/format';
import type { ProfileInfo } from '../engine/api';
import type { SessionBase } from './session_base';
import type { StorePart } from './store';

export type AxisUnit = 'ms' | 'samples';

/** A weight in ms is CPU time, and positions are sums of CPU time. Bytes and events use the number of rows. */
export function axisUnitOf({ timesAreOrder, weights }: Pick<ProfileInfo, 'timesAreOrder' | 'weights'>): AxisUnit {
    return timesAreOrder && weights[0]?.unit !== 'ms' ? 'samples' : 'ms';
}

/** Formats the distance between two positions: "12.5 ms", "285 samples". */
export function formatLength(length: number, unit: AxisUnit): string {
    if (unit === 'ms') return formatDuration(length);
    const count = formatCount(length);
    return `${count} ${count === '1' ? 'sample' : 'samples'}`;
}

/** Formats a position from the start of the axis on: "12.5 ms", or "sample 1" for the first sample. */
export function formatPlace(place: number, unit: AxisUnit): string {
    return unit === 'ms' ? formatDuration(place) : `sample ${formatCount(Math.floor(place) + 1)}`;
}

/** Formats a range: "samples 121–340" with its first and last sample, or its length, "220 ms". */
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
