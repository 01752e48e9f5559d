/** The rendered rows of a long list: the visible rows and a few around them. Every list of the page uses this. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
    elementHeight,
    placeAmong,
    placeAt,
    placeScrolledTo,
    type Reveal,
    type RowExtent,
    type RowPlace,
    topWithRow,
} from '../base/row_scroll';
import { useLatest } from './use';

const OVERSCAN = 6;
/** The assumed height of a list before it is measured, px. */
const LEAST_ROOM = 400;
/** ms after the last scrolling before the scroll bar of a very long list moves to its share. */
const SETTLE_DELAY = 200;

export interface RowList {
    count: number;
    rowHeight: number;
    /** The visible height of the list below its head, px. */
    room: number;
    /** A row to scroll to, and the way to scroll, or null. */
    revealed: { at: number; how: Reveal } | null;
    /** The scroll position to restore instead, px, or null. */
    scrolledTo?: number | null;
}

export interface RowWindow {
    /** The range of rendered rows: from `first` to before `last`. */
    first: number;
    last: number;
    /** The height of the element with all rows, px. */
    height: number;
    /** Returns the top of a row, px from the top of that element. */
    topOf(at: number): number;
    /** The distance from the top of the list to the visible part, px. */
    top: number;
    reveal(at: number, how: Reveal): void;
    /** Called when the element scrolls. */
    onScroll(): void;
    /** Returns whether the row is rendered. */
    has(at: number): boolean;
}

export function useRowWindow(scroller: RefObject<HTMLElement | null>, list: RowList): RowWindow {
    const { count, revealed, room, rowHeight, scrolledTo = null } = list;
    // The position of the rendered rows. Scrolling to another position renders other rows.
    const place = useRef<RowPlace>({ top: 0, offset: 0 });
    const timer = useRef(0);
    const [, makeAgain] = useState(0);
    const extent: RowExtent = { all: count * rowHeight, room };
    const latestExtent = useLatest(extent);

    // The position of the wanted row is known before rendering, so the list does not first render the rows of the old
    // position.
    const wantedTop = revealed
        ? topWithRow(revealed.at * rowHeight, rowHeight, place.current.top, room, revealed.how)
        : null;
    const top = scrolledTo ?? wantedTop;
    const wanted = top === null ? null : placeAt(top, extent);
    const shown = wanted ?? placeAmong(place.current, extent);
    useLayoutEffect(() => {
        const element = scroller.current;
        const isMoved = wanted !== null || shown.offset !== place.current.offset;
        place.current = shown;
        const scrollTop = shown.top - shown.offset;
        if (element && isMoved && element.scrollTop !== scrollTop) element.scrollTop = scrollTop;
    });
    useEffect(() => () => window.clearTimeout(timer.current), []);

    const goTo = (next: RowPlace): void => {
        const scrollTop = next.top - next.offset;
        place.current = next;
        if (scroller.current && scroller.current.scrollTop !== scrollTop) scroller.current.scrollTop = scrollTop;
        makeAgain((times) => times + 1);
    };
    const onScroll = (): void => {
        const { top, offset } = place.current;
        const scrollTop = scroller.current?.scrollTop ?? 0;
        // Browsers round the scroll position.
        if (Math.abs(scrollTop - (top - offset)) < 1) return;
        goTo(placeScrolledTo(scrollTop, place.current, extent));
        if (offset === 0) return;
        window.clearTimeout(timer.current);
        timer.current = window.setTimeout(
            () => goTo(placeAt(place.current.top, latestExtent.current ?? extent)),
            SETTLE_DELAY,
        );
    };
    const first = Math.max(0, Math.floor(shown.top / rowHeight) - OVERSCAN);
    const last = Math.min(count, Math.ceil((shown.top + Math.max(room, LEAST_ROOM)) / rowHeight) + OVERSCAN);
    return {
        first,
        last,
        height: elementHeight(extent),
        topOf: (at) => at * rowHeight - shown.offset,
        top: shown.top,
        reveal: (at, how) => goTo(placeAt(topWithRow(at * rowHeight, rowHeight, place.current.top, room, how), extent)),
        onScroll,
        has: (at) => at >= first && at < last,
    };
}

/** Returns the row to which a key moves, or undefined for other keys. `page` is the number of visible rows. */
export function rowOfKey(event: KeyboardEvent, at: number, count: number, page: number): number | undefined {
    if (event.altKey || event.metaKey || count === 0) return undefined;
    const steps: Record<string, number> = event.ctrlKey
        ? { ArrowUp: 0, ArrowDown: count - 1 }
        : {
              ArrowDown: at + 1,
              ArrowUp: at < 0 ? 0 : at - 1,
              PageDown: at + page,
              PageUp: at - page,
              Home: 0,
              End: count - 1,
          };
    const to = steps[event.key];
    return to === undefined ? undefined : Math.max(0, Math.min(count - 1, to));
}

/** Returns the row of an event's target, or -1. */
export function rowUnder({ target }: Event): number {
    const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null;
    return row ? Number(row.dataset.row) : -1;
}
