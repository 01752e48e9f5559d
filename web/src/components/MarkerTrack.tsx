/** The strip of a thread's markers in the timeline: those that their kind wants to be seen there. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { pixelRatio } from '../draw/boxes';
import { canvasColors } from '../draw/colors';
import type { MarkerBoxes } from '../engine/markers';
import { STRIP_HEIGHT } from '../state/more_tracks';
import { committedRange, engine, info, onOtherProfile } from '../state/store';
import { theme } from '../state/theme';
import type { TrackRow } from '../state/tracks';
import { graphWidth, tooltip } from '../state/windows';
import { LifeShade } from './LifeShade';
import { MarkerTooltip } from './marker_parts';
import { useNewest, useSeen } from './use';

const HEIGHT = STRIP_HEIGHT - 1;
const MARGIN = 3;
const LEAST_WIDTH = 1.5;
/** px around a box that still mean it. */
const NEAR = 3;
const MOST_STRIPS = 200;

/** What is drawn in each track, for the mouse. */
const strips = new Map<number, MarkerBoxes>();

onOtherProfile(() => strips.clear());

function drawStrip(canvas: HTMLCanvasElement, boxes: MarkerBoxes, range: [number, number], width: number): void {
    const context = canvas.getContext('2d');
    if (!context) return;
    const ratio = pixelRatio();
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(HEIGHT * ratio));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const { categories } = info.value;
    const colors = canvasColors([...categories.keys()], categories);
    const grey = getComputedStyle(document.documentElement).getPropertyValue('--category-grey').trim();
    const scale = width / (range[1] - range[0]);
    for (let i = 0; i < boxes.row.length; i++) {
        const start = boxes.start[i] ?? 0;
        const end = boxes.end[i] ?? 0;
        // What reaches far out of the picture is cut at its edges.
        const x = Math.max(-LEAST_WIDTH, (start - range[0]) * scale);
        const right = Math.min(width, (end - range[0]) * scale);
        context.fillStyle = colors[boxes.row[i] ?? 0] ?? grey;
        context.fillRect(x, MARGIN, Math.max(LEAST_WIDTH, right - x), HEIGHT - 2 * MARGIN);
    }
}

export function MarkerStrip({ row: { thread } }: { row: TrackRow }): JSX.Element {
    const canvas = useRef<HTMLCanvasElement>(null);
    const isSeen = useSeen(canvas);
    const [boxes, setBoxes] = useState<MarkerBoxes | null>(null);
    const [from, to] = committedRange.value;
    const width = graphWidth.value;
    const colors = theme.value;
    useNewest(
        isSeen && width > 0 ? () => engine.markerStrip(thread, [from, to], (to - from) / (width * pixelRatio())) : null,
        (answer) => {
            strips.set(thread, answer);
            const [oldest] = strips.keys();
            if (strips.size > MOST_STRIPS && oldest !== undefined) strips.delete(oldest);
            setBoxes(answer);
        },
        [thread, isSeen, from, to, width],
    );
    useEffect(() => {
        if (!canvas.current || !boxes) return;
        canvas.current.dataset.theme = colors;
        drawStrip(canvas.current, boxes, [from, to], width);
    }, [boxes, width, colors]);
    return (
        <div class="track-graph">
            <LifeShade thread={thread} />
            <canvas ref={canvas} class="track-canvas" style={{ height: `${HEIGHT}px` }} />
        </div>
    );
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
