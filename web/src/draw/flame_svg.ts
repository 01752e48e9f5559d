/** A flame graph as an SVG file of its own: no script, no reference to anything outside; titles show what a tooltip shows. */
import type { FlameBoxes } from '../engine/charts';
import { type ChartColors, colorsOfCategory } from './box_colors';
import { FONT, FONT_FAMILY, fitText, ROW_HEIGHT, TEXT_MARGIN, TEXT_ROOM } from './boxes';

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
/** px from the top of a box. */
const BASELINE = 13;

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text as XML; what XML does not have at all is left out. */
export function escapeXml(text: string): string {
    return text
        .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '')
        .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** An element; numbers have two decimals at most. */
function tag(name: string, attributes: Record<string, string | number>, content = ''): string {
    const written = Object.entries(attributes).map(
        ([key, value]) => `${key}="${typeof value === 'number' ? Math.round(value * 100) / 100 : value}"`,
    );
    return `<${name} ${written.join(' ')}${content === '' ? '/>' : `>${content}</${name}>`}`;
}

function boxText(svg: FlameSvg, box: number, top: number, context: CanvasRenderingContext2D): string {
    const { boxes, width } = svg;
    const left = Math.max(0, (boxes.start[box] ?? 0) * width);
    const right = Math.min(width, (boxes.end[box] ?? 0) * width);
    if (right <= left) return '';
    const isCrowd = boxes.func[box] === -1;
    const colors = colorsOfCategory(svg.colors, boxes.category[box] ?? 0);
    const fill = boxes.matches[box] === 0 ? colors.faint : colors[isCrowd ? 'crowd' : 'fill'];
    const y = top + (svg.fromBottom ? svg.rows - 1 - (boxes.depth[box] ?? 0) : (boxes.depth[box] ?? 0)) * ROW_HEIGHT;
    const gap = right - left > 2 ? 1 : 0;
    const rect = tag('rect', { x: left, y, width: right - left - gap, height: ROW_HEIGHT - 1, fill });
    const isWide = right - left > TEXT_ROOM && !isCrowd;
    const label = isWide ? fitText(context, svg.label(boxes.func[box] ?? -1), right - left - 2 * TEXT_MARGIN) : '';
    const text = label === '' ? '' : tag('text', { x: left + TEXT_MARGIN, y: y + BASELINE }, escapeXml(label));
    return `<g><title>${escapeXml(svg.title(box))}</title>${rect}${text}</g>`;
}

export function flameSvg(svg: FlameSvg, context: CanvasRenderingContext2D): string {
    context.font = FONT;
    const top = MARGIN * 2 + svg.heading.length * LINE_HEIGHT;
    const height = top + svg.rows * ROW_HEIGHT + MARGIN;
    const content = [
        tag('rect', { width: svg.width, height, fill: svg.colors.surface }),
        ...svg.heading.map((line, at) => {
            const weight = at === 0 ? 'bold' : 'normal';
            const y = MARGIN + (at + 1) * LINE_HEIGHT - TEXT_MARGIN;
            return tag('text', { x: TEXT_MARGIN, y, 'font-weight': weight }, escapeXml(line));
        }),
        ...Array.from(svg.boxes.func, (_, box) => boxText(svg, box, top, context)),
    ];
    const root = {
        xmlns: 'http://www.w3.org/2000/svg',
        width: svg.width,
        height,
        viewBox: `0 0 ${svg.width} ${height}`,
        'font-family': FONT_FAMILY,
        'font-size': 11,
        fill: svg.colors.text,
    };
    return `<?xml version="1.0" encoding="UTF-8"?>\n${tag('svg', root, `\n${content.join('\n')}\n`)}\n`;
}
