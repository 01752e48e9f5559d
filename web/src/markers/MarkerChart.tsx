/**
 * The markers of the view over time: a row of rects for each name, grouped by category. Zooming selects a range, as in
 * all charts over time.
 */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Session } from '../app/session';
import { pixelRatio } from '../base/canvas';
import { plainText } from '../base/plain';
import { chartColors } from '../base/rect_colors';
import type { MarkerRow } from '../engine/markers';
import { useSession } from '../session/context';
import { chartListeners, isPlainArrow, useChartNavigation } from '../ui/chart_navigation';
import { type Size, useFirstFocus, useLatest, useSize } from '../ui/use';
import { theme } from '../window/theme';
import { act, GRAPH_MARGIN, LABEL_WIDTH, type MenuItem, menuItem, openMenu, tooltip } from '../window/windows';
import { drawMarkerChart, lineAt, type MarkerFrame, markerRectAt, xOf } from './draw_marker_chart';
import { EmptyMarkers } from './MarkerTable';
import { CHART_ROW_HEIGHT } from './marker_chart';
import { actionOfKey, durationText, MarkerTooltip, markerItems, startText } from './marker_parts';
import { neighbor } from './marker_steps';

const LABEL_LIMIT = 300;

/** Returns the marker of a rect with its times and label. */
async function rowOf(session: Session, marker: number): Promise<MarkerRow | undefined> {
    const { fetchMarkerLabels, markerChartLabel } = session.markers;
    await fetchMarkerLabels([marker]);
    return markerChartLabel(marker);
}

function describe(session: Session, row: MarkerRow | null): string {
    if (!row) return '';
    const duration = durationText(row);
    const label = row.label === '' ? '' : `: ${plainText(row.label, 200)}`;
    return `${plainText(row.name, 200)}${label}, at ${startText(session, row)}${duration === '' ? '' : `, ${duration} long`}`;
}

/** Requests the chart's data from the engine, and returns the frame to draw. */
function useFrame(state: Pick<MarkerFrame, 'scrollTop' | 'hovered' | 'hasFocus'>, size: Size): MarkerFrame {
    const { axis, info, markerChart, markers, store } = useSession();
    const { chartLines, chartWindow, markerRects } = markerChart;
    const { rows, lines, lineOfRow } = chartLines.value;
    const { scrollTop } = state;
    const width = Math.max(1, size.width - LABEL_WIDTH - GRAPH_MARGIN);
    markers.markerTextsVersion.value;
    useLayoutEffect(() => {
        if (size.height === 0) return;
        const first = lineAt(lines, scrollTop)?.row ?? 0;
        const last = (lineAt(lines, scrollTop + size.height)?.row ?? rows.length) + 1;
        const pixels = Math.round(width * pixelRatio());
        const now = chartWindow.peek();
        if (now.first !== first || now.last !== last || now.pixels !== pixels)
            chartWindow.value = { first, last, pixels };
    }, [lines, scrollTop, size.width, size.height]);
    return {
        ...state,
        rows,
        lines,
        lineOfRow,
        rects: markerRects.value,
        shown: axis.previewAxis.shown(),
        canvasWidth: size.width,
        height: size.height,
        left: LABEL_WIDTH,
        width,
        selected: markers.selectedMarker.value,
        colors: chartColors(info.value.categories, theme.value),
        categoryName: (category) => plainText(store.categoryName(category), LABEL_LIMIT),
        label: (marker) => plainText(markers.markerChartLabel(marker)?.label ?? '', LABEL_LIMIT),
        rowName: (row) => plainText(rows[row]?.name || '(no name)', LABEL_LIMIT),
    };
}

/** The chart's element, and functions that convert positions in it. */
interface Chart {
    owner: () => HTMLElement | null;
    frame: () => MarkerFrame;
    rectUnder: (event: MouseEvent) => number;
    /** The time under the mouse. Outside of the axis, the start or the end of the range. */
    timeUnder: (event: MouseEvent) => number;
}

function markerOf({ rects }: MarkerFrame, rect: number): number {
    return rects?.marker[rect] ?? -1;
}

function lineOf({ lines, lineOfRow, rects }: MarkerFrame, rect: number): MarkerFrame['lines'][number] | undefined {
    return lines[lineOfRow[rects?.row[rect] ?? -1] ?? -1];
}

