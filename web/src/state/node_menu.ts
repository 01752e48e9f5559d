/** The menus of call nodes and of functions, the same in every view that has them. */
import type { Recursion, TransformKind } from '../engine/api';
import { copyName, copyStack } from './copies';
import { changeView, engine, inverted } from './store';
import { type Offer, OFFERED, OFFERED_FOR_FUNCTIONS, offersFor, offersForFunction } from './transform_offers';
import { collapse, expandAll, transform } from './tree';
import { nodePath, type TreeNode } from './tree_nodes';
import { type MenuItem, menuItem } from './windows';

/** The transforms before which the menu has a line. */
const GROUP_STARTS = new Set<TransformKind>(['focus-function', 'collapse-function-subtree', 'drop-function']);

/** Keys that do a transform with the selected call node, or function. */
export const NODE_KEYS = new Set(OFFERED.map((one) => one.key));
export const FUNCTION_KEYS = new Set(OFFERED_FOR_FUNCTIONS.map((one) => one.key));

function offerItem(offer: Offer, startsGroup: boolean): MenuItem {
    return menuItem(offer.label, () => void transform(offer.transform), {
        title: offer.obstacle || offer.explanation,
        keys: offer.key,
        enabled: offer.obstacle === '',
        startsGroup,
    });
}

export interface MenuItems {
    items: MenuItem[];
    /** The same once it is known whether the function calls itself. */
    later: Promise<MenuItem[]>;
}

function withRecursion(func: number, make: (recursion: Recursion | null) => MenuItem[]): MenuItems {
    return { items: make(null), later: engine.recursion(func).then(make) };
}

/** The menu of a row of the call tree; `more` comes at its end. */
export function nodeMenu(node: TreeNode, more: readonly MenuItem[] = []): MenuItems {
    return withRecursion(node.func, (recursion) => [
        ...offersFor(node, recursion).map((offer) => offerItem(offer, GROUP_STARTS.has(offer.kind))),
        menuItem('Open everything below', () => void expandAll(node), {
            keys: '*',
            enabled: node.hasChildren,
            startsGroup: true,
        }),
        menuItem('Close', () => collapse(node), { keys: '←', enabled: node.expanded }),
        menuItem('Copy function name', () => copyName(node.func), { keys: 'Ctrl+C', startsGroup: true }),
        menuItem('Copy stack', () => void copyStack(nodePath(node), inverted.value)),
        ...more,
    ]);
}

/** The inverted tree, at the row of the function: who calls it. */
export function showCallers(func: number): void {
    changeView({ tab: 'calltree', inverted: true, path: [func] }, 'push');
}

export function functionMenu(func: number, more: readonly MenuItem[] = []): MenuItems {
    return withRecursion(func, (recursion) => [
        menuItem('Show callers', () => showCallers(func), { keys: 'Enter' }),
        ...offersForFunction(func, recursion).map((offer, at) => offerItem(offer, at === 0)),
        menuItem('Copy function name', () => copyName(func), { keys: 'Ctrl+C', startsGroup: true }),
        ...more,
    ]);
}
