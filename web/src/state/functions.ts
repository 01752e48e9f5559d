/** The function list: every function of the current query with its own time and that of all it calls, sorted as one wishes. */
import { computed, effect, signal } from '@preact/signals';
import type { FuncRow } from '../engine/api';
import { fetchNames, namesVersion } from './names';
import { engine, onOtherProfile, view } from './store';
import { sortOf } from './tables';
import { summary } from './tree';
import { compareNames } from './tree_nodes';

const MOST_FUNCTIONS = 100_000;

export const functions = signal<FuncRow[]>([]);
export const FUNCTION_ORDER = 'self';
export const functionSort = sortOf('functions', FUNCTION_ORDER);
/** A sentence about what went wrong. */
export const functionsError = signal('');
export const selectedFunc = signal(-1);
/** Counts the selections that should be scrolled to. */
export const functionReveal = signal(0);

export function selectFunction(func: number, scroll: boolean): void {
    selectedFunc.value = func;
    if (scroll) functionReveal.value++;
}

function compare(column: string, a: FuncRow, b: FuncRow): number {
    if (column === 'name') return compareNames(a.func, b.func);
    const [first, second] = column === 'total' ? (['total', 'self'] as const) : (['self', 'total'] as const);
    return Math.abs(b[first]) - Math.abs(a[first]) || Math.abs(b[second]) - Math.abs(a[second]) || a.func - b.func;
}

export const sortedFunctions = computed<FuncRow[]>(() => {
    const { column, reversed } = functionSort.value;
    if (column === 'name') namesVersion.value;
    const sorted = [...functions.value].sort((a, b) => compare(column, a, b));
    return reversed ? sorted.reverse() : sorted;
});

let generation = 0;

onOtherProfile(() => {
    generation++;
    functions.value = [];
    selectedFunc.value = -1;
});

async function refresh(): Promise<void> {
    const mine = ++generation;
    try {
        const answer = await engine.functions(MOST_FUNCTIONS, 'self');
        if (functionSort.peek().column === 'name') await fetchNames(answer.map((row) => row.func));
        if (mine !== generation) return;
        functions.value = answer;
        functionsError.value = '';
    } catch (error) {
        functionsError.value = error instanceof Error ? error.message : String(error);
    }
}

const isListed = computed(() => view.value.tab === 'functions' || view.value.tab === 'butterfly');

/** Keeps the list in step with the tree's query, while it is shown. */
export function followQuery(): void {
    effect(() => {
        if (isListed.value && summary.value) void refresh();
    });
    effect(() => {
        if (functionSort.value.column === 'name') void fetchNames(functions.value.map((row) => row.func));
    });
}
