/**
 * The rows of the timeline. Only those near the visible part exist, so that a thousand tracks cost as much as twenty;
 * the keyboard walks them, and dragging a label moves its row.
 */
import type { JSX, RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { siblingsOf } from '../state/track_choice';
import { type TrackKey, type TrackRow, trackKey } from '../state/tracks';
import { openMenu } from '../state/windows';
import { Track } from './Track';
import { useSession } from './session_context';
import type { Session } from '../state/session';

/** px */
const HEAD_HEIGHT = 28;
const OVERSCAN = 200;
const DRAG_THRESHOLD = 4;

/** The first row that ends below a place. */
function rowAt(session: Session, y: number): number {
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

/** Scrolls so that a row is on the screen. */
function revealTrack(session: Session, key: TrackKey): void {
    const { tracks } = session.store;
    const { offsets } = session.trackList;
    const element = scroller();
    const at = tracks.value.rows.findIndex((row) => row.key === key);
    if (!element || at < 0) return;
    const top = offsets.value[at] ?? 0;
    const bottom = offsets.value[at + 1] ?? top;
    const room = element.clientHeight - HEAD_HEIGHT;
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

/** The sibling whose place is under the mouse. */
function siblingAt(session: Session, row: TrackRow, y: number): TrackRow | undefined {
    const { tracks } = session.store;
    const { rows } = tracks.value;
    const siblings = siblingsOf(rows, row);
    const at = rowAt(session, y);
    // A process reaches down to the next one: the last sibling that begins at or before the place.
    const before = siblings.filter((one) => rows.indexOf(one) <= at);
    return before[before.length - 1] ?? siblings[0];
}

/** Moves a row with the mouse: `row` is followed from a press on its label until it is let go. */
export function dragTrack(session: Session, event: PointerEvent, row: TrackRow): void {
    const { tracks } = session.store;
    const { moveTo } = session.trackActions;
    const { dragged } = session.trackList;
    const element = scroller();
    const list = element?.querySelector<HTMLElement>('.tracks');
    if (event.button !== 0 || !element || !list || siblingsOf(tracks.value.rows, row).length < 2) return;
    const label = event.currentTarget as HTMLElement;
    const startY = event.clientY;
    const order = tracks.value.rows.map((one) => one.key);
    const onMove = (move: PointerEvent): void => {
        if (!dragged.value && Math.abs(move.clientY - startY) < DRAG_THRESHOLD) return;
        label.setPointerCapture(event.pointerId);
        const target = siblingAt(session, row, move.clientY - list.getBoundingClientRect().top);
        if (target)
            dragged.value = {
                key: row.key,
                target: target.key,
                isBelow: order.indexOf(target.key) > order.indexOf(row.key),
            };
    };
    const end = (): void => {
        label.removeEventListener('pointermove', onMove);
        label.removeEventListener('pointerup', onUp);
        label.removeEventListener('pointercancel', end);
        window.removeEventListener('keydown', onKey, true);
        dragged.value = null;
    };
    const onUp = (): void => {
        const drag = dragged.value;
        end();
        if (!drag) return;
        // The click that follows is the end of the drag, not a choice of the thread.
        window.addEventListener('click', (click) => click.stopPropagation(), { capture: true, once: true });
        moveTo(row, drag.target);
    };
    const onKey = (key: KeyboardEvent): void => {
        if (key.key !== 'Escape') return;
        key.stopPropagation();
        end();
    };
    label.addEventListener('pointermove', onMove);
    label.addEventListener('pointerup', onUp);
    label.addEventListener('pointercancel', end);
    window.addEventListener('keydown', onKey, true);
}

/** The line where a dragged row would go: above the target, or below all that the target stands for. */
function DropLine(): JSX.Element | null {
    const session = useSession();
    const { tracks } = session.store;
    const { dragged, offsets } = session.trackList;
    const drag = dragged.value;
    if (!drag) return null;
    const { rows } = tracks.value;
    let at = rows.findIndex((row) => row.key === drag.target);
    const target = rows[at];
    if (!target) return null;
    if (drag.isBelow) {
        at++;
        if (target.level === 0) while (rows[at] && rows[at]?.level !== 0) at++;
        else while (rows[at]?.below === target.key) at++;
    }
    return <div class="drop-line" style={{ top: `${offsets.value[at] ?? 0}px` }} />;
}

function onContextMenu(session: Session, event: MouseEvent): void {
    const { endHover } = session.hover;
    const { tracks } = session.store;
    const { rowMenu } = session.trackActions;
    const track = (event.target as Element).closest<HTMLElement>('[data-track]');
    const row = tracks.value.rows.find((one) => one.key === track?.dataset.track);
    const label = track?.querySelector<HTMLElement>('.track-label');
    if (!row || !label) return;
    event.preventDefault();
    endHover();
    // From the keyboard there is no place of the mouse: the menu opens at the row.
    const frame = label.getBoundingClientRect();
    const place = event.button === 2 ? { x: event.clientX, y: event.clientY } : { x: frame.left + 24, y: frame.bottom };
    openMenu(place, rowMenu(row), label);
}

/** What is visible of the scrolling timeline: from, to, in pixels of the list. */
function useVisible(root: RefObject<HTMLElement | null>): [number, number] {
    const [range, setRange] = useState<[number, number]>([0, 0]);
    useLayoutEffect(() => {
        const target = root.current;
        if (!target) return;
        const measure = (): void => setRange([target.scrollTop, target.scrollTop + target.clientHeight]);
        measure();
        const observer = new ResizeObserver(measure);
        observer.observe(target);
        target.addEventListener('scroll', measure, { passive: true });
        return () => {
            observer.disconnect();
            target.removeEventListener('scroll', measure);
        };
    }, [root]);
    return range;
}

export function TrackList({ root }: { root: RefObject<HTMLElement | null> }): JSX.Element {
    const session = useSession();
    const { selectedThreads, tracks } = session.store;
    const { dragged, focusedRow, offsets } = session.trackList;
    const [from, to] = useVisible(root);
    const { rows } = tracks.value;
    const tops = offsets.value;
    const chosen = selectedThreads.value[selectedThreads.value.length - 1] ?? -1;
    useLayoutEffect(() => {
        if (chosen >= 0) revealTrack(session, trackKey('thread', chosen));
    }, [chosen]);
    const height = tops[rows.length] ?? 0;
    const first = rowAt(session, from - OVERSCAN);
    const last = Math.min(rows.length - 1, rowAt(session, to + OVERSCAN));
    const visible = rows.slice(first, last + 1).map((_, i) => first + i);
    // The focus is not lost by scrolling away from its row.
    const focused = rows.findIndex((row) => row.key === focusedRow.value);
    if (focused >= 0 && (focused < first || focused > last)) visible.push(focused);
    return (
        <div
            class="tracks"
            role="listbox"
            aria-multiselectable="true"
            aria-label="Tracks"
            style={{ height: `${height}px` }}
            onContextMenu={(event) => onContextMenu(session, event)}
        >
            {visible.map((at) => {
                const row = rows[at];
                return row ? (
                    <Track
                        key={row.key}
                        row={row}
                        at={at}
                        count={rows.length}
                        top={tops[at] ?? 0}
                        isDragged={dragged.value?.key === row.key}
                        onFocus={() => {
                            focusedRow.value = row.key;
                        }}
                    />
                ) : null;
            })}
            <DropLine />
        </div>
    );
}
