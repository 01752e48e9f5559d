/** Steps from rect to rect of the marker chart. */
import type { MarkerFrame } from './draw_marker_chart';

/**
 * Returns the rect to which an arrow key moves: left and right to the next rect of the row, up and down to the nearest
 * rect of the next row, or -1.
 */
export function neighbor(frame: Pick<MarkerFrame, 'rects' | 'rows' | 'shown'>, from: number, key: string): number {
    const { rects } = frame;
    if (!rects) return -1;
    const count = rects.row.length;
    const isShown = (rect: number): boolean =>
        (rects.end[rect] ?? 0) >= frame.shown[0] && (rects.start[rect] ?? 0) <= frame.shown[1];
    if (from < 0) return rects.row.findIndex((_, rect) => isShown(rect));
    const row = rects.row[from] ?? 0;
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
        const next = from + (key === 'ArrowLeft' ? -1 : 1);
        return next >= 0 && next < count && rects.row[next] === row ? next : -1;
    }
    const step = key === 'ArrowUp' ? -1 : 1;
    const time = ((rects.start[from] ?? 0) + (rects.end[from] ?? 0)) / 2;
    for (let wanted = row + step; wanted >= 0 && wanted < frame.rows.length; wanted += step) {
        let best = -1;
        let least = Number.POSITIVE_INFINITY;
        for (let rect = 0; rect < count; rect++) {
            if (rects.row[rect] !== wanted || !isShown(rect)) continue;
            const distance = Math.max(0, (rects.start[rect] ?? 0) - time, time - (rects.end[rect] ?? 0));
            if (distance < least) {
                best = rect;
                least = distance;
            }
        }
        if (best >= 0) return best;
    }
    return -1;
}
