/**
 * The order of the rows of all tables, which is part of the view, and their scroll positions, which are not. Each table
 * and each column has a name.
 */
import { computed, type ReadonlySignal } from '@preact/signals';
import type { StorePart } from './store';

export interface SortOrder {
    column: string;
    /** The other way round than the column's own: smallest first, or from Z to A. */
    reversed: boolean;
}

/** Where a table is scrolled, in px. */
export interface ScrollPlace {
    top: number;
    left: number;
    /** From the top of what is seen to the selected row; null: that is not seen. */
    selected: number | null;
}

const REVERSED = '.r';

function decodeSort(text: string): SortOrder {
    const reversed = text.endsWith(REVERSED);
    return { column: reversed ? text.slice(0, -REVERSED.length) : text, reversed };
}

export function createTables(session: { store: StorePart }) {
    const { changeView, view } = session.store;

    /** The order of a table; `usual` (a column) while the view does not say. */
    function sortOf(table: string, usual: string): ReadonlySignal<SortOrder> {
        // A text, so that it only counts as changed when it is.
        const text = computed(() => view.value.sorts[table] ?? usual);
        return computed(() => decodeSort(text.value));
    }

    /** Sorts by a column; once more turns the order around. */
    function sortTable(table: string, column: string, usual: string): void {
        const now = decodeSort(view.value.sorts[table] ?? usual);
        const text = now.column === column && !now.reversed ? column + REVERSED : column;
        const { [table]: _, ...others } = view.value.sorts;
        changeView({ sorts: text === usual ? others : { ...others, [table]: text } }, 'replace');
    }

    /** Of the tables on the page. */
    const places = new Map<string, ScrollPlace>();
    const next = new Map<string, ScrollPlace>();

    /** Each of these tables begins there, once. */
    function scrollNext(wanted: ReadonlyMap<string, ScrollPlace>): void {
        for (const [table, place] of wanted) next.set(table, place);
    }

    return {
        sortOf,
        sortTable,
        places,
        scrollNext,
        nextPlace: (table: string): ScrollPlace | undefined => next.get(table),
        forgetNextPlace: (table: string): void => void next.delete(table),
    };
}

export type TablesPart = ReturnType<typeof createTables>;
