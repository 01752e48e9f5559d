/**
 * Draws the marker chart: names at the left, rects for intervals, diamonds for instants, and the start of each label
 * that fits.
 */

import { cleanContext, pixelRatio } from '../base/canvas';
import { type ChartColors, colorsOfCategory } from '../base/rect_colors';
import type { MarkerChartRow, MarkerRects } from '../engine/markers';
import { FONT, FONT_FAMILY, fitText, TEXT_MARGIN, TEXT_ROOM } from '../flame/draw_rects';
import type { ChartLine } from './marker_chart';

const HEADING_FONT = `600 11px ${FONT_FAMILY}`;
const LABEL_MARGIN = 12;
const NAME_INDENT = 24;
/** The minimum width of a drawn marker, px. */
const LEAST_WIDTH = 2;
const DIAMOND = 4;
/** The distance from a narrow rect within which a click still selects the rect, px. */
const NEAR = 3;

export interface MarkerFrame {
    rows: readonly MarkerChartRow[];
    lines: readonly ChartLine[];
    lineOfRow: readonly number[];
    rects: MarkerRects | null;
    /** The shown range, ms. */
    shown: [number, number];
    /** The width of the canvas, and the position of the axis in it, px. */
    canvasWidth: number;
    height: number;
    left: number;
    width: number;
    scrollTop: number;
    /** The index of the rect under the mouse, or -1. */
    hovered: number;
    /** The index of the selected marker, or -1. */
    selected: number;
    hasFocus: boolean;
    colors: ChartColors;
    categoryName(category: number): string;
    label(marker: number): string;
    rowName(row: number): string;
}

export function xOf(frame: MarkerFrame, time: number): number {
    return frame.left + ((time - frame.shown[0]) / (frame.shown[1] - frame.shown[0])) * frame.width;
}

/** Returns the line at a height of the chart, or undefined below all lines. */
export function lineAt(lines: readonly ChartLine[], y: number): ChartLine | undefined {
    let low = 0;
    let high = lines.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        const line = lines[middle] as ChartLine;
        if (line.top + line.height <= y) low = middle + 1;
        else high = middle;
    }
    return lines[low];
}

/** Returns the rect at a position of the canvas, or the nearest rect within a few pixels, or -1. */
export function markerRectAt(frame: MarkerFrame, x: number, y: number): number {
    const { rects } = frame;
    const line = lineAt(frame.lines, y + frame.scrollTop);
    if (!rects || line?.kind !== 'row' || x < frame.left) return -1;
    let found = -1;
    let least = NEAR;
    for (let rect = 0; rect < rects.row.length; rect++) {
        if (rects.row[rect] !== line.row) continue;
        const left = xOf(frame, rects.start[rect] ?? 0);
        const right = Math.max(left + LEAST_WIDTH, xOf(frame, rects.end[rect] ?? 0));
        const distance = x < left ? left - x : x > right ? x - right : 0;
        // If several rects begin before, the last rect is on top.
        if (distance < least || (distance === 0 && least === 0)) {
            found = rect;
            least = distance;
        }
    }
    return found;
}

function drawDiamond(context: CanvasRenderingContext2D, x: number, y: number): void {
    context.beginPath();
    context.moveTo(x, y - DIAMOND);
    context.lineTo(x + DIAMOND, y);
    context.lineTo(x, y + DIAMOND);
    context.lineTo(x - DIAMOND, y);
    context.closePath();
    context.fill();
}