/** Returns the rect under the mouse, its time and its tooltip. */
function useHover({ frame, rectUnder, timeUnder, owner }: Chart, hovered: number, setHovered: (rect: number) => void) {
    const { engine, hover, markers } = useSession();
    const { hoverTime } = hover;
    const wanted = useRef(-1);
    const clear = (): void => {
        wanted.current = -1;
        if (hovered >= 0) setHovered(-1);
        if (tooltip.value) tooltip.value = null;
    };
    const hide = (): void => {
        clear();
        if (hoverTime.value !== null) hoverTime.value = null;
    };
    const onPointerMove = (event: PointerEvent): void => {
        if (event.buttons !== 0) {
            hide();
            return;
        }
        const { clientX: x, clientY: y } = event;
        const left = (owner()?.getBoundingClientRect().left ?? 0) + LABEL_WIDTH;
        hoverTime.value = x >= left ? timeUnder(event) : null;
        const rect = rectUnder(event);
        if (rect < 0) {
            clear();
            return;
        }
        if (rect === hovered) {
            if (tooltip.value) tooltip.value = { ...tooltip.value, x, y };
            return;
        }
        setHovered(rect);
        wanted.current = rect;
        const count = frame().rects?.count[rect] ?? 1;
        act(
            engine.markerDetails(markers.chartQuery.peek(), markerOf(frame(), rect)).then((marker) => {
                if (wanted.current === rect)
                    tooltip.value = { x, y, content: <MarkerTooltip marker={marker} count={count} /> };
            }),
        );
    };
    return { hide, onPointerMove };
}

/** Opens the menu of the rect under the mouse, or if by key, of the selected rect. */
async function openChartMenu(
    session: Session,
    chart: Chart,
    event: MouseEvent,
    select: (rect: number) => void,
): Promise<void> {
    const { selectedMarker, setPreviewEnd, setPreviewStart } = session.markers;
    const frame = chart.frame();
    const isMouse = event.button === 2;
    const rect = isMouse ? chart.rectUnder(event) : (frame.rects?.marker.indexOf(selectedMarker.value) ?? -1);
    const owner = chart.owner();
    if (!owner || (rect < 0 && !isMouse)) return;
    event.preventDefault();
    const area = owner.getBoundingClientRect();
    const place = isMouse
        ? { x: event.clientX, y: event.clientY }
        : {
              x: area.left + Math.max(LABEL_WIDTH, xOf(frame, frame.rects?.start[rect] ?? 0)),
              y: area.top + (lineOf(frame, rect)?.top ?? 0) - frame.scrollTop + CHART_ROW_HEIGHT,
          };
    const time = chart.timeUnder(event);
    if (rect >= 0) select(rect);
    const row = rect >= 0 ? await rowOf(session, markerOf(frame, rect)) : undefined;
    const here: MenuItem[] = isMouse
        ? [
              menuItem('Start the selection here', () => setPreviewStart(time), { startsGroup: row !== undefined }),
              menuItem('End the selection here', () => setPreviewEnd(time)),
          ]
        : [];
    const showInTable = (): void => session.store.changeView({ tab: 'marker-table' }, 'push');
    const inTable = row ? [menuItem('Show in the marker table', showInTable, { startsGroup: true })] : [];
    const own = row ? markerItems(session, row) : [];
    openMenu(place, [...own, ...here, ...inTable, ...session.exports.saveItems()], owner);
}

/** Scrolls to the line of a rect, and selects its marker. */
function selectRect(session: Session, { owner, frame }: Chart, rect: number): void {
    const area = owner();
    const line = lineOf(frame(), rect);
    if (rect < 0 || !area || !line) return;
    const { height } = frame();
    if (line.top < area.scrollTop) area.scrollTop = line.top - CHART_ROW_HEIGHT;
    else if (line.top + 2 * line.height > area.scrollTop + height) area.scrollTop = line.top + 2 * line.height - height;
    session.markers.selectMarker(markerOf(frame(), rect), false);
}

/** Handles keys other than keys that move the chart. Returns whether the key had an effect. */
function pressKey(
    session: Session,
    chart: Chart,
    event: KeyboardEvent,
    hide: () => void,
    moves: (event: KeyboardEvent) => boolean,
): boolean {
    const frame = chart.frame();
    const current = frame.rects?.marker.indexOf(frame.selected) ?? -1;
    const action = current >= 0 ? actionOfKey(session, event) : null;
    if (isPlainArrow(event)) selectRect(session, chart, neighbor(frame, current, event.key));
    else if (moves(event)) hide();
    else if (action) act(rowOf(session, markerOf(frame, current)).then((row) => row && action(row)));
    else return false;
    return true;
}

