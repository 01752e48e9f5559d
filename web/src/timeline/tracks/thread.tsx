/**
 * The track of a thread or of a CPU: its activity by category, and its samples. The page draws a graph when it becomes
 * visible.
 */
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { columnRatio } from '../../base/canvas';
import { canvasColors, stackingOrder } from '../../base/colors';
import { faintColors } from '../../base/rect_colors';
import type { Activity, PathFilter } from '../../engine/api';
import { useSession } from '../../session/context';
import { GraphError } from '../../ui/GraphError';
import { LifeShade } from '../../ui/LifeShade';
import { showSample } from '../../ui/SampleTooltip';
import { useRequest, useSeen } from '../../ui/use';
import { THREAD_HEIGHT, type TrackRow, threadTracks } from '../../view/tracks';
import { theme } from '../../window/theme';
import { graphWidth } from '../../window/windows';
import { categoryAmounts, drawActivity } from '../draw_activity';
import { drawStrip, stripColors } from '../draw_strip';
import { StateLane } from '../StateLane';
import { showState } from '../state_hover';
import type { TrackKind } from './kind';

/** The height of the graph, px. */
const GRAPH_HEIGHT = THREAD_HEIGHT - 6;
const STRIP_HEIGHT = 5;

/**
 * Returns the activity of threads for the current range, and for the search and the call node of the rows, which change
 * in one step. (In the view, the search changes first, and the node changes with the answer.) Returns the last activity
 * until the answer. While the engine works, only the newest request waits, because zooming with the wheel makes many
 * requests.
 */
function useActivity({ key, members }: TrackRow, isSeen: boolean): { activity: Activity | null; error: string } {
    const session = useSession();
    const { engine } = session;
    const { drawnActivities, noteCategories } = session.hover;
    const { committedRange } = session.store;
    const { query, selectedFilter, shownSearch, shownThreads, shownTransforms } = session.tree;
    const [from, to] = committedRange.value;
    const width = Math.round(graphWidth.value * columnRatio());
    const terms = shownSearch.value;
    // The samples of the selected row stand out in the selected threads.
    const selected = isAnySelected(shownThreads.value, members) ? selectedFilter.value : '';
    const transformed = shownTransforms.value;
    const isWanted = isSeen && members.length > 0 && width > 0;
    const of = selected === '' ? null : (JSON.parse(selected) as PathFilter);
    const filter = { ...query.peek(), search: terms, of };
    const request = useRequest(isWanted ? () => engine.activity(members, from, to, width, filter) : null, [
        key,
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
        drawnActivities.set(key, answer);
        noteCategories(key, categoryAmounts(answer));
    }, [answer]);
    return { activity: answer ?? drawnActivities.get(key) ?? null, error: request.error.value };
}

function isAnySelected(selected: readonly number[], members: readonly number[]): boolean {
    const all = new Set(selected);
    return members.some((thread) => all.has(thread));
}

/** The graph of one thread, or of the sum of several threads. */
export function ThreadGraph({ row }: { row: TrackRow }): JSX.Element {
    const session = useSession();
    const { info, stateLanes } = session;
    const canvas = useRef<HTMLCanvasElement>(null);
    const strip = useRef<HTMLCanvasElement>(null);
    const isSeen = useSeen(canvas);
    const { activity, error } = useActivity(row, isSeen);
    const withStates = stateLanes.threadsWithStates(row);
    const width = graphWidth.value;
    const colors = theme.value;
    useLayoutEffect(() => {
        if (!canvas.current || !activity) return;
        const { categories } = info.value;
        // The style sheet has the colors of the new theme at this time.
        canvas.current.dataset.theme = colors;
        const order = stackingOrder(activity.categories, categories);
        const own = canvasColors(activity.categories, categories);
        const look = { order, colors: own, faintColors: faintColors(own, colors) };
        drawActivity(canvas.current, activity, look, width, GRAPH_HEIGHT);
    }, [activity, width, colors]);
    useLayoutEffect(() => {
        if (!strip.current || !activity) return;
        strip.current.dataset.theme = colors;
        drawStrip(strip.current, activity.strip, activity.matchingStrip, stripColors(), width, STRIP_HEIGHT);
    }, [activity, width, colors]);
    return (
        <div class="track-graph">
            <LifeShade thread={row.thread} />
            <GraphError sentence={error} />
            <canvas ref={canvas} class="track-canvas" style={{ height: `${GRAPH_HEIGHT}px` }} />
            <canvas ref={strip} class="track-canvas" style={{ height: `${STRIP_HEIGHT}px` }} />
            {withStates.length > 0 && <StateLane trackKey={row.key} threads={withStates} />}
        </div>
    );
}

export const THREADS: TrackKind = {
    id: 'thread',
    name: 'thread',
    seeds: ({ threads, initialThreads, comparison }) => threadTracks(threads, initialThreads, comparison),
    Graph: ThreadGraph,
    showTooltip(session, row, ...place) {
        if (!showState(session, row, ...place)) showSample(session, row.thread, ...place);
    },
};

/** The tracks of threads include the CPUs. */
export const CPUS: TrackKind = { ...THREADS, id: 'cpu', name: 'CPU', seeds: () => [] };
