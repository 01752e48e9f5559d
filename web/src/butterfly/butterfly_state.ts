/** The butterfly of the page: its center, and the two trees beside the center. */
import { computed, signal } from '@preact/signals';
import type { FunctionsPart } from '../calltree/functions';
import type { TreePart } from '../calltree/tree';
import type { FuncRow } from '../engine/api';
import type { Center, CenterKind, CenterWeights, Side } from '../engine/butterfly';
import type { NamesPart } from '../session/names';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import type { TablesPart } from '../session/tables';
import { LazyTree } from '../table/lazy_tree';
import type { TreeSource } from '../table/tree_loader';
import { compareNames, compareWeights, weightOrder } from '../table/tree_nodes';

export const SIDE_ORDER = 'total';
export const LIST_ORDER = 'total';

type GroupKind = Exclude<CenterKind, 'function'>;

interface Groups {
    kind: GroupKind;
    rows: FuncRow[];
}

export interface Wing {
    side: Side;
    /** The name of the table. */
    name: string;
    tree: LazyTree;
}

type ButterflySession = SessionBase & {
    functions: FunctionsPart;
    names: NamesPart;
    store: StorePart;
    tables: TablesPart;
    tree: TreePart;
};

/** Creates the list on the left side, with the selected center. */
function createCenters(session: ButterflySession) {
    const { engine, info } = session;
    const { functions, functionsError, heaviestOf } = session.functions;
    const { fetchNames, funcName, nameOf, namesVersion } = session.names;
    const { categoryName, changeView, view } = session.store;

    /** The kind of the rows in the list. */
    const listKind = computed<CenterKind>(() => chosenKind.value ?? view.value.center?.kind ?? 'function');
    const chosenKind = signal<CenterKind | null>(null);
    const groupsRequest = new Request<Groups>();
    const { value: groups, error: groupsError } = groupsRequest;

    function chooseList(kind: CenterKind): void {
        chosenKind.value = kind;
    }

    /** Returns the func that stands for a library in names: see get_resource_func() of lib/tree. */
    function funcOfCenter({ kind, index }: Center): number {
        return kind === 'library' ? info.value.funcCount + index : index;
    }

    const listError = computed(() => (listKind.value === 'function' ? functionsError.value : groupsError.value));
    const listSort = session.tables.sortOf('centers', LIST_ORDER);

    function compareRows(kind: CenterKind, column: string, a: FuncRow, b: FuncRow): number {
        if (column === 'name' && kind === 'category') {
            const name = (row: FuncRow): string => categoryName(row.func);
            return name(a).localeCompare(name(b), 'en');
        }
        if (column === 'name')
            return compareNames(nameOf, funcOfCenter({ kind, index: a.func }), funcOfCenter({ kind, index: b.func }));
        return compareWeights(weightOrder(column, 'total'), a, b);
    }

    const listRows = computed<FuncRow[]>(() => {
        const kind = listKind.value;
        const { column, reversed } = listSort.value;
        if (column === 'name') namesVersion.value;
        const rows = kind === 'function' ? functions.value : groups.value?.kind === kind ? groups.value.rows : [];
        // Code without a library cannot be the center.
        const sorted = rows.filter((row) => row.func >= 0).sort((a, b) => compareRows(kind, column, a, b));
        return reversed ? sorted.reverse() : sorted;
    });

    /** The center of the view; without one, the function with the most self time. */
    const center = computed<Center | null>(() => {
        const wanted = view.value.center;
        if (wanted) return wanted;
        const heaviest = heaviestOf(functions.value);
        return heaviest ? { kind: 'function', index: heaviest.func } : null;
    });

    function setCenter(wanted: Center, step: 'push' | 'replace' = 'push'): void {
        changeView({ center: wanted }, step);
    }

    function centerName({ kind, index }: Center): string {
        namesVersion.value;
        if (kind === 'category') return categoryName(index);
        return funcName(funcOfCenter({ kind, index }))?.name ?? '';
    }

    async function askGroups(kind: GroupKind): Promise<Groups> {
        const rows = await engine.groups(session.tree.queryOf(), kind);
        if (kind === 'library')
            await fetchNames(rows.filter((row) => row.func >= 0).map((row) => info.value.funcCount + row.func));
        return { kind, rows };
    }

    session.lifetime.effect(() => {
        const kind = listKind.value;
        if (view.value.tab === 'butterfly' && session.tree.summary.value && kind !== 'function')
            groupsRequest.ask(() => askGroups(kind));
    });

    return { listError, listKind, chooseList, funcOfCenter, listSort, listRows, center, setCenter, centerName };
}

export function createButterfly(session: ButterflySession) {
    const { engine } = session;
    const { fetchNames, nameOf, namesVersion } = session.names;
    const { view } = session.store;
    const { queryOf, summary } = session.tree;

    function sourceOf(id: number, side: Side): TreeSource {
        return {
            children: (node) => engine.butterflyChildren(id, side, node),
            descendants: (node, limit) => engine.butterflyDescendants(id, side, node, limit),
        };
    }

    function makeWing(side: Side): Wing {
        return {
            side,
            name: side,
            tree: new LazyTree(session.tables.sortOf(side, SIDE_ORDER), { nameOf, fetchNames, namesVersion }),
        };
    }

    const callers = makeWing('callers');
    const callees = makeWing('callees');

    /** The weights of the center, or null before the first answer. */
    const request = new Request<CenterWeights>();
    const { value: centerWeights, error: butterflyError } = request;
    /** Counts the changes of the center, because the list scrolls to each center. */
    const centerReveal = signal(0);

    const centers = createCenters(session);
    const { center, funcOfCenter } = centers;
    const isOpen = computed(() => view.value.tab === 'butterfly');
    /** The center as text, so that the signal changes only if the center does. */
    const centerKey = computed(() => JSON.stringify(center.value));
    let shownCenter = '';

    async function askCenter(): Promise<CenterWeights | null> {
        const wanted = center.peek();
        const key = centerKey.peek();
        if (!wanted) {
            callers.tree.clear();
            callees.tree.clear();
            return null;
        }
        const names = wanted.kind === 'category' ? null : fetchNames([funcOfCenter(wanted)]);
        const weights = await engine.butterfly(queryOf(), wanted);
        const same = key === shownCenter;
        const loads = [callers, callees].map(({ side, tree }) => tree.load(sourceOf(weights.id, side), same));
        await Promise.all([names, ...loads]);
        shownCenter = key;
        if (!same) centerReveal.value++;
        return weights;
    }

    session.lifetime.effect(() => {
        centerKey.value;
        if (isOpen.value && summary.value) request.ask(askCenter);
    });

    return { ...centers, callers, callees, centerWeights, butterflyError, centerReveal };
}

export type ButterflyPart = ReturnType<typeof createButterfly>;
