/**
 * Fetches the rows of one tree of the engine when the user opens them. A loader lives as long as the engine's handles,
 * until the engine answers for another view. From then on, waiting requests fail.
 */
import type { NodePath, TreeRows } from '../engine/api';
import { ClosedError } from '../engine/protocol';
import { adoptDescendants, isChain, makeNodes, nextInChain, type TreeNode } from './tree_nodes';

export interface TreeSource {
    /** Fetches the children of a node, or the first rows (-1), heaviest first. */
    children(node: number): Promise<TreeRows>;
    /**
     * Fetches the children of a node, and of the nodes along a path below it. Without this function, the loader goes
     * one step at a time.
     */
    childrenAlong?(node: number, path: NodePath): Promise<TreeRows[]>;
    descendants(node: number, limit: number): Promise<TreeRows>;
}

class Overtaken extends Error {}

/** Returns whether an error only says that a newer request replaced this one. */
export function isOvertaken(error: unknown): boolean {
    return error instanceof Overtaken || error instanceof ClosedError;
}

/** Returns the path down from a node through the first open child of each node. */
function openChain(node: TreeNode | undefined): NodePath {
    const path: NodePath = [];
    for (let at = node; at; at = at.children?.find((child) => child.expanded)) path.push(at.func);
    return path.slice(1);
}

/**
 * Adds the children of the nodes along a path that begins in `nodes`. `levels` has the children of the first node, then
 * of the second, and so on.
 */
export function adoptLevels(nodes: readonly TreeNode[], levels: readonly TreeRows[], path: NodePath): void {
    let among = nodes;
    for (const [depth, level] of levels.entries()) {
        const node = among.find(({ func }) => func === path[depth]);
        if (!node) return;
        node.children ??= makeNodes(level, node, 0, node.depth + 1);
        among = node.children;
    }
}

export class TreeLoader {
    private isOver = false;

    constructor(private readonly source: TreeSource) {}

    end(): void {
        this.isOver = true;
    }

    /** Throws if another loader has replaced this loader. Call this after each answer. */
    check(): void {
        if (this.isOver) throw new Overtaken();
    }

    async rowsBelow(handle: number): Promise<TreeRows> {
        const rows = await this.source.children(handle);
        this.check();
        return rows;
    }

    async loadChildren(node: TreeNode): Promise<void> {
        if (node.children || !node.hasChildren) return;
        const rows = await this.rowsBelow(node.handle);
        // After two requests, both callers use the nodes of the first answer.
        node.children ??= makeNodes(rows, node, 0, node.depth + 1);
    }

    /** Loads the children of the nodes along a path below `node` in one step, so that they appear together. */
    private async loadChildrenAlong(node: TreeNode, path: NodePath): Promise<void> {
        if (!this.source.childrenAlong) return this.loadChildren(node);
        const levels = await this.source.childrenAlong(node.handle, path);
        this.check();
        node.children ??= makeNodes(levels[0] as TreeRows, node, 0, node.depth + 1);
        adoptLevels(node.children, levels.slice(1), path);
    }

    /**
     * Opens the heaviest `limit` rows below a node. Returns whether these are all rows. An open node always has all its
     * children.
     */
    async openDescendants(node: TreeNode, limit: number): Promise<boolean> {
        const answer = await this.source.descendants(node.handle, limit);
        this.check();
        const cut = adoptDescendants(node, answer, limit);
        for (const parent of cut) {
            const known = new Map((parent.children ?? []).map((child) => [child.func, child]));
            const whole = makeNodes(await this.rowsBelow(parent.handle), parent, 0, parent.depth + 1);
            parent.children = whole.map((child) => known.get(child.func) ?? child);
        }
        return cut.length === 0;
    }

    /** Opens the nodes in `nodes` that were open in `old`. */
    async reopen(nodes: readonly TreeNode[], old: readonly TreeNode[], limit: number): Promise<void> {
        const before = new Map(old.filter((node) => node.expanded).map((node) => [node.func, node]));
        const again = nodes.filter((node) => node.hasChildren && before.has(node.func));
        await Promise.all(
            again.map(async (node) => {
                const was = before.get(node.func);
                if (was?.expandedAll) {
                    await this.openDescendants(node, limit);
                    return;
                }
                if (!node.children) await this.loadChildrenAlong(node, openChain(was));
                node.expanded = true;
                node.endsRow = was?.endsRow ?? false;
                if (node.children && was?.children) await this.reopen(node.children, was.children, limit);
            }),
        );
    }

    /** Opens a node, and the nodes that its row shows as a chain. Returns the last node of the row. */
    async openChain(first: TreeNode, folds: boolean): Promise<TreeNode> {
        const nodes = [first];
        for (let last: TreeNode | null = first; last?.hasChildren; ) {
            await this.loadChildren(last);
            last = folds ? nextInChain(first, last) : null;
            if (last) nodes.push(last);
        }
        const opened = isChain(nodes) ? nodes : [first];
        for (const node of opened) node.expanded = node.hasChildren;
        return opened[opened.length - 1] as TreeNode;
    }

    /** Returns the node at the end of `path`, or the last existing node on the path, and opens all nodes above. */
    async walkTo(nodes: readonly TreeNode[], path: NodePath): Promise<TreeNode | null> {
        let level: readonly TreeNode[] | null = nodes;
        let found: TreeNode | null = null;
        for (const [depth, func] of path.entries()) {
            const next: TreeNode | undefined = level?.find((node) => node.func === func);
            if (!next) break;
            if (found) found.expanded = true;
            found = next;
            if (next.hasChildren && !next.children) await this.loadChildrenAlong(next, path.slice(depth + 1));
            level = next.children;
        }
        return found;
    }

    /** Opens the node at the end of `path`, or the last existing node on the path. */
    async openPath(nodes: readonly TreeNode[], path: NodePath): Promise<void> {
        const node = await this.walkTo(nodes, path);
        if (!node?.hasChildren) return;
        await this.loadChildren(node);
        node.expanded = true;
    }
}
