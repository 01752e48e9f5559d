/** Draws a counter, or the values of markers: an area under a line, from the minimum to the maximum. */
import { cleanContext, pixelRatio, styleColor } from '../base/canvas';

/** The room above and below the line, px. */
const MARGIN = 2;
const AREA = 0.3;

const GREY = 'grey';

/** Colors of the file format that no category has. */
const OTHER_COLORS: Record<string, string> = { teal: 'green', ink: 'blue' };
const KNOWN_COLORS = new Set(['blue', 'green', GREY, 'magenta', 'orange', 'purple', 'red', 'yellow']);

/** Returns the color of the style sheet for a color of the file format. */
export function graphColor(color: string): string {
    const name = OTHER_COLORS[color] ?? color;
    return styleColor(`category-${KNOWN_COLORS.has(name) ? name : GREY}`);
}

export interface CounterScale {
    low: number;
    high: number;
}

/**
 * Returns the values at the bottom and the top of the graph. The bottom is 0 if `fromZero`, else the smallest shown
 * value.
 */
export function counterScale(values: Float32Array, fromZero: boolean): CounterScale {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (const value of values) {
        if (value < low) low = value;
        if (value > high) high = value;
    }
    if (low > high) return { low: 0, high: 1 };
    if (fromZero) low = Math.min(0, low);
    return high > low ? { low, high } : { low: fromZero ? low : low - 1, high: low + 1 };
}

/** Returns the height of a value, px from the top. */
export function counterY(value: number, scale: CounterScale, height: number): number {
    const share = (value - scale.low) / (scale.high - scale.low);
    return height - MARGIN - Math.min(1, Math.max(0, share)) * (height - 2 * MARGIN);
}

export function drawCounter(
    canvas: HTMLCanvasElement,
    values: Float32Array,
    scale: CounterScale,
    color: string,
    cssWidth: number,
    cssHeight: number,
): void {
    const context = cleanContext(canvas, cssWidth, cssHeight);
    if (!context) return;
    const ratio = pixelRatio();
    const step = canvas.width / Math.max(1, values.length);
    const y = (value: number): number => counterY(value, scale, cssHeight) * ratio;
    context.fillStyle = color;
    context.strokeStyle = color;
    context.lineWidth = Math.max(1, ratio);
    context.lineJoin = 'round';
    for (let x = 0; x < values.length; ) {
        if (Number.isNaN(values[x])) {
            x++;
            continue;
        }
        const start = x;
        const line = new Path2D();
        line.moveTo(start * step, y(values[start] ?? 0));
        while (x < values.length && !Number.isNaN(values[x])) {
            line.lineTo((x + 0.5) * step, y(values[x] ?? 0));
            x++;
        }
        line.lineTo(x * step, y(values[x - 1] ?? 0));
        const area = new Path2D(line);
        area.lineTo(x * step, canvas.height);
        area.lineTo(start * step, canvas.height);
        area.closePath();
        context.globalAlpha = AREA;
        context.fill(area);
        context.globalAlpha = 1;
        context.stroke(line);
    }
}
