/**
 * The flame graph: the rects of the current query that are wide enough to draw. The page fetches them again when the
 * query, the zoom or the width has changed, and shows the last rects until the answer arrives.
 */
import { computed, signal } from '@preact/signals';
import type { TreePart } from '../calltree/tree';
import type { NodePath } from '../engine/api';
import type { Flame } from '../engine/charts';
import type { Axis, Span } from '../session/axis';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import type { ColoringPart } from './coloring';
import { rectPath } from './rect_paths';

export interface ShownFlame extends Flame {
    /** The query and the zoom (as text) of the answer. */
    query: number | undefined;
    zoom: string;
    /** The question, with the width. */
    asked: string;
}

const WHOLE: Span = [0, 1];
const SHORTEST = 1e-6;
/** A caller counts as wider than the shown part from this factor on. */
const WIDER = 1.0001;

export function createFlame(session: SessionBase & { coloring: ColoringPart; store: StorePart; tree: TreePart }) {
    const { engine } = session;
    const { effect } = session.lifetime;
    const { changeView, view } = session.store;
    const { queryOf, summary } = session.tree;

    const request = new Request<ShownFlame>();
    const { value: flame, error: flameError } = request;
    /** The width of the graph in device pixels, 0 while the page shows no graph. */
    const flamePixels = signal(0);
    /** The shown part of the width, unless the graph shows the whole rect of the zoom. */
    const part = computed<Span | null>(() => view.value.part);

    const flameAxis: Axis = {
        shown: () => part.value ?? flame.value?.part ?? WHOLE,
        limits: () => WHOLE,
        shortest: () => SHORTEST,
        show(span) {
            const isWhole = span[0] <= 0 && span[1] >= 1;
            if (isWhole && view.value.zoom.length > 0) changeView({ zoom: [], part: null }, 'push');
            else changeView({ part: isWhole ? null : span }, 'replace');
        },
    };

    function zoomInto(path: NodePath): void {
        const isSame = path.join() === view.value.zoom.join();
        if (!isSame || part.value) changeView({ zoom: path, part: null }, isSame ? 'replace' : 'push');
    }

    const isZoomed = computed(() => view.value.zoom.length > 0 || view.value.part !== null);

    /** Zooms out to the next wider caller, or to the whole graph. Returns whether the graph was zoomed. */
    function zoomOut(toAll: boolean): boolean {
        const { zoom } = view.value;
        if (!isZoomed.value) return false;
        // From a part of a rect, the first step shows the whole rect.
        if (toAll) zoomInto([]);
        else zoomInto(part.value ? zoom : widerCaller(zoom));
        return true;
    }

    function widerCaller(zoom: NodePath): NodePath {
        const rects = flame.value?.rects;
        for (let length = zoom.length - 1; rects && length > 0; length--) {
            for (let rect = 0; rect < rects.func.length; rect++) {
                if (rects.depth[rect] !== length - 1 || (rects.end[rect] ?? 0) - (rects.start[rect] ?? 0) < WIDER)
                    continue;
                const path = rectPath(rects, rect);
                if (path.join() === zoom.slice(0, length).join()) return path;
            }
        }
        return [];
    }

    /** Requests the rects of the view for a width in pixels. */
    function askFlame(pixels: number): Promise<Flame> {
        const { zoom, part: shown } = view.value;
        return engine.flame(queryOf(), shown ? [] : zoom, shown ?? WHOLE, pixels);
    }

    const isWanted = computed(() => flamePixels.value > 0 && summary.value !== null);
    const zoomed = computed(() => view.value.zoom);

    async function ask(): Promise<ShownFlame | null> {
        if (!isWanted.value) return null;
        const zoom = zoomed.value.join();
        const query = summary.value?.id;
        const asked = JSON.stringify([query, zoom, part.value, flamePixels.value]);
        if (flame.value?.asked === asked) return null;
        const answer = await askFlame(flamePixels.value);
        session.coloring.noteFirst(answer.rects);
        return { ...answer, query, zoom, asked };
    }

    /** Updates the graph with the query while the page shows the graph. */
    function follow(): void {
        effect(() => {
            flamePixels.value;
            summary.value;
            zoomed.value;
            part.value;
            if (isWanted.value) request.ask(ask);
            // When the user comes back to the graph, the page does not first show an answer of another query or zoom.
            else if (flamePixels.value > 0) return;
            else if (flame.peek()?.query !== summary.value?.id || flame.peek()?.zoom !== zoomed.value.join())
                request.clear();
        });
    }

    follow();
    return {
        flame,
        flameError,
        flamePixels,
        flameAxis,
        zoomInto,
        isZoomed,
        zoomOut,
        askFlame,
    };
}

export type FlamePart = ReturnType<typeof createFlame>;
