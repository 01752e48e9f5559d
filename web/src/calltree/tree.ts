/**
 * The call tree on the page: the rows that are open, and which of them is selected.
 *
 * The engine's node handles live until its next query. So the page keeps its own nodes with what is expanded, and when
 * the view changes it asks for the same shape again and swaps the rows in one step: nothing flickers while a range is
 * dragged. Only one query is under way at a time; only the last of the queries made meanwhile is sent.
 */
import { batch, computed, signal } from '@preact/signals';
import { formatCount } from '../base/format';
import { messageOf } from '../base/message';
import { NewestMap } from '../base/newest_map';
import type { ComparisonPart } from '../compare/comparison';
import type { NodeDetails, NodePath, PathFilter, Query, Transform, TreeSummary } from '../engine/api';
import type { FiltersPart } from '../session/filters';
import type { Given } from '../session/given';
import type { NamesPart } from '../session/names';
import type { StorePart } from '../session/store';
import type { TablesPart } from '../session/tables';
import { adoptLevels, isOvertaken, TreeLoader } from '../table/tree_loader';
import {
    firstBelow,
    firstFuncs,
    makeNodes,
    nodePath,
    openFuncs,
    openPaths,
    openRows,
    type TreeNode,
} from '../table/tree_nodes';
import { act, showNotice } from '../window/windows';

/** The heaviest path is followed to its end, but not to nodes with less than this share of all that is not idle. */
const FIRST_PATH_DEPTH = 1024;
const FIRST_PATH_SHARE = 0.1;
const MOST_ROWS = 50_000;
/** Rows whose names are there before a new tree is shown. */
const FIRST_ROWS = 120;
/** So many open places are kept across a transform. */
const MOST_OPEN_PATHS = 500;

/** What siblings are sorted by. */
export const TREE_ORDER = 'total';

/** What decides which rows there are, so that a tree of another shape is not taken for this one. */
export function shapeOf(done: readonly Transform[], isInverted: boolean): string {
    return JSON.stringify([isInverted, done]);
}

/** A filter by markers looks at those of the threads that are selected. */
function textOfTransforms({ transforms: done, threads }: Pick<Query, 'transforms' | 'threads'>): string {
    return JSON.stringify([done, done.some((transform) => transform.kind === 'filter-samples') ? threads : []]);
}

