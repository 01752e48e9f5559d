/** A flame graph as an SVG file of its own: no script, no reference to anything outside; titles show what a tooltip shows. */
import type { FlameBoxes } from '../engine/charts';
import type { BoxColors, ChartColors } from './box_colors';
import { fitText, ROW_HEIGHT } from './boxes';

export interface FlameSvg {
    boxes: FlameBoxes;
    rows: number;
    /** px */
    width: number;
    fromBottom: boolean;
    /** Lines above the graph. */
    heading: readonly string[];
    colors: ChartColors;
    label(func: number): string;
    /** What a box is, in full. */
    title(box: number): string;
}

const LINE_HEIGHT = 18;
const MARGIN = 8;
const TEXT_MARGIN = 4;
const TEXT_ROOM = 20;
const FONT_FAMILY = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif";

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text as XML; what XML does not have at all is left out. */
export function escapeXml(text: string): string {
    return text
        .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
        .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

function number(value: number): string {
    return String(Math.round(value * 100) / 100);
}

function colorsOf(svg: FlameSvg, box: number): BoxColors {
    return svg.colors.boxes[svg.boxes.category[box] ?? 0] ?? (svg.colors.boxes.at(-1) as BoxColors);
}

function boxText(svg: FlameSvg, box: number, top: number, context: CanvasRenderingContext2D): string {
    const { boxes, width } = svg;
    const left = Math.max(0, (boxes.start[box] ?? 0) * width);
    const right = Math.min(width, (boxes.end[box] ?? 0) * width);
    if (right <= left) return '';
    const isCrowd = boxes.func[box] === -1;
    const fill = boxes.matches[box] === 0 ? colorsOf(svg, box).faint : colorsOf(svg, box)[isCrowd ? 'crowd' : 'fill'];
    const y = top + (svg.fromBottom ? svg.rows - 1 - (boxes.depth[box] ?? 0) : (boxes.depth[box] ?? 0)) * ROW_HEIGHT;
    const gap = right - left > 2 ? 1 : 0;
    const rect = `<rect x="${number(left)}" y="${y}" width="${number(right - left - gap)}" height="${ROW_HEIGHT - 1}" fill="${fill}"/>`;
    const isWide = right - left > TEXT_ROOM && !isCrowd;
    const label = isWide ? fitText(context, svg.label(boxes.func[box] ?? -1), right - left - 2 * TEXT_MARGIN) : '';
    const text = label === '' ? '' : `<text x="${number(left + TEXT_MARGIN)}" y="${y + 13}">${escapeXml(label)}</text>`;
    return `<g><title>${escapeXml(svg.title(box))}</title>${rect}${text}</g>`;
}

export function flameSvg(svg: FlameSvg, context: CanvasRenderingContext2D): string {
    context.font = `11px ${FONT_FAMILY}`;
    const top = MARGIN * 2 + svg.heading.length * LINE_HEIGHT;
    const height = top + svg.rows * ROW_HEIGHT + MARGIN;
    const size = `${svg.width} ${height}`;
    const heading = svg.heading.map(
        (line, at) =>
            `<text x="${TEXT_MARGIN}" y="${MARGIN + (at + 1) * LINE_HEIGHT - 4}"${at === 0 ? ' font-weight="bold"' : ''}>${escapeXml(line)}</text>`,
    );
    const boxes = Array.from(svg.boxes.func, (_, box) => boxText(svg, box, top, context));
    return [
        '<?xml version="1.0" encoding="UTF-8"?>',
        `<svg xmlns="http://www.w3.org/2000/svg" width="${svg.width}" height="${height}" viewBox="0 0 ${size}" font-family="${FONT_FAMILY}" font-size="11" fill="${svg.colors.text}">`,
        `<rect width="${svg.width}" height="${height}" fill="${svg.colors.surface}"/>`,
        ...heading,
        ...boxes,
        '</svg>',
        '',
    ].join('\n');
}
