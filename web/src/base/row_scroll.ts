/**
 * Positions of rows of a long list during scrolling. Browsers limit the height of an element (Firefox 17.9 million px,
 * Chromium 33.5), so a longer list gets an element of MOST_HEIGHT, whose scroll position stands for the place in the
 * list. Short movements are exact: a wheel, a key or a finger moves the rows by as many px as the element. Long
 * movements, as with the scroll bar, go to the same share of the list.
 */

/** px: height of the tallest element. */
export const MOST_HEIGHT = 8_000_000;

/**
 * px: length of the zones at both ends in which the list and the element have the same distance from the end, so that
 * no correction is necessary near the end.
 */
const END_ZONE = 100_000;

export interface RowPlace {
    /** px: distance from the top of the list to the first visible px. */
    top: number;
    /** px: difference between `top` and the scroll position of the element. */
    offset: number;
}

export interface RowExtent {
    /** px: height of all rows. */
    all: number;
    /** px: height of the visible rows. */
    room: number;
}

export function elementHeight({ all }: RowExtent): number {
    return Math.min(all, MOST_HEIGHT);
}

function limitedTop(top: number, { all, room }: RowExtent): number {
    return Math.max(0, Math.min(top, all - room));
}

/** Maps a position of [0, whole] to [0, other]. A position near an end keeps its distance from this end. */
function mapped(at: number, whole: number, other: number): number {
    if (at <= END_ZONE) return at;
    if (at >= whole - END_ZONE) return other - (whole - at);
    return END_ZONE + ((at - END_ZONE) * (other - 2 * END_ZONE)) / (whole - 2 * END_ZONE);
}

/** Returns the place that shows `top`, or the nearest possible place, with the matching position of the scroll bar. */
export function placeAt(top: number, extent: RowExtent): RowPlace {
    const { all, room } = extent;
    const limited = limitedTop(top, extent);
    if (all <= MOST_HEIGHT) return { top: limited, offset: 0 };
    return { top: limited, offset: limited - Math.round(mapped(limited, all - room, MOST_HEIGHT - room)) };
}

/** Returns the place after the user has scrolled the element from `place` to `scrollTop`. */
export function placeScrolledTo(scrollTop: number, place: RowPlace, extent: RowExtent): RowPlace {
    const { all, room } = extent;
    if (all <= MOST_HEIGHT) return { top: scrollTop, offset: 0 };
    const by = scrollTop - (place.top - place.offset);
    if (Math.abs(by) > room) {
        const top = limitedTop(mapped(scrollTop, MOST_HEIGHT - room, all - room), extent);
        return { top, offset: top - scrollTop };
    }
    const top = limitedTop(place.top + by, extent);
    // If the element ends but the list continues, the scroll position needs room to continue.
    const isAtEnd = scrollTop <= 0 || scrollTop >= MOST_HEIGHT - room;
    return isAtEnd ? placeAt(top, extent) : { top, offset: top - scrollTop };
}

/** Returns the same place after rows were added or removed. */
export function placeAmong(place: RowPlace, extent: RowExtent): RowPlace {
    const top = limitedTop(place.top, extent);
    const isHigh = extent.all > MOST_HEIGHT;
    if (top === place.top && isHigh === (place.offset !== 0)) return place;
    return placeAt(top, extent);
}

/** How to bring a row into view: with the shortest movement, or with rows around it. */
export type Reveal = 'nearest' | 'around';

/** Returns the scroll position that shows a row. If the row is visible, the position does not change. */
export function topWithRow(rowTop: number, rowHeight: number, top: number, room: number, how: Reveal): number {
    if (rowTop >= top && rowTop + rowHeight <= top + room) return top;
    const isNear = how === 'nearest' && rowTop >= top - room && rowTop <= top + 2 * room;
    if (!isNear) return Math.round((rowTop - room * 0.6) / rowHeight) * rowHeight;
    return rowTop < top ? rowTop : rowTop + rowHeight - room;
}
