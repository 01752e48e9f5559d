/**
 * A chart of rects that lie on one another: what the flame graph and the stack chart have in common. It draws, finds what
 * is under the mouse, walks from rect to rect by keyboard, and moves as all charts do. What a rect is, its view knows.
 */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Session } from '../app/session';
import { plainText } from '../base/plain';
import { chartColors } from '../base/rect_colors';
import type { MenuItems } from '../calltree/node_menu';
import type { Axis } from '../session/axis';
import { useSession } from '../session/context';
import { shortName } from '../table/weight_columns';
import { useChartNavigation } from '../ui/chart_navigation';
import { useLatest, useSelectionMenu, useSize } from '../ui/use';
import { foldsTemplates } from '../window/settings';
import { theme } from '../window/theme';
import { act, type MenuItem, openMenu, tooltip, tooltipShower } from '../window/windows';
import { type Band, drawRects, type Frame, type Place, ROW_HEIGHT, rectAt, sidesOf, topOf } from './draw_rects';

const LABEL_LIMIT = 400;
/** px that a name needs at least: names of narrower rects are not asked for. */
const NAME_WIDTH = 24;
const MOST_NAMES = 5000;

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
    /** Another one scrolls to the selected rect. */
    reveal: unknown;
    /** What is said of the selected rect, for those who do not see it. */
    description: string;
    onSelect(place: Place): void;
    /** Double click, or its key. */
    onOpen(place: Place): void;
    /** Whether the key means something to the view; `place`: the selected rect. */
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

function samePlace(a: Place | null, b: Place | null): boolean {
    return a?.band === b?.band && a?.rect === b?.rect;
}

function label(session: Session, func: number): string {
    const { foldedLabels, fullLabels, funcName } = session.names;
    const known = foldsTemplates.value ? foldedLabels : fullLabels;
    const text = known.get(func);
    if (text !== undefined) return text;
    const name = funcName(func);
    if (!name) return '';
    const made = plainText(shortName(name.name), LABEL_LIMIT);
    known.set(func, made);
    return made;
}

/** The selected rect that is nearest to a place on the screen. */
function selectedPlace(frame: Frame, nearX: number): Place | null {
    let found: Place | null = null;
    let least = Number.POSITIVE_INFINITY;
    frame.bands.forEach((band, at) => {
        for (let rect = 0; rect < band.selected.length; rect++) {
            if (band.selected[rect] !== 1) continue;
            const [left, right] = sidesOf(frame, band, rect);
            const distance = Math.abs((left + right) / 2 - nearX);
            if (distance < least) {
                found = { band: at, rect };
                least = distance;
            }
        }
    });
    return found;
}

/** The rect that an arrow leads to: up and down to callees and callers, left and right to the next of the row. */
function neighbor(frame: Frame, { band: at, rect }: Place, key: string): Place | null {
    const band = frame.bands[at];
    if (!band) return null;
    const { depth, parent, start, end, func } = band.rects;
    const isToCallee = key === (frame.fromBottom ? 'ArrowUp' : 'ArrowDown');
    if (key === 'ArrowUp' || key === 'ArrowDown') {
        if (!isToCallee) {
            const below = parent[rect] ?? -1;
            return below >= 0 ? { band: at, rect: below } : null;
        }
        let widest = -1;
        const width = (other: number): number => (end[other] ?? 0) - (start[other] ?? 0);
        for (let i = 0; i < depth.length; i++)
            if (parent[i] === rect && func[i] !== -1 && (widest < 0 || width(i) > width(widest))) widest = i;
        return widest >= 0 ? { band: at, rect: widest } : null;
    }
    const step = key === 'ArrowLeft' ? -1 : 1;
    for (let i = rect + step; i >= 0 && i < depth.length; i += step) {
        if (depth[i] !== depth[rect] || func[i] === -1) continue;
        const [left, right] = sidesOf(frame, band, i);
        if (right > frame.left && left < frame.left + frame.width) return { band: at, rect: i };
    }
    return null;
}

const ARROWS = new Set(['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight']);

