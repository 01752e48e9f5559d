/** Draws the rects of a flame graph or stack chart at full resolution of the screen, with the names that fit. */

import { pixelRatio, sizeCanvas } from '../base/canvas';
import { nameParts } from '../base/fold';
import { describeNarrow } from '../base/format';
import { type ChartColors, colorsOfCategory, type RectColors } from '../base/rect_colors';
import type { Rects } from '../engine/charts';

/** The height of a row, px. */
export const ROW_HEIGHT = 18;
/** The font of all charts. */
export const FONT_FAMILY = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif";
export const FONT = `11px ${FONT_FAMILY}`;
export const TEXT_MARGIN = 4;
/** The minimum width of a rect with text, px. */
export const TEXT_ROOM = 20;
/** The minimum width of a rect with a frame, px. */
const FRAME_ROOM = 6;
const ELLIPSIS = '…';

/**
 * Rows of rects with the same horizontal scale. A flame graph has one band; a stack chart of several threads has one
 * band per thread, one below the other.
 */
export interface Band {
    rects: Rects;
    /** The positions of 0 and 1 of the rects on the axis of the chart. */
    span: [number, number];
    /** The first row of the band in the chart, and the number of its rows. */
    firstRow: number;
    rows: number;
    /** 1 for each selected rect. */
    selected: Uint8Array;
}

export interface Place {
    band: number;
    rect: number;
}

export interface Frame {
    bands: readonly Band[];
    /** The shown part of the axis. */
    shown: [number, number];
    /** The width of the canvas, px. */
    canvasWidth: number;
    height: number;
    /** The position of the axis in the canvas, px. */
    left: number;
    width: number;
    /** px from the top of the canvas to the top of row 0; if `fromBottom`, to the bottom of row 0. */
    origin: number;
    fromBottom: boolean;
    hovered: Place | null;
    /** Whether the chart has the focus, so that the selected rect gets a frame. */
    hasFocus: boolean;
    colors: ChartColors;
    /** Returns the colors of a rect. Without this function, rects have the colors of their categories. */
    colorsAt?: ((rects: Rects, rect: number) => RectColors) | null;
    label(func: number): string;
}

// ---- text ----

/** The widths of characters by code point. Without ligatures, the width of a text is the sum of its widths. */
const widths = new Map<number, number>();
/**
 * The limit of cached widths, above the number of characters in names of programs. A malicious file could use all of
 * Unicode.
 */
const MOST_WIDTHS = 10_000;

function characterWidth(context: CanvasRenderingContext2D, code: number): number {
    let width = widths.get(code);
    if (width === undefined) {
        width = context.measureText(String.fromCodePoint(code)).width;
        if (widths.size === MOST_WIDTHS) widths.clear();
        widths.set(code, width);
    }
    return width;
}

function textWidth(context: CanvasRenderingContext2D, text: string): number {
    let width = 0;
    for (const character of text) width += characterWidth(context, character.codePointAt(0) ?? 0);
    return width;
}

/** Returns the start of `text` that fits in `room`, or '' if nothing fits. The context has the font at scale 1. */
export function fitText(context: CanvasRenderingContext2D, text: string, room: number): string {
    const dots = characterWidth(context, ELLIPSIS.codePointAt(0) ?? 0);
    let width = 0;
    let fitting = 0;
    for (let at = 0; at < text.length; ) {
        const code = text.codePointAt(at) ?? 0;
        width += characterWidth(context, code);
        at += code > 0xffff ? 2 : 1;
        if (width + dots <= room) fitting = at;
        if (width > room) return fitting === 0 ? '' : text.slice(0, fitting) + ELLIPSIS;
    }
    return text;
}

/**
 * Shortens a name until the name fits in `room`, by the parts of nameParts(): first removes parameters and template
 * arguments, then namespaces from the outermost on, then the end of the function's own name.
 */
export function fitName(context: CanvasRenderingContext2D, name: string, room: number): [string, string, string] {
    const [before, own, after] = nameParts(name);
    const used = textWidth(context, before + own);
    if (used <= room) {
        const rest = fitText(context, after, room - used);
        return [before, own, rest];
    }
    for (let at = before.indexOf('::'); at >= 0; at = before.indexOf('::', at + 2)) {
        const scope = at + 2 < before.length ? ELLIPSIS + before.slice(at + 2) : ELLIPSIS;
        if (textWidth(context, scope + own) <= room) return [scope, own, ''];
    }
    const fitting = fitText(context, own, room);
    return ['', fitting, ''];
}

// ---- places ----

