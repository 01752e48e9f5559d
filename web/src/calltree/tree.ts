/** The call tree on the page: selecting, expanding and collapsing its rows, in step with the view. */
import { batch, computed } from '@preact/signals';
import { formatCount } from '../base/format';
import type { NodePath } from '../engine/api';
import type { SessionBase } from '../session/session_base';
import { firstBelow, firstFuncs, nodePath, openFuncs, openPaths, type TreeNode } from '../table/tree_nodes';
import { act, showNotice } from '../window/windows';
import { createTreeQueries, FIRST_ROWS, giveRow, MOST_ROWS } from './tree_queries';
import { createTreeState, type TreeParts } from './tree_state';

/** The most expanded rows that a transform leaves expanded. */
const MOST_OPEN_PATHS = 500;

type TreeSession = SessionBase & TreeParts;
type TreeQueries = ReturnType<typeof createTreeQueries>;

function createActions(session: TreeSession, state: ReturnType<typeof createTreeState>, asking: TreeQueries) {
    const { fetchNames } = session.names;
    const { changeView } = session.store;
    const { folds, reveal, roots, rows, selected, shapeVersion } = state;
    const { onCurrentTree, queries, showDetails } = asking;

    function selectNode(node: TreeNode, scroll = true): void {
        batch(() => {
            selected.value = node;
            if (scroll) reveal.value++;
            changeView({ path: nodePath(node) }, 'replace');
        });
        act(onCurrentTree((loader) => showDetails(node, loader)));
    }

    /** Selects the node at the end of a path, or of its longest existing part. */
    async function selectPath(path: NodePath): Promise<void> {
        await queries.settled();
        await onCurrentTree(async (loader) => {
            const node = await loader.walkTo(roots.value, path);
            if (!node) return;
            await fetchNames(path);
            loader.check();
            shapeVersion.value++;
            giveRow(node, state);
            selectNode(node);
        });
    }

    /** Toggles between one row for a chain of calls, and a row for each of its calls. */
    function toggleChain(node: TreeNode): void {
        const isFolded = node.chain.length > 0;
        for (const caller of node.chain) caller.endsRow = true;
        for (let at: TreeNode | null = node; at && !isFolded; at = at.parent) at.endsRow = false;
        for (let at = node.children?.[0]; at?.endsRow && !isFolded; at = at.children?.[0]) at.endsRow = false;
        shapeVersion.value++;
        const row = rows.value.find((shown) => shown === node || shown.chain.includes(node));
        if (row) selectNode(row);
    }

    /** Expands a node. If the engine is computing a new query, the request waits for the answer. */
    async function expand(node: TreeNode): Promise<void> {
        if (!node.hasChildren) return;
        node.expanded = true;
        let last = node;
        await onCurrentTree(async (loader) => {
            last = await loader.openChain(node, folds.value);
            await fetchNames([last, ...(last.children ?? []).slice(0, FIRST_ROWS)].map((shown) => shown.func));
            loader.check();
        });
        shapeVersion.value++;
        if (last !== node && selected.peek() === node) selectNode(last, false);
    }

    /** Expands a node, and selects its first child when the children arrive. */
    async function enter(node: TreeNode): Promise<void> {
        if (!firstBelow(rows.peek(), node)) await expand(node);
        const below = firstBelow(rows.peek(), node);
        if (below && selected.peek() === node) selectNode(below);
    }

    function collapse(node: TreeNode): void {
        node.expanded = false;
        for (let at: TreeNode | null = node; at !== null; at = at.parent) at.expandedAll = false;
        // If the user collapses a row above the selected row, the collapsed row becomes the selected row.
        for (let at = selected.value?.parent ?? null; at !== null; at = at.parent) {
            if (at === node) {
                selectNode(node);
                break;
            }
        }
        shapeVersion.value++;
    }

    async function expandAll(node: TreeNode): Promise<void> {
        if (!node.hasChildren) return;
        await onCurrentTree(async (loader) => {
            if (!(await loader.openDescendants(node, MOST_ROWS)))
                showNotice(`Only the heaviest ${formatCount(MOST_ROWS)} rows are expanded`);
            await fetchNames(firstFuncs([node], node, FIRST_ROWS));
        });
        shapeVersion.value++;
    }

    return { selectNode, selectPath, expand, enter, collapse, expandAll, toggleChain };
}

/** Updates the tree when the view changes. */
function followView(
    session: TreeSession,
    state: ReturnType<typeof createTreeState>,
    queries: TreeQueries['queries'],
    selectPath: (path: NodePath) => Promise<void>,
): void {
    const { effect } = session.lifetime;
    const { query, reveal, roots, rows, selected, treeSort } = state;
    let lastQuery = '';
    let lastInfo = session.info.peek();
    effect(() => () => queries.cancel());
    effect(() => {
        const key = JSON.stringify(query.value);
        const info = session.info.value;
        if (key === lastQuery && info === lastInfo) return;
        lastQuery = key;
        lastInfo = info;
        queries.request();
    });
    // Sorting by name needs the names of all rows.
    effect(() => {
        rows.value;
        if (treeSort.value.column === 'name') act(session.names.fetchNames(openFuncs(roots.value)));
    });
    // If the order changes, the tree scrolls to the selected row.
    let lastOrder = treeSort.peek();
    effect(() => {
        if (treeSort.value === lastOrder) return;
        lastOrder = treeSort.value;
        reveal.value = reveal.peek() + 1;
    });
    // The back and forward buttons and the timeline select a node by its path.
    const wantedPath = computed(() => session.store.view.value.path);
    effect(() => {
        const path = wantedPath.value;
        if (queries.isRunning || path.join() === nodePath(selected.peek()).join()) return;
        act(selectPath(path));
    });
}

export function createTree(session: TreeSession) {
    const { roots, shapeVersion, isShownInverted, ...shown } = createTreeState(session);
    const state = { roots, shapeVersion, isShownInverted, ...shown };
    const asking = createTreeQueries(session, state);
    const { onCurrentTree, openNext, queries } = asking;
    const actions = createActions(session, state, asking);
    followView(session, state, queries, actions.selectPath);
    return {
        ...shown,
        ...actions,
        /** The number of the query of the shown rows. */
        queryOf: (): number => shown.summary.peek()?.id ?? 0,
        /** Resolves when the rows match the view. */
        settled: (): Promise<void> => queries.settled(),
        onCurrentTree,
        openNext,
        isQuick: asking.isQuick,
        /** Returns the paths of the expanded rows. */
        pathsOfOpen: (): NodePath[] => openPaths(roots.value, MOST_OPEN_PATHS),
    };
}

export type TreePart = ReturnType<typeof createTree>;
