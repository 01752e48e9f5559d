/**
 * One row of the timeline: the label, with its keys and menu, and what the row's kind draws beside it. Graphs are drawn
 * when they first come into view.
 */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { categoryAmounts, drawActivity } from '../draw/activity';
import { drawStrip, stripColors } from '../draw/strip';
import { canvasColors, stackingOrder } from '../draw/colors';
import type { Activity, PathFilter } from '../engine/api';
import type { ChooseMode } from '../state/store';
import { theme } from '../state/theme';
import type { TrackKind, TrackRow } from '../state/tracks';
import { act, graphWidth, isTrackListOpen } from '../state/windows';
import { formatDuration } from '../text/format';
import { plainText } from '../text/plain';
import { CounterGraph } from './CounterTrack';
import { GraphError } from './GraphError';
import { CloseIcon } from './icons';
import { MarkerGraphs } from './MarkerGraphTrack';
import { MarkerStrip } from './MarkerTrack';
import { LifeShade, lifeText } from './LifeShade';
import { ProfileText } from './text';
import { chooseSide, followTime, hideTime, keyTime, leaveTime, moveTime, selectSample } from './track_hover';
import { dragTrack, focusNeighbor, focusTrack } from './track_rows';
import { useRequest, useSeen } from './use';
import { WaitStrip } from './WaitTrack';
import { useSession } from './session_context';
import type { Session } from '../state/session';

const GRAPH_HEIGHT = 36;
const STRIP_HEIGHT = 5;
const LABEL_LIMIT = 200;
/** px that ← and → move the time that is looked at, alone and with Shift. */
const NEAR = 2;
const FAR = 20;

/** The activity of a thread for the range, search and call node that are on; keeps the last one until the next is there.
 * While the engine computes one, only the newest request is remembered: zooming with the wheel makes many. */
function useActivity(thread: number, isSeen: boolean): { activity: Activity | null; error: string } {
    const session = useSession();
    const { engine } = session;
    const { drawnActivities, noteCategories } = session.hover;
    const { committedRange, search, selectedThreads } = session.store;
    const { query, selectedFilter, shownTransforms } = session.tree;
    const [from, to] = committedRange.value;
    const width = Math.round(graphWidth.value * Math.min(window.devicePixelRatio || 1, 2));
    const terms = search.value.trim();
    // The samples of the selected row stand out in the selected threads.
    const selected = selectedThreads.value.includes(thread) ? selectedFilter.value : '';
    const transformed = shownTransforms.value;
    const isWanted = isSeen && thread >= 0 && width > 0;
    const of = selected === '' ? null : (JSON.parse(selected) as PathFilter);
    const filter = { ...query.peek(), search: terms, of };
    const request = useRequest(isWanted ? () => engine.activity(thread, from, to, width, filter) : null, [
        thread,
        isSeen,
        from,
        to,
        width,
        terms,
        selected,
        transformed,
    ]);
    const answer = request.value.value;
    useEffect(() => {
        if (!answer) return;
        drawnActivities.set(thread, answer);
        noteCategories(thread, categoryAmounts(answer));
    }, [answer]);
    return { activity: answer ?? drawnActivities.get(thread) ?? null, error: request.error.value };
}

function ThreadGraph({ row: { thread } }: { row: TrackRow }): JSX.Element {
    const session = useSession();
    const { info } = session;
    const canvas = useRef<HTMLCanvasElement>(null);
    const strip = useRef<HTMLCanvasElement>(null);
    const isSeen = useSeen(canvas);
    const { activity, error } = useActivity(thread, isSeen);
    const width = graphWidth.value;
    const colors = theme.value;
    useEffect(() => {
        if (!canvas.current || !activity) return;
        const { categories } = info.value;
        // The colors are read from the style sheet, which has the new theme by now.
        canvas.current.dataset.theme = colors;
        drawActivity(
            canvas.current,
            activity,
            stackingOrder(activity.categories, categories),
            canvasColors(activity.categories, categories),
            width,
            GRAPH_HEIGHT,
        );
    }, [activity, width, colors]);
    useEffect(() => {
        if (!strip.current || !activity) return;
        strip.current.dataset.theme = colors;
        drawStrip(strip.current, activity.strip, activity.matchingStrip, stripColors(), width, STRIP_HEIGHT);
    }, [activity, width, colors]);
    return (
        <div class="track-graph">
            <LifeShade thread={thread} />
            <GraphError sentence={error} />
            <canvas ref={canvas} class="track-canvas" style={{ height: `${GRAPH_HEIGHT}px` }} />
            <canvas ref={strip} class="track-canvas" style={{ height: `${STRIP_HEIGHT}px` }} />
        </div>
    );
}

