/**
 * The call tree on the page: the rows that are open, and which of them is selected.
 *
 * The engine's node handles live until its next query. So the page keeps its own nodes with what is expanded, and when
 * the view changes it asks for the same shape again and swaps the rows in one step: nothing flickers while a range is
 * dragged. Only one query is under way at a time; only the last of the queries made meanwhile is sent.
 */
import { batch, computed, signal } from '@preact/signals';
import type { NodeDetails, NodePath, PathFilter, Query, Transform, TreeRows, TreeSummary } from '../engine/api';
import { formatCount } from '../text/format';
import { ClosedError } from '../engine/protocol';
import { messageOf } from '../text/message';
import type { StackType } from './codec';
import { NewestMap } from './newest_map';
import { adoptDescendants, makeNodes, nodePath, openFuncs, openRows, type TreeNode } from './tree_nodes';
import { act, showNotice } from './windows';
import type { FiltersPart } from './filters';
import type { NamesPart } from './names';
import type { StorePart } from './store';
import type { TablesPart } from './tables';
import type { Given } from './given';

export { nodePath, type TreeNode } from './tree_nodes';

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

class Overtaken extends Error {}

function isOvertaken(error: unknown): boolean {
    return error instanceof Overtaken || error instanceof ClosedError;
}

/** What decides which rows there are, so that a tree of another shape is not taken for this one. */
function shapeOf(done: readonly Transform[], isInverted: boolean): string {
    return JSON.stringify([isInverted, done]);
}

/** The paths of the open nodes that have no open node below. */
function openPaths(nodes: readonly TreeNode[]): NodePath[] {
    const paths: NodePath[] = [];
    const pending = nodes.filter((node) => node.expanded);
    for (let node = pending.pop(); node !== undefined && paths.length < MOST_OPEN_PATHS; node = pending.pop()) {
        const below = (node.children ?? []).filter((child) => child.expanded && child.hasChildren);
        if (below.length === 0) paths.push(nodePath(node));
        pending.push(...below);
    }
    return paths;
}

/** A filter by markers looks at those of the threads that are selected. */
function textOfTransforms({ transforms: done, threads }: Pick<Query, 'transforms' | 'threads'>): string {
    return JSON.stringify([done, done.some((one) => one.kind === 'filter-samples') ? threads : []]);
}

/** The funcs of the rows around the selected one, which will be on the screen first. */
function firstFuncs(nodes: TreeNode[], target: TreeNode | null): number[] {
    const funcs = nodePath(target);
    const pending = [...nodes].reverse();
    const open: number[] = [];
    let targetAt = target ? MOST_ROWS : 0;
    for (let node = pending.pop(); node !== undefined && open.length < targetAt + FIRST_ROWS; node = pending.pop()) {
        if (node === target) targetAt = open.length;
        open.push(node.func);
        if (node.expanded && node.children)
            for (let i = node.children.length - 1; i >= 0; i--) pending.push(node.children[i] as TreeNode);
    }
    return funcs.concat(
        open.slice(Math.max(0, targetAt - FIRST_ROWS), targetAt + FIRST_ROWS),
        open.slice(0, FIRST_ROWS),
    );
}

const LONGEST_CHAIN = 4096;

