/** The rendered rows of a long list: visible rows and a few around them. Every list of the page is such a window. */
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
/** px: what is taken for the height of a list that is not measured yet. */
const LEAST_ROOM = 400;
/** ms after the last scrolling that the scroll bar of a very long list is moved to its share. */
const SETTLE_DELAY = 200;

export interface RowList {
    count: number;
    rowHeight: number;
    /** px of the list on the screen, below its head. */
    room: number;
    /** A row to be brought into view, and how; null: none is. */
    revealed: { at: number; how: Reveal } | null;
    /** px: where the list is to be scrolled instead; null: nowhere. */
    scrolledTo?: number | null;
}

export interface RowWindow {
    /** The rows that exist: from `first` to before `last`. */
    first: number;
    last: number;
    /** px: of the element that all rows are in. */
    height: number;
    /** px from the top of that element. */
    topOf(at: number): number;
    /** px from the top of the list to what is seen first. */
    top: number;
    reveal(at: number, how: Reveal): void;
    /** To be called when the element is scrolled. */
    onScroll(): void;
    /** Whether the row exists now. */
    has(at: number): boolean;
}

export function useRowWindow(scroller: RefObject<HTMLElement | null>, list: RowList): RowWindow {
    const { count, revealed, room, rowHeight, scrolledTo = null } = list;
    // Where the rows that exist belong; being scrolled elsewhere than here makes others.
    const place = useRef<RowPlace>({ top: 0, offset: 0 });
    const timer = useRef(0);
    const [, makeAgain] = useState(0);
    const extent: RowExtent = { all: count * rowHeight, room };
    const latestExtent = useLatest(extent);

    // Where a row is that is to be seen, is known before the rows are made: those of the place that is left are not made first.
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
        // Browsers round what was set.
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

/** The row that a key leads to; undefined for keys that do not walk. `page`: the rows on the screen. */
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

/** The row that an event is about; -1: none. */
export function rowUnder({ target }: Event): number {
    const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null;
    return row ? Number(row.dataset.row) : -1;
}
