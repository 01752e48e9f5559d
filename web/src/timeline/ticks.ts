/** Round positions for the ticks of the timeline's axis. */

import { formatCount } from '../base/format';
import { tickStep } from '../base/tick_step';
import type { AxisUnit } from '../session/axis_text';

export interface Tick {
    time: number;
    label: string;
}

/** Returns ticks at whole samples. Only the first tick has the unit, because the unit is long. */
function countTicks(from: number, to: number, zero: number, step: number): Tick[] {
    return placesOf(from, to, zero, Math.max(1, step)).map((count, at) => ({
        time: zero + count,
        label: at === 0 ? `${formatCount(count)} samples` : formatCount(count),
    }));
}

/** Returns the multiples of the step in [from, to], counted from `zero`. */
function placesOf(from: number, to: number, zero: number, step: number): number[] {
    const places: number[] = [];
    for (let i = Math.ceil((from - zero) / step - 1e-9); zero + i * step <= to + step * 1e-9; i++) {
        if (places.length > 500) break;
        places.push(i * step + 0); // no -0
    }
    return places;
}

/** Returns seconds if the range has a second or more, unless the step is too small. */
function unitFor(step: number, largest: number): [string, number] {
    if (largest >= 1000 && step >= 1) return ['s', 1000];
    return step >= 0.1 ? ['ms', 1] : ['µs', 0.001];
}

/** Returns the ticks in [from, to] with labels counted from `zero`, all with the same unit and number of decimals. */
export function ticks(from: number, to: number, zero: number, width: number, gap: number, axis: AxisUnit): Tick[] {
    const step = tickStep(to - from, width, gap);
    if (axis === 'samples') return countTicks(from, to, zero, step);
    const largest = Math.max(Math.abs(from - zero), Math.abs(to - zero));
    const [unit, scale] = unitFor(step, largest);
    const decimals = Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9));
    return placesOf(from, to, zero, step).map((place) => ({
        time: zero + place,
        label: `${(place / scale).toFixed(decimals)} ${unit}`,
    }));
}
