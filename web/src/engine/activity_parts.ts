/**
 * The graph of several threads, computed one thread at a time, because millions of samples take hundreds of ms in which
 * the worker would answer no other query.
 */
import type { Activity } from './api';

/** Adds the rows of `part` (with `categories`) to the rows of `into`. */
function addRows(into: Float32Array, all: readonly number[], part: Float32Array, categories: readonly number[]): void {
    const width = part.length / Math.max(1, categories.length);
    categories.forEach((category, row) => {
        const at = all.indexOf(category) * width;
        for (let x = 0; x < width; x++) into[at + x] = (into[at + x] as number) + (part[row * width + x] as number);
    });
}

function addStrip(into: Uint8Array, part: Uint8Array): void {
    part.forEach((pixel, x) => {
        if ((into[x] as number) < pixel) into[x] = pixel;
    });
}

function emptyLike(part: Activity): Activity {
    const { matching, matchingStrip, strip, width } = part;
    return {
        width,
        categories: [],
        shares: new Float32Array(0),
        matching: matching && new Float32Array(0),
        strip: new Uint8Array(strip.length),
        matchingStrip: matchingStrip && new Uint8Array(matchingStrip.length),
    };
}

/** Returns the graph of two groups of threads, whose shares add up. */
export function addActivity(before: Activity | null, part: Activity): Activity {
    const sum = before ?? emptyLike(part);
    const categories = [...new Set([...sum.categories, ...part.categories])].sort((a, b) => a - b);
    const added = (left: Float32Array, right: Float32Array): Float32Array => {
        const rows = new Float32Array(categories.length * part.width);
        addRows(rows, categories, left, sum.categories);
        addRows(rows, categories, right, part.categories);
        return rows;
    };
    addStrip(sum.strip, part.strip);
    if (sum.matchingStrip && part.matchingStrip) addStrip(sum.matchingStrip, part.matchingStrip);
    return {
        ...sum,
        categories,
        shares: added(sum.shares, part.shares),
        matching: sum.matching && part.matching && added(sum.matching, part.matching),
    };
}
