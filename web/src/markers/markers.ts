/**
 * The markers of the view: the listed markers, their order, the texts of visible markers, and the selected marker.
 * While the engine answers, the page keeps only the newest request.
 */
import { computed, type ReadonlySignal, signal, untracked } from '@preact/signals';
import { BatchCache } from '../base/batch_cache';
import type { MarkerColumn, MarkerDetails, MarkerQuery, MarkerRow, MarkerSort } from '../engine/markers';
import type { AxisPart } from '../session/axis';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import type { TablesPart } from '../session/tables';
import { MARKER_TABS } from '../view/codec';

export const MARKER_TABLE = 'markers';
export const MARKER_ORDER = 'start';

/** The columns whose default order is descending. */
const DESCENDING: ReadonlySet<MarkerColumn> = new Set(['duration']);
const COLUMNS: readonly MarkerColumn[] = ['start', 'duration', 'name', 'details'];

/** The limit of cached texts for each view. */
const MOST_TEXTS = 200_000;

/** The number of rows whose texts the page fetches before it shows the list. */
const FIRST_ROWS = 80;

/** The range around an instant, as a part of the shown range. */
const INSTANT_SHARE = 0.01;

export function markerDuration(row: MarkerRow): number | null {
    return row.kind === 'instant' ? null : row.end - row.start;
}

/** Caches the texts of the markers of both views, which the page fetches for visible markers. */
function createTexts(
    session: SessionBase & { store: StorePart },
    queries: Record<'table' | 'chart', ReadonlySignal<MarkerQuery>>,
) {
    const { selectedThreads } = session.store;

    function cacheOfTexts(place: 'table' | 'chart'): BatchCache<MarkerRow> {
        return new BatchCache(async (markers) => {
            const rows = await session.engine.markerRows(queries[place].peek(), markers, place);
            return rows.map((row) => [row.marker, row]);
        }, MOST_TEXTS);
    }

    const tableTexts = cacheOfTexts('table');
    const chartTexts = cacheOfTexts('chart');
    /** Increases with each batch of texts. */
    const markerTextsVersion = computed(() => tableTexts.version.value + chartTexts.version.value);
    let textsOf = '';

    async function fetchTexts(cache: BatchCache<MarkerRow>, markers: readonly number[]): Promise<void> {
        const threads = selectedThreads.peek().join();
        if (threads !== textsOf) {
            // With other threads, indexes mean other markers.
            textsOf = threads;
            tableTexts.clear();
            chartTexts.clear();
        }
        await cache.fetch(markers);
    }

    return {
        markerTextsVersion,
        markerRow: (marker: number): MarkerRow | undefined => tableTexts.get(marker),
        markerChartLabel: (marker: number): MarkerRow | undefined => chartTexts.get(marker),
        fetchMarkerRows: (markers: readonly number[]): Promise<void> => fetchTexts(tableTexts, markers),
        fetchMarkerLabels: (markers: readonly number[]): Promise<void> => fetchTexts(chartTexts, markers),
    };
}

/** Selects ranges that begin or end at a marker. */
function createRanges({ info, store }: SessionBase & { store: StorePart }) {
    const { committedRange, setPreview, view } = store;

    function selectMarkerRange(row: MarkerRow): void {
        const [from, to] = committedRange.value;
        const room = row.kind === 'instant' ? Math.max((to - from) * INSTANT_SHARE, info.value.interval) / 2 : 0;
        setPreview([row.start - room, row.end + room], 'push');
    }

    /** Moves the start of the selected range to a time, and keeps the end. */
    function setPreviewStart(time: number): void {
        const end = view.value.preview?.[1] ?? committedRange.value[1];
        setPreview([time, end > time ? end : committedRange.value[1]], 'push');
    }

    function setPreviewEnd(time: number): void {
        const start = view.value.preview?.[0] ?? committedRange.value[0];
        setPreview([start < time ? start : committedRange.value[0], time], 'push');
    }

    return { selectMarkerRange, setPreviewStart, setPreviewEnd };
}

export function createMarkers(session: SessionBase & { axis: AxisPart; store: StorePart; tables: TablesPart }) {
    const { engine } = session;
    const { effect } = session.lifetime;
    const { shownRange } = session.axis;
    const { changeView, committedRange, selectedThreads, view } = session.store;
    const { sortOf } = session.tables;

    const markerSort = sortOf(MARKER_TABLE, MARKER_ORDER);

    const markerSearch = computed(() => view.value.markerSearch);
    const isTable = computed(() => view.value.tab === 'marker-table');
    const isMarkerView = computed(() => MARKER_TABS.has(view.value.tab));

    /** The query of the table: markers in the selected range. */
    const tableQuery = computed<MarkerQuery>(() => ({
        threads: selectedThreads.value,
        range: shownRange(),
        search: markerSearch.value,
        place: 'table',
    }));

    /** The query of the chart: markers in the whole range of the timeline. Zooming selects a part of this range. */
    const chartQuery = computed<MarkerQuery>(() => ({
        threads: selectedThreads.value,
        range: committedRange.value,
        search: markerSearch.value,
        place: 'chart',
    }));

    const sortKeys = computed<MarkerSort[]>(() => {
        const { column: wanted, reversed } = markerSort.value;
        const column = COLUMNS.find((known) => known === wanted) ?? 'start';
        return [{ column, descending: DESCENDING.has(column) !== reversed }];
    });

    /** Markers of the table from top to bottom, null before the first answer. */
    const list = new Request<number[]>();
    const { value: listedMarkers, error: markersError } = list;

    const texts = createTexts(session, { table: tableQuery, chart: chartQuery });

    async function askList(): Promise<number[] | null> {
        const [query, sort] = [tableQuery.value, sortKeys.value];
        const answer = [...(await engine.markers(query, sort))];
        await texts.fetchMarkerRows(answer.slice(0, FIRST_ROWS));
        return query === tableQuery.peek() && sort === sortKeys.peek() ? answer : null;
    }

    // ---- the selected one ----

    const selectedMarker = computed(() => view.value.marker);
    /** Increases when the views should scroll to the selected marker. */
    const markerReveal = signal(0);
    const details = new Request<MarkerDetails>();
    const { value: markerDetails } = details;

    function selectMarker(marker: number, scroll: boolean): void {
        if (scroll) markerReveal.value++;
        if (marker !== view.value.marker) changeView({ marker }, 'replace');
    }

    /** Updates the list and the details with the view while the page shows them. */
    function follow(): void {
        effect(() => {
            if (!isTable.value) return;
            tableQuery.value;
            sortKeys.value;
            list.ask(askList);
        });
        effect(() => {
            if (!isMarkerView.value) return;
            selectedThreads.value; // with other threads, an index means another marker
            const { value: marker } = selectedMarker;
            const query = untracked(() => (view.value.tab === 'marker-table' ? tableQuery : chartQuery).value);
            if (marker < 0) details.clear();
            else details.ask(() => engine.markerDetails(query, marker));
        });
    }

    follow();
    return {
        ...texts,
        ...createRanges(session),
        markerSort,
        markerSearch,
        isMarkerView,
        chartQuery,
        listedMarkers,
        markersError,
        selectedMarker,
        markerReveal,
        markerDetails,
        selectMarker,
    };
}

export type MarkersPart = ReturnType<typeof createMarkers>;
