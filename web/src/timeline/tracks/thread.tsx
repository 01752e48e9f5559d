/**
 * The track of a thread or of a CPU: its activity by category, and its samples. Graphs are drawn when they first become
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

/** px */
const GRAPH_HEIGHT = THREAD_HEIGHT - 6;
const STRIP_HEIGHT = 5;

/**
 * The activity of threads for the range, and for the search and the call node of the rows, which change in one step: of
 * the view, the search comes first, and the node with the answer. The last activity stays until the next one is there.
 * While the engine computes one, only the newest request is remembered: zooming with the wheel makes many.
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

/** Of one thread, or the sum of several. */
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
        // The colors are read from the style sheet, which has the new theme by now.
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

/** Which threads are CPUs, those of threads say. */
export const CPUS: TrackKind = { ...THREADS, id: 'cpu', name: 'CPU', seeds: () => [] };
