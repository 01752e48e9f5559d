/** Draws the rects of a strip of the timeline: the markers of a thread, or when it waited. */

import { cleanContext, pixelRatio } from '../base/canvas';
import type { MarkerRects } from '../engine/markers';

export interface RectStrip {
    rects: MarkerRects;
    /** ms: what lies across the canvas. */
    range: [number, number];
    /** px */
    width: number;
    height: number;
    /** px: what is shorter is drawn so wide, to be seen. */
    leastWidth: number;
    /** `top`, `bottom`: px from the top of the canvas. */
    look(rect: number): { color: string; top: number; bottom: number };
}

export function drawRectStrip(canvas: HTMLCanvasElement, strip: RectStrip): void {
    const { rects, range, width, leastWidth } = strip;
    const context = cleanContext(canvas, width, strip.height);
    if (!context) return;
    context.scale(pixelRatio(), pixelRatio());
    const scale = width / (range[1] - range[0]);
    for (let rect = 0; rect < rects.row.length; rect++) {
        // What reaches far out of the picture is cut at its edges.
        const left = Math.max(-leastWidth, ((rects.start[rect] ?? 0) - range[0]) * scale);
        const right = Math.min(width, ((rects.end[rect] ?? 0) - range[0]) * scale);
        const { color, top, bottom } = strip.look(rect);
        context.fillStyle = color;
        context.fillRect(left, top, Math.max(leastWidth, right - left), bottom - top);
    }
}
