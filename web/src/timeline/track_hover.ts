/**
 * The time cursor of the timeline: a line through all tracks, and the tooltip of one track at that time. The cursor
 * follows the mouse. The keyboard moves it along the focused track, and selects a range.
 */

import type { Session } from '../app/session';
import type { ChooseMode } from '../view/thread_choice';
import type { TrackKey, TrackRow } from '../view/tracks';
import { graphWidth } from '../window/windows';
import { type LanePlace, timeInLane } from './state_hover';
import { trackKind } from './tracks/kinds';

export function hideTime(session: Session): void {
    const { endHover, heldByKeys } = session.hover;
    heldByKeys.value = false;
    endHover();
}

/** Moves the line to a time, and the tooltip to a position of the window. Without a track, there is no tooltip. */
export function showTime(session: Session, time: number, track: TrackKey, x: number, y: number): void {
    const { heldByKeys, hoverTime, hoveredCounter, tellOf } = session.hover;
    const row = session.store.tracks.value.rows.find((shown) => shown.key === track);
    const { showTooltip } = trackKind(row?.kind ?? '');
    heldByKeys.value = false;
    hoverTime.value = time;
    if (row?.kind !== 'counter') hoveredCounter.value = null;
    if (row && showTooltip) showTooltip(session, row, time, x, y);
    else tellOf(x, y, null);
}

/** Selects the call node of the sample at a time, or of the wait at a position of a lane. */
export async function selectSample(
    session: Session,
    thread: number,
    hovered: number,
    place: LanePlace | null = null,
): Promise<void> {
    const { engine } = session;
    const time = place ? await timeInLane(session, thread, hovered, place) : hovered;
    const { inverted } = session.store;
    const { selectPath } = session.tree;
    const sample = await engine.sampleAt(thread, time, session.tree.query.peek());
    if (!sample || sample.path.length === 0) return;
    await selectPath(inverted.value ? sample.path.slice(-1) : sample.path);
}

/** In a track of several threads, selects the thread at a time, and its sample. */
export async function selectInTrack(session: Session, row: TrackRow, time: number, mode: ChooseMode): Promise<void> {
    const thread = (await trackKind(row.kind).threadAt?.(session, row, time)) ?? -1;
    if (thread < 0) return;
    session.store.chooseThread(thread, mode);
    if (mode === 'only') await selectSample(session, thread, time);
}

// ---- by keyboard ----

function showByKeys(session: Session, row: TrackRow, time: number): void {
    const { heldByKeys } = session.hover;
    const { committedRange } = session.store;
    const graph = document.querySelector(`[data-track="${row.key}"] .track-graph`)?.getBoundingClientRect();
    if (!graph) return;
    const [from, to] = committedRange.value;
    showTime(
        session,
        time,
        row.key,
        graph.left + ((time - from) / (to - from)) * graph.width,
        graph.top + graph.height / 2,
    );
    heldByKeys.value = true;
}

/** Moves the line along a track. The first move starts in the middle. */
export function moveTime(session: Session, row: TrackRow, pixels: number): void {
    const { hoverTime } = session.hover;
    const { committedRange } = session.store;
    const [from, to] = committedRange.value;
    const last = hoverTime.value;
    const moved = last === null ? (from + to) / 2 : last + (pixels * (to - from)) / Math.max(1, graphWidth.value);
    showByKeys(session, row, Math.max(from, Math.min(moved, to)));
}

/** Keeps the line's time when the keyboard goes to another track, and shows the tooltip of that track. */
export function followTime(session: Session, row: TrackRow): void {
    const { heldByKeys, hoverTime } = session.hover;
    if (heldByKeys.value && hoverTime.value !== null) showByKeys(session, row, hoverTime.value);
}

export function leaveTime(session: Session, next: EventTarget | null): void {
    const { heldByKeys } = session.hover;
    if (heldByKeys.value && !(next instanceof Element && next.closest('.tracks'))) hideTime(session);
}

/** Returns the time of the keyboard's cursor, or null. */
export function keyTime(session: Session): number | null {
    const { heldByKeys, hoverTime } = session.hover;
    return heldByKeys.value ? hoverTime.value : null;
}

/** Moves the start (0) or the end (1) of the selected range to the line, and keeps the other side if possible. */
export function chooseSide(session: Session, side: 0 | 1): void {
    const { hoverTime } = session.hover;
    const { committedRange, setPreview, view } = session.store;
    const time = hoverTime.value;
    if (time === null) return;
    const shown = committedRange.value;
    const other = (view.value.preview ?? shown)[1 - side] as number;
    const isKept = side === 0 ? other > time : other < time;
    const end = isKept ? other : (shown[1 - side] as number);
    setPreview(side === 0 ? [time, end] : [end, time]);
}
