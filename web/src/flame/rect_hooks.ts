/** Hooks of a chart of rects, which handle scrolling, the mouse and keys. */
import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type ChartNavigation, isPlainArrow } from '../ui/chart_navigation';
import { useSelectionMenu } from '../ui/use';
import { openMenu, tooltip, tooltipShower } from '../window/windows';
import { type Frame, type Place, ROW_HEIGHT, rectAt, sidesOf, topOf } from './draw_rects';
import type { RectChartProps } from './RectChart';
import { firstPlace, neighbor, samePlace, scrollToRow, selectedPlace } from './rect_steps';

/** The element that scrolls, and the frame that the page drew in it last. */
export interface Chart {
    scroller: RefObject<HTMLDivElement | null>;
    frame: () => Frame;
    /** The x of the canvas at which the keyboard moved last, px. */
    lastX: RefObject<number>;
}

/** Keeps the bottom in view of a chart that grows from the bottom. Returns the scroll position in px and a listener. */
export function useChartScroll(
    scroller: RefObject<HTMLDivElement | null>,
    { contentHeight, fromBottom, height }: { contentHeight: number; fromBottom: boolean; height: number },
): { scrollTop: number; onScroll: () => void } {
    const [scrollTop, setScrollTop] = useState(0);
    const belowView = useRef(0);
    const wasFromBottom = useRef(fromBottom);
    useLayoutEffect(() => {
        const element = scroller.current;
        if (!element || height === 0) return;
        // After inversion, the graph shows its roots first.
        if (wasFromBottom.current !== fromBottom) {
            wasFromBottom.current = fromBottom;
            belowView.current = 0;
            element.scrollTop = 0;
            setScrollTop(0);
        }
        if (!fromBottom) return;
        element.scrollTop = contentHeight - height - belowView.current;
        setScrollTop(element.scrollTop);
    }, [contentHeight, fromBottom, height]);
    const onScroll = (): void => {
        const element = scroller.current;
        if (!element) return;
        belowView.current = element.scrollHeight - element.clientHeight - element.scrollTop;
        setScrollTop(element.scrollTop);
    };
    return { scrollTop, onScroll };
}

/** Scrolls to the selected rect when `reveal` changes. */
export function useReveal({ scroller, frame, lastX }: Chart, reveal: unknown, contentHeight: number): void {
    useLayoutEffect(() => {
        const element = scroller.current;
        const { bands, fromBottom, height } = frame();
        const place = selectedPlace(frame(), lastX.current ?? 0);
        const band = place && bands[place.band];
        if (!element || !band) return;
        const row = band.firstRow + (band.rects.depth[place.rect] ?? 0);
        const { scrollTop } = element;
        element.scrollTop = scrollToRow(row, { contentHeight, fromBottom, height, scrollTop });
    }, [reveal]);
}

/** Returns the rect under the mouse, and its tooltip. */
export function useHover(chart: Chart, props: RectChartProps, placeOf: (event: MouseEvent) => Place | null) {
    const [hovered, setHovered] = useState<Place | null>(null);
    /** The rect of the shown or requested tooltip, whose text may arrive after the user has left the chart. */
    const wanted = useRef<Place | null>(null);
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
        if (event.buttons !== 0) {
            hide();
            return;
        }
        const place = placeOf(event);
        const { clientX: x, clientY: y } = event;
        const pointer = { x, y, chart: chart.scroller.current };
        if (!place && hovered) hide();
        props.onHover?.(pointer);
        if (!place) return;
        const isAggregate = props.bands[place.band]?.rects.func[place.rect] === -1;
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
    return { hovered, hide, onPointerMove };
}

/** Selects rects by mouse and by keyboard, and opens the menu of the selected rect. */
export function useSelection(chart: Chart, props: RectChartProps) {
    const { scroller, frame, lastX } = chart;
    const selected = (): Place | null => selectedPlace(frame(), lastX.current ?? 0);

    const select = (place: Place): void => {
        const { bands, left: start, width } = frame();
        const band = bands[place.band];
        if (band) {
            const [left, right] = sidesOf(frame(), band, place.rect);
            lastX.current = (Math.max(left, start) + Math.min(right, start + width)) / 2;
        }
        props.onSelect(place);
    };

    /** Returns the lower left corner of a rect in the window. */
    const cornerOf = (place: Place, area: DOMRect): { x: number; y: number } => {
        const band = frame().bands[place.band];
        if (!band) return { x: area.left, y: area.top };
        const [left] = sidesOf(frame(), band, place.rect);
        const top = topOf(frame(), band.firstRow + (band.rects.depth[place.rect] ?? 0)) + ROW_HEIGHT;
        return { x: area.left + Math.max(left, 0), y: area.top + top };
    };

    /** `pointed` is the rect under the mouse, or undefined if a key opened the menu. */
    const openMenuAt = (event: MouseEvent, pointed: Place | null | undefined): void => {
        const element = scroller.current;
        if (!element) return;
        const area = element.getBoundingClientRect();
        const found = pointed === undefined ? selected() : pointed;
        const place = found && frame().bands[found.band]?.rects.func[found.rect] !== -1 ? found : null;
        const mouse = pointed === undefined ? null : { x: event.clientX, y: event.clientY };
        if (!place) {
            openMenu(mouse ?? { x: area.left, y: area.top }, props.otherItems(), element);
            return;
        }
        select(place);
        const { items, later } = props.menuOf(place);
        openMenu(mouse ?? cornerOf(place, area), items, element, later);
    };

    const offerMenu = useSelectionMenu(() => {
        const place = selected();
        return place ? props.menuOf(place).items : props.otherItems();
    });
    return { select, openMenuAt, offerMenu };
}

/** Returns whether the key had an effect. */
export function pressKey(
    event: KeyboardEvent,
    { frame, lastX }: Chart,
    props: RectChartProps,
    { navigation, select }: { navigation: ChartNavigation; select: (place: Place) => void },
): boolean {
    const current = selectedPlace(frame(), lastX.current || frame().width / 2);
    if (!isPlainArrow(event)) return navigation.onKeyDown(event) || props.onKey(event, current);
    const next = current ? neighbor(frame(), current, event.key) : firstPlace(frame());
    if (next) select(next);
    return true;
}

/** Returns the rect under the mouse. */
export function placeBelow(event: MouseEvent, canvas: HTMLCanvasElement | null, frame: Frame): Place | null {
    const area = canvas?.getBoundingClientRect();
    return area ? rectAt(frame, event.clientX - area.left, event.clientY - area.top) : null;
}
