/** The name of each step of the view, for the message after undo. */
import type { View } from '../view/codec';

/** Only what one changes on purpose: the selected row goes with everything. In the order in which it is said. */
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
    tab: 'view',
    colorBy: 'colors',
    sorts: 'table sorting',
    preview: 'selection',
};

/** "search, zoom": what differs; '' if nothing of that. */
export function differenceOf(a: View, b: View): string {
    const words = Object.entries(WORDS)
        .filter(([key]) => JSON.stringify(a[key as keyof View]) !== JSON.stringify(b[key as keyof View]))
        .map(([, word]) => word);
    return [...new Set(words)].slice(0, 2).join(', ');
}
