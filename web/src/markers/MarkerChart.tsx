/**
 * The markers of the view over time: a row of rects for each name, under the names of their categories. Zooming is
 * choosing a range, as in all charts over time.
 */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Session } from '../app/session';
import { pixelRatio } from '../base/canvas';
import { plainText } from '../base/plain';
import { chartColors } from '../base/rect_colors';
import type { MarkerRow } from '../engine/markers';
import { useSession } from '../session/context';
import { useChartNavigation } from '../ui/chart_navigation';
import { useLatest, useSize } from '../ui/use';
import { theme } from '../window/theme';
import { act, GRAPH_MARGIN, LABEL_WIDTH, type MenuItem, menuItem, openMenu, tooltip } from '../window/windows';
import { drawMarkerChart, lineAt, type MarkerFrame, markerRectAt, xOf } from './draw_marker_chart';
import { EmptyMarkers } from './MarkerTable';
import { CHART_ROW_HEIGHT } from './marker_chart';
import { actionOfKey, durationText, MarkerTooltip, markerItems, startText } from './marker_parts';

const LABEL_LIMIT = 300;

/** The marker of a rect with its times and label, once the engine has said them. */
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

/** The rect that an arrow leads to: left and right to the next of the row, up and down to the nearest of the next row. */
function neighbor(frame: MarkerFrame, from: number, key: string): number {
    const { rects } = frame;
    if (!rects) return -1;
    const count = rects.row.length;
    const isShown = (rect: number): boolean =>
        (rects.end[rect] ?? 0) >= frame.shown[0] && (rects.start[rect] ?? 0) <= frame.shown[1];
    if (from < 0) return rects.row.findIndex((_, rect) => isShown(rect));
    const row = rects.row[from] ?? 0;
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
        const next = from + (key === 'ArrowLeft' ? -1 : 1);
        return next >= 0 && next < count && rects.row[next] === row ? next : -1;
    }
    const step = key === 'ArrowUp' ? -1 : 1;
    const time = ((rects.start[from] ?? 0) + (rects.end[from] ?? 0)) / 2;
    for (let wanted = row + step; wanted >= 0 && wanted < frame.rows.length; wanted += step) {
        let best = -1;
        let least = Number.POSITIVE_INFINITY;
        for (let rect = 0; rect < count; rect++) {
            if (rects.row[rect] !== wanted || !isShown(rect)) continue;
            const distance = Math.max(0, (rects.start[rect] ?? 0) - time, time - (rects.end[rect] ?? 0));
            if (distance < least) {
                best = rect;
                least = distance;
            }
        }
        if (best >= 0) return best;
    }
    return -1;
}

const ARROWS = new Set(['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight']);