/** Gets the names that there is room for. */
function fetchShownNames(session: Session, frame: Frame): void {
    const { fetchNames, funcName } = session.names;
    const funcs = new Set<number>();
    for (const band of frame.bands) {
        const scale = (frame.width * (band.span[1] - band.span[0])) / (frame.shown[1] - frame.shown[0]);
        const { start, end, func } = band.rects;
        for (let i = 0; i < func.length && funcs.size < MOST_NAMES; i++)
            if (((end[i] ?? 0) - (start[i] ?? 0)) * scale >= NAME_WIDTH && func[i] !== -1) funcs.add(func[i] ?? 0);
    }
    const missing = [...funcs].filter((func) => funcName(func) === undefined);
    if (missing.length > 0) act(fetchNames(missing));
}

export function RectChart(props: RectChartProps): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { namesVersion } = session.names;
    const { colorBy, coloredRects, colorsAt, fetchColorNames } = session.coloring;
    const { bands, rowCount, fromBottom, axis, margins } = props;
    const scroller = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const size = useSize(scroller);
    const [scrollTop, setScrollTop] = useState(0);
    const [hovered, setHovered] = useState<Place | null>(null);
    const [hasFocus, setFocus] = useState(false);
    const lastX = useRef(0);
    namesVersion.value;

    const colors = useMemo(() => chartColors(info.value.categories, theme.value), [info.value, theme.value]);
    const contentHeight = Math.max(rowCount * ROW_HEIGHT, size.height);
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
        colorsAt: colorsAt(colors),
        label: (func) => label(session, func),
    };
    const latestFrame = useLatest(frame);

    useLayoutEffect(() => {
        if (canvas.current && size.width > 0) drawRects(canvas.current, frame);
    });
    useLayoutEffect(() => fetchShownNames(session, frame), [bands, size.width, frame.shown[0], frame.shown[1]]);

    useLayoutEffect(() => {
        coloredRects.value = bands.map((band) => band.rects);
        fetchColorNames(coloredRects.value);
    }, [bands, colorBy.value]);
    useEffect(
        () => () => {
            coloredRects.value = [];
        },
        [],
    );

    // The keyboard walks the rects from the start; what grows from the bottom is seen from there.
    useLayoutEffect(() => {
        if (document.activeElement === document.body) scroller.current?.focus({ preventScroll: true });
    }, []);
    const belowView = useRef(0);
    const wasFromBottom = useRef(fromBottom);
    useLayoutEffect(() => {
        const element = scroller.current;
        if (!element || size.height === 0) return;
        // A graph that was turned begins with its roots.
        if (wasFromBottom.current !== fromBottom) {
            wasFromBottom.current = fromBottom;
            belowView.current = 0;
            element.scrollTop = 0;
            setScrollTop(0);
        }
        if (!fromBottom) return;
        element.scrollTop = contentHeight - size.height - belowView.current;
        setScrollTop(element.scrollTop);
    }, [contentHeight, fromBottom, size.height]);

    // Brings the selected rect into view.
    useLayoutEffect(() => {
        const element = scroller.current;
        const shown = latestFrame.current;
        const place = shown && selectedPlace(shown, lastX.current);
        const band = place && shown.bands[place.band];
        if (!element || !band) return;
        const row = band.firstRow + (band.rects.depth[place.rect] ?? 0);
        const top = fromBottom ? contentHeight - (row + 1) * ROW_HEIGHT : row * ROW_HEIGHT;
        if (top < element.scrollTop) element.scrollTop = top - ROW_HEIGHT;
        else if (top + ROW_HEIGHT > element.scrollTop + size.height)
            element.scrollTop = top + 2 * ROW_HEIGHT - size.height;
    }, [props.reveal, latestFrame]);

    const plot = (): { left: number; width: number } => {
        const left = scroller.current?.getBoundingClientRect().left ?? 0;
        return { left: left + frame.left, width: latestFrame.current?.width ?? 1 };
    };
    const navigation = useChartNavigation(scroller, { axis, plot, hasWasd: props.hasWasd });

    const placeOf = (event: MouseEvent): Place | null => {
        const rect = canvas.current?.getBoundingClientRect();
        return rect ? rectAt(frame, event.clientX - rect.left, event.clientY - rect.top) : null;
    };
    const wanted = useRef<Place | null>(null);
    // What a tooltip is to say may come after the chart has gone.
    useEffect(
        () => () => {
            wanted.current = null;
        },
        [],
    );
    const hide = (): void => {
        wanted.current = null;
        if (hovered) setHovered(null);
        if (tooltip.value) tooltip.value = null;
        props.onHover?.(null);
    };
    const onPointerMove = (event: PointerEvent): void => {
        navigation.onPointerMove(event);
        if (event.buttons !== 0) {
            hide();
            return;
        }
        const place = placeOf(event);
        const { clientX: x, clientY: y } = event;
        const pointer = { x, y, chart: scroller.current };
        props.onHover?.(pointer);
        if (!place) {
            if (hovered) {
                hide();
                props.onHover?.(pointer);
            }
            return;
        }
        const band = bands[place.band];
        const isAggregate = band?.rects.func[place.rect] === -1;
        if (samePlace(place, hovered) && !isAggregate && tooltip.value) {
            tooltip.value = { ...tooltip.value, x, y };
            return;
        }
        setHovered(place);
        wanted.current = place;
        const showTooltip = tooltipShower();
        const show = (content: ComponentChildren): void => {
            if (wanted.current === place) showTooltip({ x, y, content });
        };
        props.tooltipOf(place, show, pointer);
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        if (event.target !== event.currentTarget) return;
        const current = selectedPlace(frame, lastX.current || frame.width / 2);
        const isArrow = ARROWS.has(event.key) && !event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey;
        if (isArrow) {
            const next = current ? neighbor(frame, current, event.key) : firstPlace(frame);
            if (next) select(next);
        } else if (!navigation.onKeyDown(event) && !props.onKey(event, current)) return;
        hide(); // it is about a place that may have moved
        event.preventDefault();
    };
    const select = (place: Place): void => {
        const band = bands[place.band];
        if (band) {
            const [left, right] = sidesOf(frame, band, place.rect);
            lastX.current = (Math.max(left, frame.left) + Math.min(right, frame.left + frame.width)) / 2;
        }
        props.onSelect(place);
    };
    const offerMenu = useSelectionMenu(() => {
        const place = selectedPlace(frame, lastX.current);
        return place ? props.menuOf(place).items : props.otherItems();
    });
    const onContextMenu = (event: MouseEvent): void => {
        const isMouse = event.button === 2;
        const place = isMouse ? placeOf(event) : selectedPlace(frame, lastX.current);
        const element = scroller.current;
        const band = place && bands[place.band];
        if (!element) return;
        event.preventDefault();
        hide();
        const area = element.getBoundingClientRect();
        if (!place || !band || band.rects.func[place.rect] === -1) {
            const corner = isMouse ? { x: event.clientX, y: event.clientY } : { x: area.left, y: area.top };
            openMenu(corner, props.otherItems(), element);
            return;
        }
        select(place);
        const [left] = sidesOf(frame, band, place.rect);
        const top = topOf(frame, band.firstRow + (band.rects.depth[place.rect] ?? 0)) + ROW_HEIGHT;
        const at = isMouse
            ? { x: event.clientX, y: event.clientY }
            : { x: area.left + Math.max(left, 0), y: area.top + top };
        const { items, later } = props.menuOf(place);
        openMenu(at, items, element, later);
    };

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
            onScroll={(event) => {
                hide();
                const { scrollTop: top, scrollHeight, clientHeight } = event.currentTarget;
                belowView.current = scrollHeight - clientHeight - top;
                setScrollTop(top);
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
                const place = navigation.hasDragged() ? null : placeOf(event);
                if (place && bands[place.band]?.rects.func[place.rect] !== -1) select(place);
            }}
            onDblClick={(event) => {
                const place = placeOf(event);
                if (place) props.onOpen(place);
            }}
            onKeyDown={onKeyDown}
            onKeyUp={navigation.onKeyUp}
            onFocus={() => {
                offerMenu();
                setFocus(true);
            }}
            onBlur={() => {
                navigation.onBlur();
                setFocus(false);
            }}
            onContextMenu={onContextMenu}
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

function firstPlace(frame: Frame): Place | null {
    const at = frame.bands.findIndex((band) => band.rects.depth.length > 0);
    return at < 0 ? null : { band: at, rect: 0 };
}
