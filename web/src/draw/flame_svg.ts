/** A flame graph as an SVG file of its own: no script, no reference to anything outside; titles show what a tooltip shows. */
import type { FlameRects, Rects } from '../engine/charts';
import { type ChartColors, colorsOfCategory, type RectColors } from './rect_colors';
import { FONT, FONT_FAMILY, fitName, ROW_HEIGHT, TEXT_MARGIN, TEXT_ROOM } from './rects';

export interface FlameSvg {
    rects: FlameRects;
    rows: number;
    /** px */
    width: number;
    fromBottom: boolean;
    /** Lines above the graph. */
    heading: readonly string[];
    colors: ChartColors;
    /** As of a Frame. */
    colorsAt?: ((rects: Rects, rect: number) => RectColors) | null;
    label(func: number): string;
    /** What a rect is, in full. */
    title(rect: number): string;
}

const LINE_HEIGHT = 18;
const MARGIN = 8;
/** px from the top of a rect. */
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

function rectText(svg: FlameSvg, rect: number, top: number, context: CanvasRenderingContext2D): string {
    const { rects, width } = svg;
    const left = Math.max(0, (rects.start[rect] ?? 0) * width);
    const right = Math.min(width, (rects.end[rect] ?? 0) * width);
    if (right <= left) return '';
    const isAggregate = rects.func[rect] === -1;
    const colors = svg.colorsAt?.(rects, rect) ?? colorsOfCategory(svg.colors, rects.category[rect] ?? 0);
    const fill = rects.matches[rect] === 0 ? colors.faint : colors[isAggregate ? 'aggregate' : 'fill'];
    const y = top + (svg.fromBottom ? svg.rows - 1 - (rects.depth[rect] ?? 0) : (rects.depth[rect] ?? 0)) * ROW_HEIGHT;
    const gap = right - left > 2 ? 1 : 0;
    const shape = tag('rect', { x: left, y, width: right - left - gap, height: ROW_HEIGHT - 1, fill });
    const isWide = right - left > TEXT_ROOM && !isAggregate;
    const label = isWide ? fitName(context, svg.label(rects.func[rect] ?? -1), right - left - 2 * TEXT_MARGIN) : '';
    const text = label === '' ? '' : tag('text', { x: left + TEXT_MARGIN, y: y + BASELINE }, escapeXml(label));
    return `<g><title>${escapeXml(svg.title(rect))}</title>${shape}${text}</g>`;
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
        ...Array.from(svg.rects.func, (_, rect) => rectText(svg, rect, top, context)),
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
