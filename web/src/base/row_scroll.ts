/**
 * Positions of rows of a long list during scrolling. Browsers limit the height of an element (Firefox 17.9 million px,
 * Chromium 33.5), so a longer list gets an element of MOST_HEIGHT, whose scroll position stands for the place in the
 * list. Short movements are exact: a wheel, a key or a finger moves the rows by as many px as the element. Long
 * movements, as with the scroll bar, go to the same share of the list.
 */

/** px: the highest element. */
export const MOST_HEIGHT = 8_000_000;

/** px at both ends where the list is as far from its end as the element: there is nothing to correct on the last way. */
const END_ZONE = 100_000;

export interface RowPlace {
    /** px from the top of the list to the first px that is seen. */
    top: number;
    /** px: by how much less the element is scrolled. */
    offset: number;
}

export interface RowExtent {
    /** px of all rows. */
    all: number;
    /** px of the rows on the screen. */
    room: number;
}

export function elementHeight({ all }: RowExtent): number {
    return Math.min(all, MOST_HEIGHT);
}

function limitedTop(top: number, { all, room }: RowExtent): number {
    return Math.max(0, Math.min(top, all - room));
}

/** A number in one of three zones of [0, whole] at the same place in those of [0, other]: what is near an end stays as far from it. */
function mapped(at: number, whole: number, other: number): number {
    if (at <= END_ZONE) return at;
    if (at >= whole - END_ZONE) return other - (whole - at);
    return END_ZONE + ((at - END_ZONE) * (other - 2 * END_ZONE)) / (whole - 2 * END_ZONE);
}

/** The place that shows `top`, or as near to it as there are rows, with the scroll bar where it belongs. */
export function placeAt(top: number, extent: RowExtent): RowPlace {
    const { all, room } = extent;
    const limited = limitedTop(top, extent);
    if (all <= MOST_HEIGHT) return { top: limited, offset: 0 };
    return { top: limited, offset: limited - Math.round(mapped(limited, all - room, MOST_HEIGHT - room)) };
}

/** Where the rows are when the element, last at `place`, is scrolled to `scrollTop`. */
export function placeScrolledTo(scrollTop: number, place: RowPlace, extent: RowExtent): RowPlace {
    const { all, room } = extent;
    if (all <= MOST_HEIGHT) return { top: scrollTop, offset: 0 };
    const by = scrollTop - (place.top - place.offset);
    if (Math.abs(by) > room) {
        const top = limitedTop(mapped(scrollTop, MOST_HEIGHT - room, all - room), extent);
        return { top, offset: top - scrollTop };
    }
    const top = limitedTop(place.top + by, extent);
    // At an end of the element that is none of the list there must be a way on.
    const isAtEnd = scrollTop <= 0 || scrollTop >= MOST_HEIGHT - room;
    return isAtEnd ? placeAt(top, extent) : { top, offset: top - scrollTop };
}

/** The same place after rows have come or gone. */
export function placeAmong(place: RowPlace, extent: RowExtent): RowPlace {
    const top = limitedTop(place.top, extent);
    const isHigh = extent.all > MOST_HEIGHT;
    if (top === place.top && isHigh === (place.offset !== 0)) return place;
    return placeAt(top, extent);
}

/** How a row is brought into view: as near as it takes, or with what is around it. */
export type Reveal = 'nearest' | 'around';

/** Where a list that is scrolled to `top` is to be scrolled so that a row can be seen; one that is seen stays where it is. */
export function topWithRow(rowTop: number, rowHeight: number, top: number, room: number, how: Reveal): number {
    if (rowTop >= top && rowTop + rowHeight <= top + room) return top;
    const isNear = how === 'nearest' && rowTop >= top - room && rowTop <= top + 2 * room;
    if (!isNear) return Math.round((rowTop - room * 0.6) / rowHeight) * rowHeight;
    return rowTop < top ? rowTop : rowTop + rowHeight - room;
}
