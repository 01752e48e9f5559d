/**
 * What all tables of the page share: the widths and the choice of columns, saved by this browser, and the order of rows,
 * which is part of the view. A table has a name, and so has each of its columns.
 */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { changeView, store, stored, view } from './store';

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

/** The order of a table; `usual` (a column) while the view does not say. */
export function sortOf(table: string, usual: string): ReadonlySignal<SortOrder> {
    // A text, so that it only counts as changed when it is.
    const text = computed(() => view.value.sorts[table] ?? usual);
    return computed(() => decodeSort(text.value));
}

/** Sorts by a column; once more turns the order around. */
export function sortTable(table: string, column: string, usual: string): void {
    const now = decodeSort(view.value.sorts[table] ?? usual);
    const text = now.column === column && !now.reversed ? column + REVERSED : column;
    const { [table]: _, ...others } = view.value.sorts;
    changeView({ sorts: text === usual ? others : { ...others, [table]: text } }, 'replace');
}

// ---- columns ----

interface Layout {
    /** px, by column. */
    widths: Record<string, number>;
    /** Columns that are shown or not, where that is not as usual. */
    shown: Record<string, boolean>;
}

const layouts = new Map<string, ReturnType<typeof signal<Layout>>>();
const LEAST_WIDTH = 40;
const MOST_WIDTH = 1200;

function readLayout(table: string): Layout {
    const layout: Layout = { widths: {}, shown: {} };
    try {
        const saved: unknown = JSON.parse(stored(`table.${table}`) ?? '{}');
        if (typeof saved !== 'object' || saved === null) return layout;
        for (const [column, value] of Object.entries(saved)) {
            if (typeof value === 'number' && value >= LEAST_WIDTH && value <= MOST_WIDTH) layout.widths[column] = value;
            if (typeof value === 'boolean') layout.shown[column] = value;
        }
    } catch {
        // What was saved cannot be read: the table begins as usual.
    }
    return layout;
}

function layoutOf(table: string): ReturnType<typeof signal<Layout>> {
    let layout = layouts.get(table);
    if (!layout) {
        layout = signal(readLayout(table));
        layouts.set(table, layout);
    }
    return layout;
}

function keepLayout(table: string, layout: Layout): void {
    layoutOf(table).value = layout;
    // A width and a choice of the same column have names of their own.
    const saved = { ...layout.widths, ...layout.shown };
    store(`table.${table}`, Object.keys(saved).length > 0 ? JSON.stringify(saved) : null);
}

export function columnWidth(table: string, column: string, usual: number): number {
    return layoutOf(table).value?.widths[column] ?? usual;
}

/** null: as usual again. */
export function setColumnWidth(table: string, column: string, width: number | null): void {
    const layout = layoutOf(table).value ?? { widths: {}, shown: {} };
    const { [column]: _, ...widths } = layout.widths;
    if (width !== null) widths[column] = Math.round(Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, width)));
    keepLayout(table, { ...layout, widths });
}

/** Whether an option of a table is on: a column that can be left out, or another way to show one. */
export function isShown(table: string, option: string, usual: boolean): boolean {
    return layoutOf(table).value?.shown[`show ${option}`] ?? usual;
}

export function setShown(table: string, option: string, wanted: boolean, usual: boolean): void {
    const layout = layoutOf(table).value ?? { widths: {}, shown: {} };
    const { [`show ${option}`]: _, ...shown } = layout.shown;
    if (wanted !== usual) shown[`show ${option}`] = wanted;
    keepLayout(table, { ...layout, shown });
}

// ---- names ----

/** Whether `std::vector<int>` is shown as `std::vector<…>`, wherever there is little room for a name. */
export const foldsTemplates = signal(stored('foldTemplates') === 'yes');

export function toggleTemplates(): void {
    foldsTemplates.value = !foldsTemplates.value;
    store('foldTemplates', foldsTemplates.value ? 'yes' : null);
}
