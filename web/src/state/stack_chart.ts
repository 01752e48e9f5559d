/**
 * The stack chart: what the selected threads did, over the range that is chosen in the timeline. As with other views the
 * last answer stays until the next one is there, and of the wishes that pass meanwhile only the last is asked for.
 */
import { batch, computed, effect, signal } from '@preact/signals';
import type { NodePath } from '../engine/api';
import type { StackBoxes } from '../engine/charts';
import { messageOf } from '../text/message';
import { type Span, shownRange } from './axis';
import { changeView, engine, inverted, onOtherProfile, selectedThreads, view } from './store';
import { shownFilter } from './tree';

export interface ThreadChart {
    thread: number;
    boxes: StackBoxes;
}

export interface StackChart {
    /** ms: the range that the boxes are about. */
    span: Span;
    charts: ThreadChart[];
}

/** More threads than these are not drawn at once. */
export const MOST_CHARTS = 8;

export const stackChart = signal<StackChart | null>(null);
/** A sentence about what went wrong. */
export const stackChartError = signal('');
/** Device pixels across the chart; 0 while there is none on the page. */
export const stackChartPixels = signal(0);
/** The node that was selected here, where the view's path is one of an inverted tree. */
const ownPath = signal<NodePath>([]);

export const stackPath = computed<NodePath>(() => (inverted.value ? ownPath.value : view.value.path));

export function selectStackPath(path: NodePath): void {
    batch(() => {
        ownPath.value = path;
        changeView({ path: inverted.value ? path.slice(-1) : path }, 'replace');
    });
}

interface Wish {
    threads: number[];
    span: Span;
    pixels: number;
    sameWidths: boolean;
}

let wish: Wish | null = null;

onOtherProfile(() => {
    wish = null;
    ownPath.value = [];
    stackChart.value = null;
});
let isAsking = false;

async function ask({ threads, span, pixels, sameWidths }: Wish): Promise<ThreadChart[]> {
    const boxes = await Promise.all(
        threads.map((thread) => engine.stackChart(thread, span[0], span[1], pixels, sameWidths)),
    );
    return threads.flatMap((thread, at) => {
        const one = boxes[at];
        return one ? [{ thread, boxes: one }] : [];
    });
}

async function askAll(): Promise<void> {
    isAsking = true;
    for (let next = wish; next !== null; next = wish) {
        wish = null;
        try {
            const charts = await ask(next);
            const { span } = next;
            batch(() => {
                stackChart.value = { span, charts };
                stackChartError.value = '';
            });
        } catch (error) {
            stackChartError.value = messageOf(error);
        }
    }
    isAsking = false;
}

const sameWidths = computed(() => view.value.sameWidths);
const [from, to] = [computed(() => shownRange()[0]), computed(() => shownRange()[1])];

/** Keeps the chart in step with the view, while it is on the page. */
export function followStackChart(): void {
    effect(() => {
        const pixels = stackChartPixels.value;
        // The engine has done these transforms and this search: before, there is nothing to ask.
        if (pixels === 0 || shownFilter.value === '') return;
        wish = {
            threads: selectedThreads.value.slice(0, MOST_CHARTS),
            span: [from.value, to.value],
            pixels,
            sameWidths: sameWidths.value,
        };
        if (!isAsking) void askAll();
    });
}
