/** One row of the timeline: the thread's name and its activity graph. Graphs are drawn when they first come into view. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { categoriesIn, drawActivity } from '../draw/activity';
import { canvasColors, stackingOrder } from '../draw/colors';
import type { Activity, PathFilter } from '../engine/api';
import {
    type ChooseMode,
    chooseThread,
    committedRange,
    engine,
    info,
    search,
    selectedThreads,
    tracks,
} from '../state/store';
import { theme } from '../state/theme';
import type { TrackRow } from '../state/tracks';
import { selectedFilter, shownTransforms } from '../state/tree';
import { graphWidth, noteCategories } from '../state/windows';
import { formatDuration } from '../text/format';
import { plainText } from '../text/plain';
import { ProfileText } from './text';
import { useSeen } from './use';

const GRAPH_HEIGHT = 36;
const LABEL_LIMIT = 200;

/** The activity of a thread for the range, search and call node that are on; keeps the last one until the next is there.
 * While the engine computes one, only the newest wish is remembered: zooming with the wheel makes many. */
function useActivity(thread: number, isSeen: boolean): Activity | null {
    const [activity, setActivity] = useState<Activity | null>(null);
    const [from, to] = committedRange.value;
    const width = Math.round(graphWidth.value * Math.min(window.devicePixelRatio || 1, 2));
    const terms = search.value.trim();
    // The samples of the selected row stand out in the selected threads.
    const selected = selectedThreads.value.includes(thread) ? selectedFilter.value : '';
    const transformed = shownTransforms.value;
    const wish = useRef<(() => Promise<Activity>) | null>(null);
    const isAsking = useRef(false);
    const ask = async (): Promise<void> => {
        isAsking.current = true;
        for (let next = wish.current; next !== null; next = wish.current) {
            wish.current = null;
            const answer = await next().catch(() => null);
            setActivity(answer);
            if (answer) noteCategories(categoriesIn(answer));
        }
        isAsking.current = false;
    };
    useEffect(() => {
        if (!isSeen || thread < 0 || width <= 0) return;
        const of = selected === '' ? null : (JSON.parse(selected) as PathFilter);
        wish.current = () => engine.activity(thread, from, to, width, terms, of);
        if (!isAsking.current) void ask();
    }, [thread, isSeen, from, to, width, terms, selected, transformed]);
    useEffect(
        () => () => {
            wish.current = null;
        },
        [],
    );
    return activity;
}

function Graph({ thread }: { thread: number }): JSX.Element {
    const canvas = useRef<HTMLCanvasElement>(null);
    const isSeen = useSeen(canvas);
    const activity = useActivity(thread, isSeen);
    const width = graphWidth.value;
    const colors = theme.value;
    useEffect(() => {
        if (!canvas.current || !activity) return;
        const { categories } = info.value;
        // The colours are read from the style sheet, which has the new theme by now.
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
    return <canvas ref={canvas} class="track-graph" />;
}

function modeOf(event: MouseEvent | KeyboardEvent): ChooseMode {
    if (event.ctrlKey || event.metaKey) return 'toggle';
    return event.shiftKey ? 'extend' : 'only';
}

function focusNeighbour(element: HTMLElement, direction: 1 | -1): void {
    const all = [...document.querySelectorAll<HTMLElement>('.track-label[role="option"]')];
    all[all.indexOf(element) + direction]?.focus();
}

function onTrackKey(event: KeyboardEvent, thread: number): void {
    const element = event.currentTarget as HTMLElement;
    if (event.key === 'ArrowDown') focusNeighbour(element, 1);
    else if (event.key === 'ArrowUp') focusNeighbour(element, -1);
    else if (event.key === ' ' || event.key === 'Enter') chooseThread(thread, modeOf(event));
    else return;
    event.preventDefault();
}

export function Track({ row }: { row: TrackRow }): JSX.Element {
    const isThread = row.kind === 'thread';
    const isSelected = isThread && selectedThreads.value.includes(row.thread);
    const isTabStop = row.thread === (selectedThreads.value[0] ?? tracks.value.shown[0]);
    const busy = row.activity > 0 ? formatDuration(row.activity) : 'idle';
    const label = (
        <>
            <span class="track-name">
                <ProfileText text={row.title} limit={LABEL_LIMIT} />
            </span>
            <span class="track-busy">{busy}</span>
            <span class="track-detail">
                <ProfileText text={row.detail} limit={LABEL_LIMIT} />
            </span>
        </>
    );
    const title = `${plainText(row.title, 1000)}\n${plainText(row.detail, 1000)}\nbusy for ${busy}`;
    if (!isThread)
        return (
            <div class="track heading" role="presentation">
                <div class="track-label" title={title}>
                    {label}
                </div>
                <div class="track-graph" />
            </div>
        );
    return (
        <div
            class={`track level-${row.level}${isSelected ? ' selected' : ''}`}
            role="presentation"
            data-thread={row.thread}
        >
            <div
                class="track-label"
                role="option"
                aria-selected={isSelected}
                tabIndex={isTabStop ? 0 : -1}
                title={title}
                onClick={(event) => chooseThread(row.thread, modeOf(event))}
                onKeyDown={(event) => onTrackKey(event, row.thread)}
            >
                {label}
            </div>
            <Graph thread={row.thread} />
        </div>
    );
}