export function MarkerChart(): JSX.Element {
    const session = useSession();
    const { engine, info } = session;
    const { previewAxis } = session.axis;
    const { saveItems } = session.exports;
    const { hoverTime } = session.hover;
    const { chartLines, chartWindow, markerLayout, markerRects } = session.markerChart;
    const {
        chartQuery,
        markerChartLabel,
        markerDetails,
        markerTextsVersion,
        markersError,
        selectMarker,
        selectMarkerRange,
        selectedMarker,
        setPreviewEnd,
        setPreviewStart,
    } = session.markers;
    const { categoryName, changeView } = session.store;
    const scroller = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const size = useSize(scroller);
    const [scrollTop, setScrollTop] = useState(0);
    const [hovered, setHovered] = useState(-1);
    const [hasFocus, setFocus] = useState(false);
    const wanted = useRef(-1);
    markerTextsVersion.value;

    const { rows, lines, lineOfRow, height } = chartLines.value;
    const rects = markerRects.value;
    const { categories } = info.value;
    const frame: MarkerFrame = {
        rows,
        lines,
        lineOfRow,
        rects,
        shown: previewAxis.shown(),
        canvasWidth: size.width,
        height: size.height,
        left: LABEL_WIDTH,
        width: Math.max(1, size.width - LABEL_WIDTH - GRAPH_MARGIN),
        scrollTop,
        hovered,
        selected: selectedMarker.value,
        hasFocus,
        colors: chartColors(categories, theme.value),
        categoryName: (category) => plainText(categoryName(category), LABEL_LIMIT),
        label: (marker) => plainText(markerChartLabel(marker)?.label ?? '', LABEL_LIMIT),
        rowName: (row) => plainText(rows[row]?.name || '(no name)', LABEL_LIMIT),
    };
    const latest = useLatest(frame);
    useLayoutEffect(() => {
        if (canvas.current && size.width > 0) drawMarkerChart(canvas.current, frame);
    });
    useLayoutEffect(() => {
        if (size.height === 0) return;
        const first = lineAt(lines, scrollTop)?.row ?? 0;
        const last = (lineAt(lines, scrollTop + size.height)?.row ?? rows.length) + 1;
        const pixels = Math.round(frame.width * pixelRatio());
        const now = chartWindow.peek();
        if (now.first !== first || now.last !== last || now.pixels !== pixels)
            chartWindow.value = { first, last, pixels };
    }, [lines, scrollTop, size.width, size.height]);

    // The keyboard walks the chart from the start.
    useLayoutEffect(() => {
        if (document.activeElement === document.body) scroller.current?.focus({ preventScroll: true });
    }, []);

    const plot = (): { left: number; width: number } => ({
        left: (scroller.current?.getBoundingClientRect().left ?? 0) + LABEL_WIDTH,
        width: latest.current?.width ?? 1,
    });
    const navigation = useChartNavigation(scroller, { axis: previewAxis, plot, hasWasd: true });

    const hide = (): void => {
        wanted.current = -1;
        if (hovered >= 0) setHovered(-1);
        if (tooltip.value) tooltip.value = null;
        if (hoverTime.value !== null) hoverTime.value = null;
    };
    const rectUnder = (event: MouseEvent): number => {
        const area = canvas.current?.getBoundingClientRect();
        return area ? markerRectAt(frame, event.clientX - area.left, event.clientY - area.top) : -1;
    };
    const timeUnder = (event: MouseEvent): number => {
        const { left, width } = plot();
        const [from, to] = frame.shown;
        return from + Math.min(1, Math.max(0, (event.clientX - left) / width)) * (to - from);
    };
    const markerOf = (rect: number): number => rects?.marker[rect] ?? -1;
    const select = (rect: number): void => {
        const area = scroller.current;
        const line = lines[lineOfRow[rects?.row[rect] ?? -1] ?? -1];
        if (rect < 0 || !area || !line) return;
        if (line.top < area.scrollTop) area.scrollTop = line.top - CHART_ROW_HEIGHT;
        else if (line.top + 2 * line.height > area.scrollTop + size.height)
            area.scrollTop = line.top + 2 * line.height - size.height;
        selectMarker(markerOf(rect), false);
    };
    const onPointerMove = (event: PointerEvent): void => {
        navigation.onPointerMove(event);
        if (event.buttons !== 0) {
            hide();
            return;
        }
        hoverTime.value = event.clientX >= plot().left ? timeUnder(event) : null;
        const rect = rectUnder(event);
        const { clientX: x, clientY: y } = event;
        if (rect < 0) {
            wanted.current = -1;
            if (hovered >= 0) setHovered(-1);
            if (tooltip.value) tooltip.value = null;
            return;
        }
        if (rect === hovered) {
            if (tooltip.value) tooltip.value = { ...tooltip.value, x, y };
            return;
        }
        setHovered(rect);
        wanted.current = rect;
        const count = rects?.count[rect] ?? 1;
        act(
            engine.markerDetails(chartQuery.peek(), markerOf(rect)).then((marker) => {
                if (wanted.current === rect)
                    tooltip.value = { x, y, content: <MarkerTooltip marker={marker} count={count} /> };
            }),
        );
    };
    const onContextMenu = async (event: MouseEvent): Promise<void> => {
        const isMouse = event.button === 2;
        const selectedRect = rects ? rects.marker.indexOf(selectedMarker.value) : -1;
        const rect = isMouse ? rectUnder(event) : selectedRect;
        const owner = scroller.current;
        if (!owner || (rect < 0 && !isMouse)) return;
        event.preventDefault();
        hide();
        const area = owner.getBoundingClientRect();
        const line = lines[lineOfRow[rects?.row[rect] ?? -1] ?? -1];
        const place = isMouse
            ? { x: event.clientX, y: event.clientY }
            : {
                  x: area.left + Math.max(LABEL_WIDTH, xOf(frame, rects?.start[rect] ?? 0)),
                  y: area.top + (line?.top ?? 0) - scrollTop + CHART_ROW_HEIGHT,
              };
        const time = timeUnder(event);
        if (rect >= 0) select(rect);
        const row = rect >= 0 ? await rowOf(session, markerOf(rect)) : undefined;
        const here: MenuItem[] = isMouse
            ? [
                  menuItem('Start the selection here', () => setPreviewStart(time), { startsGroup: row !== undefined }),
                  menuItem('End the selection here', () => setPreviewEnd(time)),
              ]
            : [];
        const inTable = row
            ? [
                  menuItem('Show in the marker table', () => changeView({ tab: 'marker-table' }, 'push'), {
                      startsGroup: true,
                  }),
              ]
            : [];
        openMenu(place, [...(row ? markerItems(session, row) : []), ...here, ...inTable, ...saveItems()], owner);
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        if (event.target !== event.currentTarget) return;
        const current = rects ? rects.marker.indexOf(selectedMarker.value) : -1;
        const isPlain = !event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey;
        const action = current >= 0 ? actionOfKey(session, event) : null;
        if (ARROWS.has(event.key) && isPlain) select(neighbor(frame, current, event.key));
        else if (navigation.onKeyDown(event)) hide();
        else if (action) act(rowOf(session, markerOf(current)).then((row) => row && action(row)));
        else return;
        event.preventDefault();
    };

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
            onWheel={(event) => {
                hide();
                navigation.onWheel(event);
            }}
            onPointerDown={navigation.onPointerDown}
            onPointerMove={onPointerMove}
            onPointerLeave={() => {
                navigation.onPointerLeave();
                hide();
            }}
            onClick={(event) => {
                const rect = navigation.hasDragged() ? -1 : rectUnder(event);
                if (rect < 0) return;
                select(rect);
                act(rowOf(session, markerOf(rect)));
            }}
            onDblClick={(event) => {
                const rect = rectUnder(event);
                if (rect >= 0)
                    act(
                        rowOf(session, markerOf(rect)).then((row) => {
                            if (row) selectMarkerRange(row);
                        }),
                    );
            }}
            onKeyDown={onKeyDown}
            onKeyUp={navigation.onKeyUp}
            onFocus={() => setFocus(true)}
            onBlur={() => {
                navigation.onBlur();
                setFocus(false);
            }}
            onContextMenu={(event) => act(onContextMenu(event))}
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

/** That not all of the time is to be seen, and the way back. */
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
