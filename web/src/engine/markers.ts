/** Markers and counters: a thin layer over lib/wasm/wasm_markers.c. */
import type { NodePath } from './api';
import { MARKER_COLUMN, MARKER_KIND, MARKER_LABEL, MARKER_PLACE, MARKER_ROW, WAIT_STATE } from './layout';
import { type EngineModule, NONE, type Pointer, type View } from './module';
import type { Answers } from './protocol';

export type MarkerKind = (typeof MARKER_KIND)[number];

/** Which markers a query selects. Their indexes count all markers of the threads: they mean the same while these do. */
export interface MarkerQuery {
    threads: number[];
    /** ms: those that reach into it. */
    range: [number, number];
    /** See lib/tree/marker_search.h. */
    search: string;
    /** Kinds that their schema shows there. */
    place: 'chart' | 'table';
}

export type MarkerColumn = 'start' | 'duration' | 'name' | 'details';

export interface MarkerSort {
    column: MarkerColumn;
    descending: boolean;
}

export interface MarkerRow {
    marker: number;
    name: string;
    category: number;
    thread: number;
    /** ms; the same for an instant. */
    start: number;
    end: number;
    kind: MarkerKind;
    /** The label of the marker in a table or a chart, as its schema defines it. */
    label: string;
}

export interface MarkerDetails extends MarkerRow {
    title: string;
    /** The name of its schema, '' without one. */
    type: string;
    description: string;
    fields: { key: string; label: string; value: string; hidden: boolean }[];
    /** The payload as JSON text, '' if there is none. */
    payload: string;
    /** The stack that it was set by, root first. */
    cause: NodePath;
}

/** The intervals of one name: lib/tree/interval_stats.h describes the members, which `prof report --intervals` prints, too. */
export interface IntervalStats {
    name: string;
    count: number;
    p50_ms: number;
    p90_ms: number;
    p99_ms: number;
    total_ms: number;
    longest: { ms: number; from_ms: number; thread: number };
    running_ms: number;
    unknown_ms: number;
    /** By the name of the reason. */
    waits_ms: Record<string, number>;
    /** Buckets that are not empty, each up to twice `from_ms`. */
    histogram: { from_ms: number; count: number }[];
}

/** A row of the chart: the markers of one name and category that lie side by side. */
export interface MarkerChartRow {
    name: string;
    category: number;
    count: number;
    /** 0 for the first row of a name. */
    rowOfName: number;
    isOfInstants: boolean;
}

/** Rects, one entry of each array per rect. */
export interface MarkerRects {
    /** Of the chart; in a strip: the category. */
    row: Int32Array;
    marker: Int32Array;
    /** The number of markers in the rect. */
    count: Int32Array;
    start: Float64Array;
    end: Float64Array;
}

export { WAIT_STATE as WAIT_STATES };
export type WaitState = (typeof WAIT_STATE)[number];

/** A field of markers that is drawn over time. */
export interface MarkerGraphKind {
    label: string;
    /** A color of the format; '' for none. */
    color: string;
    isBar: boolean;
}

/** The graphs of one kind of markers of a thread. */
export interface MarkerGraphs {
    thread: number;
    schema: number;
    /** Of the kind. */
    name: string;
    graphs: MarkerGraphKind[];
}

/** A value for each pixel, the largest there (NAN: none), and the marker of the thread that has it (-1: none). */
export interface MarkerGraph {
    values: Float32Array;
    markers: Int32Array;
}

/** When a thread ran, and when and why it did not. */
export interface Waits {
    /** The row is the index of the state; the marker is one of the thread's: that with which it begins. */
    rects: MarkerRects;
    /** ms of each state in the whole range. */
    totals: number[];
}

