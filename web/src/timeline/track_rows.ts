/** The rows of the list of tracks: finding the row at a position, moving the focus to a row, and dragging a row. */
import type { Session } from '../app/session';
import { startDrag } from '../base/drag';
import { siblingsOf } from '../view/track_choice';
import type { TrackKey, TrackRow } from '../view/tracks';

/** The height of the head, px. */
const HEAD_HEIGHT = 28;
const DRAG_THRESHOLD = 4;

/** Returns the first row that ends below a position. */
export function rowAt(session: Session, y: number): number {
    const { offsets } = session.trackList;
    const tops = offsets.value;
    let low = 0;
    let high = Math.max(0, tops.length - 2);
    while (low < high) {
        const middle = (low + high) >> 1;
        if ((tops[middle + 1] ?? 0) > y) high = middle;
        else low = middle + 1;
    }
    return low;
}

function scroller(): HTMLElement | null {
    return document.querySelector<HTMLElement>('.timeline');
}

/** Scrolls until a row is visible. */
export function revealTrack(session: Session, key: TrackKey): void {
    const { tracks } = session.store;
    const { offsets } = session.trackList;
    const element = scroller();
    const at = tracks.value.rows.findIndex((row) => row.key === key);
    if (!element || at < 0) return;
    const top = offsets.value[at] ?? 0;
    const bottom = offsets.value[at + 1] ?? top;
    const legend = element.querySelector<HTMLElement>('.state-legend')?.offsetHeight ?? 0;
    const room = element.clientHeight - HEAD_HEIGHT - legend;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (bottom > element.scrollTop + room) element.scrollTop = bottom - room;
}

/** Moves the focus to a row, which may not exist yet. */
export function focusTrack(session: Session, key: TrackKey): void {
    const { focusedRow } = session.trackList;
    focusedRow.value = key;
    revealTrack(session, key);
    requestAnimationFrame(() =>
        document.querySelector<HTMLElement>(`[data-track="${key}"] .track-label`)?.focus({ preventScroll: true }),
    );
}

export function focusNeighbor(session: Session, key: TrackKey, step: number): void {
    const { tracks } = session.store;
    const { rows } = tracks.value;
    const at = rows.findIndex((row) => row.key === key);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + step))];
    if (next) focusTrack(session, next.key);
}

/** Returns the sibling at the position of the mouse. */
function siblingAt(session: Session, row: TrackRow, y: number): TrackRow | undefined {
    const { tracks } = session.store;
    const { rows } = tracks.value;
    const siblings = siblingsOf(rows, row);
    const at = rowAt(session, y);
    // A process extends to the next process, so the target is the last sibling that begins at or above the position.
    const before = siblings.filter((sibling) => rows.indexOf(sibling) <= at);
    return before[before.length - 1] ?? siblings[0];
}

/** Drags a row from a press on its label until the user releases the mouse. */
export function dragTrack(session: Session, event: PointerEvent, row: TrackRow): void {
    const { tracks } = session.store;
    const { moveTo } = session.trackActions;
    const { dragged } = session.trackList;
    const element = scroller();
    const list = element?.querySelector<HTMLElement>('.tracks');
    if (event.button !== 0 || !element || !list || siblingsOf(tracks.value.rows, row).length < 2) return;
    const order = tracks.value.rows.map((shown) => shown.key);
    startDrag(event, {
        threshold: DRAG_THRESHOLD,
        along: 'y',
        onMove(move) {
            const target = siblingAt(session, row, move.clientY - list.getBoundingClientRect().top);
            if (target)
                dragged.value = {
                    key: row.key,
                    target: target.key,
                    isBelow: order.indexOf(target.key) > order.indexOf(row.key),
                };
        },
        onDrop() {
            const drag = dragged.value;
            dragged.value = null;
            if (!drag) return;
            // The click event after a drag must not select the thread.
            const swallow = (click: Event): void => click.stopPropagation();
            window.addEventListener('click', swallow, { capture: true, once: true });
            setTimeout(() => window.removeEventListener('click', swallow, { capture: true }));
            moveTo(row, drag.target);
        },
        onCancel() {
            dragged.value = null;
        },
    });
}
