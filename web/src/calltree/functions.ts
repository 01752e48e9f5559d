/** The function list: every function of the current query with its self and total time, sorted by any column. */
import { computed, signal } from '@preact/signals';
import { isPlaceholderName } from '../base/plain';
import type { FuncRow, NodeDetails, TreeRows } from '../engine/api';
import type { NamesPart } from '../session/names';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import type { TablesPart } from '../session/tables';
import { compareNames, compareWeights, weightOrder } from '../table/tree_nodes';
import { act } from '../window/windows';
import type { TreePart } from './tree';

const MOST_FUNCTIONS = 100_000;
/** The limit of placeholders in a profile. */
const MOST_PLACEHOLDERS = 3;
const NONE: FuncRow[] = [];
export const FUNCTION_ORDER = 'self';

/** A direct caller of a function, or a function that it calls. */
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
    session: SessionBase & { names: NamesPart; store: StorePart; tables: TablesPart; tree: TreePart },
) {
    const { engine } = session;
    const { effect } = session.lifetime;
    const { fetchNames, nameOf, namesVersion } = session.names;
    const { view } = session.store;
    const { sortOf } = session.tables;
    const { isChange, queryOf, summary } = session.tree;

    const list = new Request<FuncRow[]>();
    const functions = computed<FuncRow[]>(() => list.value.value ?? NONE);
    const functionSort = sortOf('functions', FUNCTION_ORDER);
    const { error: functionsError } = list;
    const selectedFunc = signal(-1);
    /** Counts the selections that should be scrolled to. */
    const functionReveal = signal(0);

    function selectFunction(func: number, scroll: boolean): void {
        selectedFunc.value = func;
        if (scroll) functionReveal.value++;
    }

    function compare(column: string, a: FuncRow, b: FuncRow): number {
        if (column === 'name') return compareNames(nameOf, a.func, b.func);
        return compareWeights(weightOrder(column, 'self'), a, b);
    }

    const sortedFunctions = computed<FuncRow[]>(() => {
        const { column, reversed } = functionSort.value;
        if (column === 'name') namesVersion.value;
        const sorted = [...functions.value].sort((a, b) => compare(column, a, b));
        return reversed ? sorted.reverse() : sorted;
    });

    async function askList(): Promise<FuncRow[]> {
        const answer = await engine.functions(queryOf(), MOST_FUNCTIONS, 'self');
        const named = functionSort.peek().column === 'name' ? answer : answer.slice(0, MOST_PLACEHOLDERS + 1);
        await fetchNames(named.map((row) => row.func));
        const first = heaviestOf(answer);
        if (selectedFunc.peek() < 0 && first) selectedFunc.value = first.func;
        return answer;
    }

    /**
     * Returns the function with the most self time, at which the views open, or null for an empty list. Placeholders such
     * as "(not sampled)" explain nothing.
     */
    function heaviestOf(rows: readonly FuncRow[]): FuncRow | null {
        const real = rows.find(({ func }) => !isPlaceholderName(nameOf(func)));
        return real ?? rows[0] ?? null;
    }

    const isListed = computed(() => view.value.tab === 'functions' || view.value.tab === 'butterfly');

    // ---- the selected function ----

    const isInFunctions = computed(() => view.value.tab === 'functions');
    const details = new Request<FunctionDetails>();
    /** The details of the selected function for the sidebar, or null without a selection. */
    const { value: functionDetails, error: functionDetailsError } = details;

    async function askDetails(): Promise<FunctionDetails | null> {
        const func = selectedFunc.peek();
        if (func < 0) return null;
        const query = queryOf();
        const [own, { id, sides }] = await Promise.all([
            engine.functionDetails(query, func),
            engine.butterfly(query, { kind: 'function', index: func }),
        ]);
        const [above, below] = await Promise.all([
            engine.butterflyChildren(id, 'callers', -1),
            engine.butterflyChildren(id, 'callees', -1),
        ]);
        const [callers, callees] = [neighborsOf(above), neighborsOf(below)];
        await fetchNames([...callers, ...callees].map((row) => row.func));
        return { func, details: isChange.peek() ? { ...own, sides } : own, callers, callees };
    }

    /** Requests the list again when the query of the tree changes, while the list is shown. */
    function follow(): void {
        effect(() => {
            functions.value;
            selectedFunc.value;
            if (isInFunctions.value) details.ask(askDetails);
        });
        effect(() => {
            if (isListed.value && summary.value) list.ask(askList);
        });
        effect(() => {
            if (functionSort.value.column === 'name') act(fetchNames(functions.value.map((row) => row.func)));
        });
    }

    follow();
    return {
        functions,
        functionSort,
        functionsError,
        heaviestOf,
        functionDetailsError,
        selectedFunc,
        functionReveal,
        selectFunction,
        sortedFunctions,
        functionDetails,
    };
}

export type FunctionsPart = ReturnType<typeof createFunctions>;
