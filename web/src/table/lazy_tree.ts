/**
 * A tree that the engine answers step by step, for views besides the call tree: its open and selected rows and its
 * order. Its handles belong to a butterfly of the engine. load() gets new handles and opens the same rows.
 */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { formatCount } from '../base/format';
import type { SortOrder } from '../session/tables';
import { act, showNotice } from '../window/windows';
import { isOvertaken, TreeLoader, type TreeSource } from './tree_loader';
import { firstBelow, makeNodes, type NameOf, nodePath, openRows, type TreeNode } from './tree_nodes';

/** The names for a tree: see session/names.ts. */
export interface TreeNames {
    nameOf: NameOf;
    fetchNames(funcs: Iterable<number>): Promise<void>;
    namesVersion: ReadonlySignal<number>;
}

const MOST_ROWS = 20_000;
/** The number of rows whose names the tree fetches before it shows them. */
const FIRST_ROWS = 60;
/** The number of levels of the heaviest path that a new tree opens, while each node has most of the node before. */
const FIRST_DEPTH = 12;
const FIRST_SHARE = 0.6;

async function openHeaviest(loader: TreeLoader, nodes: readonly TreeNode[]): Promise<void> {
    let whole = nodes.reduce((sum, node) => sum + Math.abs(node.total), 0);
    let [node] = nodes;
    for (let depth = 0; node?.hasChildren && depth < FIRST_DEPTH; depth++) {
        if (Math.abs(node.total) < whole * FIRST_SHARE) break;
        await loader.loadChildren(node);
        node.expanded = true;
        whole = Math.abs(node.total);
        const heaviest: TreeNode | undefined = node.children?.[0];
        // A recursive function would fill all levels.
        node = heaviest?.func === node.func ? undefined : heaviest;
    }
}

/** Runs an action, and ignores the error if another tree has replaced the tree. */
async function unlessOvertaken(action: () => Promise<void>): Promise<void> {
    try {
        await action();
    } catch (error) {
        if (!isOvertaken(error)) throw error;
    }
}

export class LazyTree {
    readonly selected = signal<TreeNode | null>(null);
    /** Increases when the view should scroll to the selected row. */
    readonly reveal = signal(0);
    readonly rows: ReadonlySignal<TreeNode[]>;
    private readonly roots = signal<TreeNode[]>([]);
    private readonly version = signal(0);
    /** The loaders of the shown tree and of the newest requested tree. */
    private shown: TreeLoader | null = null;
    private newest: TreeLoader | null = null;

    constructor(
        readonly order: ReadonlySignal<SortOrder>,
        private readonly names: TreeNames,
    ) {
        this.rows = computed(() => {
            this.version.value;
            if (order.value.column === 'name') names.namesVersion.value;
            return openRows(this.roots.value, order.value, names.nameOf);
        });
    }

    /**
     * Loads the tree again. `same` says that the tree has other handles but the same rows, so that the same rows stay
     * open.
     */
    async load(source: TreeSource, same: boolean): Promise<void> {
        if (this.newest !== this.shown) this.newest?.end();
        const loader = new TreeLoader(source);
        this.newest = loader;
        await unlessOvertaken(async () => {
            const nodes = makeNodes(await loader.rowsBelow(-1), null, 0, 0);
            if (same) await loader.reopen(nodes, this.roots.peek(), MOST_ROWS);
            else await openHeaviest(loader, nodes);
            await this.fetchNames(openRows(nodes, this.order.peek(), this.names.nameOf));
            loader.check();
            this.selected.value = same ? await loader.walkTo(nodes, nodePath(this.selected.peek())) : null;
            this.shown?.end();
            this.shown = loader;
            this.roots.value = nodes;
            if (!same) this.reveal.value = 0;
        });
    }

    /** Shows nothing until the next load(). */
    clear(): void {
        this.newest?.end();
        this.shown?.end();
        this.shown = null;
        this.roots.value = [];
        this.selected.value = null;
    }

    select(node: TreeNode, scroll: boolean): void {
        this.selected.value = node;
        if (scroll) this.reveal.value++;
    }

    async expand(node: TreeNode): Promise<void> {
        const { shown } = this;
        if (!node.hasChildren || !shown) return;
        node.expanded = true;
        await unlessOvertaken(async () => {
            await shown.loadChildren(node);
            await this.fetchNames(node.children ?? []);
            this.version.value++;
        });
    }

    /** Selects the first row below an open node when the row has arrived. */
    async enter(node: TreeNode): Promise<void> {
        if (!firstBelow(this.rows.peek(), node)) await this.expand(node);
        const below = firstBelow(this.rows.peek(), node);
        if (below && this.selected.peek() === node) this.select(below, true);
    }

    collapse(node: TreeNode): void {
        node.expanded = false;
        for (let at: TreeNode | null = node; at !== null; at = at.parent) at.expandedAll = false;
        for (let at = this.selected.value?.parent ?? null; at !== null; at = at.parent)
            if (at === node) this.select(node, true);
        this.version.value++;
    }

    async expandAll(node: TreeNode): Promise<void> {
        const { shown } = this;
        if (!node.hasChildren || !shown) return;
        await unlessOvertaken(async () => {
            if (!(await shown.openDescendants(node, MOST_ROWS)))
                showNotice(`Only the heaviest ${formatCount(MOST_ROWS)} rows are expanded`);
            this.version.value++;
        });
    }

    toggle(node: TreeNode, all: boolean): void {
        if (all) act(this.expandAll(node));
        else if (node.expanded) this.collapse(node);
        else act(this.expand(node));
    }

    /** Handles a key of a tree. Returns false if the key has no effect. */
    onKey(key: string, node: TreeNode): boolean {
        if (key === '*') act(this.expandAll(node));
        else if (key === 'ArrowRight') act(node.expanded ? this.enter(node) : this.expand(node));
        else if (key === 'ArrowLeft' && node.expanded && node.hasChildren) this.collapse(node);
        else if (key === 'ArrowLeft' && node.parent) this.select(node.parent, true);
        else return key === 'ArrowLeft';
        return true;
    }

    /** Fetches the names of the first rows. */
    private fetchNames(rows: readonly TreeNode[]): Promise<void> {
        return this.names.fetchNames(rows.slice(0, FIRST_ROWS).map((node) => node.func));
    }
}
