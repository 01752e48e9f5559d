/**
 * The queries of the call tree, one at a time, each for the newest view.
 *
 * The engine's node handles live until its next query. So the page has its own nodes with the expanded rows, and when
 * the view changes it queries the same shape again and swaps the rows in one step: nothing flickers while a range is
 * dragged.
 */
import { batch } from '@preact/signals';
import { messageOf } from '../base/message';
import { NewestMap } from '../base/newest_map';
import { Repeater } from '../base/repeater';
import type { NodePath, Query, TreeSummary } from '../engine/api';
import type { SessionBase } from '../session/session_base';
import { adoptLevels, isOvertaken, TreeLoader } from '../table/tree_loader';
import { firstFuncs, makeNodes, nodePath, type TreeNode } from '../table/tree_nodes';
import { act } from '../window/windows';
import { shapeOf, textOfTransforms } from './tree_shape';
import type { TreeParts, TreeState } from './tree_state';

/**
 * Limits of the heaviest path: its length, and the share of all time without idle time that a node of the path has at
 * least.
 */
const FIRST_PATH_DEPTH = 1024;
const FIRST_PATH_SHARE = 0.1;
/** The most rows that one step expands. */
export const MOST_ROWS = 50_000;
/** Rows whose names the page fetches before it shows a new tree. */
export const FIRST_ROWS = 120;
/** ms: limit of the query time at which each key of a search starts a query. */
const QUICK_QUERY = 50;
/** Trees whose expanded rows are remembered. */
const MOST_SHAPES = 12;

/** Remembers the expanded rows of recent trees by shape, and the rows that a transform leaves expanded. */
function createOpenRows() {
    const lastRoots = new NewestMap<string, TreeNode[]>(MOST_SHAPES);
    let leftOpen: { shape: string; paths: NodePath[] } | null = null;
    return {
        remember: (shape: string, nodes: TreeNode[]) => lastRoots.set(shape, nodes),
        /** Expands these paths in the next tree of this shape, if the shape is new. */
        openNext(shape: string, paths: NodePath[]): void {
            leftOpen = { shape, paths };
        },
        /**
         * Expands in a new tree the rows that the last tree of its shape had expanded, or the rows that the transform
         * left expanded.
         */
        async reopen(nodes: TreeNode[], shape: string, loader: TreeLoader): Promise<void> {
            const before = lastRoots.get(shape);
            if (before) await loader.reopen(nodes, before, MOST_ROWS);
            else if (leftOpen?.shape === shape) for (const path of leftOpen.paths) await loader.openPath(nodes, path);
        },
    };
}

/** Creates the loader of the newest query. */
function createLoaders({ engine }: SessionBase) {
    const loaderOf = (id: number): TreeLoader =>
        new TreeLoader({
            children: (node) => engine.children(id, node),
            childrenAlong: (node, path) => engine.childrenAlong(id, node, path),
            descendants: (node, limit) => engine.descendants(id, node, limit),
        });
    const loaders = {
        id: 0,
        current: loaderOf(0),
        /** Creates the loader of a query, and ends the requests of the previous loader. */
        begin(id: number): TreeLoader {
            loaders.current.end();
            loaders.id = id;
            loaders.current = loaderOf(id);
            return loaders.current;
        },
    };
    return loaders;
}

/** Ends the row of a chain at the selected node, if the chain contains it. */
export function giveRow(node: TreeNode, { rows, shapeVersion }: Pick<TreeState, 'rows' | 'shapeVersion'>): void {
    if (rows.value.includes(node)) return;
    node.endsRow = true;
    shapeVersion.value++;
}

