/** Dragging with a pointer. All code that follows a pressed pointer uses this module. */

export interface Drag {
    /** px: distance from which a movement is a drag, not a click. */
    threshold?: number;
    along?: 'x' | 'y';
    /** The element that captures the pointer during the drag, by default the pressed element. */
    keeper?: Element;
    onMove(event: PointerEvent): void;
    /** Called when the user releases the pointer after a drag, or releases it over the pressed element (a click). */
    onDrop?(isDragged: boolean): void;
    /**
     * Called when the browser cancels the pointer, the user presses Escape, or releases the pointer over another
     * element without a drag.
     */
    onCancel?(): void;
}

/**
 * Follows the pointer after a `pointerdown`, until the user releases it. If the release happens outside of the page,
 * the next event without a pressed button ends the drag. The drag also ends when the browser cancels the pointer, or
 * the window loses the focus.
 */
export function startDrag(down: PointerEvent, { threshold = 0, along, keeper, onMove, onDrop, onCancel }: Drag): void {
    const target = keeper ?? (down.currentTarget as Element);
    const { pointerId } = down;
    let isDragged = false;

    const end = (isDone: boolean): void => {
        for (const [name, listener] of Object.entries(listeners)) window.removeEventListener(name, listener, true);
        if (isDone) onDrop?.(isDragged);
        else onCancel?.();
    };
    const isFar = (event: PointerEvent): boolean => {
        const [x, y] = [event.clientX - down.clientX, event.clientY - down.clientY];
        return Math.hypot(along === 'y' ? 0 : x, along === 'x' ? 0 : y) >= threshold;
    };
    const keep = (): void => {
        isDragged = true;
        try {
            target.setPointerCapture(pointerId);
        } catch {
            end(false); // the pointer no longer exists
        }
    };
    const ofPointer = (action: (event: PointerEvent) => void) => (event: Event) => {
        if (event instanceof PointerEvent && event.pointerId === pointerId) action(event);
    };
    const listeners: Record<string, (event: Event) => void> = {
        pointermove: ofPointer((event) => {
            if (event.buttons === 0) return end(isDragged);
            if (!isDragged && !isFar(event)) return;
            if (!isDragged) keep();
            onMove(event);
        }),
        pointerup: ofPointer((event) => end(isDragged || event.composedPath().includes(target))),
        pointercancel: ofPointer(() => end(false)),
        lostpointercapture: ofPointer(() => end(false)),
        blur: (event) => {
            if (event.target === window) end(false);
        },
        keydown: (event) => {
            if (!isDragged || !(event instanceof KeyboardEvent) || event.key !== 'Escape') return;
            event.stopPropagation();
            target.releasePointerCapture(pointerId);
            end(false);
        },
    };
    for (const [name, listener] of Object.entries(listeners)) window.addEventListener(name, listener, true);
    if (threshold === 0) keep();
}