function drawRect(context: CanvasRenderingContext2D, frame: MarkerFrame, rect: number): void {
    const rects = frame.rects as MarkerRects;
    const row = rects.row[rect] ?? 0;
    const line = frame.lines[frame.lineOfRow[row] ?? -1];
    const info = frame.rows[row];
    if (!line || !info) return;
    const top = line.top - frame.scrollTop;
    if (top + line.height <= 0 || top >= frame.height) return;
    const start = xOf(frame, rects.start[rect] ?? 0);
    const end = xOf(frame, rects.end[rect] ?? 0);
    const edge = frame.left + frame.width;
    if (end < frame.left || start > edge) return;
    const colors = colorsOfCategory(frame.colors, info.category);
    const marker = rects.marker[rect] ?? -1;
    const isSelected = marker === frame.selected;
    const isHovered = rect === frame.hovered;
    const isAggregate = (rects.count[rect] ?? 1) > 1;
    if (info.isOfInstants) {
        context.fillStyle = isSelected || isHovered ? frame.colors.accent : colors.selected;
        drawDiamond(context, start, top + line.height / 2);
        return;
    }
    const left = Math.max(frame.left, start);
    const right = Math.min(edge, Math.max(end, start + LEAST_WIDTH));
    const isNarrow = right - left <= LEAST_WIDTH;
    context.fillStyle =
        isSelected || isNarrow || isAggregate ? colors.selected : isHovered ? colors.hover : colors.fill;
    const gap = right - left > 3 ? 1 : 0;
    context.fillRect(left, top + 1, right - left - gap, line.height - 2);
    if (isSelected && frame.hasFocus) {
        context.strokeStyle = frame.colors.text;
        context.strokeRect(left + 0.5, top + 1.5, Math.max(1, right - left - gap - 1), line.height - 3);
    }
    if (isAggregate || right - left < TEXT_ROOM) return;
    const text = fitText(context, frame.label(marker), right - left - 2 * TEXT_MARGIN);
    if (text === '') return;
    context.fillStyle = isSelected ? colors.selectedText : frame.colors.text;
    context.fillText(text, left + TEXT_MARGIN, top + line.height / 2);
}

function drawLine(context: CanvasRenderingContext2D, frame: MarkerFrame, line: ChartLine): void {
    const top = line.top - frame.scrollTop;
    const row = frame.rows[line.row];
    if (!row || top + line.height <= 0 || top >= frame.height) return;
    const middle = top + line.height / 2;
    if (line.kind === 'heading') {
        const colors = colorsOfCategory(frame.colors, row.category);
        context.fillStyle = colors.aggregate;
        context.fillRect(0, top, frame.canvasWidth, line.height - 1);
        context.fillStyle = colors.selected;
        context.fillRect(0, top, 3, line.height - 1);
        context.fillStyle = frame.colors.text;
        context.font = HEADING_FONT;
        context.fillText(
            fitText(context, frame.categoryName(row.category), frame.canvasWidth - 24),
            LABEL_MARGIN,
            middle,
        );
        context.font = FONT;
        return;
    }
    context.fillStyle = frame.colors.line;
    context.fillRect(0, top + line.height - 1, frame.canvasWidth, 1);
    if (row.rowOfName > 0) return;
    context.fillStyle = frame.colors.text;
    const name = fitText(context, frame.rowName(line.row), frame.left - NAME_INDENT - LABEL_MARGIN);
    context.fillText(name, NAME_INDENT, middle);
}

/** Draws the visible part over the whole canvas, and sets the size of the canvas to the size of the frame. */
export function drawMarkerChart(canvas: HTMLCanvasElement, frame: MarkerFrame): void {
    const context = cleanContext(canvas, frame.canvasWidth, frame.height);
    if (!context) return;
    context.scale(pixelRatio(), pixelRatio());
    context.font = FONT;
    context.textBaseline = 'middle';
    for (const line of frame.lines) drawLine(context, frame, line);
    context.fillStyle = frame.colors.line;
    context.fillRect(frame.left - 1, 0, 1, frame.height);
    context.save();
    context.beginPath();
    context.rect(frame.left - DIAMOND, 0, frame.width + 2 * DIAMOND, frame.height);
    context.clip();
    const { rects } = frame;
    for (let rect = 0; rects && rect < rects.row.length; rect++) drawRect(context, frame, rect);
    context.restore();
}
