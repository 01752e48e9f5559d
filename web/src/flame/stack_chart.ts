/**
 * The stack chart of the selected threads over the selected range. The last answer stays until the next answer arrives,
 * and the page sends only the last of the requests made meanwhile.
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
    /** ms: the range that the rects are about. */
    span: Span;
    charts: ThreadChart[];
}

/** More threads than these are not drawn at once. */
export const MOST_CHARTS = 8;

/** Of more threads, the busiest, in the order that they have. */
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
    /** Device pixels across the chart; 0 while there is none on the page. */
    const stackChartPixels = signal(0);
    /** The node that was selected here, where the view's path is one of an inverted tree. */
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
    /** The engine has done these transforms and this search, with the weight: before, there is nothing to ask. */
    const isWanted = computed(() => stackChartPixels.value > 0 && shownFilter.value !== '');

    /** What an answer depends on, apart from the width. Of another range there is another query, but not another chart. */
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

    /** Keeps the chart in step with the view, while it is on the page. */
    function follow(): void {
        effect(() => {
            stackChartPixels.value;
            // What was asked of the query before may have come too late for an answer.
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
