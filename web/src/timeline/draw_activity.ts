/**
 * Draws a thread's activity as areas of categories, whose height is the share of a CPU that the thread used, or for
 * several threads, the number of CPUs.
 */

import { cleanContext, columnRatio } from '../base/canvas';
import type { Activity } from '../engine/api';

const FAINT = 0.38;
/** The room above a graph at 100 %, which separates neighboring tracks. */
const HEADROOM = 3;

/** The order of an activity's categories from bottom to top, and their colors. */
export interface ActivityLook {
    order: readonly number[];
    colors: readonly (string | null)[];
    /** The colors of the samples without a match, or null for transparent `colors`. */
    faintColors: readonly (string | null)[] | null;
}

/**
 * Draws `activity` over the whole canvas. If a search or the selected row matches a part of the samples, draws all
 * samples faintly, and the matching part above.
 */
export function drawActivity(
    canvas: HTMLCanvasElement,
    activity: Activity,
    { order, colors, faintColors }: ActivityLook,
    cssWidth: number,
    cssHeight: number,
): void {
    const scale = columnRatio();
    const context = cleanContext(canvas, cssWidth, cssHeight, scale);
    if (!context) return;
    const { width, height } = canvas;
    context.setTransform(width / Math.max(activity.width, 1), 0, 0, 1, 0, 0);
    const room = (height - HEADROOM * scale) / peakOf(activity);
    context.globalAlpha = activity.matching && !faintColors ? FAINT : 1;
    const behind = activity.matching ? (faintColors ?? colors) : colors;
    drawStack(context, activity.shares, activity.width, order, behind, height, room);
    context.globalAlpha = 1;
    if (activity.matching) drawStack(context, activity.matching, activity.width, order, colors, height, room);
}

/** Returns the number of CPUs at the full height of a graph: one, or the maximum that several threads use. */
export function peakOf(activity: Activity): number {
    let peak = 1;
    for (let x = 0; x < activity.width; x++) peak = Math.max(peak, cpusAt(activity, x));
    return peak;
}

/** Returns the number of CPUs in use at a pixel. */
export function cpusAt({ categories, shares, width }: Activity, x: number): number {
    return categories.reduce((sum, _, at) => sum + (shares[at * width + x] ?? 0), 0);
}

function drawStack(
    context: CanvasRenderingContext2D,
    shares: Float32Array,
    width: number,
    order: readonly number[],
    colors: readonly (string | null)[],
    height: number,
    room: number,
): void {
    const base = new Float32Array(width);
    const top = new Float32Array(width);
    for (const at of order) {
        const color = colors[at];
        if (!color) continue;
        let isSeen = false;
        for (let x = 0; x < width; x++) {
            const share = shares[at * width + x] ?? 0;
            if (share > 0) isSeen = true;
            top[x] = (base[x] ?? 0) + Math.max(0, share);
        }
        if (!isSeen) continue;
        context.fillStyle = color;
        fillBetween(context, base, top, width, height, room);
        base.set(top);
    }
}

/** Fills the area between two lines, separately for each run of nonempty columns. */
function fillBetween(
    context: CanvasRenderingContext2D,
    low: Float32Array,
    high: Float32Array,
    width: number,
    height: number,
    room: number,
): void {
    const y = (share: number | undefined): number => height - (share ?? 0) * room;
    context.beginPath();
    for (let x = 0; x < width; ) {
        if ((high[x] ?? 0) <= (low[x] ?? 0)) {
            x++;
            continue;
        }
        const start = x;
        while (x < width && (high[x] ?? 0) > (low[x] ?? 0)) x++;
        context.moveTo(start, y(low[start]));
        for (let i = start; i < x; i++) context.lineTo(i + 0.5, y(high[i]));
        context.lineTo(x, y(high[x - 1]));
        context.lineTo(x, y(low[x - 1]));
        for (let i = x - 1; i >= start; i--) context.lineTo(i + 0.5, y(low[i]));
        context.closePath();
    }
    context.fill();
}

/** Returns the sum of the shares of each category in `activity`, without categories that do not occur. */
export function categoryAmounts(activity: Activity): Map<number, number> {
    const { shares, width } = activity;
    const amounts = new Map<number, number>();
    activity.categories.forEach((category, at) => {
        let sum = 0;
        for (let i = at * width; i < (at + 1) * width; i++) sum += shares[i] ?? 0;
        if (sum > 0) amounts.set(category, sum);
    });
    return amounts;
}
