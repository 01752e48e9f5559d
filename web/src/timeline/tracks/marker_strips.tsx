/** Strips of a thread's markers in the timeline, for the kinds of markers whose schema requests a strip. */
import type { JSX } from 'preact';
import type { Session } from '../../app/session';
import { styleColor } from '../../base/canvas';
import { canvasColors } from '../../base/colors';
import { MARKER_PLACES, type MarkerPlace, type MarkerRects } from '../../engine/markers';
import { MarkerTooltip } from '../../markers/marker_parts';
import { useSession } from '../../session/context';
import type { TrackKey, TrackRow } from '../../view/tracks';
import { graphWidth } from '../../window/windows';
import { drawRectStrip } from '../draw_rect_strip';
import { StripGraph, type StripSize } from '../StripGraph';
import type { TrackKind } from './kind';

/** The height in px, including the line below. */
const STRIP_HEIGHT = 13;
const LANES_HEIGHT = 37;
/** The margin above and below, px. */
const MARGIN = 3;
/** The opacity of colors as two hexadecimal digits, so that the strip does not outshine the graphs above. */
const TINT = 'a6';
const LEAST_WIDTH = 1.5;
/** The distance from a rect within which the mouse finds the rect, px. */
const NEAR = 3;

interface Strip {
    place: MarkerPlace;
    /** The number of lanes, so that simultaneous markers are above one another. */
    lanes: number;
}

/** Returns the lane of a rect, which is the same at every zoom. */
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
            return { color: `${colors[rects.row[rect] ?? 0] ?? grey}${TINT}`, top, bottom: top + thickness };
        },
    });
}

function MarkerStrip({ row, place, lanes }: { row: TrackRow } & Strip): JSX.Element {
    const session = useSession();
    const { engine } = session;
    const { drawnMarkers } = session.hover;
    return (
        <StripGraph
            row={row}
            ask={(thread, range, pixel) => engine.markerStrip(thread, place, range, pixel)}
            drawn={drawnMarkers}
            draw={(canvas, rects, range, size) => drawMarkers(session, canvas, rects, range, size, lanes)}
        />
    );
}

/**
 * Returns the rect at a time, or the nearest rect within a few pixels, preferably in `lane`. Among several rects,
 * returns the last, which is on top.
 */
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

/** Returns the lane at a height of the window. */
function laneAt(track: TrackKey, y: number, lanes: number): number {
    const area = document.querySelector(`[data-track="${track}"] canvas`)?.getBoundingClientRect();
    if (!area) return 0;
    const share = (y - area.top - MARGIN) / Math.max(1, area.height - 2 * MARGIN);
    return Math.max(0, Math.min(lanes - 1, Math.floor(share * lanes)));
}

function showMarkerTooltip(
    session: Session,
    { key, thread }: TrackRow,
    lanes: number,
    time: number,
    x: number,
    y: number,
): void {
    const { engine } = session;
    const { drawnMarkers, tellOf } = session.hover;
    const rects = drawnMarkers.get(key);
    const rect = rects ? rectAt(session, rects, time, laneAt(key, y, lanes), lanes) : -1;
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

interface StripText {
    id: string;
    letter: string;
    name: string;
    title: string;
    isQuiet?: boolean;
}

/** Makes the kind of tracks for a strip, which is right below the thread. */
function stripKind({ id, letter, name, title, isQuiet = false }: StripText, strip: Strip): TrackKind {
    return {
        id,
        name,
        seeds: (info, threads) => {
            const places = new Map(info.threads.map((thread) => [thread.index, thread.markerPlaces]));
            return threads
                .filter((seed) => ((places.get(seed.thread) ?? 0) & MARKER_PLACES[strip.place]) !== 0)
                .map((seed) => ({
                    ...seed,
                    key: `${letter}${seed.index}`,
                    kind: id,
                    below: seed.key,
                    title,
                    detail: '',
                    words: `markers\n${seed.title}\n${seed.words}`,
                    members: [],
                    isLead: false,
                    activity: 0,
                    isQuiet: seed.isQuiet || isQuiet,
                    height: strip.lanes > 1 ? LANES_HEIGHT : STRIP_HEIGHT,
                }));
        },
        Graph: ({ row }) => <MarkerStrip row={row} {...strip} />,
        showTooltip: (session, row, ...place) => showMarkerTooltip(session, row, strip.lanes, ...place),
    };
}

/** The strips from top to bottom. */
export const MARKER_STRIPS: readonly TrackKind[] = [
    stripKind({ id: 'markers', letter: 'm', name: 'marker', title: 'Markers' }, { place: 'overview', lanes: 1 }),
    stripKind({ id: 'network', letter: 'n', name: 'network', title: 'Network' }, { place: 'network', lanes: 7 }),
    stripKind({ id: 'fileIo', letter: 'f', name: 'file I/O', title: 'File I/O' }, { place: 'fileIo', lanes: 1 }),
    stripKind(
        { id: 'memory', letter: 'y', name: 'memory events', title: 'Memory events' },
        { place: 'memory', lanes: 1 },
    ),
    stripKind({ id: 'ipc', letter: 'i', name: 'IPC', title: 'IPC', isQuiet: true }, { place: 'ipc', lanes: 1 }),
];
