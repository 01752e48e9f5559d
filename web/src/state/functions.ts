/** The function list: every function of the current query with its own time and that of all it calls, sorted as one wishes. */
import { computed, signal } from '@preact/signals';
import type { FuncRow, NodeDetails, TreeRows } from '../engine/api';
import { messageOf } from '../text/message';
import { latest } from './latest';
import { compareNames, compareWeights } from './tree_nodes';
import type { NamesPart } from './names';
import type { StorePart } from './store';
import type { TablesPart } from './tables';
import type { TreePart } from './tree';
import type { Given } from './given';

const MOST_FUNCTIONS = 100_000;
export const FUNCTION_ORDER = 'self';

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

function neighborsOf(rows: TreeRows): Neighbor[] {
    return Array.from(rows.func.slice(0, MOST_NEIGHBOURS), (func, at) => ({ func, total: rows.total[at] ?? 0 }));
}

export function createFunctions(
    session: Given & { names: NamesPart; store: StorePart; tables: TablesPart; tree: TreePart },
) {
    const { engine } = session;
    const { effect } = session.lifetime;
    const { fetchNames, nameOf, namesVersion } = session.names;
    const { view } = session.store;
    const { sortOf } = session.tables;
    const { summary } = session.tree;

    const functions = signal<FuncRow[]>([]);
    const functionSort = sortOf('functions', FUNCTION_ORDER);
    /** A sentence about what went wrong. */
    const functionsError = signal('');
    const selectedFunc = signal(-1);
    /** Counts the selections that should be scrolled to. */
    const functionReveal = signal(0);

    function selectFunction(func: number, scroll: boolean): void {
        selectedFunc.value = func;
        if (scroll) functionReveal.value++;
    }

    function compare(column: string, a: FuncRow, b: FuncRow): number {
        if (column === 'name') return compareNames(nameOf, a.func, b.func);
        return compareWeights(column === 'total' ? 'total' : 'self', a, b);
    }

    const sortedFunctions = computed<FuncRow[]>(() => {
        const { column, reversed } = functionSort.value;
        if (column === 'name') namesVersion.value;
        const sorted = [...functions.value].sort((a, b) => compare(column, a, b));
        return reversed ? sorted.reverse() : sorted;
    });

    let generation = 0;

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
    /** Of the selected function, for the sidebar; null: none is selected. */
    const functionDetails = signal<FunctionDetails | null>(null);

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
    function follow(): void {
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

    follow();
    return {
        functions,
        functionSort,
        functionsError,
        selectedFunc,
        functionReveal,
        selectFunction,
        sortedFunctions,
        functionDetails,
    };
}

export type FunctionsPart = ReturnType<typeof createFunctions>;
