/**
 * The time that is looked at in the timeline: a line through all tracks, and what the track says of that place. The mouse
 * puts it where it is; the keyboard moves it along the track that has the focus, and chooses a range with it.
 */
import { committedRange, engine, inverted, setPreview, view } from '../state/store';
import { selectPath } from '../state/tree';
import { kindOf, type TrackKey, type TrackKind, type TrackRow } from '../state/tracks';
import { graphWidth, hoverTime, tooltip } from '../state/windows';
import { hideCounter, showCounter } from './CounterTrack';
import { hideGraphMarker, showGraphMarker } from './MarkerGraphTrack';
import { hideStripMarker, showStripMarker } from './MarkerTrack';
import { hideSample, showSample } from './SampleTooltip';
import { hideWait, showWait } from './WaitTrack';

type Show = (index: number, time: number, x: number, y: number, track: TrackKey) => void;

/** What is told of a place of a track, by its kind. */
const HOVERS: Partial<Record<TrackKind, Show>> = {
    thread: showSample,
    cpu: showSample,
    markers: showStripMarker,
    network: showStripMarker,
    fileIo: showStripMarker,
    memory: showStripMarker,
    ipc: showStripMarker,
    graph: showGraphMarker,
    counter: showCounter,
    waits: showWait,
};

/** Whether the line was put where it is by the keyboard, which leaves it there until the focus goes elsewhere. */
let isByKeys = false;

export function hideTime(): void {
    isByKeys = false;
    hideSample();
    hideCounter();
    hideStripMarker();
    hideGraphMarker();
    hideWait();
}

/** Puts the line at a time and the tooltip at a place of the window; without a track there is none. */
export function showTime(time: number, track: TrackKey, x: number, y: number): void {
    const show = HOVERS[kindOf(track)];
    isByKeys = false;
    hoverTime.value = time;
    if (show !== showCounter) hideCounter();
    if (show !== showStripMarker) hideStripMarker();
    if (show !== showGraphMarker) hideGraphMarker();
    if (show !== showWait) hideWait();
    if (show) show(Number(track.slice(1)), time, x, y, track);
    else tooltip.value = null;
}

/** Chooses what the tree has for the sample at a time. */
export async function selectSample(thread: number, time: number): Promise<void> {
    const sample = await engine.sampleAt(thread, time);
    if (!sample || sample.path.length === 0) return;
    await selectPath(inverted.value ? sample.path.slice(-1) : sample.path);
}

// ---- by keyboard ----

function showByKeys(row: TrackRow, time: number): void {
    const graph = document.querySelector(`[data-track="${row.key}"] .track-graph`)?.getBoundingClientRect();
    if (!graph) return;
    const [from, to] = committedRange.value;
    showTime(time, row.key, graph.left + ((time - from) / (to - from)) * graph.width, graph.top + graph.height / 2);
    isByKeys = true;
}

/** Moves the line along a track; the first time it begins in the middle. */
export function moveTime(row: TrackRow, pixels: number): void {
    const [from, to] = committedRange.value;
    const last = hoverTime.value;
    const moved = last === null ? (from + to) / 2 : last + (pixels * (to - from)) / Math.max(1, graphWidth.value);
    showByKeys(row, Math.max(from, Math.min(moved, to)));
}

/** The line stays where it is when the keyboard goes to another track, which then says what it has there. */
export function followTime(row: TrackRow): void {
    if (isByKeys && hoverTime.value !== null) showByKeys(row, hoverTime.value);
}

export function leaveTime(next: EventTarget | null): void {
    if (isByKeys && !(next instanceof Element && next.closest('.tracks'))) hideTime();
}

/** The time that the keyboard is at, null for none. */
export function keyTime(): number | null {
    return isByKeys ? hoverTime.value : null;
}

/** Begins (0) or ends (1) the chosen range where the line is; what was chosen before keeps its other side if it can. */
export function chooseSide(side: 0 | 1): void {
    const time = hoverTime.value;
    if (time === null) return;
    const shown = committedRange.value;
    const other = (view.value.preview ?? shown)[1 - side] as number;
    const isKept = side === 0 ? other > time : other < time;
    const end = isKept ? other : (shown[1 - side] as number);
    setPreview(side === 0 ? [time, end] : [end, time]);
}
