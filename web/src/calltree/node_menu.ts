/** The menus of call nodes and functions, which all views share. */

import type { ComparisonPart } from '../compare/comparison';
import type { Recursion } from '../engine/api';
import type { NotesPart } from '../notes/notes';
import type { NamesPart } from '../session/names';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import type { SourcePanelPart, SourcePlace } from '../source/source_panel';
import type { CopiesPart } from '../table/copies';
import { copyPlainName } from '../table/copies';
import type { TreeNode } from '../table/tree_nodes';
import { act, type MenuItem, menuItem } from '../window/windows';
import type { TransformOffersPart } from './transform_offers';
import { mergeMatchingLabel, type NodePlace, OFFERED, OFFERED_FOR_FUNCTIONS, type Offer } from './transform_offers';
import type { TreePart } from './tree';
import type { TreeChangesPart } from './tree_changes';

/** Keys that apply a transform to the selected call node or function. */
export const NODE_KEYS = new Set(OFFERED.map((offered) => offered.key));
export const FUNCTION_KEYS = new Set(OFFERED_FOR_FUNCTIONS.map((offered) => offered.key));

export interface MenuItems {
    items: MenuItem[];
    /** The items after the engine has answered whether the function calls itself. */
    later: Promise<MenuItem[]>;
}

/** Shows the callers of a function. */
export const CALLERS_KEY = 'w';

type MenuSession = SessionBase & {
    comparison: ComparisonPart;
    copies: CopiesPart;
    names: NamesPart;
    notes: NotesPart;
    sourcePanel: SourcePanelPart;
    store: StorePart;
    transformOffers: TransformOffersPart;
    tree: TreePart;
    treeChanges: TreeChangesPart;
};

/** Creates the items that several menus share. */
function createItems(session: MenuSession) {
    const { engine } = session;
    const { copyName, copySource } = session.copies;
    const { fetchNames, funcName } = session.names;
    const { changeView, search } = session.store;
    const { queryOf } = session.tree;
    const { mergeMatching, transform } = session.treeChanges;

    function offerItem(offer: Offer, startsGroup: boolean): MenuItem {
        return menuItem(offer.label, () => act(transform(offer.transform)), {
            title: offer.obstacle || offer.explanation,
            keys: offer.key,
            enabled: offer.obstacle === '',
            startsGroup,
        });
    }

    /** Items that merge all matching functions, while a search is active. */
    function searchItems(): MenuItem[] {
        const { value: text } = search;
        const explanation = 'Removes their frames everywhere; callers get their time';
        return text.trim() === ''
            ? []
            : [menuItem(mergeMatchingLabel(text), () => act(mergeMatching()), { title: explanation })];
    }

    function withRecursion(func: number, make: (recursion: Recursion | null) => MenuItem[]): MenuItems {
        return {
            items: make(null),
            later: Promise.all([engine.recursion(queryOf(), func).catch(() => null), fetchNames([func])]).then(
                ([recursion]) => make(recursion),
            ),
        };
    }

    /** Shows the function in the butterfly, between its callers and its callees. */
    function showButterfly(func: number): void {
        changeView({ tab: 'butterfly', center: { kind: 'function', index: func } }, 'push');
    }

    /** Items that scale a comparison by a function. */
    function normalizeItems(func: number): MenuItem[] {
        const name = funcName(func)?.name ?? '';
        if (!session.comparison.comparison.value || name === '') return [];
        return [
            menuItem('Normalize by this function', () => session.comparison.setScaledBy(`function:${name}`), {
                title: 'Scale the new side so that this function counts the same on both sides',
            }),
        ];
    }

    /**
     * Returns the items that menus of call nodes and functions share. `first` follows the source items, and `own`
     * precedes the copy items.
     */
    function commonItems(
        place: SourcePlace,
        { first = [], offers, own = [] }: { first?: MenuItem[]; offers: readonly Offer[]; own?: readonly MenuItem[] },
    ): MenuItem[] {
        const { func } = place;
        return [
            menuItem('Show source and assembly', () => act(session.sourcePanel.openSource(place)), { keys: 'Enter' }),
            ...first,
            menuItem('Show callers and callees', () => showButterfly(func), {
                title: 'Open the butterfly of this function',
                keys: 'b',
            }),
            ...offers.map((offer, at) => offerItem(offer, at === 0 || offer.startsGroup === true)),
            ...searchItems(),
            ...normalizeItems(func),
            ...own,
            menuItem('Add a note', () => session.notes.addFunction(func), {
                title: 'Pin this function to the list of notes',
                startsGroup: true,
            }),
            menuItem('Copy function name', () => act(copyName(func)), { keys: 'Ctrl+C', startsGroup: true }),
            menuItem('Copy source path', () => act(copySource(func)), { enabled: funcName(func)?.file !== '' }),
        ];
    }

    return { offerItem, withRecursion, showButterfly, commonItems };
}

