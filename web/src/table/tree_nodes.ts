/** The open rows of a tree in the page, and their order. Several views have such trees. */
import type { NodePath, Sides, TreeRows } from '../engine/api';
import { sidesAt } from '../engine/sides';
import type { SortOrder } from '../session/tables';

export interface TreeNode {
    /** The engine's handle, valid until its next answer for another view. */
    handle: number;
    func: number;
    depth: number;
    total: number;
    self: number;
    /** Both sides of a comparison, in which total and self are changes. */
    sides?: Sides;
    category: number;
    hasChildren: boolean;
    parent: TreeNode | null;
    /** The children, heaviest first, or null before the request. */
    children: TreeNode[] | null;
    expanded: boolean;
    /** Whether all nodes below are open, too, as after `*`. */
    expandedAll: boolean;
    /** Whether the frame and all its callers belong to a runtime or an interpreter. */
    isEntry: boolean;
    /** Whether callees get separate rows instead of joining this row's chain. */
    endsRow: boolean;
    /** The callers that the row also shows, outermost first: see openRows(). */
    chain: readonly TreeNode[];
    /** The level of the row's indentation. */
    level: number;
}

/** Makes nodes of an answer from the row `from` on. */
export function makeNodes(answer: TreeRows, parent: TreeNode | null, from: number, depth: number): TreeNode[] {
    const nodes: TreeNode[] = [];
    for (let i = from; i < answer.node.length; i++) {
        nodes.push({
            handle: answer.node[i] ?? 0,
            func: answer.func[i] ?? 0,
            depth,
            total: answer.total[i] ?? 0,
            self: answer.self[i] ?? 0,
            ...(answer.sides && { sides: sidesAt(answer.sides, i) }),
            category: answer.category[i] ?? 0,
            hasChildren: answer.hasChildren[i] === 1,
            parent,
            children: null,
            expanded: false,
            expandedAll: false,
            isEntry: answer.isEntry[i] === 1 && (parent === null || parent.isEntry),
            endsRow: false,
            chain: [],
            level: depth,
        });
    }
    return nodes;
}

/**
 * Adds a depth-first answer of descendants below `top`. Returns the nodes whose children may be incomplete because of
 * the limit `most`: the last node and its ancestors, or none if the answer is complete.
 */
export function adoptDescendants(top: TreeNode, answer: TreeRows, most: number): TreeNode[] {
    const nodes = makeNodes(answer, top, 0, 0);
    const firstDepth = answer.depth[0] ?? 0;
    const path: TreeNode[] = [top];
    top.children = [];
    top.expanded = true;
    top.expandedAll = true;
    nodes.forEach((node, i) => {
        const level = (answer.depth[i] ?? firstDepth) - firstDepth;
        const parent = path[level] ?? top;
        node.parent = parent;
        node.depth = parent.depth + 1;
        node.isEntry &&= parent.isEntry;
        parent.children ??= [];
        parent.children.push(node);
        parent.expanded = true;
        parent.expandedAll = true;
        path.length = level + 1;
        path.push(node);
    });
    if (nodes.length < most) return [];
    for (const node of path) node.expandedAll = false;
    return path.slice(0, -1);
}

/** Returns the path from the root to a node, as functions. */
export function nodePath(node: TreeNode | null): NodePath {
    const path: NodePath = [];
    for (let at = node; at !== null; at = at.parent) path.push(at.func);
    return path.reverse();
}

// ---- the order of siblings ----

const NAMES = new Intl.Collator('en');

/** Returns the name of a function, or '' before the page has the name: see session/names.ts. */
export type NameOf = (func: number) => string;

export function compareNames(nameOf: NameOf, a: number, b: number): number {
    return NAMES.compare(nameOf(a), nameOf(b)) || a - b;
}

interface Weighed {
    func: number;
    total: number;
    self: number;
    sides?: Sides;
}

/** The orders of rows besides the names. Only a comparison has the last four. */
export const WEIGHT_ORDERS = ['total', 'self', 'baseTotal', 'baseSelf', 'newTotal', 'newSelf'] as const;
export type WeightOrder = (typeof WEIGHT_ORDERS)[number];

/** Returns the order of a column of weights, else undefined. */
export function weightOrder(column: string, usual: WeightOrder): WeightOrder {
    return WEIGHT_ORDERS.find((order) => order === column) ?? usual;
}

/** Returns the absolute value. */
function sizeOf(row: Weighed, order: WeightOrder): number {
    switch (order) {
        case 'baseTotal':
            return Math.abs(row.sides?.base.total ?? 0);
        case 'baseSelf':
            return Math.abs(row.sides?.base.self ?? 0);
        case 'newTotal':
            return Math.abs(row.sides?.new.total ?? 0);
        case 'newSelf':
            return Math.abs(row.sides?.new.self ?? 0);
        default:
            return Math.abs(row[order]);
    }
}

/** Compares rows by a weight, heaviest first, and equal rows by self or total. */
export function compareWeights(by: WeightOrder, a: Weighed, b: Weighed): number {
    const other = by === 'total' ? 'self' : 'total';
    return sizeOf(b, by) - sizeOf(a, by) || sizeOf(b, other) - sizeOf(a, other) || a.func - b.func;
}

