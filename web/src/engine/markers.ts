/** The calls about markers and counters, which lib/wasm/wasm_markers.c answers. */
import type { NodePath } from './api';
import { MARKER_COLUMN, MARKER_KIND, MARKER_LABEL, MARKER_PLACE, MARKER_ROW, WAIT_STATE } from './layout';
import { type EngineModule, NONE, type Pointer, type View } from './module';
import type { Answers } from './protocol';

export type MarkerKind = (typeof MARKER_KIND)[number];

/**
 * Selects markers. An index of a marker counts all markers of the threads, so queries with the same threads have the
 * same indexes.
 */
export interface MarkerQuery {
    threads: number[];
    /** Selects the markers that overlap this range, ms. */
    range: [number, number];
    /** See lib/tree/marker_search.h. */
    search: string;
    /** Selects the kinds of markers that their schema shows in the chart or in the table. */
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
    /** Times in ms; an instant has the same start and end. */
    start: number;
    end: number;
    kind: MarkerKind;
    /** The label of the marker in a table or a chart, as its schema defines it. */
    label: string;
}

export interface MarkerDetails extends MarkerRow {
    title: string;
    /** The name of the marker's schema, '' without a schema. */
    type: string;
    description: string;
    fields: { key: string; label: string; value: string; hidden: boolean }[];
    /** The payload as JSON text, '' without a payload. */
    payload: string;
    /** The stack that set the marker, root first. */
    cause: NodePath;
}

/**
 * The intervals of one marker name. `prof report --intervals` prints the same members, which lib/tree/interval_stats.h
 * describes.
 */
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
    /** The waiting time of each reason, by the name of the reason. */
    waits_ms: Record<string, number>;
    /** The buckets with intervals. Each bucket ends at twice `from_ms`. */
    histogram: { from_ms: number; count: number }[];
}

/** A row of the chart: markers of one name and category, side by side. */
export interface MarkerChartRow {
    name: string;
    category: number;
    count: number;
    /** The number of this row among the rows of a name, from 0. */
    rowOfName: number;
    isOfInstants: boolean;
}

/** Rects of markers, with one entry of each array per rect. */
export interface MarkerRects {
    /** The row of the chart; the category in a track of the timeline. */
    row: Int32Array;
    marker: Int32Array;
    /** The number of markers in the rect. */
    count: Int32Array;
    start: Float64Array;
    end: Float64Array;
}

export { WAIT_STATE as WAIT_STATES };
export type WaitState = (typeof WAIT_STATE)[number];

/** A field of markers that the page draws over time. */
export interface MarkerGraphKind {
    label: string;
    /** A color name of the file format, or '' for none. */
    color: string;
    isBar: boolean;
}

/** The graphs of one kind of marker of a thread. */
export interface MarkerGraphs {
    thread: number;
    schema: number;
    /** The name of the kind. */
    name: string;
    graphs: MarkerGraphKind[];
}

/** For each pixel, the largest value (NAN without a value), and the index of its marker in the thread (-1 without). */
export interface MarkerGraph {
    values: Float32Array;
    markers: Int32Array;
}

/** When a thread ran, and when and why the thread waited. */
export interface Waits {
    /** The row of a rect is the index of a state. Its marker is the first marker of the thread in this state. */
    rects: MarkerRects;
    /** The duration of each state in the whole range, ms. */
    totals: number[];
}

export interface CounterInfo {
    index: number;
    label: string;
    description: string;
    pid: string;
    /** The thread of the process under which the page shows the counter. */
    thread: number;
    /** "bytes", "pWh", "percent", "cpu-us", "cpu-ms", "" ... */
    unit: string;
    /** A color name of the file format. */
    color: string;
    /** Whether the graph shows the change over time, not the sum. */
    isRate: boolean;
    /** Whether the sum is an amount. Else the sum is the difference from the start. */
    startsAtZero: boolean;
    isHiddenAtFirst: boolean;
    /** Whether the counter counts the machine, not a process. */
    isOfSystem: boolean;
    /** Counters with a smaller weight come first. */
    sortWeight: number;
}

export interface CounterValue {
    /** The time of the sample, ms. */
    time: number;
    change: number;
    /** The rate per ms, or null for the first sample. */
    rate: number | null;
    accumulated: number;
}

export interface CounterTotals {
    /** The sum of the changes. */
    total: number;
    /** The limits of the running sum, or null without samples. */
    low: number | null;
    high: number | null;
}

/** The places in which the page shows markers of a kind. */
export { MARKER_PLACE as MARKER_PLACES };
export type MarkerPlace = keyof typeof MARKER_PLACE;

export interface MarkerCalls {
    /** Returns the indexes of markers, sorted by the keys. */
    markers(query: MarkerQuery, sort: MarkerSort[]): Promise<Int32Array>;
    markerRows(query: MarkerQuery, markers: number[], label: 'chart' | 'table'): Promise<MarkerRow[]>;
    markerDetails(query: MarkerQuery, marker: number): Promise<MarkerDetails>;
    /** Returns statistics of the markers with a duration, by name. */
    intervals(query: Omit<MarkerQuery, 'place'>): Promise<IntervalStats[]>;
    /**
     * Returns the details of a marker of one thread. `marker` counts the markers of this thread, as in the answer of
     * markerStrip().
     */
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
    /** The same for a track, which shows the markers of one thread in one place. */
    markerStrip(thread: number, place: MarkerPlace, range: [number, number], pixel: number): Promise<MarkerRects>;

    /** `graph` is the index of a graph in the schema. */
    markerGraph(
        thread: number,
        schema: number,
        graph: number,
        range: [number, number],
        width: number,
    ): Promise<MarkerGraph>;

    waits(thread: number, range: [number, number], pixel: number): Promise<Waits>;

    /** Returns the largest value of each pixel, or NAN where the file has no samples. Rates are per ms. */
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
