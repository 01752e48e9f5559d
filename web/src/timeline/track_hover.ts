/**
 * The time cursor of the timeline: a line through all tracks, and the tooltip of the track at that time. It follows the
 * mouse; the keyboard moves it along the focused track, and selects a range.
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

/** Puts the line at a time and the tooltip at a place of the window; without a track there is none. */
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

/** Chooses what the tree has for the sample at a time, or for the wait at a place of a lane. */
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

/** Selects the thread that a track of several threads has at a time, and its sample. */
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

/** Moves the line along a track; the first time it begins in the middle. */
export function moveTime(session: Session, row: TrackRow, pixels: number): void {
    const { hoverTime } = session.hover;
    const { committedRange } = session.store;
    const [from, to] = committedRange.value;
    const last = hoverTime.value;
    const moved = last === null ? (from + to) / 2 : last + (pixels * (to - from)) / Math.max(1, graphWidth.value);
    showByKeys(session, row, Math.max(from, Math.min(moved, to)));
}

/** The line stays where it is when the keyboard goes to another track, which then says what it has there. */
export function followTime(session: Session, row: TrackRow): void {
    const { heldByKeys, hoverTime } = session.hover;
    if (heldByKeys.value && hoverTime.value !== null) showByKeys(session, row, hoverTime.value);
}

export function leaveTime(session: Session, next: EventTarget | null): void {
    const { heldByKeys } = session.hover;
    if (heldByKeys.value && !(next instanceof Element && next.closest('.tracks'))) hideTime(session);
}

/** The time that the keyboard is at, null for none. */
export function keyTime(session: Session): number | null {
    const { heldByKeys, hoverTime } = session.hover;
    return heldByKeys.value ? hoverTime.value : null;
}

/** Begins (0) or ends (1) the chosen range where the line is; what was chosen before keeps its other side if it can. */
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