export interface CounterInfo {
    index: number;
    label: string;
    description: string;
    pid: string;
    /** The thread of its process that it stands below. */
    thread: number;
    /** "bytes", "pWh", "percent", "cpu-us", "cpu-ms", "" ... */
    unit: string;
    /** A color of the format. */
    color: string;
    /** Its change over time is shown, not its sum. */
    isRate: boolean;
    /** Whether the sum is an amount, not the difference from the start. */
    startsAtZero: boolean;
    isHiddenAtFirst: boolean;
    /** It counts the machine, not a process. */
    isOfSystem: boolean;
    /** The smaller, the higher up. */
    sortWeight: number;
}

export interface CounterValue {
    /** ms, of the sample. */
    time: number;
    change: number;
    /** Per ms; null for the first sample. */
    rate: number | null;
    accumulated: number;
}

export interface CounterTotals {
    /** The sum of changes. */
    total: number;
    /** Of the running sum. null: no sample. */
    low: number | null;
    high: number | null;
}

/** Where markers of a kind are shown. */
export { MARKER_PLACE as MARKER_PLACES };
export type MarkerPlace = keyof typeof MARKER_PLACE;

export interface MarkerCalls {
    /** Markers in the order of the sort keys. */
    markers(query: MarkerQuery, sort: MarkerSort[]): Promise<Int32Array>;
    markerRows(query: MarkerQuery, markers: number[], label: 'chart' | 'table'): Promise<MarkerRow[]>;
    markerDetails(query: MarkerQuery, marker: number): Promise<MarkerDetails>;
    /** Statistics of the markers with a duration, by name. */
    intervals(query: Omit<MarkerQuery, 'place'>): Promise<IntervalStats[]>;
    /** Of one thread, whose markers alone the index counts: what markerStrip() answers. */
    threadMarkerDetails(thread: number, marker: number): Promise<MarkerDetails>;
    markerChart(query: MarkerQuery): Promise<MarkerChartRow[]>;
    /** The rects of rows `first` to `last` between two times. Markers shorter than `pixel` ms may share a rect. */
    markerRects(
        query: MarkerQuery,
        range: [number, number],
        pixel: number,
        first: number,
        last: number,
    ): Promise<MarkerRects>;
    /** The same for a track: markers of one thread that are shown in one place. */
    markerStrip(thread: number, place: MarkerPlace, range: [number, number], pixel: number): Promise<MarkerRects>;

    /** `graph`: number of a graph of the schema. */
    markerGraph(
        thread: number,
        schema: number,
        graph: number,
        range: [number, number],
        width: number,
    ): Promise<MarkerGraph>;

    waits(thread: number, range: [number, number], pixel: number): Promise<Waits>;

    /** A value for each pixel, the largest there; NAN where nothing was recorded. Rates are per ms. */
    counterGraph(counter: number, range: [number, number], width: number): Promise<Float32Array>;
    counterAt(counter: number, time: number): Promise<CounterValue | null>;
    counterTotals(counter: number, range: [number, number]): Promise<CounterTotals>;
}

interface Functions {
    session_marker_query(
        session: Pointer,
        threads: number,
        from: number,
        to: number,
        searchLength: number,
        places: number,
    ): number;
    session_marker_sorted(session: Pointer, keys: number): Pointer;
    session_intervals(session: Pointer): Pointer;
    session_marker_texts(session: Pointer, count: number, label: number): Pointer;
    session_marker_details(session: Pointer, thread: number, marker: number): Pointer;
    session_marker_chart(session: Pointer): Pointer;
    session_marker_rects(
        session: Pointer,
        from: number,
        to: number,
        pixel: number,
        first: number,
        last: number,
    ): Pointer;
    session_marker_strip(
        session: Pointer,
        thread: number,
        from: number,
        to: number,
        pixel: number,
        places: number,
    ): Pointer;
    session_marker_graph(
        session: Pointer,
        thread: number,
        schema: number,
        graph: number,
        from: number,
        to: number,
        width: number,
    ): Pointer;
    session_waits(session: Pointer, thread: number, from: number, to: number, pixel: number): Pointer;
    session_counter_graph(session: Pointer, counter: number, from: number, to: number, width: number): Pointer;
    session_counter_at(session: Pointer, counter: number, time: number): Pointer;
    session_counter_totals(session: Pointer, counter: number, from: number, to: number): Pointer;
}

