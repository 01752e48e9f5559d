/** The transforms that a row of the call tree or a function offers, and their labels. */

import { plainText } from '../base/plain';
import type { NodePath, Recursion, Transform, TransformKind } from '../engine/api';
import type { NamesPart } from '../session/names';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import { nodePath, type TreeNode } from '../table/tree_nodes';
import { TRANSFORM_ENTRIES, TRANSFORMS, type TransformOffer, type TransformSubject } from '../view/transform_kinds';
import { showNotice } from '../window/windows';
import type { TreePart } from './tree';
import type { TreeChangesPart } from './tree_changes';

export interface OfferedKind extends TransformOffer {
    kind: TransformKind;
    subject: TransformSubject;
}

/** The transforms of rows, in the order of the menu. */
export const OFFERED: readonly OfferedKind[] = TRANSFORM_ENTRIES.flatMap(([kind, { subject, offer }]) =>
    offer ? [{ kind, subject, ...offer }] : [],
);

/** The transforms of functions without a row. */
export const OFFERED_FOR_FUNCTIONS = OFFERED.filter(({ subject }) => subject === 'function' || subject === 'library');

export interface Offer extends OfferedKind {
    /** The reason why the transform is impossible for this row, or ''. */
    obstacle: string;
    transform: Transform;
}

const NAME_LIMIT = 60;

/** Returns the label of the transform that merges all functions that a search matches. */
export function mergeMatchingLabel(search: string): string {
    return `Merge all functions matching “${plainText(search.trim(), NAME_LIMIT)}”`;
}

/** The call node of a transform, in any view. A function without a row has no path and no category. */
export interface NodePlace {
    func: number;
    category: number;
    path: NodePath;
    /** Whether the path belongs to the inverted tree. */
    inverted: boolean;
}

export interface DoneTransform {
    verb: string;
    /** The function after the verb, or -1 if `other` follows. */
    func: number;
    /** The name of a category, or the search for markers or functions. */
    other: string;
}

type OfferSession = SessionBase & { names: NamesPart; store: StorePart; tree: TreePart; treeChanges: TreeChangesPart };

/** Creates the transforms of rows, functions, libraries and categories. */
function createOffers({ info, names, store }: OfferSession) {
    const { funcName } = names;
    const { categoryName, inverted } = store;

    function shortCategory(category: number): string {
        return plainText(categoryName(category), NAME_LIMIT);
    }

    /** The func may stand for a library. */
    function shortLibrary(func: number): string {
        const name = funcName(func);
        return plainText((func >= info.value.funcCount ? name?.name : name?.lib) ?? '', NAME_LIMIT);
    }

    function placeOfNode(node: TreeNode): NodePlace {
        return { func: node.func, category: node.category, path: nodePath(node), inverted: inverted.value };
    }

    function labelOf({ kind, subject, label }: OfferedKind, node: NodePlace): string {
        if (kind === 'focus-subtree' && node.inverted) return 'Focus on these callers only';
        if (subject === 'category') return `${label} ${shortCategory(node.category)}`;
        const library = subject === 'library' ? shortLibrary(node.func) : '';
        return library === '' ? label : label.replace('library', () => library);
    }

    function obstacleOf({ kind, subject }: OfferedKind, node: NodePlace, recursion: Recursion | null): string {
        if (kind === 'merge-call-node' && node.inverted) return 'A single row of an inverted tree cannot be merged';
        if (subject === 'library' && (funcName(node.func)?.resource ?? -1) < 0) return 'Its library is unknown';
        if (kind === 'collapse-recursion' && recursion === 'none') return 'It does not call itself';
        if (kind === 'collapse-direct-recursion' && recursion !== 'direct' && recursion !== null)
            return 'It does not call itself directly';
        return '';
    }

    function makeTransform({ kind, subject }: OfferedKind, node: NodePlace): Transform {
        const plain = { kind, path: [], inverted: false };
        switch (subject) {
            case 'node':
                return { kind, index: -1, path: node.path, inverted: kind === 'focus-subtree' && node.inverted };
            case 'category':
                return { ...plain, index: node.category };
            case 'library':
                return { ...plain, index: funcName(node.func)?.resource ?? -1 };
            default:
                return { ...plain, index: node.func };
        }
    }

    function makeOffer(offered: OfferedKind, node: NodePlace, recursion: Recursion | null): Offer {
        return {
            ...offered,
            label: labelOf(offered, node),
            obstacle: obstacleOf(offered, node, recursion),
            transform: makeTransform(offered, node),
        };
    }

    /** Returns the transforms of a node. `recursion`: how the node's function calls itself, or null if unknown. */
    function offersFor(node: NodePlace, recursion: Recursion | null): Offer[] {
        return OFFERED.map((offered) => makeOffer(offered, node, recursion));
    }

    function offersForFunction(func: number, recursion: Recursion | null): Offer[] {
        const place = { func, category: -1, path: [], inverted: inverted.value };
        return OFFERED_FOR_FUNCTIONS.map((offered) => makeOffer(offered, place, recursion));
    }

    /** Returns the transforms of a library (a func that stands for it) or of a category. */
    function offersForGroup(kind: 'library' | 'category', index: number): Offer[] {
        const [func, category] = kind === 'library' ? [index, -1] : [-1, index];
        const place = { func, category, path: [], inverted: inverted.value };
        return OFFERED.filter(({ subject }) => subject === kind).map((offered) => makeOffer(offered, place, null));
    }

    return { shortCategory, placeOfNode, offersFor, offersForFunction, offersForGroup };
}

