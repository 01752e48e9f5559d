/**
 * A chart of stacked rects, with which the page shows the flame graph and the stack chart. Draws rects, finds the rect
 * under the mouse, moves between rects by keyboard, and scrolls and zooms like all charts. Only the view knows the
 * meaning of the rects.
 */
import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Session } from '../app/session';
import { chartColors } from '../base/rect_colors';
import type { MenuItems } from '../calltree/node_menu';
import type { Axis } from '../session/axis';
import { useSession } from '../session/context';
import { chartListeners, useChartNavigation } from '../ui/chart_navigation';
import { useFirstFocus, useSize } from '../ui/use';
import { theme } from '../window/theme';
import type { MenuItem } from '../window/windows';
import { type Band, type Frame, type Place, ROW_HEIGHT } from './draw_rects';
import { type Chart, placeBelow, pressKey, useChartScroll, useHover, useReveal, useSelection } from './rect_hooks';
import { fetchShownNames, rectLabel } from './rect_names';
import { useMovingRects } from './use_moves';

/** The position of the mouse in the window, and the chart. */
export interface PointerPlace {
    x: number;
    y: number;
    chart: HTMLElement | null;
}

export interface RectChartProps {
    label: string;
    bands: readonly Band[];
    rowCount: number;
    /** Whether the first row is at the bottom. */
    fromBottom: boolean;
    axis: Axis;
    /** The width at the left and the right of the axis, px. */
    margins: [number, number];
    /** The width of the axis, px; default: all between the margins. */
    plotWidth?: number;
    hasWasd: boolean;
    /** Whether rects move from their old positions to the positions of a new answer. */
    moves?: boolean;
    /** The chart scrolls to the selected rect when this value changes. */
    reveal: unknown;
    /** The description of the selected rect for screen readers. */
    description: string;
    onSelect(place: Place): void;
    /** Called for a double click on a rect, or for its key. */
    onOpen(place: Place): void;
    /** Called for other keys, with the selected rect. Returns whether the view handles the key. */
    onKey(event: KeyboardEvent, place: Place | null): boolean;
    menuOf(place: Place): MenuItems;
    /** Returns the menu for a place without a rect. */
    otherItems(): MenuItem[];
    /** Shows a tooltip at once, and may show a more complete tooltip later. */
    tooltipOf(place: Place, show: (content: ComponentChildren) => void, pointer: PointerPlace): void;
    /** Called when the mouse moves over the chart, and with null when the mouse leaves. */
    onHover?(pointer: PointerPlace | null): void;
    /** Elements over or beside the rects. */
    children?: ComponentChildren;
    /** Shown if the chart has no rects. */
    empty: ComponentChildren;
}

/** Draws the canvas after each render, with the names that fit. */
function useDrawing(canvas: RefObject<HTMLCanvasElement | null>, session: Session, frame: Frame, moves: boolean): void {
    const { coloredRects, fetchColorNames } = session.coloring;
    const { bands, canvasWidth, shown } = frame;
    useMovingRects(canvas, frame, moves);
    useLayoutEffect(() => fetchShownNames(session, frame), [bands, canvasWidth, shown[0], shown[1]]);
    useLayoutEffect(() => {
        coloredRects.value = bands.map((band) => band.rects);
        fetchColorNames(coloredRects.value);
    }, [bands, session.coloring.colorBy.value]);
    useEffect(
        () => () => {
            coloredRects.value = [];
        },
        [],
    );
}

export function RectChart(props: RectChartProps): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { bands, rowCount, fromBottom, axis, margins } = props;
    const scroller = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const size = useSize(scroller);
    const [hasFocus, setFocus] = useState(false);
    session.names.namesVersion.value;

    const colors = useMemo(() => chartColors(info.value.categories, theme.value), [info.value, theme.value]);
    const contentHeight = Math.max(rowCount * ROW_HEIGHT, size.height);
    const { scrollTop, onScroll } = useChartScroll(scroller, { contentHeight, fromBottom, height: size.height });
    const latestFrame = useRef<Frame | null>(null);
    const chart: Chart = { scroller, frame: () => latestFrame.current ?? frame, lastX: useRef(0) };
    const placeOf = (event: MouseEvent): Place | null => placeBelow(event, canvas.current, chart.frame());
    const { hovered, hide, onPointerMove } = useHover(chart, props, placeOf);
    const frame: Frame = {
        bands,
        shown: axis.shown(),
        canvasWidth: size.width,
        height: size.height,
        left: margins[0],
        width: Math.max(1, props.plotWidth ?? size.width - margins[0] - margins[1]),
        origin: (fromBottom ? contentHeight : 0) - scrollTop,
        fromBottom,
        hovered,
        hasFocus,
        colors,
        colorsAt: session.coloring.colorsAt(colors),
        label: (func) => rectLabel(session, func),
    };
    latestFrame.current = frame;
    useDrawing(canvas, session, frame, props.moves ?? false);
    useFirstFocus(scroller);
    useReveal(chart, props.reveal, contentHeight);

    const plot = (): { left: number; width: number } => ({
        left: (scroller.current?.getBoundingClientRect().left ?? 0) + frame.left,
        width: chart.frame().width,
    });
    const navigation = useChartNavigation(scroller, { axis, plot, hasWasd: props.hasWasd });
    const { select, openMenuAt, offerMenu } = useSelection(chart, props);

    const hasSelection = bands.some((band) => band.selected.includes(1));
    const hasRects = bands.some((band) => band.rects.depth.length > 0);
    return (
        <div
            ref={scroller}
            class={hasSelection ? 'chart' : 'chart unselected'}
            role="application"
            aria-roledescription="chart"
            aria-label={props.label}
            aria-describedby="chart-selection"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: an application is walked by keyboard
            tabIndex={0}
            onScroll={() => {
                hide();
                onScroll();
            }}
            {...chartListeners(navigation, hide, setFocus)}
            onPointerMove={(event) => {
                navigation.onPointerMove(event);
                onPointerMove(event);
            }}
            onClick={(event) => {
                const place = navigation.hasDragged() ? null : placeOf(event);
                if (place && bands[place.band]?.rects.func[place.rect] !== -1) select(place);
            }}
            onDblClick={(event) => {
                const place = placeOf(event);
                if (place) props.onOpen(place);
            }}
            onKeyDown={(event) => {
                if (event.target !== event.currentTarget) return;
                if (!pressKey(event, chart, props, { navigation, select })) return;
                hide(); // the rect may have moved
                event.preventDefault();
            }}
            onFocus={() => {
                offerMenu();
                setFocus(true);
            }}
            onContextMenu={(event) => {
                event.preventDefault();
                hide();
                openMenuAt(event, event.button === 2 ? placeOf(event) : undefined);
            }}
        >
            <div class="chart-content" style={{ height: `${contentHeight}px` }}>
                <canvas
                    ref={canvas}
                    class="chart-canvas"
                    style={{ width: `${size.width}px`, height: `${size.height}px` }}
                />
                {props.children}
            </div>
            {!hasRects && props.empty}
            <p id="chart-selection" class="offscreen" role="status">
                {props.description}
            </p>
        </div>
    );
}
