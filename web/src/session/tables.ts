/**
 * The sort order of all tables, which is part of the view, and their scroll positions, which are not. Each table and
 * each column has a name.
 */
import { computed, type ReadonlySignal } from '@preact/signals';
import type { StorePart } from './store';

export interface SortOrder {
    column: string;
    /** Whether the order is the reverse of the column's default. */
    reversed: boolean;
}

/** The scroll position of a table, px. */
export interface ScrollPlace {
    top: number;
    left: number;
    /** The distance from the top of the visible part to the selected row, or null if the row is not visible. */
    selected: number | null;
}

const REVERSED = '.r';

function decodeSort(text: string): SortOrder {
    const reversed = text.endsWith(REVERSED);
    return { column: reversed ? text.slice(0, -REVERSED.length) : text, reversed };
}

export function createTables(session: { store: StorePart }) {
    const { changeView, view } = session.store;

    /** Returns the order of a table. `usual` is the column without a choice in the view. */
    function sortOf(table: string, usual: string): ReadonlySignal<SortOrder> {
        // A text, so that the signal changes only with its contents.
        const text = computed(() => view.value.sorts[table] ?? usual);
        return computed(() => decodeSort(text.value));
    }

    /** Sorts by a column, or reverses the order if the table has this order already. */
    function sortTable(table: string, column: string, usual: string): void {
        const now = decodeSort(view.value.sorts[table] ?? usual);
        const text = now.column === column && !now.reversed ? column + REVERSED : column;
        const { [table]: _, ...others } = view.value.sorts;
        changeView({ sorts: text === usual ? others : { ...others, [table]: text } }, 'replace');
    }

    /** The scroll positions of the tables on the page. */
    const places = new Map<string, ScrollPlace>();
    const next = new Map<string, ScrollPlace>();

    /** Sets the next scroll position of these tables, once. */
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
