/** The heat of lines and instructions: their cost relative to the costliest. */
import type { AddressCost, LineCosts } from '../engine/source';

/** Of what the costliest has: what has as much is worth a visit. */
const HOT_SHARE = 0.1;

/** Of a comparison: how much a line's own time has changed, with that of calls inlined into it; its total where none has. */
function changesOfLines({ lines }: LineCosts, inlined: ReadonlyMap<number, number>): ReadonlyMap<number, number> {
    const own = lines.map(({ line, self }): [number, number] => [line, Math.abs(self + (inlined.get(line) ?? 0))]);
    const hasOwn = own.some(([, change]) => change !== 0);
    const changes = hasOwn ? own : lines.map(({ line, total }): [number, number] => [line, Math.abs(total)]);
    return new Map(changes.filter(([line]) => line > 0));
}

/** What decides how hot a line is: its own time and that of calls inlined into it; its total where the file has neither. */
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

/** The indexes of hot instructions, rising. */
export function hotInstructionsOf(costs: ReadonlyMap<number, AddressCost>): number[] {
    const rising = [...costs].sort((a, b) => a[0] - b[0]);
    const most = Math.max(0, ...rising.map(([, cost]) => Math.abs(cost.self)));
    return rising
        .filter(([, cost]) => (most > 0 ? Math.abs(cost.self) >= most * HOT_SHARE : cost.total !== 0))
        .map(([index]) => index);
}
