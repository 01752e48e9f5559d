/** The transform that keeps only samples inside matching markers. */
import { plainText } from '../base/plain';
import type { TreeChangesPart } from '../calltree/tree_changes';
import { act, type MenuItem, menuItem, showNotice } from '../window/windows';
import type { MarkersPart } from './markers';

const TEXT_LIMIT = 40;

/** Returns a search that finds markers of one name, or '' if no search can. */
export function searchForName(name: string): string {
    return name === '' || name.includes('"') ? '' : `name:"${name}"`;
}

export function createMarkerFilter(session: { markers: MarkersPart; treeChanges: TreeChangesPart }) {
    const { isMarkerView, markerSearch } = session.markers;
    const { transform } = session.treeChanges;

    /** Returns whether the user searches for markers, and the page shows the search. */
    function isMarkerSearchShown(): boolean {
        return isMarkerView.value && markerSearch.value.trim() !== '';
    }

    async function keepSamplesInside(text: string): Promise<void> {
        await transform({ kind: 'filter-samples', index: -1, path: [], inverted: false, text });
        showNotice(`Showing only samples inside markers: ${plainText(text, TEXT_LIMIT)}`);
    }

    function keepSamplesInsideFound(): void {
        act(keepSamplesInside(markerSearch.value.trim()));
    }

    /**
     * Returns the menu item that keeps the samples in the found markers, or without a search, in the markers with this
     * name.
     */
    function keepSamplesItem(name: string): MenuItem {
        const text = markerSearch.value.trim() || searchForName(name);
        const label = `Drop samples outside ${plainText(text === searchForName(name) ? name : `“${text}”`, TEXT_LIMIT)}`;
        return menuItem(label, () => act(keepSamplesInside(text)), {
            title: 'Shows only samples taken during such a marker',
            enabled: text !== '',
            startsGroup: true,
        });
    }

    return {
        isMarkerSearchShown,
        keepSamplesInsideFound,
        keepSamplesItem,
    };
}

export type MarkerFilterPart = ReturnType<typeof createMarkerFilter>;
