/** The animation of rects, from their positions in the previous picture to the new positions. */
import type { Rects } from '../engine/charts';

export interface Sides {
    start: Float64Array;
    end: Float64Array;
}

/** Functions and indexes of rects are below this number. */
const FUNCS = 2 ** 32;

/**
 * Finds, for each of `rects`, the rect of `old` with the same path, or if `byFunc`, the widest rect of the function.
 * Returns -1 for new rects.
 */
function sameRects(old: Rects, rects: Rects, byFunc: boolean): Int32Array {
    const known = new Map<number, number>();
    const keyOf = (parent: number, func: number): number => (byFunc ? func : (parent + 1) * FUNCS + func);
    for (let rect = 0; rect < old.func.length; rect++) {
        const key = keyOf(old.parent[rect] ?? -1, old.func[rect] ?? -1);
        const other = known.get(key);
        const width = (of: number): number => (old.end[of] ?? 0) - (old.start[of] ?? 0);
        if (old.func[rect] !== -1 && (other === undefined || width(rect) > width(other))) known.set(key, rect);
    }
    const same = new Int32Array(rects.func.length).fill(-1);
    for (let rect = 0; rect < same.length; rect++) {
        const parent = rects.parent[rect] ?? -1;
        const oldParent = parent < 0 ? -1 : (same[parent] ?? -1);
        const isReachable = byFunc || parent < 0 || oldParent >= 0;
        if (rects.func[rect] !== -1 && isReachable)
            same[rect] = known.get(keyOf(oldParent, rects.func[rect] ?? -1)) ?? -1;
    }
    return same;
}

/**
 * Returns the previous sides of `rects` as parts of the chart's width, or null if no rect moves by more than `least`.
 * `place` converts a part of the width of `old` to the new chart. A new rect moves with its caller.
 */
export function formerSides(
    old: Rects,
    rects: Rects,
    { place, byFunc, least }: { place: (share: number) => number; byFunc: boolean; least: number },
): Sides | null {
    const same = sameRects(old, rects, byFunc);
    const start = rects.start.slice();
    const end = rects.end.slice();
    let furthest = 0;
    for (let rect = 0; rect < same.length; rect++) {
        const [left, right] = [rects.start[rect] ?? 0, rects.end[rect] ?? 0];
        const of = same[rect] ?? -1;
        const parent = rects.parent[rect] ?? -1;
        if (of >= 0) {
            start[rect] = place(old.start[of] ?? 0);
            end[rect] = place(old.end[of] ?? 0);
        } else if (parent >= 0) {
            const [from, to] = [rects.start[parent] ?? 0, rects.end[parent] ?? 0];
            const scale = to > from ? ((end[parent] ?? 0) - (start[parent] ?? 0)) / (to - from) : 0;
            start[rect] = (start[parent] ?? 0) + (left - from) * scale;
            end[rect] = (start[parent] ?? 0) + (right - from) * scale;
        }
        furthest = Math.max(furthest, Math.abs((start[rect] ?? 0) - left), Math.abs((end[rect] ?? 0) - right));
    }
    return furthest > least ? { start, end } : null;
}

/** Returns the sides between the former and the final sides; `progress` is 0 to 1. */
export function sidesBetween(former: Sides, rects: Rects, progress: number): Sides {
    const between = (from: Float64Array, to: Float64Array): Float64Array =>
        from.map((side, at) => side + ((to[at] ?? 0) - side) * progress);
    return { start: between(former.start, rects.start), end: between(former.end, rects.end) };
}
