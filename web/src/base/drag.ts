/** Dragging with a pointer. All code that follows a pressed pointer uses this module. */

export interface Drag {
    /** px that the pointer moves, along an axis or anywhere, before it is a drag and no click. */
    threshold?: number;
    along?: 'x' | 'y';
    /** What keeps the pointer while it is dragged; else what it was pressed on. */
    keeper?: Element;
    onMove(event: PointerEvent): void;
    /** It was let go: after a drag, or as a click, where it was pressed. */
    onDrop?(isDragged: boolean): void;
    /** It was taken away, or Escape was pressed, or it was let go elsewhere without a drag. */
    onCancel?(): void;
}

/**
 * Follows the pointer of a `pointerdown` wherever it goes. That ends when it is let go, even where the page does not see it: the
 * next thing that comes has no button pressed then. It also ends when the browser takes the pointer away, and when the window
 * loses the focus.
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
            end(false); // the pointer is gone already
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
