/**
 * A tree that the engine answers step by step, for views that have one beside the call tree: what is open, selected and
 * in which order. Its handles are those of a butterfly of the engine; load() gets new ones and opens the same again.
 */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { TreeRows } from '../engine/api';
import { formatCount } from '../text/format';
import type { SortOrder } from './tables';
import { adoptDescendants, makeNodes, type NameOf, openRows, type TreeNode } from './tree_nodes';
import { act, showNotice } from './windows';

export interface TreeSource {
    /** Of a node, or the first rows (-1), heaviest first. */
    children(node: number): Promise<TreeRows>;
    descendants(node: number, limit: number): Promise<TreeRows>;
}

/** The names that a tree needs: see state/names.ts. */
export interface TreeNames {
    nameOf: NameOf;
    fetchNames(funcs: Iterable<number>): Promise<void>;
    namesVersion: ReadonlySignal<number>;
}

const MOST_ROWS = 20_000;
/** Rows whose names are there before they are shown. */
const FIRST_ROWS = 60;
/** A new tree is opened along its heaviest path, as long as that is most of the node before. */
const FIRST_DEPTH = 12;
const FIRST_SHARE = 0.6;

export class LazyTree {
    readonly selected = signal<TreeNode | null>(null);
    /** Counts the selections that should be scrolled to. */
    readonly reveal = signal(0);
    readonly rows: ReadonlySignal<TreeNode[]>;
    private readonly roots = signal<TreeNode[]>([]);
    private readonly version = signal(0);
    private generation = 0;
    /** Of what is shown. */
    private source: TreeSource | null = null;

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

    /** Gets the tree anew; `same`: it is the same one with other numbers, in which the same is to be open. */
    async load(source: TreeSource, same: boolean): Promise<void> {
        const mine = ++this.generation;
        const nodes = makeNodes(await source.children(-1), null, 0, 0);
        if (mine !== this.generation) return;
        if (same) await this.reopen(source, nodes, this.roots.peek(), mine);
        else await this.openHeaviest(source, nodes, mine);
        await this.names.fetchNames(
            openRows(nodes, this.order.peek(), this.names.nameOf)
                .slice(0, FIRST_ROWS)
                .map((node) => node.func),
        );
        if (mine !== this.generation) return;
        this.selected.value = same ? this.findAgain(nodes, this.selected.peek()) : null;
        this.roots.value = nodes;
        this.source = source;
        if (!same) this.reveal.value = 0;
    }

    /** Nothing is shown until the next load(). */
    clear(): void {
        this.generation++;
        this.roots.value = [];
        this.selected.value = null;
    }

    select(node: TreeNode, scroll: boolean): void {
        this.selected.value = node;
        if (scroll) this.reveal.value++;
    }

    async expand(node: TreeNode): Promise<void> {
        if (!node.hasChildren) return;
        if (!this.source) return;
        await this.loadChildren(this.source, node, this.generation);
        node.expanded = true;
        this.version.value++;
    }

    collapse(node: TreeNode): void {
        node.expanded = false;
        for (let at: TreeNode | null = node; at !== null; at = at.parent) at.expandedAll = false;
        for (let at = this.selected.value?.parent ?? null; at !== null; at = at.parent)
            if (at === node) this.select(node, true);
        this.version.value++;
    }

    async expandAll(node: TreeNode): Promise<void> {
        const { source } = this;
        if (!node.hasChildren || !source) return;
        const mine = this.generation;
        const cut = adoptDescendants(node, await source.descendants(node.handle, MOST_ROWS), MOST_ROWS);
        if (cut.length > 0) showNotice(`Only the heaviest ${formatCount(MOST_ROWS)} rows were opened`);
        // A node that is open has all its children.
        for (const parent of cut) {
            const known = new Map((parent.children ?? []).map((child) => [child.func, child]));
            const whole = makeNodes(await source.children(parent.handle), parent, 0, parent.depth + 1);
            if (mine !== this.generation) return;
            parent.children = whole.map((child) => known.get(child.func) ?? child);
        }
        this.version.value++;
    }

    toggle(node: TreeNode, all: boolean): void {
        if (all) act(this.expandAll(node));
        else if (node.expanded) this.collapse(node);
        else act(this.expand(node));
    }

    /** What a key of a tree does; false if it has no meaning here. */
    onKey(key: string, node: TreeNode): boolean {
        const rows = this.rows.value;
        const below = rows[rows.indexOf(node) + 1];
        if (key === '*') act(this.expandAll(node));
        else if (key === 'ArrowRight' && !node.expanded) act(this.expand(node));
        else if (key === 'ArrowRight' && below?.parent === node) this.select(below, true);
        else if (key === 'ArrowLeft' && node.expanded && node.hasChildren) this.collapse(node);
        else if (key === 'ArrowLeft' && node.parent) this.select(node.parent, true);
        else return key === 'ArrowRight' || key === 'ArrowLeft';
        return true;
    }

    private async loadChildren(source: TreeSource, node: TreeNode, mine: number): Promise<void> {
        if (node.children || !node.hasChildren) return;
        const answer = await source.children(node.handle);
        if (mine !== this.generation) return;
        node.children = makeNodes(answer, node, 0, node.depth + 1);
        await this.names.fetchNames(node.children.slice(0, FIRST_ROWS).map((child) => child.func));
    }

    private async reopen(source: TreeSource, nodes: TreeNode[], old: readonly TreeNode[], mine: number): Promise<void> {
        const before = new Map(old.filter((node) => node.expanded).map((node) => [node.func, node]));
        for (const node of before.size > 0 ? nodes : []) {
            const was = before.get(node.func);
            if (!was || !node.hasChildren || mine !== this.generation) continue;
            await this.loadChildren(source, node, mine);
            node.expanded = node.children !== null;
            if (node.children && was.children) await this.reopen(source, node.children, was.children, mine);
        }
    }

    private async openHeaviest(source: TreeSource, nodes: TreeNode[], mine: number): Promise<void> {
        let whole = nodes.reduce((sum, node) => sum + Math.abs(node.total), 0);
        let [node] = nodes;
        for (let depth = 0; node?.hasChildren && depth < FIRST_DEPTH; depth++) {
            if (Math.abs(node.total) < whole * FIRST_SHARE) break;
            await this.loadChildren(source, node, mine);
            if (mine !== this.generation) return;
            node.expanded = true;
            whole = Math.abs(node.total);
            const heaviest: TreeNode | undefined = node.children?.[0];
            // A function that calls itself does so for long.
            node = heaviest?.func === node.func ? undefined : heaviest;
        }
    }

    private findAgain(nodes: readonly TreeNode[], old: TreeNode | null): TreeNode | null {
        if (!old) return null;
        const siblings = old.parent ? this.findAgain(nodes, old.parent)?.children : nodes;
        return siblings?.find((node) => node.func === old.func) ?? null;
    }
}
