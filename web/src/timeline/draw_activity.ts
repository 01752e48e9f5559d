/** Draws a thread's activity: areas stacked by category, as high as the share of a CPU that the thread used, or the CPUs that several did. */

import { cleanContext, columnRatio } from '../base/canvas';
import type { Activity } from '../engine/api';

const FAINT = 0.38;
/** Room above a graph at 100 %, so that neighboring tracks stay apart. */
const HEADROOM = 3;

/** Of the categories of an activity: the order in which they are stacked, and their colors. */
export interface ActivityLook {
    order: readonly number[];
    colors: readonly (string | null)[];
    /** For what stands behind; null: `colors`, transparent. */
    faintColors: readonly (string | null)[] | null;
}

/**
 * Draws `activity` over the whole canvas. Where a search or the selected row leaves only part of the samples, the whole is
 * drawn faint behind that part.
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

/** How many CPUs the full height of a graph is: one, or what several threads use at most. */
export function peakOf(activity: Activity): number {
    let peak = 1;
    for (let x = 0; x < activity.width; x++) peak = Math.max(peak, cpusAt(activity, x));
    return peak;
}

/** How many CPUs are in use at a pixel. */
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

/** Fills the area between two lines, one run of columns that hold anything at a time. */
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

/** What each category has of the areas of `activity`, as a sum of shares; those that do not occur are left out. */
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
