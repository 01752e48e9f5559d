/**
 * One row of the timeline: the label, with its keys and menu, and the drawing of its kind of track (timeline/tracks).
 */
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { formatShare } from '../base/format';
import { plainText } from '../base/plain';
import { useSession } from '../session/context';
import { ChevronIcon, CloseIcon } from '../ui/icons';
import { lifeText } from '../ui/LifeShade';
import { ProfileText } from '../ui/text';
import type { ChooseMode } from '../view/thread_choice';
import type { TrackRow } from '../view/tracks';
import { act, isTrackListOpen } from '../window/windows';
import {
    chooseSide,
    followTime,
    hideTime,
    keyTime,
    leaveTime,
    moveTime,
    selectInTrack,
    selectSample,
} from './track_hover';
import { dragTrack, focusNeighbor, focusTrack } from './track_rows';
import { trackKind } from './tracks/kinds';

const LABEL_LIMIT = 200;
/** The distances in px that ← and → move the time cursor, without and with Shift. */
const NEAR = 2;
const FAR = 20;

function modeOf(event: MouseEvent | KeyboardEvent): ChooseMode {
    if (event.ctrlKey || event.metaKey) return 'toggle';
    return event.shiftKey ? 'extend' : 'only';
}

export function chooseRow(session: Session, row: TrackRow, mode: ChooseMode): void {
    const { chooseThread } = session.store;
    const { chooseMembers, chooseProcess } = session.trackActions;
    if (row.thread >= 0) chooseThread(row.thread, mode);
    else if (row.kind === 'process') chooseProcess(row);
    else if (row.members.length > 0) chooseMembers(row);
}

/** → opens a group and ← closes it, as in a tree, unless a time cursor is shown, which the keys move then. */
function turnsGroup(session: Session, event: KeyboardEvent, row: TrackRow): boolean {
    if (row.isOpen === null || event.ctrlKey || event.shiftKey || keyTime(session) !== null) return false;
    return event.key === (row.isOpen ? 'ArrowLeft' : 'ArrowRight');
}

function onTrackKey(session: Session, event: KeyboardEvent, row: TrackRow): void {
    const { tracks } = session.store;
    const { doRowKey } = session.trackActions;
    const { rows } = tracks.value;
    if (doRowKey(event, row)) {
        // If the row disappears, the row in its place takes the focus.
        const at = rows.findIndex((other) => other.key === row.key);
        const left = tracks.value.rows;
        const next = left.find((other) => other.key === row.key) ?? left[Math.min(at, left.length - 1)];
        if (next && !isTrackListOpen.value) focusTrack(session, next.key);
    } else if (event.altKey || event.metaKey) return;
    else if (event.key === 'ArrowDown' && !event.ctrlKey) focusNeighbor(session, row.key, 1);
    else if (event.key === 'ArrowUp' && !event.ctrlKey) focusNeighbor(session, row.key, -1);
    else if (event.key === 'Home') focusNeighbor(session, row.key, -rows.length);
    else if (event.key === 'End') focusNeighbor(session, row.key, rows.length);
    else if (turnsGroup(session, event, row)) session.trackActions.turnGroup(row);
    else if (event.key === 'ArrowLeft' && !event.ctrlKey) moveTime(session, row, event.shiftKey ? -FAR : -NEAR);
    else if (event.key === 'ArrowRight' && !event.ctrlKey) moveTime(session, row, event.shiftKey ? FAR : NEAR);
    else if ((event.key === '[' || event.key === ']') && keyTime(session) !== null)
        chooseSide(session, event.key === '[' ? 0 : 1);
    else if (event.key === ' ' || event.key === 'Enter') {
        const time = keyTime(session);
        chooseRow(session, row, modeOf(event));
        if (time !== null) act(selectInTrack(session, row, time, modeOf(event)));
        if (time !== null && row.thread >= 0 && modeOf(event) === 'only') act(selectSample(session, row.thread, time));
    } else if (event.key === 'Escape' && keyTime(session) !== null) hideTime(session);
    else return;
    event.preventDefault();
    event.stopPropagation();
}

/** Returns the text of the time beside a track of this number of threads. */
export function busyText(session: Session, threadCount: number, time: number): string {
    if (threadCount === 0) return '';
    return time > 0 ? session.axisText.lengthText(time) : 'idle';
}