/** What is drawn in a track, by its kind: canvas and all at the right of the label. */
const TRACK_GRAPHS: Partial<Record<TrackKind, (props: { row: TrackRow }) => JSX.Element>> = {
    thread: ThreadGraph,
    cpu: ThreadGraph,
    markers: MarkerStrip,
    network: MarkerStrip,
    fileIo: MarkerStrip,
    memory: MarkerStrip,
    ipc: MarkerStrip,
    graph: MarkerGraphs,
    counter: CounterGraph,
    waits: WaitStrip,
};

function modeOf(event: MouseEvent | KeyboardEvent): ChooseMode {
    if (event.ctrlKey || event.metaKey) return 'toggle';
    return event.shiftKey ? 'extend' : 'only';
}

function chooseRow(session: Session, row: TrackRow, mode: ChooseMode): void {
    const { chooseThread } = session.store;
    const { chooseProcess } = session.trackActions;
    if (row.thread >= 0) chooseThread(row.thread, mode);
    else chooseProcess(row);
}

function onTrackKey(session: Session, event: KeyboardEvent, row: TrackRow): void {
    const { tracks } = session.store;
    const { doRowKey } = session.trackActions;
    const { rows } = tracks.value;
    if (doRowKey(event, row)) {
        // A row that is gone leaves the focus to the one that takes its place.
        const at = rows.findIndex((one) => one.key === row.key);
        const left = tracks.value.rows;
        const next = left.find((one) => one.key === row.key) ?? left[Math.min(at, left.length - 1)];
        if (next && !isTrackListOpen.value) focusTrack(session, next.key);
    } else if (event.altKey || event.metaKey) return;
    else if (event.key === 'ArrowDown' && !event.ctrlKey) focusNeighbor(session, row.key, 1);
    else if (event.key === 'ArrowUp' && !event.ctrlKey) focusNeighbor(session, row.key, -1);
    else if (event.key === 'Home') focusNeighbor(session, row.key, -rows.length);
    else if (event.key === 'End') focusNeighbor(session, row.key, rows.length);
    else if (event.key === 'ArrowLeft' && !event.ctrlKey) moveTime(session, row, event.shiftKey ? -FAR : -NEAR);
    else if (event.key === 'ArrowRight' && !event.ctrlKey) moveTime(session, row, event.shiftKey ? FAR : NEAR);
    else if ((event.key === '[' || event.key === ']') && keyTime(session) !== null)
        chooseSide(session, event.key === '[' ? 0 : 1);
    else if (event.key === ' ' || event.key === 'Enter') {
        const time = keyTime(session);
        chooseRow(session, row, modeOf(event));
        if (time !== null && row.thread >= 0 && modeOf(event) === 'only') act(selectSample(session, row.thread, time));
    } else if (event.key === 'Escape' && keyTime(session) !== null) hideTime(session);
    else return;
    event.preventDefault();
    event.stopPropagation();
}

interface TrackProps {
    row: TrackRow;
    /** Its place among `count` rows, and in pixels. */
    at: number;
    count: number;
    top: number;
    isDragged: boolean;
    onFocus: () => void;
}

export function Track({ row, at, count, top, isDragged, onFocus }: TrackProps): JSX.Element {
    const session = useSession();
    const { selectedThreads, tracks } = session.store;
    const { hideRow, showProcess } = session.trackActions;
    const chosen = selectedThreads.value;
    const isHeading = row.kind === 'process';
    const isSelected = isHeading
        ? isProcessChosen(session, row, chosen)
        : row.thread >= 0 && chosen.includes(row.thread);
    const isThread = row.kind === 'thread' || row.kind === 'cpu';
    const isTabStop = isThread && row.thread === (chosen[0] ?? tracks.value.shown[0]);
    const Graph = TRACK_GRAPHS[row.kind];
    const busy = isThread || isHeading ? (row.activity > 0 ? formatDuration(row.activity) : 'idle') : '';
    const title = [
        plainText(row.title, 1000),
        plainText(row.detail, 1000),
        busy === '' ? '' : `busy for ${busy}`,
        row.kind === 'thread' ? lifeText(session, row.thread) : '',
    ]
        .filter((line) => line !== '')
        .join('\n');
    const classes = ['track', `level-${row.level}`, `of-${row.kind}`];
    if (isHeading) classes.push('heading');
    if (isSelected) classes.push('selected');
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
                role="option"
                aria-selected={isSelected}
                aria-posinset={at + 1}
                aria-setsize={count}
                tabIndex={isTabStop ? 0 : -1}
                title={title}
                onClick={(event) => chooseRow(session, row, modeOf(event))}
                onDblClick={() => {
                    if (row.level === 0) showProcess(row);
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
                    // By keyboard there is Delete: among the options of the list it would be none.
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

/** Whether all threads that are shown of a process are chosen. */
function isProcessChosen(session: Session, row: TrackRow, chosen: readonly number[]): boolean {
    const { tracks } = session.store;
    const threads = tracks.value.rows.filter((one) => one.process === row.process && one.thread >= 0);
    return threads.length > 0 && threads.every((one) => chosen.includes(one.thread));
}
