/** Strips of a thread's markers in the timeline: those that their kind wants to be seen in this one. */
import type { JSX } from 'preact';
import { drawRectStrip } from '../draw/rect_strip';
import { styleColor } from '../draw/canvas';
import { canvasColors } from '../draw/colors';
import type { MarkerRects } from '../engine/markers';
import { stripOf } from '../state/more_tracks';
import { kindOf, type TrackKey, type TrackRow } from '../state/tracks';
import { graphWidth } from '../state/windows';
import { MarkerTooltip } from './marker_parts';
import { StripGraph, type StripSize } from './StripGraph';
import { useSession } from './session_context';
import type { Session } from '../state/session';

/** px */
const MARGIN = 3;
const LEAST_WIDTH = 1.5;
/** px around a rect that still mean it. */
const NEAR = 3;

/** The lane that a rect lies in: the same at every zoom. */
function laneOf(rects: MarkerRects, rect: number, lanes: number): number {
    return (rects.marker[rect] ?? 0) % lanes;
}

function drawMarkers(
    session: Session,
    canvas: HTMLCanvasElement,
    rects: MarkerRects,
    range: [number, number],
    size: StripSize,
    lanes: number,
): void {
    const { info } = session;
    const { categories } = info.value;
    const colors = canvasColors([...categories.keys()], categories);
    const grey = styleColor('category-grey');
    const lane = (size.height - 2 * MARGIN) / lanes;
    const thickness = lanes > 1 ? lane - 1 : lane;
    drawRectStrip(canvas, {
        rects,
        range,
        ...size,
        leastWidth: LEAST_WIDTH,
        look: (rect) => {
            const top = MARGIN + laneOf(rects, rect, lanes) * lane;
            return { color: colors[rects.row[rect] ?? 0] ?? grey, top, bottom: top + thickness };
        },
    });
}

export function MarkerStrip({ row }: { row: TrackRow }): JSX.Element {
    const session = useSession();
    const { engine } = session;
    const { drawnMarkers } = session.hover;
    const { place, lanes } = stripOf(row.kind);
    return (
        <StripGraph
            row={row}
            ask={(thread, range, pixel) => engine.markerStrip(thread, place, range, pixel)}
            drawn={drawnMarkers}
            draw={(canvas, rects, range, size) => drawMarkers(session, canvas, rects, range, size, lanes)}
        />
    );
}

/** The rect at a time, or the nearest within a few pixels; of several the last, which is drawn on top. Those in `lane` go
 * before others. */
function rectAt(session: Session, rects: MarkerRects, time: number, lane: number, lanes: number): number {
    const { committedRange } = session.store;
    const [from, to] = committedRange.value;
    const near = (NEAR * (to - from)) / Math.max(1, graphWidth.value);
    let found = -1;
    let least = near;
    let isInLane = false;
    for (let i = 0; i < rects.row.length; i++) {
        const distance = Math.max(0, (rects.start[i] ?? 0) - time, time - (rects.end[i] ?? 0));
        const isHere = laneOf(rects, i, lanes) === lane;
        if (distance > near || (isInLane && !isHere) || (isInLane === isHere && distance > least)) continue;
        found = i;
        least = distance;
        isInLane = isHere;
    }
    return found;
}

/** The lane at a place of the window. */
function laneAt(track: TrackKey, y: number, lanes: number): number {
    const area = document.querySelector(`[data-track="${track}"] canvas`)?.getBoundingClientRect();
    if (!area) return 0;
    const share = (y - area.top - MARGIN) / Math.max(1, area.height - 2 * MARGIN);
    return Math.max(0, Math.min(lanes - 1, Math.floor(share * lanes)));
}

export function showStripMarker(
    session: Session,
    thread: number,
    time: number,
    x: number,
    y: number,
    track: TrackKey,
): void {
    const { engine } = session;
    const { drawnMarkers, tellOf } = session.hover;
    const rects = drawnMarkers.get(track);
    const { lanes } = stripOf(kindOf(track));
    const rect = rects ? rectAt(session, rects, time, laneAt(track, y, lanes), lanes) : -1;
    tellOf(
        x,
        y,
        rects && rect >= 0
            ? async () => {
                  const marker = await engine.threadMarkerDetails(thread, rects.marker[rect] ?? -1);
                  return { content: <MarkerTooltip marker={marker} count={rects.count[rect] ?? 1} /> };
              }
            : null,
    );
}
