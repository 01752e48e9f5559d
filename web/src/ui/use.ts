/** Hooks that several components need. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useSession } from '../session/context';
import { type Question, Request } from '../session/request';
import type { MenuItem } from '../window/windows';

export interface Size {
    width: number;
    height: number;
}

/** Returns the size of an element's content box, and updates it. */
export function useSize(element: RefObject<HTMLElement | null>): Size {
    const [size, setSize] = useState<Size>({ width: 0, height: 0 });
    useLayoutEffect(() => {
        const target = element.current;
        if (!target) return;
        const measure = (): void => setSize({ width: target.clientWidth, height: target.clientHeight });
        measure();
        const observer = new ResizeObserver(measure);
        observer.observe(target);
        return () => observer.disconnect();
    }, [element]);
    return size;
}

/** Focuses an element when it appears, unless another element has the focus. */
export function useFirstFocus(element: RefObject<HTMLElement | null>): void {
    useLayoutEffect(() => {
        if (document.activeElement === document.body) element.current?.focus({ preventScroll: true });
    }, []);
}

/** Returns whether an element has ever been near the visible part of its scroller. */
export function useSeen(element: RefObject<HTMLElement | null>): boolean {
    const [isSeen, setSeen] = useState(false);
    useEffect(() => {
        const target = element.current;
        if (!target || isSeen) return;
        const observer = new IntersectionObserver(
            (entries) => {
                if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
            },
            { rootMargin: '200px' },
        );
        observer.observe(target);
        return () => observer.disconnect();
    }, [element, isSeen]);
    return isSeen;
}

/**
 * Asks `question` when `inputs` change, or nothing if the question is null. Returns the last answer until the next
 * answer.
 */
export function useRequest<Answer>(question: Question<Answer> | null, inputs: unknown[]): Request<Answer> {
    const request = useMemo(() => new Request<Answer>(), []);
    // Before the page is painted, which the answer can use.
    useLayoutEffect(() => {
        if (question) request.ask(question);
    }, inputs);
    useEffect(() => () => request.clear(), []);
    return request;
}

/** Returns a reference to the newest value, for listeners that the component adds only once. */
export function useLatest<T>(value: T): RefObject<T> {
    const ref = useRef<T>(value);
    ref.current = value;
    return ref;
}

/**
 * Gives the command palette the menu of the selected item, in the element that last had the focus, or in the first
 * element. Call the returned function when the element gets the focus.
 */
export function useSelectionMenu(items: () => MenuItem[]): () => void {
    const { selectionMenu } = useSession().palette;
    const latest = useLatest(items);
    const own = useRef(() => latest.current?.() ?? []);
    useEffect(() => {
        selectionMenu.value ??= own.current;
        return () => {
            if (selectionMenu.peek() === own.current) selectionMenu.value = null;
        };
    }, []);
    return () => {
        selectionMenu.value = own.current;
    };
}
