/** The heat of lines and instructions: their cost relative to the costliest. */
import type { AddressCost, LineCosts } from '../engine/source';

/** Lines with this share of the cost of the costliest line are hot. */
const HOT_SHARE = 0.1;

/**
 * Returns the change of each line's own time, including calls inlined into it; if no line has own time, the change of
 * its total.
 */
function changesOfLines({ lines }: LineCosts, inlined: ReadonlyMap<number, number>): ReadonlyMap<number, number> {
    const own = lines.map(({ line, self }): [number, number] => [line, Math.abs(self + (inlined.get(line) ?? 0))]);
    const hasOwn = own.some(([, change]) => change !== 0);
    const changes = hasOwn ? own : lines.map(({ line, total }): [number, number] => [line, Math.abs(total)]);
    return new Map(changes.filter(([line]) => line > 0));
}

/**
 * Returns the number by which lines are hot: own time, including calls inlined into the line; if no line of the file
 * has own time, the total.
 */
export function heatOfLines(costs: LineCosts | null): ReadonlyMap<number, number> {
    const heat = new Map<number, number>();
    if (!costs) return heat;
    const inlined = new Map<number, number>();
    for (const { line, total } of costs.inlined) inlined.set(line, (inlined.get(line) ?? 0) + total);
    const hasOwn = costs.self !== 0 || inlined.size > 0;
    if (costs.sides) return changesOfLines(costs, inlined);
    for (const { line, total, self } of costs.lines) {
        const own = Math.min(total, self + (inlined.get(line) ?? 0));
        if (line > 0) heat.set(line, Math.max(0, hasOwn ? own : total));
    }
    return heat;
}

export function hotLinesOf(heat: ReadonlyMap<number, number>, most: number): number[] {
    return [...heat].filter(([, amount]) => amount > 0 && amount >= most * HOT_SHARE).map(([line]) => line);
}

/** Returns the ascending indexes of hot instructions. */
export function hotInstructionsOf(costs: ReadonlyMap<number, AddressCost>): number[] {
    const rising = [...costs].sort((a, b) => a[0] - b[0]);
    const most = Math.max(0, ...rising.map(([, cost]) => Math.abs(cost.self)));
    return rising
        .filter(([, cost]) => (most > 0 ? Math.abs(cost.self) >= most * HOT_SHARE : cost.total !== 0))
        .map(([index]) => index);
}
