/** The flame graph, the stack chart and the heat map: a thin layer over lib/wasm/wasm_charts.c. */
import type { NodePath } from './api';
import { FLAME_PART, FLAME_RECT, STACK_RECT } from './layout';
import { type EngineModule, NONE, type Pointer } from './module';
import type { Answers } from './protocol';

/** Rects of a chart. Each array has one entry per rect. Callers precede callees. */
export interface Rects {
    /** Left and right edge, as shares of the chart's width from 0 to 1. Edges may lie outside. */
    start: Float64Array;
    end: Float64Array;
    /** Rows, starting at the roots. */
    depth: Int32Array;
    /** Index of the caller's rect, or -1. */
    parent: Int32Array;
    /** The func, or -1 for a rect that stands for several narrow rects. */
    func: Int32Array;
    category: Int32Array;
    /** 0 if a search is active and does not match this func. */
    matches: Uint8Array;
    /** In the flame graph: number of nodes of the rect. */
    count?: Int32Array;
    /** In the flame graph: func that stands for the common library of the nodes, or -1. */
    library?: Int32Array;
}

/** Rects of the flame graph: see lib/tree/flame.h. */
export interface FlameRects extends Rects {
    /** Handle for details() of the same query, or -1 as in `func`. */
    node: Int32Array;
    total: Float64Array;
    self: Float64Array;
    /** Totals of both sides of a comparison, whose difference is `total`. */
    baseTotal: Float64Array;
    newTotal: Float64Array;
    count: Int32Array;
    library: Int32Array;
}

export interface Flame {
    /** The visible part of the width (0 to 1). */
    part: [number, number];
    rects: FlameRects;
}

/** Rects of the stack chart: see lib/tree/stack_chart.h. */
export interface StackRects extends Rects {
    /** ms: start and end of the rect. */
    first: Float64Array;
    last: Float64Array;
}

export interface ChartCalls {
    /**
     * Returns the flame graph of the query. `zoom`: path of the rect that defines the width, or empty for all. `part`:
     * visible part of this width (0 to 1, or beyond). Omits rects narrower than one of `pixels`.
     */
    flame(query: number, zoom: NodePath, part: [number, number], pixels: number): Promise<Flame>;
    /**
     * Returns the stacks of a thread between two times (ms), for a chart with this number of pixels, with the query's
     * transforms and search.
     */
    stackChart(
        query: number,
        thread: number,
        from: number,
        to: number,
        pixels: number,
        sameWidths: boolean,
    ): Promise<StackRects>;
    /**
     * Returns a thread's part of the query's total in each of `count` consecutive ranges, the first from `from` to `to`
     * (ms).
     */
    totalsOverTime(query: number, thread: number, from: number, to: number, count: number): Promise<Float64Array>;
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
    session_totals_over_time(
        session: Pointer,
        query: number,
        thread: number,
        from: number,
        to: number,
        count: number,
    ): Pointer;
}

/** Returns one field of each struct in a buffer, `at` bytes after the start of the struct. */
function words(buffer: ArrayBuffer, size: number, at: number): Int32Array {
    const all = new Int32Array(buffer);
    const column = new Int32Array(buffer.byteLength / size);
    for (let i = 0; i < column.length; i++) column[i] = all[(i * size + at) / 4] ?? NONE;
    return column;
}

function doubles(buffer: ArrayBuffer, size: number, at: number): Float64Array {
    const all = new Float64Array(buffer);
    const column = new Float64Array(buffer.byteLength / size);
    for (let i = 0; i < column.length; i++) column[i] = all[(i * size + at) / 8] ?? 0;
    return column;
}

export function chartAnswers(module: EngineModule): Answers<ChartCalls> {
    const { session } = module;
    const wasm = module.functions<Functions>();

    function widthOf(query: number, zoom: NodePath): [number, number] {
        if (zoom.length === 0) return [0, 1];
        module.inputWords(zoom);
        const { from, to } = module.view(wasm.session_flame_find(session, query, zoom.length)).record(FLAME_PART);
        return to > from ? [from, to] : [0, 1];
    }

    return {
        flame(query, zoom, part, pixels) {
            const [left, right] = widthOf(query, zoom);
            const from = Math.max(0, left + (right - left) * part[0]);
            const to = Math.min(1, left + (right - left) * part[1]);
            const { size, at } = FLAME_RECT;
            const all = module.view(wasm.session_flame(session, query, from, to, 1 / pixels)).structs(size);
            return {
                part: [from, to],
                rects: {
                    start: doubles(all, size, at.start),
                    end: doubles(all, size, at.end),
                    total: doubles(all, size, at.total),
                    self: doubles(all, size, at.self),
                    baseTotal: doubles(all, size, at.baseTotal),
                    newTotal: doubles(all, size, at.newTotal),
                    node: words(all, size, at.node),
                    parent: words(all, size, at.parent),
                    depth: words(all, size, at.depth),
                    func: words(all, size, at.func),
                    category: words(all, size, at.category),
                    count: words(all, size, at.count),
                    library: words(all, size, at.library),
                    matches: Uint8Array.from(words(all, size, at.matches)),
                },
            };
        },
        stackChart(query, thread, from, to, pixels, sameWidths) {
            const { size, at } = STACK_RECT;
            const pointer = wasm.session_stack_chart(session, query, thread, from, to, pixels, Number(sameWidths));
            const all = module.view(pointer).structs(size);
            return {
                first: doubles(all, size, at.first),
                last: doubles(all, size, at.last),
                start: Float64Array.from(words(all, size, at.start), (column) => column / pixels),
                end: Float64Array.from(words(all, size, at.end), (column) => column / pixels),
                parent: words(all, size, at.parent),
                depth: words(all, size, at.depth),
                func: words(all, size, at.func),
                category: words(all, size, at.category),
                matches: Uint8Array.from(words(all, size, at.matches)),
            };
        },
        totalsOverTime(query, thread, from, to, count) {
            const view = module.view(wasm.session_totals_over_time(session, query, thread, from, to, count));
            return view.doubles(0, view.length);
        },
    };
}