export function createTree(
    session: Given & {
        comparison: ComparisonPart;
        filters: FiltersPart;
        names: NamesPart;
        store: StorePart;
        tables: TablesPart;
    },
) {
    const { engine } = session;
    const { effect } = session.lifetime;
    const { compared, scaledBy } = session.comparison;
    const { filterTransforms, weight } = session.filters;
    const { addNames, fetchNames, nameOf, namesVersion } = session.names;
    const { changeView, committedRange, fullRange, inverted, previewRange, search, selectedThreads, transforms, view } =
        session.store;
    const { sortOf } = session.tables;

    const treeSort = sortOf('calltree', TREE_ORDER);

    const roots = signal<TreeNode[]>([]);
    /** The last trees by direction and transforms: what was open there is opened again when one comes back. */
    const lastRoots = new NewestMap<string, TreeNode[]>(12);
    /** What a transform leaves open of the tree before it, and of which tree it is. */
    let leftOpen: { shape: string; paths: NodePath[] } | null = null;
    const shapeVersion = signal(0);

    /** What the rows are percentages of; null until the first answer. */
    const summary = signal<TreeSummary | null>(null);
    /** Whether the rows are about both sides of a comparison: what they count are changes, and signed. */
    const isChange = signal(false);
    /** The open rows, top to bottom. */
    const rows = computed<TreeNode[]>(() => {
        shapeVersion.value;
        if (treeSort.value.column === 'name') namesVersion.value;
        return openRows(roots.value, treeSort.value, nameOf);
    });
    /** How many samples the search of the rows keeps, and of how many; null: there is no search. */
    const searchCount = signal<{ kept: number; all: number } | null>(null);

    const selected = signal<TreeNode | null>(null);
    /** Whether the rows are those of an inverted tree: the view may be ahead of them. */
    const isShownInverted = signal(false);
    /** The transforms of the rows, and what they depend on, as text that tells them from others: the engine has done these. */
    const shownTransforms = signal(textOfTransforms({ transforms: [], threads: [] }));
    /** The same for transforms and search together. */
    const shownFilter = signal('');
    /** The selected row as the engine's filter, in JSON: it stays the same while its node is replaced. '' for none. */
    const selectedFilter = computed<string>(() => {
        const path = nodePath(selected.value);
        return path.length > 0 ? JSON.stringify({ path, inverted: isShownInverted.value } satisfies PathFilter) : '';
    });
    /** Counts the selections that should be scrolled to. */
    const reveal = signal(0);
    const details = signal<{ node: TreeNode; details: NodeDetails } | null>(null);
    /** A sentence about what went wrong, for the place of the tree. */
    const treeError = signal('');

    /** The queries under way; null if the rows are those of the view. */
    let running: Promise<void> | null = null;
    let isWanted = false;

    /** The query that the view stands for. */
    const query = computed<Query>(() => {
        const range = previewRange.value ?? (committedRange.value === fullRange.value ? null : committedRange.value);
        return {
            threads: selectedThreads.value,
            range,
            transforms: [...transforms.value, ...filterTransforms.value],
            search: search.value.trim(),
            inverted: inverted.value,
            weight: weight.value.id,
            ...(compared.value && { compared: compared.value }),
            ...(scaledBy.value && { scaledBy: scaledBy.value }),
        };
    });

    /** The query of what is shown. */
    function queryOf(): number {
        return summary.peek()?.id ?? 0;
    }

    /** What to select if the view says nothing, or something that is no longer there. */
    async function chooseNode(nodes: TreeNode[], first: NodePath, mine: TreeLoader): Promise<TreeNode | null> {
        return (await mine.walkTo(nodes, view.value.path)) ?? mine.walkTo(nodes, first);
    }

    /** Opens in a new tree what was open in the last one of its shape, or what the transform leaves of the one before. */
    async function reopenShape(nodes: TreeNode[], shape: string, mine: TreeLoader): Promise<void> {
        const before = lastRoots.get(shape);
        if (before) await mine.reopen(nodes, before, MOST_ROWS);
        else if (leftOpen?.shape === shape) for (const path of leftOpen.paths) await mine.openPath(nodes, path);
    }

    let lastPlace = '';
    /** Of the newest query that is open, of which `summary` tells as soon as its tree is there. */
    let queryId = 0;
    let loader = loaderOf(queryId);

    function loaderOf(id: number): TreeLoader {
        return new TreeLoader({
            children: (node) => engine.children(id, node),
            childrenAlong: (node, path) => engine.childrenAlong(id, node, path),
            descendants: (node, limit) => engine.descendants(id, node, limit),
        });
    }

    /** What was asked for of the tree before this is given up. */
    function beginTree(id: number): TreeLoader {
        loader.end();
        queryId = id;
        loader = loaderOf(id);
        return loader;
    }

    async function refresh(): Promise<void> {
        beginTree(queryId);
        const wanted = query.value;
        const shape = shapeOf(view.value.transforms, wanted.inverted);
        // Inverted, the heaviest function is what one looks for, not who happens to call it.
        const depth = wanted.inverted ? 1 : FIRST_PATH_DEPTH;
        const names = namesVersion.peek() === 0 ? FIRST_ROWS : 0;
        const { path } = view.value;
        const answer = await engine.query(wanted, { path, depth, share: FIRST_PATH_SHARE, names });
        if (answer === null) return;
        const mine = beginTree(answer.id);
        const nodes = makeNodes(answer.roots, null, 0, 0);
        adoptLevels(nodes, answer.levels, answer.path);
        addNames(answer.names);
        await reopenShape(nodes, shape, mine);
        const node = await chooseNode(nodes, answer.path, mine);
        await fetchNames(firstFuncs(nodes, node, FIRST_ROWS));
        mine.check();
        const isMoved = nodePath(node).join() !== nodePath(selected.value).join();
        // While a range is dragged the rows stay where they are; other changes bring the selected one into view.
        const place = JSON.stringify({ ...wanted, range: null });
        const isElsewhere = place !== lastPlace;
        // While the profile grows, the heaviest path is another one soon: it is not the user's until something is selected.
        const isFirstChoice = session.info.value.isLive === true && view.value.path.length === 0;
        lastPlace = place;
        batch(() => {
            roots.value = nodes;
            lastRoots.set(shape, nodes);
            isShownInverted.value = wanted.inverted;
            isChange.value = wanted.compared === 'change';
            shownTransforms.value = textOfTransforms(wanted);
            shownFilter.value = JSON.stringify([textOfTransforms(wanted), wanted.search]);
            summary.value = answer;
            searchCount.value = wanted.search === '' ? null : { kept: answer.samples, all: answer.allSamples };
            selected.value = node;
            treeError.value = '';
            if ((isMoved && !isFirstChoice) || isElsewhere) reveal.value++;
            // A selection that follows from the view is put in the address, so that it outlives a reload.
            if (node && view.value.path.length === 0 && !isFirstChoice) changeView({ path: nodePath(node) }, 'replace');
        });
        // Not waited for: the rows can be used.
        act(whileCurrent(() => showDetails(node, mine)));
    }

    async function showDetails(node: TreeNode | null, mine: TreeLoader): Promise<void> {
        if (!node) {
            details.value = null;
            return;
        }
        const answer = await engine.details(queryId, node.handle);
        if (mine === loader && selected.value === node) details.value = { node, details: answer };
    }

    /** Another tree makes an action void; what went wrong is said in the place of the tree. */
    async function whileCurrent(action: () => Promise<void>): Promise<void> {
        try {
            await action();
        } catch (error) {
            if (!isOvertaken(error)) treeError.value = messageOf(error);
        }
    }

    function run(): void {
        isWanted = true;
        running ??= runAll().finally(() => {
            running = null;
        });
    }

    async function runAll(): Promise<void> {
        // A query closes the one before it: what the same change of the view asks of that one goes first.
        await null;
        while (isWanted) {
            isWanted = false;
            await whileCurrent(refresh);
        }
    }

    let lastQuery = '';
    let lastInfo = session.info.peek();

    /** An order by name needs all of them. */
    async function fetchNamesToSort(): Promise<void> {
        await fetchNames(openFuncs(roots.value));
    }

    /** Keeps the tree in step with the view from now on. */
    function follow(): void {
        // What waits to be asked when the session ends is not asked any more.
        effect(() => () => {
            isWanted = false;
        });
        effect(() => {
            const key = JSON.stringify(query.value);
            const info = session.info.value;
            if (key === lastQuery && info === lastInfo) return;
            lastQuery = key;
            lastInfo = info;
            run();
        });
        effect(() => {
            rows.value;
            if (treeSort.value.column === 'name') act(fetchNamesToSort());
        });
        // The selected row stays in sight when the order changes.
        let lastOrder = treeSort.peek();
        effect(() => {
            if (treeSort.value === lastOrder) return;
            lastOrder = treeSort.value;
            reveal.value = reveal.peek() + 1;
        });
        // Back, forward and the timeline name a node by its path.
        const wantedPath = computed(() => view.value.path);
        effect(() => {
            const path = wantedPath.value;
            if (running || path.join() === nodePath(selected.peek()).join()) return;
            act(selectPath(path));
        });
    }

    /** Resolves when the rows are those of the view. */
    async function settled(): Promise<void> {
        while (running) await running;
    }

    /** Runs `action` on the current tree; a view that changes meanwhile makes it void. */
    async function onCurrentTree(action: (mine: TreeLoader) => Promise<void>): Promise<void> {
        if (running) return;
        const mine = loader;
        await whileCurrent(() => action(mine));
    }

    function selectNode(node: TreeNode, scroll = true): void {
        batch(() => {
            selected.value = node;
            if (scroll) reveal.value++;
            changeView({ path: nodePath(node) }, 'replace');
        });
        act(onCurrentTree((mine) => showDetails(node, mine)));
    }

    /** Selects the node with this path, or as much of it as there is. */
    async function selectPath(path: NodePath): Promise<void> {
        await settled();
        await onCurrentTree(async (mine) => {
            const node = await mine.walkTo(roots.value, path);
            if (!node) return;
            await fetchNames(path);
            mine.check();
            shapeVersion.value++;
            selectNode(node);
        });
    }

    /** Opens a node. While a query is under way the request waits for its answer. */
    async function expand(node: TreeNode): Promise<void> {
        if (!node.hasChildren) return;
        node.expanded = true;
        await onCurrentTree(async (mine) => {
            await mine.loadChildren(node);
            await fetchNames((node.children ?? []).slice(0, FIRST_ROWS).map((child) => child.func));
            mine.check();
        });
        shapeVersion.value++;
    }

    /** Goes to the first row below an open node, as soon as it is there. */
    async function enter(node: TreeNode): Promise<void> {
        if (!firstBelow(rows.peek(), node)) await expand(node);
        const below = firstBelow(rows.peek(), node);
        if (below && selected.peek() === node) selectNode(below);
    }

    function collapse(node: TreeNode): void {
        node.expanded = false;
        for (let at: TreeNode | null = node; at !== null; at = at.parent) at.expandedAll = false;
        // A selection inside what closes moves up to what stays visible.
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
        await onCurrentTree(async (mine) => {
            if (!(await mine.openDescendants(node, MOST_ROWS)))
                showNotice(`Only the heaviest ${formatCount(MOST_ROWS)} rows were opened`);
            await fetchNames(firstFuncs([node], node, FIRST_ROWS));
        });
        shapeVersion.value++;
    }

    /** The paths of what is open. */
    function pathsOfOpen(): NodePath[] {
        return openPaths(roots.value, MOST_OPEN_PATHS);
    }

    /** A tree of this shape that was not there before opens these paths. */
    function openNext(shape: string, paths: NodePath[]): void {
        leftOpen = { shape, paths };
    }

    follow();
    return {
        treeSort,
        isChange,
        summary,
        searchCount,
        queryOf,
        rows,
        selected,
        shownTransforms,
        shownFilter,
        selectedFilter,
        reveal,
        details,
        treeError,
        query,
        selectNode,
        selectPath,
        expand,
        enter,
        collapse,
        expandAll,
        settled,
        onCurrentTree,
        pathsOfOpen,
        openNext,
    };
}

export type TreePart = ReturnType<typeof createTree>;