export function createTree(
    session: Given & { filters: FiltersPart; names: NamesPart; store: StorePart; tables: TablesPart },
) {
    const { engine } = session;
    const { effect } = session.lifetime;
    const { filterToAdd, filterTransforms, weight } = session.filters;
    const { fetchNames, nameOf, namesVersion } = session.names;
    const { changeView, committedRange, fullRange, inverted, previewRange, search, selectedThreads, transforms, view } =
        session.store;
    const { sortOf } = session.tables;

    const treeSort = sortOf('calltree', TREE_ORDER);

    const roots = signal<TreeNode[]>([]);
    /** The last trees by direction and transforms: what was open there is opened again when one comes back. */
    const lastRoots = new NewestMap<string, TreeNode[]>(12);
    /** What a transform leaves open of the tree before it, and of which tree it is. */
    let leftOpen: { shape: string; paths: NodePath[] } | null = null;
    /** What was selected when a transform was done, for those who undo it. */
    const leftSelected = new Map<string, NodePath>();
    const shapeVersion = signal(0);

    /** What the rows are percentages of; null until the first answer. */
    const summary = signal<TreeSummary | null>(null);
    /** The open rows, top to bottom. */
    const rows = computed<TreeNode[]>(() => {
        shapeVersion.value;
        if (treeSort.value.column === 'name') namesVersion.value;
        return openRows(roots.value, treeSort.value, nameOf);
    });
    /** Samples of the same query without its search, as far as it was answered before: by query, as text. */
    const unsearched = new NewestMap<string, number>(50);
    /** How many samples the search of the rows keeps, and of how many (null: not known); null: there is no search. */
    const searchCount = signal<{ kept: number; all: number | null } | null>(null);

    function countSearch(of: Query, { samples }: TreeSummary): void {
        const key = JSON.stringify({ ...of, search: '', inverted: false });
        if (of.search === '') unsearched.set(key, samples);
        searchCount.value = of.search === '' ? null : { kept: samples, all: unsearched.get(key) ?? null };
    }

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

    let generation = 0;
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
        };
    });

    /** The query of what is shown. */
    function queryOf(): number {
        return summary.peek()?.id ?? 0;
    }

    function check(mine: number): void {
        if (mine !== generation) throw new Overtaken();
    }

    async function loadChildren(node: TreeNode, mine: number): Promise<void> {
        if (node.children || !node.hasChildren) return;
        const answer = await engine.children(queryId, node.handle);
        check(mine);
        node.children = makeNodes(answer, node, 0, node.depth + 1);
    }

    /** Makes the children of the nodes along a path below `node`, which are to be shown together, in one step. */
    async function loadChildrenAlong(node: TreeNode, path: NodePath, mine: number): Promise<void> {
        const levels = await engine.childrenAlong(queryId, node.handle, path);
        check(mine);
        let at: TreeNode | undefined = node;
        for (const [depth, level] of levels.entries()) {
            if (!at) return;
            at.children ??= makeNodes(level, at, 0, at.depth + 1);
            at = at.children.find((child) => child.func === path[depth]);
        }
    }

    /** Opens everything below a node, up to a limit; a node that is open always has all its children. */
    async function loadDescendants(node: TreeNode, mine: number): Promise<boolean> {
        const answer = await engine.descendants(queryId, node.handle, MOST_ROWS);
        check(mine);
        const cut = adoptDescendants(node, answer, MOST_ROWS);
        for (const parent of cut) {
            const known = new Map((parent.children ?? []).map((child) => [child.func, child]));
            const whole = makeNodes(await engine.children(queryId, parent.handle), parent, 0, parent.depth + 1);
            check(mine);
            parent.children = whole.map((child) => known.get(child.func) ?? child);
        }
        return cut.length === 0;
    }

    /** Opens in `nodes` what was open in `old`. */
    async function reopen(nodes: TreeNode[], old: readonly TreeNode[], mine: number): Promise<void> {
        const before = new Map(old.filter((node) => node.expanded).map((node) => [node.func, node]));
        if (before.size === 0) return;
        const again = nodes.filter((node) => node.hasChildren && before.has(node.func));
        await Promise.all(
            again.map(async (node) => {
                const was = before.get(node.func);
                if (!was) return;
                if (was.expandedAll) {
                    await loadDescendants(node, mine);
                    return;
                }
                await loadChildren(node, mine);
                node.expanded = true;
                if (node.children && was.children) await reopen(node.children, was.children, mine);
            }),
        );
    }

    /** The node at the end of `path`, or the last of it that exists; what is above it is opened. */
    async function walkTo(nodes: TreeNode[], path: NodePath, mine: number): Promise<TreeNode | null> {
        let level: TreeNode[] | null = nodes;
        let found: TreeNode | null = null;
        for (const [depth, func] of path.entries()) {
            const next: TreeNode | undefined = level?.find((node) => node.func === func);
            if (!next) break;
            if (found) found.expanded = true;
            found = next;
            if (next.hasChildren && !next.children) await loadChildrenAlong(next, path.slice(depth + 1), mine);
            level = next.children;
        }
        return found;
    }

    /** What to select if the view says nothing, or something that is no longer there. */
    async function chooseNode(nodes: TreeNode[], heaviest: NodePath, mine: number): Promise<TreeNode | null> {
        const wanted = view.value.path;
        const node = wanted.length > 0 ? await walkTo(nodes, wanted, mine) : null;
        return node ?? walkTo(nodes, heaviest, mine);
    }

    async function openPath(nodes: TreeNode[], path: NodePath, mine: number): Promise<void> {
        const node = path.length > 0 ? await walkTo(nodes, path, mine) : null;
        if (!node?.hasChildren) return;
        await loadChildren(node, mine);
        node.expanded = true;
    }

    /** Opens in a new tree what was open in the last one of its shape, or what the transform leaves of the one before. */
    async function reopenShape(nodes: TreeNode[], shape: string, mine: number): Promise<void> {
        const before = lastRoots.get(shape);
        if (before) await reopen(nodes, before, mine);
        else if (leftOpen?.shape === shape) for (const path of leftOpen.paths) await openPath(nodes, path, mine);
    }

    let lastPlace = '';
    /** Of the newest query that is open, of which `summary` tells as soon as its tree is there. */
    let queryId = 0;

    async function refresh(): Promise<void> {
        const mine = ++generation;
        const wanted = query.value;
        const shape = shapeOf(view.value.transforms, wanted.inverted);
        // Inverted, the heaviest function is what one looks for, not who happens to call it.
        const depth = wanted.inverted ? 1 : FIRST_PATH_DEPTH;
        const answer = await engine.query(wanted, { depth, share: FIRST_PATH_SHARE });
        if (answer === null) return;
        queryId = answer.id;
        check(mine);
        const nodes = makeNodes(answer.roots, null, 0, 0);
        await reopenShape(nodes, shape, mine);
        const node = await chooseNode(nodes, answer.heaviest, mine);
        await fetchNames(firstFuncs(nodes, node));
        check(mine);
        const isMoved = nodePath(node).join() !== nodePath(selected.value).join();
        // While a range is dragged the rows stay where they are; other changes bring the selected one into view.
        const place = JSON.stringify({ ...wanted, range: null });
        const isElsewhere = place !== lastPlace;
        lastPlace = place;
        batch(() => {
            roots.value = nodes;
            lastRoots.set(shape, nodes);
            isShownInverted.value = wanted.inverted;
            shownTransforms.value = textOfTransforms(wanted);
            shownFilter.value = JSON.stringify([textOfTransforms(wanted), wanted.search]);
            summary.value = answer;
            countSearch(wanted, answer);
            selected.value = node;
            treeError.value = '';
            if (isMoved || isElsewhere) reveal.value++;
            // A selection that follows from the view is put in the address, so that it outlives a reload.
            if (node && view.value.path.length === 0) changeView({ path: nodePath(node) }, 'replace');
        });
        await showDetails(node, mine);
    }

    async function showDetails(node: TreeNode | null, mine: number): Promise<void> {
        if (!node) {
            details.value = null;
            return;
        }
        const answer = await engine.details(queryId, node.handle);
        if (mine === generation && selected.value === node) details.value = { node, details: answer };
    }

    function run(): void {
        isWanted = true;
        running ??= runAll().finally(() => {
            running = null;
        });
    }

    async function runAll(): Promise<void> {
        while (isWanted) {
            isWanted = false;
            try {
                await refresh();
            } catch (error) {
                if (!isOvertaken(error)) treeError.value = messageOf(error);
            }
        }
    }

    /** The last turn that was asked for: the next one begins where it ends. */
    let inverting: Promise<void> = Promise.resolve();
    /** Where the tree was turned last, so that turning it back at once returns to the very place. */
    let turned: { from: NodePath; to: NodePath } | null = null;

    let lastQuery = '';

    /** An order by name needs all of them. */
    async function fetchNamesToSort(): Promise<void> {
        await fetchNames(openFuncs(roots.value));
    }

    /** Keeps the tree in step with the view from now on. */
    function follow(): void {
        effect(() => {
            const key = JSON.stringify(query.value);
            if (key === lastQuery) return;
            lastQuery = key;
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

    /** Runs `action` on the current tree; a view that changes meanwhile makes it void. */
    async function onCurrentTree(action: (mine: number) => Promise<void>): Promise<void> {
        if (running) return;
        const mine = generation;
        try {
            await action(mine);
        } catch (error) {
            if (!isOvertaken(error)) treeError.value = messageOf(error);
        }
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
        while (running) await running;
        await onCurrentTree(async (mine) => {
            const node = await walkTo(roots.value, path, mine);
            if (!node) return;
            await fetchNames(path);
            check(mine);
            shapeVersion.value++;
            selectNode(node);
        });
    }

    /** Opens a node. While a query is under way the request waits for its answer. */
    async function expand(node: TreeNode): Promise<void> {
        if (!node.hasChildren) return;
        node.expanded = true;
        await onCurrentTree(async (mine) => {
            await loadChildren(node, mine);
            await fetchNames((node.children ?? []).slice(0, FIRST_ROWS).map((child) => child.func));
            check(mine);
        });
        shapeVersion.value++;
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
            if (!(await loadDescendants(node, mine)))
                showNotice(`Only the heaviest ${formatCount(MOST_ROWS)} rows were opened`);
            await fetchNames(firstFuncs([node], node));
        });
        shapeVersion.value++;
    }

    /** Does one more transform. What is selected and open stays so, as far as the transform leaves it. */
    async function transform(wanted: Transform): Promise<void> {
        while (running) await running;
        await onCurrentTree(async (mine) => {
            const from = nodePath(selected.value);
            const done = transforms.value;
            const [to = [], ...paths] = await engine.rewritePaths(queryId, wanted, [from, ...openPaths(roots.value)]);
            check(mine);
            leftSelected.set(shapeOf(done, inverted.value), from);
            leftOpen = { shape: shapeOf([...done, wanted], inverted.value), paths };
            changeView({ transforms: [...done, wanted], path: to }, 'push');
        });
    }

    /** Back to the first `depth` of the transforms, and to what was selected there. */
    function undoTransforms(depth: number): void {
        const done = transforms.value.slice(0, depth);
        if (done.length === transforms.value.length) return;
        changeView({ transforms: done, path: leftSelected.get(shapeOf(done, inverted.value)) ?? [] }, 'push');
    }

    /** Shows frames of the kernel, of the programs, or both; the selected row stays, as far as it is still there. */
    async function setStackType(stackType: StackType): Promise<void> {
        while (running) await running;
        const added = filterToAdd(stackType);
        let path = nodePath(selected.value);
        if (added && path.length > 0)
            await onCurrentTree(async (mine) => {
                const [left = []] = await engine.rewritePaths(queryId, added, [path]);
                check(mine);
                path = left;
            });
        changeView({ stackType, path }, 'push');
    }

    /** Turns the tree around, keeping the place: the heaviest chain through the selected node, read from its other end. */
    function invert(): Promise<void> {
        inverting = inverting.then(turn, turn);
        return inverting;
    }

    async function turn(): Promise<void> {
        while (running) await running;

        const from = nodePath(selected.value);
        if (turned && turned.to.join() === from.join()) {
            const back = turned;
            turned = { from, to: back.from };
            changeView({ inverted: !inverted.value, path: back.from, zoom: [], part: null }, 'push');
            return;
        }
        let chain = from;
        await onCurrentTree(async (mine) => {
            let node = selected.value;
            for (let i = 0; node?.hasChildren && i < LONGEST_CHAIN; i++) {
                const answer: TreeRows = await engine.children(queryId, node.handle);
                check(mine);
                const heaviest = makeNodes(answer, node, 0, node.depth + 1)[0];
                if (!heaviest || (!inverted.value && node.self > heaviest.total)) break;
                node = heaviest;
            }
            chain = nodePath(node);
        });
        const reversed = chain.reverse();
        // Turned to the callers, the place is the function itself; turned back, it is the whole chain.
        const to = inverted.value ? reversed : reversed.slice(0, 1);
        turned = { from, to };
        changeView({ inverted: !inverted.value, path: to, zoom: [], part: null }, 'push');
    }

    follow();
    return {
        treeSort,
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
        collapse,
        expandAll,
        transform,
        undoTransforms,
        setStackType,
        invert,
    };
}

export type TreePart = ReturnType<typeof createTree>;
