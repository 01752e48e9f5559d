/** Draws the states of a thread, or of several: in each column, areas as high as the share of the time in each state. */
import { sizeCanvas } from '../base/canvas';

/** The states of a lane, lowest first: `shares` per pixel, in threads. */
export interface Lane {
    width: number;
    /** ms: what lies across the lane. */
    range: [number, number];
    /** How many threads it sums up. */
    threads: number;
    /** How many of them are there. */
    there: Float32Array;
    states: { state: number; shares: Float32Array }[];
}

/** Of a state: 0xAABBGGRR, as an image has them; the second one for stripes. */
export interface StateColors {
    color: number;
    stripe: number;
}

/** px: of a stripe and the space between. */
const STRIPE = 4;

/** "#1a2027" as a pixel of an image. */
export function pixelColor(hex: string): number {
    const value = Number.parseInt(hex.slice(1), 16);
    return ((0xff << 24) | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
}

/**
 * The part of a lane's height that each state has at a pixel, lowest first. Unseen waits are spread, so the sum may exceed the time
 * of the pixel: all are reduced then.
 */
export function heightsAt(lane: Lane, x: number): number[] {
    const there = lane.there[x] ?? 0;
    const sum = lane.states.reduce((total, { shares }) => total + (shares[x] ?? 0), 0);
    const scale = (sum > there ? there / sum : 1) / lane.threads;
    return lane.states.map(({ shares }) => (shares[x] ?? 0) * scale);
}

/** The state at a height (0: bottom, 1: top) of a pixel; -1: none. */
export function stateAtHeight(lane: Lane, x: number, height: number): number {
    let top = 0;
    const heights = heightsAt(lane, x);
    const at = heights.findIndex((part) => {
        top += part;
        return height < top;
    });
    return lane.states[at]?.state ?? -1;
}

/** The pixels of an image of a lane, row by row from the top. */
export function paintLane(pixels: Uint32Array, lane: Lane, rows: number, colors: readonly StateColors[]): void {
    const { width } = lane;
    const { length } = lane.states;
    for (let x = 0; x < width; x++) {
        const there = lane.there[x] ?? 0;
        let sum = 0;
        for (let at = 0; at < length; at++) sum += lane.states[at]?.shares[x] ?? 0;
        const scale = (rows * (sum > there ? there / sum : 1)) / lane.threads;
        let row = rows;
        let top = 0;
        for (let at = 0; at < length; at++) {
            top += (lane.states[at]?.shares[x] ?? 0) * scale;
            const end = rows - Math.round(top);
            const { color, stripe } = colors[at] as StateColors;
            if (color === stripe) while (row > end) pixels[--row * width + x] = color;
            else
                while (row > end) {
                    row--;
                    pixels[row * width + x] = (x + row) % (2 * STRIPE) < STRIPE ? color : stripe;
                }
        }
    }
}

export function drawLane(
    canvas: HTMLCanvasElement,
    lane: Lane,
    colors: readonly StateColors[],
    cssWidth: number,
    cssHeight: number,
): void {
    const context = canvas.getContext('2d');
    if (!context || lane.width === 0) return;
    sizeCanvas(canvas, cssWidth, cssHeight, lane.width / Math.max(1, cssWidth));
    if (canvas.width !== lane.width) canvas.width = lane.width;
    const image = context.createImageData(canvas.width, canvas.height);
    paintLane(new Uint32Array(image.data.buffer), lane, canvas.height, colors);
    context.putImageData(image, 0, 0);
}
