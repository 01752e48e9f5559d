/** Draws the boxes of a strip of the timeline: the markers of a thread, or when it waited. */
import type { MarkerBoxes } from '../engine/markers';
import { cleanContext, pixelRatio } from './canvas';

export interface BoxStrip {
    boxes: MarkerBoxes;
    /** ms: what lies across the canvas. */
    range: [number, number];
    /** px */
    width: number;
    height: number;
    /** px: what is shorter is drawn so wide, to be seen. */
    leastWidth: number;
    /** `top`, `bottom`: px from the top of the canvas. */
    look(box: number): { color: string; top: number; bottom: number };
}

export function drawBoxStrip(canvas: HTMLCanvasElement, strip: BoxStrip): void {
    const { boxes, range, width, leastWidth } = strip;
    const context = cleanContext(canvas, width, strip.height);
    if (!context) return;
    context.scale(pixelRatio(), pixelRatio());
    const scale = width / (range[1] - range[0]);
    for (let box = 0; box < boxes.row.length; box++) {
        // What reaches far out of the picture is cut at its edges.
        const left = Math.max(-leastWidth, ((boxes.start[box] ?? 0) - range[0]) * scale);
        const right = Math.min(width, ((boxes.end[box] ?? 0) - range[0]) * scale);
        const { color, top, bottom } = strip.look(box);
        context.fillStyle = color;
        context.fillRect(left, top, Math.max(leastWidth, right - left), bottom - top);
    }
}
