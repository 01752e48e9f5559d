/** Draws the boxes of a flame graph or a stack chart, crisp at any size of a pixel, with as much of the names as fits. */
import type { Boxes } from '../engine/charts';
import type { BoxColors, ChartColors } from './box_colors';

/** px */
export const ROW_HEIGHT = 18;
const FONT = "11px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif";
const TEXT_MARGIN = 4;
/** px: narrower boxes have no room for any text. */
export const TEXT_ROOM = 20;
/** px: narrower boxes would be all frame. */
const FRAME_ROOM = 6;
const ELLIPSIS = '…';

/** Rows of boxes that share a horizontal scale; a chart has one or, of several threads, one below the other. */
export interface Band {
    boxes: Boxes;
    /** What 0 and 1 of the boxes are, on the axis of the chart. */
    span: [number, number];
    /** The first row of the chart that is the band's, and how many it has. */
    firstRow: number;
    rows: number;
    /** 1 per box that is selected. */
    selected: Uint8Array;
}

export interface Place {
    band: number;
    box: number;
}

export interface Frame {
    bands: readonly Band[];
    /** What is shown of the axis. */
    shown: [number, number];
    /** The canvas, px. */
    canvasWidth: number;
    height: number;
    /** Where the axis is in it, px. */
    left: number;
    width: number;
    /** px from the top of the canvas to that of row 0, or if `fromBottom` to the bottom of row 0. */
    origin: number;
    fromBottom: boolean;
    hovered: Place | null;
    /** Keys go to the chart: what is selected has a frame. */
    hasFocus: boolean;
    colors: ChartColors;
    label(func: number): string;
}

/** Device pixels of a CSS pixel; more than three cannot be seen. */
export function pixelRatio(): number {
    return Math.min(window.devicePixelRatio || 1, 3);
}

// ---- text ----

/** Widths of characters, by code point; of a font without ligatures that is what a text is wide. */
const widths = new Map<number, number>();

function characterWidth(context: CanvasRenderingContext2D, code: number): number {
    let width = widths.get(code);
    if (width === undefined) {
        width = context.measureText(String.fromCodePoint(code)).width;
        widths.set(code, width);
    }
    return width;
}

/** As much of `text` as is at most `room` wide; '' if that is nothing. The context has the font, not scaled. */
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

// ---- places ----

/** The sides of a box, px from the left of the canvas, not rounded. */
export function sidesOf(frame: Frame, band: Band, box: number): [number, number] {
    const scale = frame.width / (frame.shown[1] - frame.shown[0]);
    const length = band.span[1] - band.span[0];
    const x = (share: number): number => frame.left + (band.span[0] + share * length - frame.shown[0]) * scale;
    return [x(band.boxes.start[box] ?? 0), x(band.boxes.end[box] ?? 0)];
}

/** The top of a row of the chart, px from that of the canvas. */
export function topOf(frame: Frame, row: number): number {
    return frame.fromBottom ? frame.origin - (row + 1) * ROW_HEIGHT : frame.origin + row * ROW_HEIGHT;
}

/** What is at a place of the canvas; null: nothing. */
export function boxAt(frame: Frame, x: number, y: number): Place | null {
    const row = Math.floor((frame.fromBottom ? frame.origin - y : y - frame.origin) / ROW_HEIGHT);
    const at = frame.bands.findIndex((band) => row >= band.firstRow && row < band.firstRow + band.rows);
    const band = frame.bands[at];
    if (!band || x < frame.left || x > frame.left + frame.width) return null;
    const { depth } = band.boxes;
    for (let box = 0; box < depth.length; box++) {
        if (depth[box] !== row - band.firstRow) continue;
        const [left, right] = sidesOf(frame, band, box);
        if (x >= left && x < right) return { band: at, box };
    }
    return null;
}

// ---- drawing ----

function fillOf(colors: BoxColors, band: Band, box: number, isHovered: boolean): string {
    if (band.selected[box] === 1) return colors.selected;
    if (isHovered) return colors.hover;
    if (band.boxes.matches[box] === 0) return colors.faint;
    return band.boxes.func[box] === -1 ? colors.crowd : colors.fill;
}