interface TrackProps {
    row: TrackRow;
    /** The position of the row among `count` rows, and in pixels. */
    at: number;
    count: number;
    top: number;
    isTabStop: boolean;
    isDragged: boolean;
    onFocus: () => void;
}

export function Track({ row, at, count, top, isTabStop, isDragged, onFocus }: TrackProps): JSX.Element {
    const session = useSession();
    const { isAllSelected, selectedThreads, tracks } = session.store;
    const { hideRow, showProcess } = session.trackActions;
    const chosen = selectedThreads.value;
    const isHeading = row.kind === 'process';
    const isSelected = isHeading
        ? isProcessChosen(session, row, chosen)
        : row.thread >= 0
          ? chosen.includes(row.thread)
          : areAllChosen(row.members, chosen);
    const { Graph } = trackKind(row.kind);
    const time = session.trackTimes.timeOf(row.members);
    const busy = busyText(session, row.members.length, time);
    const title = [
        plainText(row.title, 1000),
        plainText(row.detail, 1000),
        time === 0
            ? busy
            : `${session.axisText.unit.value === 'ms' ? 'busy for ' : ''}${busy}: ${formatShare(time, session.trackTimes.length.value)} of the range`,
        row.kind === 'thread' ? lifeText(session, row.thread) : '',
    ]
        .filter((line) => line !== '')
        .join('\n');
    const classes = ['track', `level-${row.level}`, `of-${row.kind}`];
    if (isHeading) classes.push('heading');
    if (isSelected && !isAllSelected.value) classes.push('selected');
    if (isDragged) classes.push('dragged');
    return (
        <div
            class={classes.join(' ')}
            role="presentation"
            data-track={row.key}
            {...(row.thread >= 0 ? { 'data-thread': row.thread } : {})}
            style={{ top: `${top}px`, height: `${row.height}px` }}
        >
            <div
                class="track-label"
                role="treeitem"
                aria-selected={isSelected}
                aria-level={row.level + 1}
                {...(row.isOpen === null ? {} : { 'aria-expanded': row.isOpen })}
                aria-posinset={at + 1}
                aria-setsize={count}
                tabIndex={isTabStop ? 0 : -1}
                title={title}
                onClick={(event) => chooseRow(session, row, modeOf(event))}
                onDblClick={() => {
                    if (row.level === 0) showProcess(row);
                    else if (row.isOpen !== null) session.trackActions.turnGroup(row);
                }}
                onPointerDown={(event) => dragTrack(session, event, row)}
                onKeyDown={(event) => onTrackKey(session, event, row)}
                onFocus={() => {
                    onFocus();
                    followTime(session, row);
                }}
                onBlur={(event) => leaveTime(session, event.relatedTarget)}
            >
                <span class="track-name">
                    {row.isOpen !== null && (
                        <span
                            class={row.isOpen ? 'twisty open' : 'twisty'}
                            aria-hidden="true"
                            onClick={(event) => {
                                event.stopPropagation();
                                session.trackActions.turnGroup(row);
                            }}
                        >
                            <ChevronIcon />
                        </span>
                    )}
                    <ProfileText text={row.title} limit={LABEL_LIMIT} />
                </span>
                <span class="track-busy">{busy}</span>
                {row.detail !== '' && (
                    <span class="track-detail">
                        <ProfileText text={row.detail} limit={LABEL_LIMIT} />
                    </span>
                )}
            </div>
            {Graph ? <Graph row={row} /> : <div class="track-graph" />}
            {tracks.value.count > 1 && (
                <button
                    type="button"
                    class="button quiet square small track-hide"
                    // Hidden from screen readers, because the options of a list cannot have buttons. Delete does the
                    // same.
                    aria-hidden="true"
                    tabIndex={-1}
                    title={isHeading ? 'Hide this process' : 'Hide this track (Delete)'}
                    onClick={() => hideRow(row)}
                >
                    <CloseIcon />
                </button>
            )}
        </div>
    );
}

function areAllChosen(threads: readonly number[], chosen: readonly number[]): boolean {
    if (threads.length === 0 || threads.length > chosen.length) return false;
    const all = new Set(chosen);
    return threads.every((thread) => all.has(thread));
}

/** Returns whether all shown threads of a process are selected. */
function isProcessChosen(session: Session, row: TrackRow, chosen: readonly number[]): boolean {
    const { tracks } = session.store;
    const threads = tracks.value.rows.filter((other) => other.process === row.process && other.thread >= 0);
    return threads.length > 0 && threads.every((other) => chosen.includes(other.thread));
}
