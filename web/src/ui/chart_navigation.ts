/**
 * Navigation in charts. The wheel scrolls; with Ctrl it zooms around the mouse, and with Shift it moves sideways.
 * Dragging moves. W A S D (or H J K L) move while the user holds them; Q and E (or Y), or Ctrl+↑ and Ctrl+↓, zoom. The
 * chart provides an axis, which defines moving sideways. Moving up and down scrolls the element of the chart.
 */
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { startDrag } from '../base/drag';
import { type Axis, panAxis, zoomAxis } from '../session/axis';
import { useLatest } from './use';

export interface ChartOptions {
    axis: Axis;
    /** Returns the position of the axis on the screen: its left end in the window and its width, px. */
    plot(): { left: number; width: number };
    /** If false, W A S D have other meanings in this chart, and only H J K L move. */
    hasWasd: boolean;
}

/** Listeners for the chart's element, which must be the element that scrolls. */
export interface ChartNavigation {
    onWheel(event: WheelEvent): void;
    onPointerDown(event: PointerEvent): void;
    onPointerMove(event: PointerEvent): void;
    onPointerLeave(): void;
    /** Returns whether the key moved the chart. */
    onKeyDown(event: KeyboardEvent): boolean;
    onKeyUp(event: KeyboardEvent): void;
    onBlur(): void;
    /** Returns whether the current click ends a drag, so that the chart ignores the click. */
    hasDragged(): boolean;
}

/** Returns the listeners that all charts need. `hide` hides the tooltip of a position that may move. */
export function chartListeners(navigation: ChartNavigation, hide: () => void, setFocus: (hasFocus: boolean) => void) {
    return {
        onWheel: (event: WheelEvent): void => {
            hide();
            navigation.onWheel(event);
        },
        onPointerDown: navigation.onPointerDown,
        onPointerLeave: (): void => {
            navigation.onPointerLeave();
            hide();
        },
        onKeyUp: navigation.onKeyUp,
        onBlur: (): void => {
            navigation.onBlur();
            setFocus(false);
        },
    };
}

const ARROWS = new Set(['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight']);

/** Returns whether a key is an arrow without modifiers. */
export function isPlainArrow(event: KeyboardEvent): boolean {
    return ARROWS.has(event.key) && !event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey;
}

type Motion = 'left' | 'right' | 'up' | 'down' | 'in' | 'out';

const WASD: Record<string, Motion> = { w: 'up', a: 'left', s: 'down', d: 'right' };
const LETTERS: Record<string, Motion> = { h: 'left', j: 'down', k: 'up', l: 'right', q: 'in', y: 'in', e: 'out' };

const LINE_HEIGHT = 20;
const ZOOM_PER_PIXEL = 1.003;
/** The browser reports a pinch on a touchpad as wheel events with Ctrl and small distances. */
const PINCH_PIXELS = 10;
const PINCH_FACTOR = 3;
const DRAG_THRESHOLD = 3;
/** The speed of a held key, px per second. */
const KEY_SPEED = 2000;
/** The time of movement when a key goes down, and the longest step between two pictures, ms. */
const FIRST_STEP = 33;
const LONGEST_STEP = 50;

function wheelPixels(event: WheelEvent): number {
    const turned = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.deltaY;
    return event.deltaMode === WheelEvent.DOM_DELTA_LINE ? turned * LINE_HEIGHT : turned;
}

export function useChartNavigation(element: RefObject<HTMLElement | null>, options: ChartOptions): ChartNavigation {
    const latest = useLatest(options);
    const made = useRef<(ChartNavigation & { stop(): void }) | null>(null);
    made.current ??= makeNavigation(element, () => latest.current ?? options);
    useEffect(() => () => made.current?.stop(), []);
    return made.current;
}

