/** The order of the rows of all tables, which is part of the view. A table has a name, and so has each of its columns. */
import { computed, type ReadonlySignal } from '@preact/signals';
import type { StorePart } from './store';

export interface SortOrder {
    column: string;
    /** The other way round than the column's own: smallest first, or from Z to A. */
    reversed: boolean;
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

    return {
        sortOf,
        sortTable,
    };
}

export type TablesPart = ReturnType<typeof createTables>;