function known(value: number | undefined): number | null {
    return value === undefined || Number.isNaN(value) ? null : value;
}

export function markerAnswers(module: EngineModule): Answers<MarkerCalls> {
    const { session } = module;
    const wasm = module.functions<Functions>();

    function ask({ threads, range, search, place }: Omit<MarkerQuery, 'place'> & Partial<MarkerQuery>): void {
        const length = module.inputWords(threads, search.trim());
        const places = place ? MARKER_PLACE[place] : 0;
        module.check(wasm.session_marker_query(session, threads.length, range[0], range[1], length, places));
    }

    function rects(view: View): MarkerRects {
        return {
            row: view.ints(0),
            marker: view.ints(1),
            count: view.ints(2),
            start: view.doubles(3),
            end: view.doubles(4),
        };
    }

    type Written<Row extends MarkerRow> = Omit<Row, 'kind'> & { kind: number };

    function withKind<Row extends MarkerRow>(row: Written<Row>): Row {
        return { ...row, kind: MARKER_KIND[row.kind] ?? 'instant' } as unknown as Row;
    }

    function details(thread: number, marker: number): MarkerDetails {
        const text = module.decode(module.view(wasm.session_marker_details(session, thread, marker)));
        return withKind(JSON.parse(text) as Written<MarkerDetails>);
    }

    return {
        markers(query, sort) {
            ask(query);
            module.inputWords(
                sort.flatMap(({ column, descending }) => [MARKER_COLUMN.indexOf(column), Number(descending)]),
            );
            return module.view(wasm.session_marker_sorted(session, sort.length)).ints(0);
        },
        intervals(query) {
            ask(query);
            return JSON.parse(module.decode(module.view(wasm.session_intervals(session)))) as IntervalStats[];
        },
        markerRows(query, markers, label) {
            ask(query);
            module.inputWords(markers);
            const text = module.decode(
                module.view(wasm.session_marker_texts(session, markers.length, MARKER_LABEL.indexOf(label))),
            );
            return (JSON.parse(text) as Written<MarkerRow>[]).map((row) => withKind(row));
        },
        markerDetails(query, marker) {
            ask(query);
            return details(NONE, marker);
        },
        threadMarkerDetails: details,
        markerChart(query) {
            ask(query);
            const rows = module.view(wasm.session_marker_chart(session)).records(0, MARKER_ROW);
            return rows.map((row) => ({ ...row, name: module.text(row.name), isOfInstants: row.isOfInstants === 1 }));
        },
        markerRects(query, [from, to], pixel, first, last) {
            ask(query);
            return rects(module.view(wasm.session_marker_rects(session, from, to, pixel, first, last)));
        },
        markerStrip(thread, place, [from, to], pixel) {
            return rects(module.view(wasm.session_marker_strip(session, thread, from, to, pixel, MARKER_PLACE[place])));
        },
        markerGraph(thread, schema, graph, [from, to], width) {
            const view = module.view(wasm.session_marker_graph(session, thread, schema, graph, from, to, width));
            return { values: view.floats(0, width), markers: view.ints(1) };
        },
        waits(thread, [from, to], pixel) {
            const view = module.view(wasm.session_waits(session, thread, from, to, pixel));
            return { rects: rects(view), totals: [...view.doubles(5, WAIT_STATE.length)] };
        },
        counterGraph(counter, [from, to], width) {
            return module.view(wasm.session_counter_graph(session, counter, from, to, width)).floats(0, width);
        },
        counterAt(counter, time) {
            const view = module.view(wasm.session_counter_at(session, counter, time));
            const [at = 0, change = 0, rate, accumulated = 0] = view.doubles(0);
            return view.length === 0 ? null : { time: at, change, rate: known(rate), accumulated };
        },
        counterTotals(counter, [from, to]) {
            const [total = 0, low, high] = module
                .view(wasm.session_counter_totals(session, counter, from, to))
                .doubles(0);
            return { total, low: known(low), high: known(high) };
        },
    };
}
