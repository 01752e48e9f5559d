/** The flame graph and the stack chart: a thin layer over lib/wasm/wasm_charts.c. */
import type { NodePath } from './api';
import { FLAME_PART, FLAME_RECT, STACK_RECT } from './layout';
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
    /** 0 if a search is active and this func does not match. */
    matches: Uint8Array;
    /** Of the flame graph: nodes that it stands for. */
    count?: Int32Array;
    /** And the func that stands for the library that they have in common; -1: none. */
    library?: Int32Array;
}

/** Of the flame graph: see lib/tree/flame.h. */
export interface FlameRects extends Rects {
    /** Handle for details() of the same query; -1 as in func. */
    node: Int32Array;
    total: Float64Array;
    self: Float64Array;
    /** Of a comparison, on each side: total is the change. */
    baseTotal: Float64Array;
    newTotal: Float64Array;
    count: Int32Array;
    library: Int32Array;
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

/** One field of each of the structs in a buffer, `at` bytes from their beginning. */
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
    };
}
