/** The function list: every function of the current query with its own time and that of all it calls, sorted as one wishes. */
import { computed, effect, signal } from '@preact/signals';
import type { FuncRow } from '../engine/api';
import { fetchNames, funcName, namesVersion } from './names';
import { engine, view } from './store';
import { summary } from './tree';

export type SortColumn = 'self' | 'total' | 'name';

const MOST_FUNCTIONS = 100_000;

const functions = signal<FuncRow[]>([]);
export const sortColumn = signal<SortColumn>('self');
/** The biggest first, or the first of the alphabet. */
export const isSortedDown = signal(true);
/** A sentence about what went wrong. */
export const functionsError = signal('');
export const selectedFunc = signal(-1);

function compare(column: SortColumn, a: FuncRow, b: FuncRow): number {
    if (column === 'name') return nameOf(a.func).localeCompare(nameOf(b.func), 'en');
    const other = column === 'self' ? 'total' : 'self';
    return Math.abs(b[column]) - Math.abs(a[column]) || Math.abs(b[other]) - Math.abs(a[other]) || a.func - b.func;
}

function nameOf(func: number): string {
    return funcName(func)?.name ?? '';
}

export const sortedFunctions = computed<FuncRow[]>(() => {
    const column = sortColumn.value;
    if (column === 'name') namesVersion.value;
    const sorted = [...functions.value].sort((a, b) => compare(column, a, b));
    return isSortedDown.value ? sorted : sorted.reverse();
});

/** Sorts by a column; once more turns the order around. */
export function sortBy(column: SortColumn): void {
    if (column === 'name') void fetchNames(functions.value.map((row) => row.func));
    if (sortColumn.value === column) isSortedDown.value = !isSortedDown.value;
    else {
        sortColumn.value = column;
        isSortedDown.value = true;
    }
}

let generation = 0;

async function refresh(): Promise<void> {
    const mine = ++generation;
    try {
        const answer = await engine.functions(MOST_FUNCTIONS, 'self');
        if (sortColumn.peek() === 'name') await fetchNames(answer.map((row) => row.func));
        if (mine !== generation) return;
        functions.value = answer;
        functionsError.value = '';
    } catch (error) {
        functionsError.value = error instanceof Error ? error.message : String(error);
    }
}

const isShown = computed(() => view.value.tab === 'functions');

/** Keeps the list in step with the tree's query, while it is shown. */
export function followQuery(): void {
    effect(() => {
        if (isShown.value && summary.value) void refresh();
    });
}
