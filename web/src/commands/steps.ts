/** The name of each step of the view, for the message after undo. */
import type { View } from '../view/codec';

/**
 * The names of intentional changes, in the order of the notice. The selected row is missing, because it changes with
 * every step.
 */
const WORDS: Partial<Record<keyof View, string>> = {
    transforms: 'transform',
    search: 'search',
    markerSearch: 'marker search',
    inverted: 'inversion',
    stackType: 'frame filter',
    weight: 'weight',
    compared: 'side of the comparison',
    scaledBy: 'normalization',
    hidesIdle: 'idle samples',
    waitsBy: 'groups of waits',
    zoom: 'flame graph zoom',
    part: 'flame graph zoom',
    center: 'focus function',
    ranges: 'zoom',
    tracks: 'tracks',
    threads: 'thread selection',
    profileName: 'name',
    sourcePanel: 'source and assembly',
    notes: 'notes',
    tab: 'view',
    colorBy: 'colors',
    sorts: 'table sorting',
    preview: 'selection',
};

/** Names the differences of two views, "search, zoom", or '' for none of these. */
export function differenceOf(a: View, b: View): string {
    const words = Object.entries(WORDS)
        .filter(([key]) => JSON.stringify(a[key as keyof View]) !== JSON.stringify(b[key as keyof View]))
        .map(([, word]) => word);
    return [...new Set(words)].slice(0, 2).join(', ');
}
