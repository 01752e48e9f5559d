/** Draws the rects of a strip of the timeline: the markers of a thread, or the waits. */

import { cleanContext, pixelRatio } from '../base/canvas';
import type { MarkerRects } from '../engine/markers';

export interface RectStrip {
    rects: MarkerRects;
    /** The range across the canvas, ms. */
    range: [number, number];
    /** The width of the canvas, px. */
    width: number;
    height: number;
    /** The minimum width of a drawn rect, px. */
    leastWidth: number;
    /** Returns the color and the position of a rect: `top` and `bottom` in px from the top of the canvas. */
    look(rect: number): { color: string; top: number; bottom: number };
}

export function drawRectStrip(canvas: HTMLCanvasElement, strip: RectStrip): void {
    const { rects, range, width, leastWidth } = strip;
    const context = cleanContext(canvas, width, strip.height);
    if (!context) return;
    context.scale(pixelRatio(), pixelRatio());
    const scale = width / (range[1] - range[0]);
    for (let rect = 0; rect < rects.row.length; rect++) {
        // Cuts rects that extend far beyond the canvas.
        const left = Math.max(-leastWidth, ((rects.start[rect] ?? 0) - range[0]) * scale);
        const right = Math.min(width, ((rects.end[rect] ?? 0) - range[0]) * scale);
        const { color, top, bottom } = strip.look(rect);
        context.fillStyle = color;
        context.fillRect(left, top, Math.max(leastWidth, right - left), bottom - top);
    }
}