/** Returns the sides of a rect, px from the left of the canvas, not rounded. */
export function sidesOf(frame: Frame, band: Band, rect: number): [number, number] {
    const scale = frame.width / (frame.shown[1] - frame.shown[0]);
    const length = band.span[1] - band.span[0];
    const x = (share: number): number => frame.left + (band.span[0] + share * length - frame.shown[0]) * scale;
    return [x(band.rects.start[rect] ?? 0), x(band.rects.end[rect] ?? 0)];
}

/** Returns the top of a row of the chart, px from the top of the canvas. */
export function topOf(frame: Frame, row: number): number {
    return frame.fromBottom ? frame.origin - (row + 1) * ROW_HEIGHT : frame.origin + row * ROW_HEIGHT;
}

/** Finds the rect at a position of the canvas, or null. */
export function rectAt(frame: Frame, x: number, y: number): Place | null {
    const row = Math.floor((frame.fromBottom ? frame.origin - y : y - frame.origin) / ROW_HEIGHT);
    const at = frame.bands.findIndex((band) => row >= band.firstRow && row < band.firstRow + band.rows);
    const band = frame.bands[at];
    if (!band || x < frame.left || x > frame.left + frame.width) return null;
    const { depth } = band.rects;
    for (let rect = 0; rect < depth.length; rect++) {
        if (depth[rect] !== row - band.firstRow) continue;
        const [left, right] = sidesOf(frame, band, rect);
        if (x >= left && x < right) return { band: at, rect };
    }
    return null;
}

// ---- drawing ----

function colorsOf(frame: Frame, band: Band, rect: number): RectColors {
    return frame.colorsAt?.(band.rects, rect) ?? colorsOfCategory(frame.colors, band.rects.category[rect] ?? 0);
}

function fillOf(colors: RectColors, band: Band, rect: number, isHovered: boolean, isNarrow: boolean): string {
    if (band.selected[rect] === 1) return isNarrow ? colors.selectedNarrow : colors.selected;
    if (isHovered) return colors.hover;
    if (band.rects.matches[rect] === 0) return colors.faint;
    if (band.rects.func[rect] === -1) return colors.aggregate;
    return (band.rects.depth[rect] ?? 0) % 2 === 1 ? colors.oddFill : colors.fill;
}

const pixels = new Map<string, number>();