export function createTreeQueries(session: SessionBase & TreeParts, state: TreeState) {
    const { engine } = session;
    const { addNames, fetchNames, namesVersion } = session.names;
    const { changeView, view } = session.store;
    const { details, isChange, isShownInverted, query, reveal, roots, searchCount } = state;
    const { selected, shownFilter, shownSearch, shownThreads, shownTransforms, summary, treeError } = state;
    const openRows = createOpenRows();
    const loaders = createLoaders(session);

    /** Replaces the rows by the rows of an answer. */
    function show(
        wanted: Query,
        answer: TreeSummary,
        nodes: TreeNode[],
        node: TreeNode | null,
        reveals: boolean,
    ): void {
        const isMoved = nodePath(node).join() !== nodePath(selected.value).join();
        // While the profile grows, its heaviest path changes often. The address gets a path only when the user selects
        // a row.
        const isFirstChoice = session.info.value.isLive === true && view.value.path.length === 0;
        roots.value = nodes;
        isShownInverted.value = wanted.inverted;
        if (node) giveRow(node, state);
        isChange.value = wanted.compared === 'change';
        if (shownThreads.value.join() !== wanted.threads.join()) shownThreads.value = wanted.threads;
        shownSearch.value = wanted.search;
        shownTransforms.value = textOfTransforms(wanted);
        shownFilter.value = JSON.stringify([textOfTransforms(wanted), wanted.search, wanted.weight]);
        summary.value = answer;
        searchCount.value = wanted.search === '' ? null : { kept: answer.samples, all: answer.allSamples };
        selected.value = node;
        treeError.value = '';
        if ((isMoved && !isFirstChoice) || reveals) reveal.value++;
        // The address gets a path that follows from the view, so that a reload selects the same row.
        if (node && view.value.path.length === 0 && !isFirstChoice) changeView({ path: nodePath(node) }, 'replace');
    }

    let lastPlace = '';
    let lastDuration = Infinity; // ms
    async function refresh(): Promise<void> {
        loaders.begin(loaders.id);
        const wanted = query.value;
        const shape = shapeOf(view.value.transforms, wanted.inverted);
        // In the inverted tree, the first selection is the heaviest function, without a caller.
        const depth = wanted.inverted ? 1 : FIRST_PATH_DEPTH;
        const names = namesVersion.peek() === 0 ? FIRST_ROWS : 0;
        const { path } = view.value;
        const start = performance.now();
        const answer = await engine.query(wanted, { path, depth, share: FIRST_PATH_SHARE, names });
        if (answer === null) return;
        lastDuration = performance.now() - start;
        const loader = loaders.begin(answer.id);
        const nodes = makeNodes(answer.roots, null, 0, 0);
        adoptLevels(nodes, answer.levels, answer.path);
        addNames(answer.names);
        await openRows.reopen(nodes, shape, loader);
        const node = (await loader.walkTo(nodes, view.value.path)) ?? (await loader.walkTo(nodes, answer.path));
        await fetchNames(firstFuncs(nodes, node, FIRST_ROWS));
        loader.check();
        // While the user drags a range, the rows keep their scroll position. Other changes scroll to the selected row.
        const place = JSON.stringify({ ...wanted, range: null });
        batch(() => show(wanted, answer, nodes, node, place !== lastPlace));
        lastPlace = place;
        openRows.remember(shape, nodes);
        act(whileCurrent(() => showDetails(node, loader))); // not awaited, because the rows are already usable
    }

    async function showDetails(node: TreeNode | null, loader: TreeLoader): Promise<void> {
        if (!node) {
            details.value = null;
            return;
        }
        const answer = await engine.details(loaders.id, node.handle);
        if (loader === loaders.current && selected.value === node) details.value = { node, details: answer };
    }

    /** Runs an action. Shows its error in place of the tree, unless another query has replaced the tree. */
    async function whileCurrent(action: () => Promise<void>): Promise<void> {
        try {
            await action();
        } catch (error) {
            if (!isOvertaken(error)) treeError.value = messageOf(error);
        }
    }

    const queries = new Repeater(() => whileCurrent(refresh));
    return {
        queries,
        showDetails,
        isQuick: (): boolean => lastDuration <= QUICK_QUERY,
        openNext: openRows.openNext,
        /** Runs `action` on the current tree. A change of the view meanwhile cancels the action. */
        async onCurrentTree(action: (loader: TreeLoader) => Promise<void>): Promise<void> {
            if (queries.isRunning) return;
            const loader = loaders.current;
            await whileCurrent(() => action(loader));
        },
    };
}
