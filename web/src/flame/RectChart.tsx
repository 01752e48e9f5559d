/**
 * A chart of stacked rects, shared by the flame graph and the stack chart. It draws, finds the rect under the mouse,
 * moves between rects by keyboard, and scrolls and zooms like all charts. Its view knows the meaning of the rects.
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

/** Where the mouse is in the window, and the chart. */
export interface PointerPlace {
    x: number;
    y: number;
    chart: HTMLElement | null;
}

export interface RectChartProps {
    label: string;
    bands: readonly Band[];
    rowCount: number;
    /** The first row is at the bottom. */
    fromBottom: boolean;
    axis: Axis;
    /** px at the left and the right that are not the axis's. */
    margins: [number, number];
    /** px: the axis, if it is not what the margins leave. */
    plotWidth?: number;
    hasWasd: boolean;
    /** Rects are followed from one answer to the next. */
    moves?: boolean;
    /** Another one scrolls to the selected rect. */
    reveal: unknown;
    /** Describes the selected rect to screen readers. */
    description: string;
    onSelect(place: Place): void;
    /** Double click, or its key. */
    onOpen(place: Place): void;
    /** Whether the view handles the key; `place`: the selected rect. */
    onKey(event: KeyboardEvent, place: Place | null): boolean;
    menuOf(place: Place): MenuItems;
    /** The menu where there is no rect. */
    otherItems(): MenuItem[];
    /** Shown at once; another answer may come later. */
    tooltipOf(place: Place, show: (content: ComponentChildren) => void, pointer: PointerPlace): void;
    /** The mouse is over the chart, or has left. */
    onHover?(pointer: PointerPlace | null): void;
    /** Over or beside the rects. */
    children?: ComponentChildren;
    /** Instead of the rects, if there are none. */
    empty: ComponentChildren;
}

/** The canvas of the chart, drawn after each render, with the names that fit. */
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
                hide(); // its place may have moved
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
