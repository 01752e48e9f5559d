/** The transform that keeps only samples inside matching markers. */
import { plainText } from '../base/plain';
import type { TreeChangesPart } from '../calltree/tree_changes';
import { act, type MenuItem, menuItem, showNotice } from '../window/windows';
import type { MarkersPart } from './markers';

const TEXT_LIMIT = 40;

/** What finds markers of one name; '' if the search has no words for it. */
export function searchForName(name: string): string {
    return name === '' || name.includes('"') ? '' : `name:"${name}"`;
}

export function createMarkerFilter(session: { markers: MarkersPart; treeChanges: TreeChangesPart }) {
    const { isMarkerView, markerSearch } = session.markers;
    const { transform } = session.treeChanges;

    /** There is a search for markers, and its input is on the screen. */
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

    /** Of the markers that are searched for; without a search, of those with the name of this one. */
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
