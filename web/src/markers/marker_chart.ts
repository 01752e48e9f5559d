/**
 * The rows of the marker chart, and the rects of the visible part with a margin. The page draws the old rects until the
 * engine answers, and meanwhile keeps only the newest request.
 */
import { batch, computed, signal } from '@preact/signals';
import type { MarkerChartRow, MarkerRects } from '../engine/markers';
import type { AxisPart } from '../session/axis';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import type { MarkersPart } from './markers';

/** The height of a row, px. */
export const CHART_ROW_HEIGHT = 18;
const CHART_HEADING_HEIGHT = 24;

/** A line of the chart: the name of a category, or a row of markers. */
export interface ChartLine {
    kind: 'heading' | 'row';
    /** The distance from the top of the chart, px. */
    top: number;
    height: number;
    /** The index of the row; for a category, the index of the row below its name. */
    row: number;
}

interface Layout {
    rows: MarkerChartRow[];
    lines: ChartLine[];
    /** The index of the line of each row. */
    lineOfRow: number[];
    height: number;
}

const EMPTY: Layout = { rows: [], lines: [], lineOfRow: [], height: 0 };

function layoutLines(rows: MarkerChartRow[]): Layout {
    const lines: ChartLine[] = [];
    const lineOfRow: number[] = [];
    let top = 0;
    rows.forEach((row, at) => {
        if (at === 0 || rows[at - 1]?.category !== row.category) {
            lines.push({ kind: 'heading', top, height: CHART_HEADING_HEIGHT, row: at });
            top += CHART_HEADING_HEIGHT;
        }
        lineOfRow.push(lines.length);
        lines.push({ kind: 'row', top, height: CHART_ROW_HEIGHT, row: at });
        top += CHART_ROW_HEIGHT;
    });
    return { rows, lines, lineOfRow, height: top };
}

/** The margins of a request: this part of the shown time at each side, and this number of rows. */
const TIME_AROUND = 0.5;
const ROWS_AROUND = 30;
/** The minimum width of a rect with a label, px. */
const LABEL_PIXELS = 24;
const MOST_LABELS = 2000;

export function createMarkerChart(session: SessionBase & { axis: AxisPart; markers: MarkersPart; store: StorePart }) {
    const { engine } = session;
    const { effect } = session.lifetime;
    const { previewAxis } = session.axis;
    const { chartQuery, fetchMarkerLabels } = session.markers;
    const { committedRange, view } = session.store;

    /** null before the first answer. */
    const markerLayout = signal<Layout | null>(null);
    const request = new Request<MarkerRects>();
    const { value: markerRects, error: markerChartError } = request;

    const isChart = computed(() => view.value.tab === 'marker-chart');

    /** The visible part of the chart: rows, and pixels of the axis. */
    const chartWindow = signal({ first: 0, last: 0, pixels: 0 });

    let rowsOf: unknown = null;

    async function ask(): Promise<MarkerRects | null> {
        const query = chartQuery.peek();
        if (rowsOf !== query) {
            const rows = await engine.markerChart(query);
            rowsOf = query;
            // One update, because the old rects would be in the wrong rows.
            batch(() => {
                markerRects.value = null;
                markerLayout.value = layoutLines(rows);
            });
        }
        const { first, last, pixels } = chartWindow.peek();
        if (pixels <= 0) return null;
        const [from, to] = previewAxis.shown();
        const [start, end] = committedRange.peek();
        const around = (to - from) * TIME_AROUND;
        const range: [number, number] = [Math.max(start, from - around), Math.min(end, to + around)];
        const pixel = (to - from) / pixels;
        const rects = await engine.markerRects(
            query,
            range,
            pixel,
            Math.max(0, first - ROWS_AROUND),
            last + ROWS_AROUND,
        );
        if (rowsOf !== chartQuery.peek()) return null;
        markerRects.value = rects; // labels may arrive later
        const wide: number[] = [];
        for (let i = 0; i < rects.row.length && wide.length < MOST_LABELS; i++)
            if ((rects.end[i] ?? 0) - (rects.start[i] ?? 0) > pixel * LABEL_PIXELS) wide.push(rects.marker[i] ?? -1);
        await fetchMarkerLabels(wide);
        return rects;
    }

    /** Updates the chart with the view while the page shows the chart. */
    function follow(): void {
        effect(() => {
            if (!isChart.value) return;
            chartQuery.value;
            chartWindow.value;
            previewAxis.shown();
            request.ask(ask);
        });
    }

    const chartLines = computed(() => markerLayout.value ?? EMPTY);

    follow();
    return {
        markerLayout,
        markerRects,
        markerChartError,
        chartWindow,
        chartLines,
    };
}

export type MarkerChartPart = ReturnType<typeof createMarkerChart>;
