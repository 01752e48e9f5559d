/** The function list: every function of the current query with its own time and that of all it calls, sorted as one wishes. */
import { computed, effect, signal } from '@preact/signals';
import type { FuncRow, NodeDetails, TreeRows } from '../engine/api';
import { messageOf } from '../text/message';
import { latest } from './latest';
import { fetchNames, namesVersion } from './names';
import { engine, onOtherProfile, view } from './store';
import { sortOf } from './tables';
import { summary } from './tree';
import { compareNames, compareWeights } from './tree_nodes';

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
    return compareWeights(column === 'total' ? 'total' : 'self', a, b);
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
        // The one that took most itself is what the list is opened for.
        const [heaviest] = answer;
        if (selectedFunc.peek() < 0 && heaviest) selectedFunc.value = heaviest.func;
    } catch (error) {
        functionsError.value = messageOf(error);
    }
}

const isListed = computed(() => view.value.tab === 'functions' || view.value.tab === 'butterfly');

// ---- the selected one ----

const isInFunctions = computed(() => view.value.tab === 'functions');

/** Who calls a function directly, or what it calls. */
export interface Neighbor {
    func: number;
    total: number;
}

export interface FunctionDetails {
    func: number;
    details: NodeDetails;
    callers: Neighbor[];
    callees: Neighbor[];
}

const MOST_NEIGHBOURS = 10;
/** Of the selected function, for the sidebar; null: none is selected. */
export const functionDetails = signal<FunctionDetails | null>(null);

function neighborsOf(rows: TreeRows): Neighbor[] {
    return Array.from(rows.func.slice(0, MOST_NEIGHBOURS), (func, at) => ({ func, total: rows.total[at] ?? 0 }));
}

const refreshDetails = latest(async () => {
    const func = selectedFunc.peek();
    if (func < 0) {
        functionDetails.value = null;
        return;
    }
    // Calls are answered in order: those of the butterfly are about this function.
    const [details, , above, below] = await Promise.all([
        engine.functionDetails(func),
        engine.butterfly({ kind: 'function', index: func }),
        engine.butterflyChildren('callers', -1),
        engine.butterflyChildren('callees', -1),
    ]);
    const [callers, callees] = [neighborsOf(above), neighborsOf(below)];
    await fetchNames([...callers, ...callees].map((one) => one.func));
    functionDetails.value = { func, details, callers, callees };
}, functionsError);

/** Keeps the list in step with the tree's query, while it is shown. */
export function followQuery(): void {
    effect(() => {
        functions.value;
        selectedFunc.value;
        if (isInFunctions.value) refreshDetails();
    });
    effect(() => {
        if (isListed.value && summary.value) void refresh();
    });
    effect(() => {
        if (functionSort.value.column === 'name') void fetchNames(functions.value.map((row) => row.func));
    });
}