export function MarkerChart(): JSX.Element {
    const session = useSession();
    const { previewAxis } = session.axis;
    const { chartLines, markerLayout } = session.markerChart;
    const { markerDetails, markersError, selectMarkerRange, selectedMarker } = session.markers;
    const scroller = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const size = useSize(scroller);
    const [scrollTop, setScrollTop] = useState(0);
    const [hovered, setHovered] = useState(-1);
    const [hasFocus, setFocus] = useState(false);
    const { rows, height } = chartLines.value;
    const frame = useFrame({ scrollTop, hovered, hasFocus }, size);
    const latest = useLatest(frame);
    useLayoutEffect(() => {
        if (canvas.current && size.width > 0) drawMarkerChart(canvas.current, frame);
    });
    useFirstFocus(scroller);

    const plot = (): { left: number; width: number } => ({
        left: (scroller.current?.getBoundingClientRect().left ?? 0) + LABEL_WIDTH,
        width: latest.current?.width ?? 1,
    });
    const navigation = useChartNavigation(scroller, { axis: previewAxis, plot, hasWasd: true });
    const rectUnder = (event: MouseEvent): number => {
        const area = canvas.current?.getBoundingClientRect();
        return area ? markerRectAt(frame, event.clientX - area.left, event.clientY - area.top) : -1;
    };
    const timeUnder = (event: MouseEvent): number => {
        const { left, width } = plot();
        const [from, to] = frame.shown;
        return from + Math.min(1, Math.max(0, (event.clientX - left) / width)) * (to - from);
    };
    const chart: Chart = { owner: () => scroller.current, frame: () => frame, rectUnder, timeUnder };
    const { hide, onPointerMove } = useHover(chart, hovered, setHovered);
    const select = (rect: number): void => selectRect(session, chart, rect);

    const selectedRow = markerDetails.value?.marker === selectedMarker.value ? markerDetails.value : null;
    const message = markersError.value;
    const hasMarkers = rows.length > 0;
    return (
        <div
            ref={scroller}
            class={selectedRow ? 'chart aligned' : 'chart aligned unselected'}
            role="application"
            aria-roledescription="chart"
            aria-label="Marker chart"
            aria-describedby="chart-selection"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: an application is walked by keyboard
            tabIndex={0}
            onScroll={(event) => {
                hide();
                setScrollTop(event.currentTarget.scrollTop);
            }}
            {...chartListeners(navigation, hide, setFocus)}
            onPointerMove={(event) => {
                navigation.onPointerMove(event);
                onPointerMove(event);
            }}
            onClick={(event) => {
                const rect = navigation.hasDragged() ? -1 : rectUnder(event);
                if (rect < 0) return;
                select(rect);
                act(rowOf(session, markerOf(frame, rect)));
            }}
            onDblClick={(event) => {
                const rect = rectUnder(event);
                if (rect >= 0) act(rowOf(session, markerOf(frame, rect)).then((row) => row && selectMarkerRange(row)));
            }}
            onKeyDown={(event) => {
                if (event.target !== event.currentTarget) return;
                if (pressKey(session, chart, event, hide, navigation.onKeyDown)) event.preventDefault();
            }}
            onFocus={() => setFocus(true)}
            onContextMenu={(event) => {
                hide();
                act(openChartMenu(session, chart, event, select));
            }}
        >
            <div class="chart-content" style={{ height: `${Math.max(height, size.height)}px` }}>
                {hasMarkers && (
                    <canvas
                        ref={canvas}
                        class="chart-canvas"
                        style={{ width: `${size.width}px`, height: `${size.height}px` }}
                    />
                )}
                {message !== '' && (
                    <p class="empty" role="alert">
                        {message}
                    </p>
                )}
                {message === '' && markerLayout.value && !hasMarkers && <EmptyMarkers />}
            </div>
            <p id="chart-selection" class="offscreen" role="status">
                {describe(session, selectedRow)}
            </p>
            <ShownRange shown={frame.shown} />
        </div>
    );
}

/** The selected range, unless the chart shows all, with a button to show all. */
function ShownRange({ shown }: { shown: [number, number] }): JSX.Element | null {
    const session = useSession();
    const { previewAxis } = session.axis;
    const { placeText } = session.axisText;
    const [from, to] = previewAxis.limits();
    if (shown[0] <= from && shown[1] >= to) return null;
    return (
        <div class="chart-note sticky">
            <span>{`${placeText(shown[0])} to ${placeText(shown[1])}`}</span>
            <button
                type="button"
                class="button"
                title="Show the full range (Esc)"
                onClick={() => previewAxis.show([from, to])}
            >
                Show all
            </button>
        </div>
    );
}