export function createTransformOffers(session: OfferSession) {
    const { engine, info } = session;
    const { shortCategory, ...offers } = createOffers(session);
    const { offersFor, offersForFunction, offersForGroup } = offers;

    async function recursionFor(key: string, func: number): Promise<Recursion | null> {
        return key === 'r' || key === 'R' ? engine.recursion(session.tree.queryOf(), func).catch(() => null) : null;
    }

    async function doOffer(offer: Offer | undefined): Promise<void> {
        if (!offer) return;
        if (offer.obstacle !== '') showNotice(offer.obstacle);
        else await session.treeChanges.transform(offer.transform);
    }

    /** Applies the transform of a key, or reports its obstacle. */
    async function transformByKey(key: string, node: NodePlace): Promise<void> {
        const [recursion] = await Promise.all([recursionFor(key, node.func), session.names.fetchNames([node.func])]);
        await doOffer(offersFor(node, recursion).find((offer) => offer.key === key));
    }

    async function transformFunctionByKey(key: string, func: number): Promise<void> {
        const recursion = await recursionFor(key, func);
        await doOffer(offersForFunction(func, recursion).find((offer) => offer.key === key));
    }

    async function transformGroupByKey(key: string, kind: 'library' | 'category', index: number): Promise<void> {
        await doOffer(offersForGroup(kind, index).find((offer) => offer.key === key));
    }

    /** Returns the verb of an applied transform, which precedes the name of its subject. */
    function describeTransform(transform: Transform): DoneTransform {
        const { kind, index, path, inverted: isInverted, text = '', slowest, sides } = transform;
        const { subject, verb } = TRANSFORMS[kind];
        const side = sides === 'base' ? 'Base: ' : sides === 'new' ? 'New: ' : '';
        const name = /^name:"([^"]*)"$/.exec(text)?.[1] ?? text;
        if (slowest === 1 && side !== '') return { verb: `${side}each`, func: -1, other: name };
        if (slowest) {
            const share = `${side}Slowest ${Number((100 * slowest).toPrecision(3))}%`;
            return { verb: `${share}${sides === 'split' ? ' against the others,' : ''} of`, func: -1, other: name };
        }
        if (subject === 'category') return { verb, func: -1, other: shortCategory(index) };
        if (subject === 'markers' || subject === 'functions')
            return { verb: side + verb, func: -1, other: text || '(any)' };
        const func = subject === 'library' ? info.value.funcCount + index : (path[path.length - 1] ?? index);
        return { verb: kind === 'focus-subtree' && isInverted ? 'Focus on callers' : verb, func, other: '' };
    }

    return { ...offers, transformByKey, transformFunctionByKey, transformGroupByKey, describeTransform };
}

export type TransformOffersPart = ReturnType<typeof createTransformOffers>;
