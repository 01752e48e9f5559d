/**
 * The rows of the timeline. Renders only rows near the visible part, so that a thousand tracks cost as much as twenty.
 * The keyboard moves between all rows, and dragging a label moves its row.
 */
import type { JSX, RefObject } from 'preact';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { Session } from '../app/session';
import { useSession } from '../session/context';
import { MOST_SHOWN_AT_FIRST, type TrackRow } from '../view/tracks';
import { openMenu } from '../window/windows';
import { Track } from './Track';
import { revealTrack, rowAt } from './track_rows';

/** The distance from the visible part within which rows are rendered, px. */
const OVERSCAN = 200;

/** The line at the target of a dragged row: above the target row, or below all rows of the target. */
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
    const row = tracks.value.rows.find((shown) => shown.key === track?.dataset.track);
    const label = track?.querySelector<HTMLElement>('.track-label');
    if (!row || !label) return;
    event.preventDefault();
    endHover();
    // A menu that a key opened has no mouse position, and opens at the row.
    const frame = label.getBoundingClientRect();
    const place = event.button === 2 ? { x: event.clientX, y: event.clientY } : { x: frame.left + 24, y: frame.bottom };
    openMenu(place, rowMenu(row), label);
}

/** Returns the visible part of the timeline: from, to, in px of the list. */
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

/** Returns the position of each row among the rows of its level with the same parent, and the number of these rows. */
function placesOf(rows: readonly TrackRow[]): { at: number; count: number }[] {
    const open: { at: number; count: number }[][] = [];
    return rows.map((row) => {
        open.length = Math.min(open.length, row.level + 1);
        while (open.length <= row.level) open.push([]);
        const siblings = open[row.level] as { at: number; count: number }[];
        const place = { at: siblings.length, count: 0 };
        siblings.push(place);
        for (const sibling of siblings) sibling.count = siblings.length;
        return place;
    });
}

/** Returns the row that Tab focuses: the row of the selected thread, or of its group. */
function tabStopOf(rows: readonly TrackRow[], chosen: number): TrackRow | undefined {
    const isThread = (row: TrackRow): boolean => row.kind === 'thread' || row.kind === 'cpu';
    return (
        rows.find((row) => isThread(row) && row.thread === chosen) ??
        rows.find((row) => row.kind === 'group' && row.members.includes(chosen)) ??
        rows[0]
    );
}

export function TrackList({ root }: { root: RefObject<HTMLElement | null> }): JSX.Element {
    const session = useSession();
    const { isAllSelected, selectedThreads, tracks } = session.store;
    const { dragged, focusedRow, offsets } = session.trackList;
    const [from, to] = useVisible(root);
    const { rows } = tracks.value;
    const tops = offsets.value;
    const all = selectedThreads.value;
    // Of all threads, none is the thread that the user looks for.
    const chosen = isAllSelected.value || all.length > MOST_SHOWN_AT_FIRST ? -1 : (all[all.length - 1] ?? -1);
    useLayoutEffect(() => {
        const row = rows.find((shown) => shown.thread === chosen);
        if (chosen >= 0 && row) revealTrack(session, row.key);
    }, [chosen]);
    const places = useMemo(() => placesOf(rows), [rows]);
    const tabStop = tabStopOf(rows, all[0] ?? -1);
    const height = tops[rows.length] ?? 0;
    const first = rowAt(session, from - OVERSCAN);
    const last = Math.min(rows.length - 1, rowAt(session, to + OVERSCAN));
    const visible = rows.slice(first, last + 1).map((_, i) => first + i);
    // The focused row stays rendered while the user scrolls away.
    const focused = rows.findIndex((row) => row.key === focusedRow.value);
    if (focused >= 0 && (focused < first || focused > last)) visible.push(focused);
    return (
        <div
            class="tracks"
            role="tree"
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
                        at={places[at]?.at ?? 0}
                        count={places[at]?.count ?? 1}
                        top={tops[at] ?? 0}
                        isTabStop={row === tabStop}
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