interface Drawing {
    context: CanvasRenderingContext2D;
    frame: Frame;
    ratio: number;
}

function drawFrame({ context, frame, ratio }: Drawing, x: number, y: number, width: number, height: number): void {
    const line = Math.max(1, Math.round(ratio));
    context.strokeStyle = frame.colors.text;
    context.lineWidth = line;
    context.strokeRect(x + line / 2, y + line / 2, Math.max(1, width - line), height - line);
}

/** Draws a band; what has room for a name is handed to `onRoom`. */
function drawBand(
    drawing: Drawing,
    at: number,
    onRoom: (box: number, left: number, right: number) => void,
): void {
    const { context, frame, ratio } = drawing;
    const band = frame.bands[at];
    if (!band) return;
    const { boxes } = band;
    const firstEdge = Math.round(frame.left * ratio);
    const lastEdge = Math.round((frame.left + frame.width) * ratio);
    const gap = Math.max(1, Math.round(ratio * 0.8));
    let fill = '';
    for (let box = 0; box < boxes.depth.length; box++) {
        const top = topOf(frame, band.firstRow + (boxes.depth[box] ?? 0));
        if (top + ROW_HEIGHT <= 0 || top >= frame.height) continue;
        const [left, right] = sidesOf(frame, band, box);
        const from = Math.max(firstEdge, Math.round(left * ratio));
        const to = Math.min(lastEdge, Math.round(right * ratio));
        if (to <= from) continue;
        const isHovered = frame.hovered?.band === at && frame.hovered.box === box;
        const colors = frame.colors.boxes[boxes.category[box] ?? 0] ?? (frame.colors.boxes.at(-1) as BoxColors);
        const wanted = fillOf(colors, band, box, isHovered);
        if (wanted !== fill) {
            fill = wanted;
            context.fillStyle = fill;
        }
        const y = Math.round(top * ratio);
        const height = Math.round((top + ROW_HEIGHT) * ratio) - y - gap;
        // Neighbours keep apart, as long as there is something left of them.
        const width = to - from > 2 * gap ? to - from - gap : to - from;
        context.fillRect(from, y, width, height);
        if (frame.hasFocus && band.selected[box] === 1 && width > FRAME_ROOM * ratio) drawFrame(drawing, from, y, width, height);
        if (width > TEXT_ROOM * ratio) onRoom(box, from / ratio, (from + width) / ratio);
    }
}

function drawNames({ context, frame }: Drawing, at: number, rooms: readonly [number, number, number][]): void {
    const band = frame.bands[at];
    if (!band) return;
    for (const [box, left, right] of rooms) {
        const text = frame.label(band.boxes.func[box] ?? -1);
        if (text === '') continue;
        const fitting = fitText(context, text, right - left - 2 * TEXT_MARGIN);
        if (fitting === '') continue;
        const colors = frame.colors.boxes[band.boxes.category[box] ?? 0] ?? (frame.colors.boxes.at(-1) as BoxColors);
        const isFaint = band.boxes.matches[box] === 0;
        context.fillStyle =
            band.selected[box] === 1 ? colors.selectedText : isFaint ? frame.colors.quiet : frame.colors.text;
        const top = topOf(frame, band.firstRow + (band.boxes.depth[box] ?? 0));
        context.fillText(fitting, left + TEXT_MARGIN, top + ROW_HEIGHT / 2);
    }
}

/** Draws all bands over the whole canvas, which gets the size of the frame. */
export function drawBoxes(canvas: HTMLCanvasElement, frame: Frame): void {
    const context = canvas.getContext('2d');
    if (!context) return;
    const ratio = pixelRatio();
    const width = Math.max(1, Math.round(frame.canvasWidth * ratio));
    const height = Math.max(1, Math.round(frame.height * ratio));
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    const drawing = { context, frame, ratio };
    frame.bands.forEach((_, at) => {
        const rooms: [number, number, number][] = [];
        context.setTransform(1, 0, 0, 1, 0, 0);
        drawBand(drawing, at, (box, left, right) => rooms.push([box, left, right]));
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.font = FONT;
        context.textBaseline = 'middle';
        drawNames(drawing, at, rooms);
    });
}
