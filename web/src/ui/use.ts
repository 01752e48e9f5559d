/** Hooks that more than one component needs. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useSession } from '../session/context';
import { type Question, Request } from '../session/request';
import type { MenuItem } from '../window/windows';

export interface Size {
    width: number;
    height: number;
}

/** The size of an element's content box, as it changes. */
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

/** Gives an element the keyboard when it appears, if nothing else has it. */
export function useFirstFocus(element: RefObject<HTMLElement | null>): void {
    useLayoutEffect(() => {
        if (document.activeElement === document.body) element.current?.focus({ preventScroll: true });
    }, []);
}

/** Whether an element has been near the visible part of its scroller; stays true. */
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
 * Asks `question` again whenever `inputs` change; null while there is nothing to ask for. The answer that is there stays
 * until the next one.
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

/** A function that is run by the mouse or keys and always sees the newest props, for listeners that are set once. */
export function useLatest<T>(value: T): RefObject<T> {
    const ref = useRef<T>(value);
    ref.current = value;
    return ref;
}

/**
 * Gives the command palette the menu of what is selected: that of the element that had the focus last, or of the first one
 * while none had. To be called with the focus.
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
