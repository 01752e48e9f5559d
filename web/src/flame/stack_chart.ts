/**
 * The stack chart of the selected threads over the selected range. The page shows the last answer until the next
 * answer, and meanwhile keeps only the newest request.
 */
import { batch, computed, signal } from '@preact/signals';
import type { TreePart } from '../calltree/tree';
import type { NodePath, ThreadInfo } from '../engine/api';
import type { StackRects } from '../engine/charts';
import type { AxisPart, Span } from '../session/axis';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';

export interface ThreadChart {
    thread: number;
    rects: StackRects;
}

export interface StackChart {
    /** The time range of the rects, ms. */
    span: Span;
    charts: ThreadChart[];
}

/** The limit of threads in the chart. */
export const MOST_CHARTS = 8;

/** Returns the busiest of more threads, in the order of the threads. */
function chartedThreads(selected: readonly number[], threads: readonly ThreadInfo[]): readonly number[] {
    if (selected.length <= MOST_CHARTS) return selected;
    const activity = (thread: number): number => threads[thread]?.activity ?? 0;
    const busiest = new Set([...selected].sort((a, b) => activity(b) - activity(a)).slice(0, MOST_CHARTS));
    return selected.filter((thread) => busiest.has(thread));
}

export function createStackChart(session: SessionBase & { axis: AxisPart; store: StorePart; tree: TreePart }) {
    const { engine, info } = session;
    const { effect } = session.lifetime;
    const { shownRange } = session.axis;
    const { changeView, inverted, selectedThreads, view } = session.store;
    const { queryOf, shownFilter, summary } = session.tree;

    const request = new Request<StackChart>();
    const { value: stackChart, error: stackChartError } = request;
    /** The width of the chart in device pixels, 0 while the page shows no chart. */
    const stackChartPixels = signal(0);
    /** The node that the user selected in this chart, while the view's path is in an inverted tree. */
    const ownPath = signal<NodePath>([]);

    const stackPath = computed<NodePath>(() => (inverted.value ? ownPath.value : view.value.path));

    function selectStackPath(path: NodePath): void {
        batch(() => {
            ownPath.value = path;
            changeView({ path: inverted.value ? path.slice(-1) : path }, 'replace');
        });
    }

    const sameWidths = computed(() => view.value.sameWidths);
    const [from, to] = [computed(() => shownRange()[0]), computed(() => shownRange()[1])];
    /**
     * The engine needs a query with the transforms, the search and the weight of the view before the page can request
     * the chart.
     */
    const isWanted = computed(() => stackChartPixels.value > 0 && shownFilter.value !== '');

    /** Everything on which an answer depends, except for the width. The number of the query is not part of it. */
    const wanted = computed(() => {
        const threads = chartedThreads(selectedThreads.value, info.value.threads);
        return { filter: shownFilter.value, span: [from.value, to.value] as Span, isSame: sameWidths.value, threads };
    });
    const wantedText = computed(() => JSON.stringify(wanted.value));
    let answered = '';
    let answeredPixels = 0;

    async function ask(): Promise<StackChart | null> {
        if (!isWanted.value) return null;
        const query = queryOf();
        const { span, isSame, threads } = wanted.value;
        const [text, pixels] = [wantedText.value, stackChartPixels.value];
        if (text === answered && pixels === answeredPixels) return null;
        const charts = threads.map(async (thread) => ({
            thread,
            rects: await engine.stackChart(query, thread, span[0], span[1], pixels, isSame),
        }));
        const answer = { span, charts: await Promise.all(charts) };
        [answered, answeredPixels] = [text, pixels];
        return answer;
    }

    /** Updates the chart with the view while the page shows the chart. */
    function follow(): void {
        effect(() => {
            stackChartPixels.value;
            // The engine may have closed the query before the last request, so a new summary repeats the request.
            summary.value;
            const text = wantedText.value;
            if (isWanted.value) request.ask(ask);
            // When the chart comes back to the page, it does not begin with what another view has left.
            else if (stackChartPixels.value === 0 && text !== answered) {
                answered = '';
                request.clear();
            }
        });
    }

    follow();
    return {
        stackChart,
        stackChartError,
        stackChartPixels,
        stackPath,
        selectStackPath,
    };
}

export type StackChartPart = ReturnType<typeof createStackChart>;
