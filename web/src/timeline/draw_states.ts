/** Draws the states of one or more threads. In each column, the height of an area is the share of its state. */
import { sizeCanvas } from '../base/canvas';

/** The states of a lane, lowest first. `shares` has the number of threads per pixel. */
export interface Lane {
    width: number;
    /** The range across the lane, ms. */
    range: [number, number];
    /** The number of threads in the lane. */
    threads: number;
    /** The number of these threads that exist at each pixel. */
    there: Float32Array;
    states: { state: number; shares: Float32Array }[];
}

/** The colors of a state as 0xAABBGGRR, as in images. The second color is for stripes. */
export interface StateColors {
    color: number;
    stripe: number;
}

/** The width of a stripe, and of the gap between stripes, px. */
const STRIPE = 4;

/** Converts "#1a2027" to a pixel of an image. */
export function pixelColor(hex: string): number {
    const value = Number.parseInt(hex.slice(1), 16);
    return ((0xff << 24) | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

/**
 * Returns the height of a lane per share at a pixel. prof spreads unseen waits over a range, so the sum of states may
 * exceed the time of the pixel, and the scale reduces all states.
 */
function scaleAt({ there, threads }: Lane, x: number, sum: number): number {
    const most = there[x] ?? 0;
    return (sum > most ? most / sum : 1) / threads;
}

/** Returns the part of a lane's height for each state at a pixel, lowest first. */
export function heightsAt(lane: Lane, x: number): number[] {
    const sum = lane.states.reduce((total, { shares }) => total + (shares[x] ?? 0), 0);
    const scale = scaleAt(lane, x, sum);
    return lane.states.map(({ shares }) => (shares[x] ?? 0) * scale);
}

/** Returns the state at a height (0: bottom, 1: top) of a pixel, or -1. */
export function stateAtHeight(lane: Lane, x: number, height: number): number {
    let top = 0;
    const heights = heightsAt(lane, x);
    const at = heights.findIndex((part) => {
        top += part;
        return height < top;
    });
    return lane.states[at]?.state ?? -1;
}

/**
 * Paints the pixels of a lane's image from the top row on. The outer loop is over states, because the shares of a state
 * are adjacent in memory.
 */
export function paintLane(pixels: Uint32Array, lane: Lane, rows: number, colors: readonly StateColors[]): void {
    const { width } = lane;
    const scales = new Float32Array(width);
    const tops = new Float32Array(width);
    const lasts = new Uint8Array(width).fill(rows);
    for (const { shares } of lane.states)
        for (let x = 0; x < width; x++) scales[x] = (scales[x] as number) + (shares[x] as number);
    for (let x = 0; x < width; x++) scales[x] = rows * scaleAt(lane, x, scales[x] as number);
    lane.states.forEach(({ shares }, at) => {
        const { color, stripe } = colors[at] as StateColors;
        for (let x = 0; x < width; x++) {
            const share = shares[x] as number;
            if (share === 0) continue;
            const top = (tops[x] as number) + share * (scales[x] as number);
            const end = rows - Math.trunc(top + 0.5);
            tops[x] = top;
            for (let row = lasts[x] as number; row > end; ) {
                row--;
                pixels[row * width + x] = color === stripe || (x + row) % (2 * STRIPE) < STRIPE ? color : stripe;
            }
            lasts[x] = end;
        }
    });
}

export function drawLane(
    canvas: HTMLCanvasElement,
    lane: Lane,
    colors: readonly StateColors[],
    cssWidth: number,
    cssHeight: number,
): void {
    const context = canvas.getContext('2d');
    if (!context || lane.width === 0 || cssWidth <= 0) return;
    sizeCanvas(canvas, cssWidth, cssHeight, lane.width / cssWidth);
    const image = context.createImageData(canvas.width, canvas.height);
    paintLane(new Uint32Array(image.data.buffer), lane, canvas.height, colors);
    context.putImageData(image, 0, 0);
}
