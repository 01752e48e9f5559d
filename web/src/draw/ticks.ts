/** Round places for the marks of a time axis. */

/** The step of 1, 2 or 5 times a power of ten that puts marks at least `gap` pixels apart. */
export function tickStep(range: number, width: number, gap: number): number {
    const least = (range * gap) / Math.max(width, 1);
    if (!(least > 0) || !Number.isFinite(least)) return 1;
    const power = 10 ** Math.floor(Math.log10(least));
    for (const factor of [1, 2, 5]) if (factor * power >= least) return factor * power;
    return 10 * power;
}

export interface Tick {
    time: number;
    label: string;
}

/** Seconds as soon as there are some, unless the marks are too fine for them. */
function unitFor(step: number, largest: number): [string, number] {
    if (largest >= 1000 && step >= 1) return ['s', 1000];
    return step >= 0.1 ? ['ms', 1] : ['µs', 0.001];
}

/** Marks inside [from, to] ms, labelled from `zero` on, all with the same unit and number of decimals. */
export function ticks(from: number, to: number, zero: number, width: number, gap: number): Tick[] {
    const step = tickStep(to - from, width, gap);
    const largest = Math.max(Math.abs(from - zero), Math.abs(to - zero));
    const [unit, scale] = unitFor(step, largest);
    const decimals = Math.max(0, -Math.floor(Math.log10(step / scale) + 1e-9));
    const marks: Tick[] = [];
    for (let i = Math.ceil((from - zero) / step - 1e-9); ; i++) {
        const time = zero + i * step;
        if (time > to + step * 1e-9 || marks.length > 500) break;
        marks.push({ time, label: `${((i * step) / scale).toFixed(decimals)} ${unit}` });
    }
    return marks;
}