/** Sorts siblings for the table. The engine has sorted them by total. */
function sortSiblings(
    siblings: readonly TreeNode[],
    { column, reversed }: SortOrder,
    nameOf: NameOf,
): readonly TreeNode[] {
    if (column === 'total' && !reversed) return siblings;
    const sorted = [...siblings];
    const order = weightOrder(column, 'total');
    if (order !== 'total') sorted.sort((a, b) => sizeOf(b, order) - sizeOf(a, order));
    if (column === 'name') sorted.sort((a, b) => compareNames(nameOf, a.func, b.func));
    return reversed ? sorted.reverse() : sorted;
}

// ---- chains ----

/**
 * The last node of a chain has at least this share of the first node's total, so a chain hides at most 1 % of the row.
 */
const CHAIN_SHARE = 0.99;
const LEAST_CHAIN = 3;
const LEAST_ENTRY_CHAIN = 2;

/** Returns the callee that continues the chain from `first`. */
export function nextInChain(first: TreeNode, last: TreeNode): TreeNode | null {
    const next = last.children?.[0];
    const goesOn = next && first.total > 0 && !next.sides && next.total >= first.total * CHAIN_SHARE;
    return goesOn && !last.endsRow && next.isEntry === first.isEntry ? next : null;
}

/** Returns whether these nodes can share a row. A row always combines frames of a runtime. */
export function isChain(nodes: readonly TreeNode[]): boolean {
    return nodes.length >= (nodes[0]?.isEntry ? LEAST_ENTRY_CHAIN : LEAST_CHAIN);
}

/** Returns the nodes of the row that begins with `first`. */
function nodesOfRow(first: TreeNode): TreeNode[] {
    const nodes = [first];
    for (let last = first; last.expanded; ) {
        const next = nextInChain(first, last);
        if (!next) break;
        nodes.push(next);
        last = next;
    }
    return isChain(nodes) ? nodes : [first];
}

/** Returns the row above the row of an open node. */
export function rowAbove(node: TreeNode): TreeNode | null {
    return (node.chain[0] ?? node).parent;
}

/**
 * Returns the open rows from top to bottom. If `folds`, calls without another branch share one row, the row of the last
 * node, to which all actions on the row apply.
 */
export function openRows(roots: readonly TreeNode[], order: SortOrder, nameOf: NameOf, folds = false): TreeNode[] {
    const open: TreeNode[] = [];
    const pending = [...sortSiblings(roots, order, nameOf)].reverse();
    for (let first = pending.pop(); first !== undefined; first = pending.pop()) {
        const nodes = folds ? nodesOfRow(first) : [first];
        const node = nodes.pop() as TreeNode;
        node.chain = nodes;
        node.level = first.parent ? first.parent.level + 1 : 0;
        open.push(node);
        if (!node.expanded || !node.children) continue;
        const children = sortSiblings(node.children, order, nameOf);
        for (let i = children.length - 1; i >= 0; i--) pending.push(children[i] as TreeNode);
    }
    return open;
}

/** Returns the first open row below a node. */
export function firstBelow(rows: readonly TreeNode[], node: TreeNode): TreeNode | undefined {
    const below = rows[rows.indexOf(node) + 1];
    return below && rowAbove(below) === node ? below : undefined;
}

/** Returns the functions of all rows, for sorting by name. */
export function openFuncs(roots: readonly TreeNode[]): number[] {
    const funcs: number[] = [];
    const pending = [...roots];
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
        funcs.push(node.func);
        if (node.expanded && node.children) pending.push(...node.children);
    }
    return funcs;
}

/** Returns the paths of the open nodes without open nodes below, at most `most`. */
export function openPaths(nodes: readonly TreeNode[], most: number): NodePath[] {
    const paths: NodePath[] = [];
    const pending = nodes.filter((node) => node.expanded);
    for (let node = pending.pop(); node !== undefined && paths.length < most; node = pending.pop()) {
        const below = (node.children ?? []).filter((child) => child.expanded && child.hasChildren);
        if (below.length === 0) paths.push(nodePath(node));
        pending.push(...below);
    }
    return paths;
}

/**
 * Returns the functions of the rows that the page shows first: the first rows, and `most` rows before and after
 * `target`.
 */
export function firstFuncs(nodes: readonly TreeNode[], target: TreeNode | null, most: number): number[] {
    const funcs = nodePath(target);
    const pending = [...nodes].reverse();
    const open: number[] = [];
    let targetAt = target ? Infinity : 0;
    for (let node = pending.pop(); node !== undefined && open.length < targetAt + most; node = pending.pop()) {
        if (node === target) targetAt = open.length;
        open.push(node.func);
        if (node.expanded && node.children)
            for (let i = node.children.length - 1; i >= 0; i--) pending.push(node.children[i] as TreeNode);
    }
    return funcs.concat(open.slice(Math.max(0, targetAt - most), targetAt + most), open.slice(0, most));
}