export function createNodeMenu(session: MenuSession) {
    const { copyName, copyStack } = session.copies;
    const { changeView } = session.store;
    const { offersFor, offersForFunction, offersForGroup, placeOfNode, transformByKey } = session.transformOffers;
    const { collapse, expandAll } = session.tree;
    const { offerItem, withRecursion, showButterfly, commonItems } = createItems(session);

    /**
     * Opens the menu of a call node. `own` has the items of the view, which precede the copy items, and `more` the
     * items at the end.
     */
    function placeMenu(place: NodePlace, own: readonly MenuItem[], more: readonly MenuItem[] = []): MenuItems {
        return withRecursion(place.func, (recursion) => [
            ...commonItems(place, { offers: offersFor(place, recursion), own }),
            menuItem('Copy stack', () => act(copyStack(place.path, place.inverted))),
            ...more,
        ]);
    }

    /** Runs the action of a key for a call node of any view. Returns false for a key without a meaning. */
    function onNodeKey(event: KeyboardEvent, place: NodePlace): boolean {
        if (event.altKey || event.metaKey) return false;
        if (event.ctrlKey) {
            if (event.key !== 'c') return false;
            act(copyName(place.func));
        } else if (event.key === 'Enter') act(session.sourcePanel.openSource(place));
        else if (event.key === 'b') showButterfly(place.func);
        else if (NODE_KEYS.has(event.key)) act(transformByKey(event.key, place));
        else return false;
        return true;
    }

    /** Opens the menu of a row of the call tree. */
    function nodeMenu(node: TreeNode, more: readonly MenuItem[] = []): MenuItems {
        const own = [
            menuItem('Expand all descendants', () => act(expandAll(node)), {
                keys: '*',
                enabled: node.hasChildren,
                startsGroup: true,
            }),
            menuItem('Collapse', () => collapse(node), { keys: '←', enabled: node.expanded }),
        ];
        return placeMenu(placeOfNode(node), own, more);
    }

    /** Shows the callers of the function, in its row of the inverted tree. */
    function showCallers(func: number): void {
        changeView({ tab: 'calltree', inverted: true, path: [func], zoom: [], part: null }, 'push');
    }

    function functionMenu(func: number, more: readonly MenuItem[] = []): MenuItems {
        const callers = menuItem('Show callers', () => showCallers(func), {
            title: 'Open the inverted tree at this function',
            keys: CALLERS_KEY,
        });
        return withRecursion(func, (recursion) => [
            ...commonItems({ func }, { first: [callers], offers: offersForFunction(func, recursion) }),
            ...more,
        ]);
    }

    /** Opens the menu of a library (a func that stands for it) or of a category. */
    function groupMenu(
        kind: 'library' | 'category',
        index: number,
        name: string,
        more: readonly MenuItem[],
    ): MenuItem[] {
        return [
            ...offersForGroup(kind, index).map((offer) => offerItem(offer, false)),
            menuItem('Copy name', () => copyPlainName(name), { keys: 'Ctrl+C', startsGroup: true }),
            ...more,
        ];
    }

    return {
        showButterfly,
        placeMenu,
        onNodeKey,
        nodeMenu,
        showCallers,
        functionMenu,
        groupMenu,
    };
}

export type NodeMenuPart = ReturnType<typeof createNodeMenu>;
