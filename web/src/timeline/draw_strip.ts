/**
 * Draws the strip of samples below a thread's activity, with a tick for each sample, as far as pixels can separate
 * them.
 */

import { cleanContext, styleColor } from '../base/canvas';
import { STRIP_PIXEL } from '../engine/layout';

const SAMPLE = STRIP_PIXEL.indexOf('sample');

export interface StripColors {
    idle: string;
    sample: string;
    /** The color of samples that match a search or the selected row, if other samples do not match. */
    matching: string;
}

export function stripColors(): StripColors {
    return { idle: styleColor('line'), sample: styleColor('line-strong'), matching: styleColor('accent') };
}

/** Draws `strip` and `matching` of Activity over the whole canvas. */
export function drawStrip(
    canvas: HTMLCanvasElement,
    strip: Uint8Array,
    matching: Uint8Array | null,
    colors: StripColors,
    cssWidth: number,
    cssHeight: number,
): void {
    const context = cleanContext(canvas, cssWidth, cssHeight);
    if (!context) return;
    context.setTransform(canvas.width / Math.max(1, strip.length), 0, 0, 1, 0, 0);
    const colorAt = (x: number): string => {
        if (matching && matching[x] === SAMPLE) return colors.matching;
        return strip[x] === SAMPLE && !matching ? colors.sample : strip[x] ? colors.idle : '';
    };
    let color = '';
    let start = 0;
    for (let x = 0; x <= strip.length; x++) {
        const next = x < strip.length ? colorAt(x) : '';
        if (next === color) continue;
        if (color !== '') {
            context.fillStyle = color;
            // Ticks of idle samples are lower, so that others stand out.
            const height = color === colors.idle ? canvas.height / 2 : canvas.height;
            context.fillRect(start, canvas.height - height, x - start, height);
        }
        color = next;
        start = x;
    }
}
