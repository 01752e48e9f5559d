/** The state of the call tree: its rows, the selected row, and its query. */
import { computed, signal } from '@preact/signals';
import type { ComparisonPart } from '../compare/comparison';
import type { NodeDetails, PathFilter, Query, TreeSummary } from '../engine/api';
import type { FiltersPart } from '../session/filters';
import type { NamesPart } from '../session/names';
import type { StorePart } from '../session/store';
import type { TablesPart } from '../session/tables';
import { nodePath, openRows, type TreeNode } from '../table/tree_nodes';
import { textOfTransforms } from './tree_shape';

/** The default order of siblings. */
export const TREE_ORDER = 'total';

export interface TreeParts {
    comparison: ComparisonPart;
    filters: FiltersPart;
    names: NamesPart;
    store: StorePart;
    tables: TablesPart;
}

/** The signals of the rows of the last answer, which may lag behind the view. */
function createRows({ names, store, tables }: TreeParts) {
    const treeSort = tables.sortOf('calltree', TREE_ORDER);
    const roots = signal<TreeNode[]>([]);
    /** Counts the changes of expanded rows in `roots`. */
    const shapeVersion = signal(0);
    const selected = signal<TreeNode | null>(null);
    const isShownInverted = signal(false);
    /** An inverted tree does not fold chains, because its first callers matter most. */
    const folds = computed(() => !store.view.value.showsChains && !isShownInverted.value);
    return {
        treeSort,
        folds,
        roots,
        shapeVersion,
        /** The visible rows, from top to bottom. */
        rows: computed<TreeNode[]>(() => {
            shapeVersion.value;
            if (treeSort.value.column === 'name') names.namesVersion.value;
            return openRows(roots.value, treeSort.value, names.nameOf, folds.value);
        }),
        /** The totals on which the percentages of the rows depend, or null before the first answer. */
        summary: signal<TreeSummary | null>(null),
        /** Whether the rows compare both sides, so that weights are signed changes. */
        isChange: signal(false),
        /** The number of samples that match the search, and of all samples, or null without a search. */
        searchCount: signal<{ kept: number; all: number } | null>(null),
        selected,
        isShownInverted,
        /** The transforms of the shown rows: textOfTransforms(). */
        shownTransforms: signal(textOfTransforms({ transforms: [], threads: [] })),
        /** The threads and the search of the rows. */
        shownThreads: signal<readonly number[]>(store.selectedThreads.peek()),
        shownSearch: signal(store.search.peek().trim()),
        /** The transforms, the search and the weight of the shown rows. */
        shownFilter: signal(''),
        /**
         * The selected row as the engine's filter, in JSON, which does not change when the engine answers again. '' for
         * no selection.
         */
        selectedFilter: computed<string>(() => {
            const path = nodePath(selected.value);
            return path.length > 0
                ? JSON.stringify({ path, inverted: isShownInverted.value } satisfies PathFilter)
                : '';
        }),
        /** Counts the selections that should be scrolled to. */
        reveal: signal(0),
        details: signal<{ node: TreeNode; details: NodeDetails } | null>(null),
        /** The error of the last query or action, in place of the tree. */
        treeError: signal(''),
    };
}

export function createTreeState(parts: TreeParts) {
    const { committedRange, fullRange, inverted, previewRange, search, selectedThreads, transforms } = parts.store;
    const { compared, scaledBy } = parts.comparison;
    const { filterTransforms, weight } = parts.filters;
    return {
        ...createRows(parts),
        /** The query of the current view. */
        query: computed<Query>(() => ({
            threads: selectedThreads.value,
            range: previewRange.value ?? (committedRange.value === fullRange.value ? null : committedRange.value),
            transforms: [...transforms.value, ...filterTransforms.value],
            search: search.value.trim(),
            inverted: inverted.value,
            weight: weight.value.id,
            ...(compared.value && { compared: compared.value }),
            ...(scaledBy.value && { scaledBy: scaledBy.value }),
        })),
    };
}

export type TreeState = ReturnType<typeof createTreeState>;
