/** The flame graph and the stack chart: a thin layer over lib/tree/wasm_charts.c. */
import type { NodePath } from './api';
import { type EngineModule, NONE, type Pointer } from './module';
import type { Answers } from './protocol';

/** Rects of a chart, one entry of each array per rect. Callers come before callees. */
export interface Rects {
    /** Sides in parts of the chart's width, 0 to 1; they may lie beyond. */
    start: Float64Array;
    end: Float64Array;
    /** Rows from the roots on. */
    depth: Int32Array;
    /** Index of the rect that it lies on; -1: none. */
    parent: Int32Array;
    /** -1: it stands for several that are too narrow. */
    func: Int32Array;
    category: Int32Array;
    /** 0: there is a search, and not this func is what it looks for. */
    matches: Uint8Array;
}

/** Of the flame graph: see lib/tree/flame.h. */
export interface FlameRects extends Rects {
    /** Handle for details() of the same query; -1 as in func. */
    node: Int32Array;
    total: Float64Array;
    self: Float64Array;
    /** Nodes that it stands for. */
    count: Int32Array;
}

export interface Flame {
    /** The part of the whole width (0 to 1) that the answer is about. */
    part: [number, number];
    rects: FlameRects;
}

/** Of the stack chart: see lib/tree/stack_chart.h. */
export interface StackRects extends Rects {
    /** From when to when, ms. */
    first: Float64Array;
    last: Float64Array;
}

export interface ChartCalls {
    /**
     * The flame graph of the query. `zoom`: the path of the rect that the width is measured by, empty for all; `part`: what
     * of that width is shown (0 to 1, or beyond); rects narrower than one of `pixels` are left out.
     */
    flame(query: number, zoom: NodePath, part: [number, number], pixels: number): Promise<Flame>;
    /** What a thread did between two times (ms), for a chart of so many pixels; transforms and search of the query. */
    stackChart(
        query: number,
        thread: number,
        from: number,
        to: number,
        pixels: number,
        sameWidths: boolean,
    ): Promise<StackRects>;
}

interface Functions {
    session_flame_find(session: Pointer, query: number, length: number): Pointer;
    session_flame(session: Pointer, query: number, from: number, to: number, least: number): Pointer;
    session_stack_chart(
        session: Pointer,
        query: number,
        thread: number,
        from: number,
        to: number,
        columns: number,
        sameWidths: number,
    ): Pointer;
}

const FLAME_RECT_WORDS = 16;
const STACK_RECT_WORDS = 12;

/** One field of each of the structs in a buffer, `at` words from their beginning. */
function words(buffer: ArrayBuffer, size: number, at: number): Int32Array {
    const all = new Int32Array(buffer);
    const column = new Int32Array(all.length / size);
    for (let i = 0; i < column.length; i++) column[i] = all[i * size + at] ?? NONE;
    return column;
}

function doubles(buffer: ArrayBuffer, size: number, at: number): Float64Array {
    const all = new Float64Array(buffer);
    const column = new Float64Array((all.length * 2) / size);
    for (let i = 0; i < column.length; i++) column[i] = all[(i * size + at) / 2] ?? 0;
    return column;
}

export function chartAnswers(module: EngineModule): Answers<ChartCalls> {
    const { session } = module;
    const wasm = module.functions<Functions>();

    /** The structs of an answer, `size` words each. */
    function structs(pointer: Pointer, size: number): ArrayBuffer {
        const view = module.view(pointer);
        return view.ints(0, view.length * size).buffer as ArrayBuffer;
    }

    function widthOf(query: number, zoom: NodePath): [number, number] {
        if (zoom.length === 0) return [0, 1];
        module.inputWords(zoom);
        const [from = 0, to = 1] = module.view(wasm.session_flame_find(session, query, zoom.length)).doubles(0);
        return to > from ? [from, to] : [0, 1];
    }

    return {
        flame(query, zoom, part, pixels) {
            const [left, right] = widthOf(query, zoom);
            const from = Math.max(0, left + (right - left) * part[0]);
            const to = Math.min(1, left + (right - left) * part[1]);
            const size = FLAME_RECT_WORDS;
            const all = structs(wasm.session_flame(session, query, from, to, 1 / pixels), size);
            return {
                part: [from, to],
                rects: {
                    start: doubles(all, size, 0),
                    end: doubles(all, size, 2),
                    total: doubles(all, size, 4),
                    self: doubles(all, size, 6),
                    node: words(all, size, 8),
                    parent: words(all, size, 9),
                    depth: words(all, size, 10),
                    func: words(all, size, 11),
                    category: words(all, size, 12),
                    count: words(all, size, 13),
                    matches: Uint8Array.from(words(all, size, 14)),
                },
            };
        },
        stackChart(query, thread, from, to, pixels, sameWidths) {
            const size = STACK_RECT_WORDS;
            const all = structs(
                wasm.session_stack_chart(session, query, thread, from, to, pixels, Number(sameWidths)),
                size,
            );
            return {
                first: doubles(all, size, 0),
                last: doubles(all, size, 2),
                start: Float64Array.from(words(all, size, 4), (column) => column / pixels),
                end: Float64Array.from(words(all, size, 5), (column) => column / pixels),
                parent: words(all, size, 7),
                depth: words(all, size, 8),
                func: words(all, size, 9),
                category: words(all, size, 10),
                matches: Uint8Array.from(words(all, size, 11)),
            };
        },
    };
}
