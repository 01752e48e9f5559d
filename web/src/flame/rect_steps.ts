/** Steps from rect to rect of a chart, and the scroll position that shows a rect. */
import { type Frame, type Place, ROW_HEIGHT, sidesOf } from './draw_rects';

export function samePlace(a: Place | null, b: Place | null): boolean {
    return a?.band === b?.band && a?.rect === b?.rect;
}

/** Returns the first rect, or null in an empty chart. */
export function firstPlace(frame: Frame): Place | null {
    const at = frame.bands.findIndex((band) => band.rects.depth.length > 0);
    return at < 0 ? null : { band: at, rect: 0 };
}

/** Returns the selected rect that is nearest to an x of the canvas, or null without a selected rect. */
export function selectedPlace(frame: Frame, nearX: number): Place | null {
    let found: Place | null = null;
    let least = Number.POSITIVE_INFINITY;
    frame.bands.forEach((band, at) => {
        for (let rect = 0; rect < band.selected.length; rect++) {
            if (band.selected[rect] !== 1) continue;
            const [left, right] = sidesOf(frame, band, rect);
            const distance = Math.abs((left + right) / 2 - nearX);
            if (distance < least) {
                found = { band: at, rect };
                least = distance;
            }
        }
    });
    return found;
}

/**
 * Returns the rect to which an arrow key moves: up and down to callees and callers, left and right to the next rect of
 * the row.
 */
export function neighbor(frame: Frame, { band: at, rect }: Place, key: string): Place | null {
    const band = frame.bands[at];
    if (!band) return null;
    const { depth, parent, start, end, func } = band.rects;
    const isToCallee = key === (frame.fromBottom ? 'ArrowUp' : 'ArrowDown');
    if (key === 'ArrowUp' || key === 'ArrowDown') {
        if (!isToCallee) {
            const below = parent[rect] ?? -1;
            return below >= 0 ? { band: at, rect: below } : null;
        }
        let widest = -1;
        const width = (other: number): number => (end[other] ?? 0) - (start[other] ?? 0);
        for (let i = 0; i < depth.length; i++)
            if (parent[i] === rect && func[i] !== -1 && (widest < 0 || width(i) > width(widest))) widest = i;
        return widest >= 0 ? { band: at, rect: widest } : null;
    }
    const step = key === 'ArrowLeft' ? -1 : 1;
    for (let i = rect + step; i >= 0 && i < depth.length; i += step) {
        if (depth[i] !== depth[rect] || func[i] === -1) continue;
        const [left, right] = sidesOf(frame, band, i);
        if (right > frame.left && left < frame.left + frame.width) return { band: at, rect: i };
    }
    return null;
}

/** Returns the scroll position at which the chart shows a row, px. If `fromBottom`, row 0 is the lowest row. */
export function scrollToRow(
    row: number,
    chart: { contentHeight: number; fromBottom: boolean; height: number; scrollTop: number },
): number {
    const { contentHeight, height, scrollTop } = chart;
    const top = chart.fromBottom ? contentHeight - (row + 1) * ROW_HEIGHT : row * ROW_HEIGHT;
    if (top < scrollTop) return top - ROW_HEIGHT;
    return top + ROW_HEIGHT > scrollTop + height ? top + 2 * ROW_HEIGHT - height : scrollTop;
}
