/** Hooks that more than one component needs. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { MenuItem } from '../state/windows';
import { useSession } from './session_context';

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
 * Sends `request` again whenever `inputs` change, and passes on every answer; while one is under way, only the newest request is
 * remembered. `request`: null while there is nothing to ask for.
 */
export function useNewest<T>(
    request: (() => Promise<T>) | null,
    onAnswer: (answer: T) => void,
    inputs: unknown[],
): void {
    const newest = useRef<(() => Promise<T>) | null>(null);
    const isAsking = useRef(false);
    const isGone = useRef(false);
    const ask = async (): Promise<void> => {
        isAsking.current = true;
        for (let next = newest.current; next !== null; next = newest.current) {
            newest.current = null;
            const answer = await next().catch(() => null);
            if (answer !== null && !isGone.current) onAnswer(answer);
        }
        isAsking.current = false;
    };
    useEffect(() => {
        if (!request) return;
        newest.current = request;
        if (!isAsking.current) void ask();
    }, inputs);
    useEffect(
        () => () => {
            newest.current = null;
            isGone.current = true;
        },
        [],
    );
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
