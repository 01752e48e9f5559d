/** Returns the step of 1, 2 or 5 times a power of ten at which ticks are at least `gap` pixels apart. */
export function tickStep(range: number, width: number, gap: number): number {
    const least = (range * gap) / Math.max(width, 1);
    if (!(least > 0) || !Number.isFinite(least)) return 1;
    const power = 10 ** Math.floor(Math.log10(least));
    for (const factor of [1, 2, 5]) if (factor * power >= least) return factor * power;
    return 10 * power;
}
