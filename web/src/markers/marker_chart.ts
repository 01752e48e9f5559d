/**
 * The rows of the marker chart, and the rects of the visible part with a margin. While the engine answers, the page
 * draws the old rects and remembers only the newest request.
 */
import { batch, computed, signal } from '@preact/signals';
import type { MarkerChartRow, MarkerRects } from '../engine/markers';
import type { AxisPart } from '../session/axis';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import type { MarkersPart } from './markers';

/** px */
export const CHART_ROW_HEIGHT = 18;
const CHART_HEADING_HEIGHT = 24;

/** A line of the chart: the name of a category, or a row of markers. */
export interface ChartLine {
    kind: 'heading' | 'row';
    /** px from the top of the chart. */
    top: number;
    height: number;
    /** Index of the row; of a heading, of the row below it. */
    row: number;
}

interface Layout {
    rows: MarkerChartRow[];
    lines: ChartLine[];
    /** Of each row: its line. */
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

/** So much of the shown time is asked for at each side, and so many rows. */
const TIME_AROUND = 0.5;
const ROWS_AROUND = 30;
/** Rects with labels: narrower ones have no room for any. */
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

    /** What is on the screen: rows, and px of the axis. */
    const chartWindow = signal({ first: 0, last: 0, pixels: 0 });

    let rowsOf: unknown = null;

    async function ask(): Promise<MarkerRects | null> {
        const query = chartQuery.peek();
        if (rowsOf !== query) {
            const rows = await engine.markerChart(query);
            rowsOf = query;
            // Rects of other rows would be drawn in the wrong place.
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
        markerRects.value = rects; // labels may take longer
        const wide: number[] = [];
        for (let i = 0; i < rects.row.length && wide.length < MOST_LABELS; i++)
            if ((rects.end[i] ?? 0) - (rects.start[i] ?? 0) > pixel * LABEL_PIXELS) wide.push(rects.marker[i] ?? -1);
        await fetchMarkerLabels(wide);
        return rects;
    }

    /** Keeps the chart in step with the view, while it is shown. */
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
