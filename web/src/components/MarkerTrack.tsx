/** The strip of a thread's markers in the timeline: those that their kind wants to be seen there. */
import type { JSX } from 'preact';
import { drawBoxStrip } from '../draw/box_strip';
import { styleColor } from '../draw/canvas';
import { canvasColors } from '../draw/colors';
import type { MarkerBoxes } from '../engine/markers';
import { committedRange, engine, info } from '../state/store';
import type { TrackRow } from '../state/tracks';
import { graphWidth, tooltip } from '../state/windows';
import { MarkerTooltip } from './marker_parts';
import { keptStrips, STRIP_GRAPH_HEIGHT, StripGraph } from './StripGraph';

/** px */
const MARGIN = 3;
const LEAST_WIDTH = 1.5;
/** px around a box that still mean it. */
const NEAR = 3;

const strips = keptStrips<MarkerBoxes>();

function drawMarkers(canvas: HTMLCanvasElement, boxes: MarkerBoxes, range: [number, number], width: number): void {
    const { categories } = info.value;
    const colors = canvasColors([...categories.keys()], categories);
    const grey = styleColor('category-grey');
    drawBoxStrip(canvas, {
        boxes,
        range,
        width,
        height: STRIP_GRAPH_HEIGHT,
        leastWidth: LEAST_WIDTH,
        bottom: STRIP_GRAPH_HEIGHT - MARGIN,
        look: (box) => ({ color: colors[boxes.row[box] ?? 0] ?? grey, top: MARGIN }),
    });
}

export function MarkerStrip({ row: { thread } }: { row: TrackRow }): JSX.Element {
    return <StripGraph thread={thread} ask={engine.markerStrip} strips={strips} draw={drawMarkers} />;
}

/** The box at a time, or the nearest within a few pixels; of several the last, which is drawn on top. */
function boxAt(boxes: MarkerBoxes, time: number): number {
    const [from, to] = committedRange.value;
    const near = (NEAR * (to - from)) / Math.max(1, graphWidth.value);
    let found = -1;
    let least = near;
    for (let i = 0; i < boxes.row.length; i++) {
        const distance = Math.max(0, (boxes.start[i] ?? 0) - time, time - (boxes.end[i] ?? 0));
        if (distance > least) continue;
        found = i;
        least = distance;
    }
    return found;
}

let wanted = 0;

export function hideStripMarker(): void {
    wanted++;
}

export function showStripMarker(thread: number, time: number, x: number, y: number): void {
    const mine = ++wanted;
    const boxes = strips.get(thread);
    const box = boxes ? boxAt(boxes, time) : -1;
    if (!boxes || box < 0) {
        tooltip.value = null;
        return;
    }
    const count = boxes.count[box] ?? 1;
    void engine.threadMarkerDetails(thread, boxes.marker[box] ?? -1).then((marker) => {
        if (mine === wanted) tooltip.value = { x, y, content: <MarkerTooltip marker={marker} count={count} /> };
    });
}
