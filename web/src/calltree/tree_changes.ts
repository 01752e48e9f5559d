/**
 * Steps that lead to another tree, such as transforms and inverting, and keep the selected and expanded rows that still
 * exist.
 */

import { NewestMap } from '../base/newest_map';
import type { NodePath, Transform } from '../engine/api';
import type { FiltersPart } from '../session/filters';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import { nodePath } from '../table/tree_nodes';
import type { StackType, View } from '../view/codec';
import type { TreePart } from './tree';
import { shapeOf } from './tree_shape';

const LONGEST_CHAIN = 4096;

export function createTreeChanges(session: SessionBase & { filters: FiltersPart; store: StorePart; tree: TreePart }) {
    const { engine } = session;
    const { filterToAdd } = session.filters;
    const { changeView, inverted, search, transforms } = session.store;
    const { onCurrentTree, openNext, pathsOfOpen, queryOf, selected, settled } = session.tree;

    /** The selected node before each transform: undoing it selects the node again. */
    const leftSelected = new NewestMap<string, NodePath>(100);
    /** The last request to invert the tree. The next request waits for it. */
    let inverting: Promise<void> = Promise.resolve();
    /** The last inversion, so that inverting again at once selects the same node. */
    let turned: { from: NodePath; to: NodePath } | null = null;

    /**
     * Applies one more transform and the other changes in `beside`. Keeps the selected and expanded rows that still
     * exist.
     */
    async function transform(wanted: Transform, besides: Partial<View> = {}): Promise<void> {
        await settled();
        await onCurrentTree(async (loader) => {
            const from = nodePath(selected.value);
            const done = transforms.value;
            const [to = [], ...paths] = await engine.rewritePaths(queryOf(), wanted, [from, ...pathsOfOpen()]);
            loader.check();
            leftSelected.set(shapeOf(done, inverted.value), from);
            openNext(shapeOf([...done, wanted], inverted.value), paths);
            changeView({ transforms: [...done, wanted], path: to, ...besides }, 'push');
        });
    }

    /**
     * Merges all functions that a search matches, and clears the search, because no function would match afterwards.
     */
    async function mergeMatching(text = search.value.trim()): Promise<void> {
        if (text === '') return;
        await transform({ kind: 'merge-matching', index: -1, path: [], inverted: false, text }, { search: '' });
    }

    /** Undoes all but the first `depth` transforms, and restores the selection of that time. */
    function undoTransforms(depth: number): void {
        const done = transforms.value.slice(0, depth);
        if (done.length === transforms.value.length) return;
        changeView({ transforms: done, path: leftSelected.get(shapeOf(done, inverted.value)) ?? [] }, 'push');
    }

    /** Shows kernel frames, program frames, or both. Keeps the selected row if it still exists. */
    async function setStackType(stackType: StackType): Promise<void> {
        await settled();
        const added = filterToAdd(stackType);
        let path = nodePath(selected.value);
        if (added && path.length > 0)
            await onCurrentTree(async (loader) => {
                const [left = []] = await engine.rewritePaths(queryOf(), added, [path]);
                loader.check();
                path = left;
            });
        changeView({ stackType, path }, 'push');
    }

    /** Inverts the tree, and selects the heaviest chain through the selected node, read from its other end. */
    function invert(): Promise<void> {
        inverting = inverting.then(turn, turn);
        return inverting;
    }

    async function turn(): Promise<void> {
        await settled();
        const from = nodePath(selected.value);
        if (turned && turned.to.join() === from.join()) {
            const back = turned;
            turned = { from, to: back.from };
            changeView({ inverted: !inverted.value, path: back.from, zoom: [], part: null }, 'push');
            return;
        }
        let chain = from;
        await onCurrentTree(async (loader) => {
            const node = selected.value;
            if (!node?.hasChildren) return;
            const least = inverted.value ? null : node.self;
            const below = await engine.heaviestBelow(queryOf(), node.handle, LONGEST_CHAIN, least);
            loader.check();
            chain = [...nodePath(node), ...below];
        });
        const reversed = chain.reverse();
        // In the inverted tree, the selection is the function itself. In the call tree, the selection is the end of the
        // whole chain.
        const to = inverted.value ? reversed : reversed.slice(0, 1);
        turned = { from, to };
        changeView({ inverted: !inverted.value, path: to, zoom: [], part: null }, 'push');
    }

    return { transform, mergeMatching, undoTransforms, setStackType, invert };
}

export type TreeChangesPart = ReturnType<typeof createTreeChanges>;