/** Returns a color #rrggbb as a pixel of an image in memory, where red is the first byte. */
function pixelOf(color: string): number {
    let pixel = pixels.get(color);
    if (pixel === undefined) {
        const value = Number.parseInt(color.slice(1), 16);
        pixel = (0xff000000 | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0;
        pixels.set(color, pixel);
    }
    return pixel;
}

/** A rect on which the code draws further marks, device pixels. */
interface Drawn {
    band: Band;
    rect: number;
    left: number;
    top: number;
    width: number;
    height: number;
}

/**
 * Fills the rects in an image in memory, which is faster than a drawing call for each of thousands of rects. Draws the
 * first line of each row, and copies it to the other lines. Returns the rects with room for a name or a frame.
 */
function fillRects(image: ImageData, frame: Frame, ratio: number): Drawn[] {
    const data = new Uint32Array(image.data.buffer);
    const drawn: Drawn[] = [];
    const lines = new Map<number, number>();
    const firstEdge = Math.round(frame.left * ratio);
    const lastEdge = Math.min(image.width, Math.round((frame.left + frame.width) * ratio));
    const gap = Math.max(1, Math.round(ratio * 0.8));
    data.fill(0);
    frame.bands.forEach((band, at) => {
        const { rects } = band;
        for (let rect = 0; rect < rects.depth.length; rect++) {
            const row = topOf(frame, band.firstRow + (rects.depth[rect] ?? 0));
            const top = Math.round(row * ratio);
            const bottom = Math.min(image.height, Math.round((row + ROW_HEIGHT) * ratio) - gap);
            const line = Math.max(0, top);
            if (line >= bottom) continue;
            const [start, end] = sidesOf(frame, band, rect);
            const left = Math.max(firstEdge, Math.round(start * ratio));
            const right = Math.min(lastEdge, Math.round(end * ratio));
            if (right <= left) continue;
            // A gap separates neighbors, unless a rect is too narrow for a gap.
            const width = right - left > 2 * gap ? right - left - gap : right - left;
            const isHovered = frame.hovered?.band === at && frame.hovered.rect === rect;
            const isNarrow = width <= FRAME_ROOM * ratio;
            const color = pixelOf(fillOf(colorsOf(frame, band, rect), band, rect, isHovered, isNarrow));
            data.fill(color, line * image.width + left, line * image.width + left + width);
            lines.set(line, bottom);
            if (width > Math.min(TEXT_ROOM, FRAME_ROOM) * ratio)
                drawn.push({ band, rect, left, top, width, height: bottom - top });
        }
    });
    for (const [line, bottom] of lines)
        for (let copy = line + 1; copy < bottom; copy++)
            data.copyWithin(copy * image.width, line * image.width, (line + 1) * image.width);
    return drawn;
}

/** The distance between two lines of the hatching, px. */
const HATCH_STEP = 7;

/** Returns whether a rect is a wait for a CPU. The rects below it are functions in which the thread still is. */
function isRunnable({ depth, func, parent }: Rects, rect: number): boolean {
    return parent[rect] === -1 && (depth[rect] ?? 0) > 0 && (func[rect] ?? -1) >= 0;
}

/** Draws a hatching over the rects in which a thread waits for a CPU. */
function hatchBelow(context: CanvasRenderingContext2D, frame: Frame, ratio: number, drawn: Drawn): void {
    const { band, height, left, width } = drawn;
    const first = topOf(frame, band.firstRow) * ratio;
    const top = Math.min(first, drawn.top + height);
    const bottom = Math.max(first + ROW_HEIGHT * ratio, drawn.top);
    context.save();
    context.beginPath();
    context.rect(left, top, width, (frame.fromBottom ? bottom : drawn.top) - top);
    context.clip();
    context.strokeStyle = frame.colors.surface;
    context.lineWidth = 2 * ratio;
    context.beginPath();
    const step = HATCH_STEP * ratio;
    for (let x = Math.floor(left / step) * step - (bottom - top); x < left + width; x += step) {
        context.moveTo(x, bottom);
        context.lineTo(x + bottom - top, top);
    }
    context.stroke();
    context.restore();
}

function drawFrame(context: CanvasRenderingContext2D, frame: Frame, ratio: number, drawn: Drawn): void {
    const line = Math.max(1, Math.round(ratio));
    context.strokeStyle = frame.hasFocus ? frame.colors.text : frame.colors.quiet;
    context.lineWidth = line;
    context.strokeRect(drawn.left + line / 2, drawn.top + line / 2, drawn.width - line, drawn.height - line);
}

function drawName(context: CanvasRenderingContext2D, frame: Frame, ratio: number, drawn: Drawn): void {
    const { band, rect, left, width } = drawn;
    const func = band.rects.func[rect] ?? -1;
    const count = func === -1 ? band.rects.count?.[rect] : undefined;
    const library = count === undefined ? '' : frame.label(band.rects.library?.[rect] ?? -1);
    const many = count === undefined ? '' : describeNarrow(count);
    const text = count === undefined ? frame.label(func) : library === '' ? many : `${library}: ${many}`;
    const parts = text === '' ? ['', '', ''] : fitName(context, text, width / ratio - 2 * TEXT_MARGIN);
    if (parts[1] === '' || (count !== undefined && library === '' && parts.join('') !== text)) return;
    const { quiet, quietText, text: strong } = frame.colors;
    const isFaint = band.rects.matches[rect] === 0;
    const selected = band.selected[rect] === 1 ? colorsOf(frame, band, rect).selectedText : '';
    const y = topOf(frame, band.firstRow + (band.rects.depth[rect] ?? 0)) + ROW_HEIGHT / 2;
    let x = left / ratio + TEXT_MARGIN;
    parts.forEach((part, at) => {
        context.fillStyle = selected || (isFaint ? quiet : at === 1 ? strong : quietText);
        if (part !== '') context.fillText(part, x, y);
        x += textWidth(context, part);
    });
}

/** The last image of each canvas, of several megabytes, which the next drawing uses again. */
const images = new WeakMap<HTMLCanvasElement, ImageData>();

function imageFor(canvas: HTMLCanvasElement, context: CanvasRenderingContext2D): ImageData {
    let image = images.get(canvas);
    if (image?.width !== canvas.width || image.height !== canvas.height) {
        image = context.createImageData(canvas.width, canvas.height);
        images.set(canvas, image);
    }
    return image;
}

/** Draws all bands over the whole canvas, and sets the size of the canvas to the size of the frame. */
export function drawRects(canvas: HTMLCanvasElement, frame: Frame): void {
    const context = canvas.getContext('2d');
    if (!context) return;
    const ratio = pixelRatio();
    sizeCanvas(canvas, frame.canvasWidth, frame.height);
    const image = imageFor(canvas, context);
    const drawn = fillRects(image, frame, ratio);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.putImageData(image, 0, 0);
    for (const place of drawn) if (isRunnable(place.band.rects, place.rect)) hatchBelow(context, frame, ratio, place);
    for (const place of drawn)
        if (place.band.selected[place.rect] === 1 && place.width > FRAME_ROOM * ratio)
            drawFrame(context, frame, ratio, place);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = FONT;
    context.textBaseline = 'middle';
    for (const place of drawn) if (place.width > TEXT_ROOM * ratio) drawName(context, frame, ratio, place);
}
