/** Draws the heat map: its cells, the selected and the focused cells, and the labels of both axes. */
import { cleanContext, pixelRatio, styleColor } from '../base/canvas';
import { formatDuration } from '../base/format';
import { FONT } from '../flame/draw_rects';
import type { Range } from '../view/codec';
import { type Cells, ROWS, shadeOf } from './heat_cells';

const LEFT = 64;
const RIGHT = 16;
const TOP = 12;
const BOTTOM = 28;
/** px: minimum distance of labels. */
const LABEL_ROOM = 88;
const ROW_LABELS = 5;

export interface HeatFrame {
    cells: Cells;
    totals: Float64Array;
    /** The largest magnitude of a total. */
    most: number;
    /** The cells between these, both included, have a frame, or null for none. */
    chosen: Range | null;
    /** The focused cell, or -1. */
    focused: number;
    width: number;
    height: number;
    placeText(time: number): string;
}

type Area = Pick<HeatFrame, 'cells' | 'height' | 'width'>;

/** Returns the edges of a cell in the canvas, px. */
export function placeOf({ cells, width, height }: Area, cell: number): { x: number; y: number; w: number; h: number } {
    const w = Math.max(1, width - LEFT - RIGHT) / cells.columns;
    const h = Math.max(1, height - TOP - BOTTOM) / ROWS;
    return { x: LEFT + Math.floor(cell / ROWS) * w, y: TOP + (ROWS - 1 - (cell % ROWS)) * h, w, h };
}

/** Returns the cell at a position of the canvas, or -1 beside the cells. With `clamps`, returns the nearest cell. */
export function cellAt(area: Area, x: number, y: number, clamps = false): number {
    const { w, h } = placeOf(area, 0);
    const { columns } = area.cells;
    const column = Math.floor((x - LEFT) / w);
    const row = ROWS - 1 - Math.floor((y - TOP) / h);
    const near = (at: number, count: number): number => Math.min(count - 1, Math.max(0, at));
    const cell = near(column, columns) * ROWS + near(row, ROWS);
    return clamps || (column === near(column, columns) && row === near(row, ROWS)) ? cell : -1;
}

function drawCells(context: CanvasRenderingContext2D, frame: HeatFrame, ratio: number): void {
    const { cells, totals, most } = frame;
    const [heat, empty] = [styleColor('heat'), styleColor('surface-quiet')];
    const { w, h } = placeOf(frame, 0);
    const gap = Math.min(w, h) * ratio >= 6 ? 1 : 0;
    for (let cell = 0; cell < cells.columns * ROWS; cell++) {
        const { x, y } = placeOf(frame, cell);
        const [left, top] = [Math.round(x * ratio), Math.round(y * ratio)];
        const [right, bottom] = [Math.round((x + w) * ratio), Math.round((y + h) * ratio)];
        const share = most > 0 ? Math.abs(totals[cell] ?? 0) / most : 0;
        context.fillStyle = empty;
        context.globalAlpha = 1;
        context.fillRect(left, top, right - left - gap, bottom - top - gap);
        if (share === 0) continue;
        context.fillStyle = heat;
        context.globalAlpha = shadeOf(share);
        context.fillRect(left, top, right - left - gap, bottom - top - gap);
    }
    context.globalAlpha = 1;
}

/** Draws the frame of consecutive cells: a rectangle for each column. */
function drawChosen(context: CanvasRenderingContext2D, frame: HeatFrame, [first, last]: Range): void {
    context.fillStyle = context.strokeStyle = styleColor('accent');
    context.lineWidth = 1.5;
    for (let cell = first; cell <= last; cell += ROWS - (cell % ROWS)) {
        const bottom = placeOf(frame, cell);
        const top = placeOf(frame, Math.min(last, cell - (cell % ROWS) + ROWS - 1));
        context.globalAlpha = 0.22;
        context.fillRect(bottom.x, top.y, bottom.w, bottom.y + bottom.h - top.y);
        context.globalAlpha = 1;
        context.strokeRect(bottom.x, top.y, bottom.w, bottom.y + bottom.h - top.y);
    }
}

function drawLabels(context: CanvasRenderingContext2D, frame: HeatFrame): void {
    const { cells, placeText } = frame;
    const { w, h } = placeOf(frame, 0);
    context.font = FONT;
    context.fillStyle = styleColor('text-quiet');
    context.textBaseline = 'middle';
    context.textAlign = 'right';
    for (let at = 0; at < ROW_LABELS; at++) {
        const y = TOP + h * ROWS * (1 - at / (ROW_LABELS - 1));
        context.fillText(formatDuration((cells.column * at) / (ROW_LABELS - 1)), LEFT - 8, y);
    }
    const least = LABEL_ROOM / w;
    const step = [1, 2, 5, 10, 20, 30, 60, 120].find((columns) => columns >= least) ?? 240;
    context.textAlign = 'left';
    for (let column = 0; column < cells.columns; column += step) {
        const x = LEFT + column * w;
        context.fillRect(Math.round(x), TOP + h * ROWS, 1, 4);
        context.fillText(placeText(cells.start + column * cells.column), x, TOP + h * ROWS + 14);
    }
}

export function drawHeatMap(canvas: HTMLCanvasElement, frame: HeatFrame): void {
    const ratio = pixelRatio();
    const context = cleanContext(canvas, frame.width, frame.height, ratio);
    if (!context) return;
    drawCells(context, frame, ratio);
    context.scale(ratio, ratio);
    drawLabels(context, frame);
    if (frame.chosen) drawChosen(context, frame, frame.chosen);
    if (frame.focused < 0) return;
    const { x, y, w, h } = placeOf(frame, frame.focused);
    context.strokeStyle = styleColor('text');
    context.lineWidth = 2;
    context.strokeRect(x - 1, y - 1, w + 2, h + 2);
}