function makeNavigation(
    element: RefObject<HTMLElement | null>,
    options: () => ChartOptions,
): ChartNavigation & { stop(): void } {
    const held = new Set<Motion>();
    let frame = 0;
    let lastStep = 0;
    let isDragged = false;
    let mouseX: number | null = null;

    const unitsPerPixel = (): number => {
        const [from, to] = options().axis.shown();
        return (to - from) / Math.max(1, options().plot().width);
    };
    const placeAt = (clientX: number): number => {
        const { left, width } = options().plot();
        const [from, to] = options().axis.shown();
        return from + Math.min(1, Math.max(0, (clientX - left) / Math.max(1, width))) * (to - from);
    };
    const zoomAt = (clientX: number | null, pixels: number): void => {
        const { left, width } = options().plot();
        zoomAxis(options().axis, placeAt(clientX ?? left + width / 2), ZOOM_PER_PIXEL ** pixels);
    };

    const move = (motion: Motion, pixels: number): void => {
        const target = element.current;
        if (motion === 'in') zoomAt(mouseX, -pixels);
        else if (motion === 'out') zoomAt(mouseX, pixels);
        else if (motion === 'left') panAxis(options().axis, -pixels * unitsPerPixel());
        else if (motion === 'right') panAxis(options().axis, pixels * unitsPerPixel());
        else target?.scrollBy(0, motion === 'up' ? -pixels : pixels);
    };
    const step = (now: number): void => {
        const pixels = (Math.min(now - lastStep, LONGEST_STEP) * KEY_SPEED) / 1000;
        lastStep = now;
        for (const motion of held) move(motion, pixels);
        frame = held.size > 0 ? requestAnimationFrame(step) : 0;
    };
    const stop = (): void => {
        held.clear();
        cancelAnimationFrame(frame);
        frame = 0;
    };
    const motionOf = (event: KeyboardEvent): Motion | undefined => {
        if (event.altKey || event.metaKey || event.shiftKey) return undefined;
        if (event.ctrlKey) return event.key === 'ArrowUp' ? 'in' : event.key === 'ArrowDown' ? 'out' : undefined;
        return (options().hasWasd ? WASD[event.key] : undefined) ?? LETTERS[event.key];
    };

    return {
        stop,
        onWheel(event) {
            const isZoom = event.ctrlKey || event.metaKey;
            const isPan = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
            if (!isZoom && !isPan) return;
            event.preventDefault();
            const pixels = wheelPixels(event);
            const isPinch = event.ctrlKey && Math.abs(pixels) < PINCH_PIXELS;
            if (isZoom) zoomAt(event.clientX, isPinch ? pixels * PINCH_FACTOR : pixels);
            else panAxis(options().axis, pixels * unitsPerPixel());
        },
        onPointerDown(event) {
            isDragged = false;
            const target = element.current;
            const { left, width } = options().plot();
            if (event.button !== 0 || !target || event.clientX < left || event.clientX > left + width) return;
            // The browser handles its scroll bar.
            if (event.clientX > target.getBoundingClientRect().left + target.clientLeft + target.clientWidth) return;
            let { clientX, clientY } = event;
            startDrag(event, {
                threshold: DRAG_THRESHOLD,
                keeper: target,
                onMove(next) {
                    const x = next.clientX - clientX;
                    const y = next.clientY - clientY;
                    isDragged = true;
                    ({ clientX, clientY } = next);
                    panAxis(options().axis, -x * unitsPerPixel());
                    target.scrollBy(0, -y);
                },
            });
        },
        onPointerMove(event) {
            mouseX = event.clientX;
        },
        onPointerLeave() {
            mouseX = null;
        },
        onKeyDown(event) {
            const motion = motionOf(event);
            if (!motion) return false;
            if (held.has(motion)) return true;
            move(motion, (FIRST_STEP * KEY_SPEED) / 1000);
            held.add(motion);
            if (frame === 0) {
                lastStep = performance.now();
                frame = requestAnimationFrame(step);
            }
            return true;
        },
        onKeyUp(event) {
            // The user may release Ctrl first, after which no event reports the release of ↑.
            if (event.key === 'Control') stop();
            const motion = motionOf(event) ?? WASD[event.key] ?? LETTERS[event.key];
            if (motion) held.delete(motion);
        },
        onBlur: stop,
        hasDragged: () => isDragged,
    };
}
