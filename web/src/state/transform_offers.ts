/** Which transforms a row of the call tree offers, with their keys (those of the Firefox Profiler) and what they say of themselves. */
import type { NodePath, Recursion, Transform, TransformKind } from '../engine/api';
import { plainText } from '../text/plain';
import { funcName } from './names';
import { engine, info, inverted } from './store';
import { nodePath, type TreeNode, transform } from './tree';
import { showNotice } from './windows';

/** Those that rows of nodes offer; that by markers is offered by markers. */
type NodeKind = Exclude<TransformKind, 'filter-samples'>;

export interface Offer {
    kind: NodeKind;
    key: string;
    label: string;
    /** A sentence. */
    explanation: string;
    /** '' if it can be done with this row, else why it cannot. */
    obstacle: string;
    transform: Transform;
}

const NAME_LIMIT = 60;

interface Kind {
    kind: NodeKind;
    key: string;
    /** What the key does to the selected row. */
    meaning: string;
    explanation: string;
}

/** In the order of the menu. */
export const OFFERED: readonly Kind[] = [
    {
        kind: 'merge-function',
        key: 'm',
        meaning: 'merge the function',
        explanation: 'Leaves its frames out everywhere: their time is that of the callers',
    },
    {
        kind: 'merge-call-node',
        key: 'M',
        meaning: 'merge this row only',
        explanation: 'Leaves out this one row: its time is that of its caller',
    },
    {
        kind: 'focus-function',
        key: 'f',
        meaning: 'focus on the function',
        explanation: 'Shows only samples with this function, from it on',
    },
    {
        kind: 'focus-subtree',
        key: 'F',
        meaning: 'focus on what is below this row',
        explanation: 'Shows only what is below this row',
    },
    {
        kind: 'focus-self',
        key: 'S',
        meaning: "focus on the function's self",
        explanation: 'Shows only samples that end in this function',
    },
    {
        kind: 'focus-category',
        key: 'g',
        meaning: 'focus on the category',
        explanation: 'Leaves out all frames of other categories',
    },
    {
        kind: 'merge-category',
        key: 'G',
        meaning: 'merge the category',
        explanation: 'Leaves all frames of the category out: their time is that of the callers',
    },
    {
        kind: 'collapse-function-subtree',
        key: 'c',
        meaning: 'collapse the function',
        explanation: 'Counts what it calls as its own time',
    },
    {
        kind: 'collapse-resource',
        key: 'C',
        meaning: 'collapse the library',
        explanation: 'Makes one function of all in the library',
    },
    {
        kind: 'collapse-recursion',
        key: 'r',
        meaning: 'collapse recursion',
        explanation: 'Makes one frame of its frames and of all between them',
    },
    {
        kind: 'collapse-direct-recursion',
        key: 'R',
        meaning: 'collapse direct recursion only',
        explanation: 'Makes one frame where it calls itself directly',
    },
    {
        kind: 'drop-function',
        key: 'd',
        meaning: 'drop samples with the function',
        explanation: 'Leaves out all samples with this function',
    },
    {
        kind: 'drop-category',
        key: 'D',
        meaning: 'drop samples of the category',
        explanation: 'Leaves out all samples that end in this category',
    },
];

function categoryName(category: number): string {
    return plainText(info.value.categories[category]?.name ?? 'Other', NAME_LIMIT);
}

/** A call node, in whichever view: what a transform is made of. A function alone has no path and no category. */
export interface NodePlace {
    func: number;
    category: number;
    path: NodePath;
    /** The path is one of the inverted tree. */
    inverted: boolean;
}

export function placeOfNode(node: TreeNode): NodePlace {
    return { func: node.func, category: node.category, path: nodePath(node), inverted: inverted.value };
}

function labelOf(kind: NodeKind, node: NodePlace): string {
    const library = plainText(funcName(node.func)?.lib ?? '', NAME_LIMIT);
    switch (kind) {
        case 'merge-function':
            return 'Merge function';
        case 'merge-call-node':
            return 'Merge this row only';
        case 'focus-function':
            return 'Focus on function';
        case 'focus-subtree':
            return node.inverted ? 'Focus on these callers only' : 'Focus on this subtree only';
        case 'focus-self':
            return 'Focus on self only';
        case 'focus-category':
            return `Focus on category ${categoryName(node.category)}`;
        case 'merge-category':
            return `Merge category ${categoryName(node.category)}`;
        case 'collapse-function-subtree':
            return 'Collapse function';
        case 'collapse-resource':
            return library === '' ? 'Collapse library' : `Collapse ${library}`;
        case 'collapse-recursion':
            return 'Collapse recursion';
        case 'collapse-direct-recursion':
            return 'Collapse direct recursion only';
        case 'drop-function':
            return 'Drop samples with this function';
        case 'drop-category':
            return `Drop samples of category ${categoryName(node.category)}`;
    }
}

function obstacleOf(kind: NodeKind, node: NodePlace, recursion: Recursion | null): string {
    if (kind === 'merge-call-node' && node.inverted) return 'A row of an inverted tree cannot be merged alone';
    if (kind === 'collapse-resource' && (funcName(node.func)?.resource ?? -1) < 0) return 'It is in no known library';
    if (kind === 'collapse-recursion' && recursion === 'none') return 'It does not call itself';
    if (kind === 'collapse-direct-recursion' && recursion !== 'direct' && recursion !== null)
        return 'It does not call itself directly';
    return '';
}

function makeTransform(kind: NodeKind, node: NodePlace): Transform {
    const plain = { kind, path: [], inverted: false };
    switch (kind) {
        case 'merge-call-node':
            return { ...plain, index: -1, path: node.path };
        case 'focus-subtree':
            return { ...plain, index: -1, path: node.path, inverted: node.inverted };
        case 'focus-category':
        case 'drop-category':
        case 'merge-category':
            return { ...plain, index: node.category };
        case 'collapse-resource':
            return { ...plain, index: funcName(node.func)?.resource ?? -1 };
        default:
            return { ...plain, index: node.func };
    }
}

function makeOffer(one: Kind, node: NodePlace, recursion: Recursion | null): Offer {
    return {
        ...one,
        label: labelOf(one.kind, node),
        obstacle: obstacleOf(one.kind, node, recursion),
        transform: makeTransform(one.kind, node),
    };
}

/** `recursion`: of the node's function; null while it is not known. */
export function offersFor(node: NodePlace, recursion: Recursion | null): Offer[] {
    return OFFERED.map((one) => makeOffer(one, node, recursion));
}

const OF_ROWS_ALONE = new Set<TransformKind>(['merge-call-node', 'focus-subtree', 'focus-category', 'merge-category', 'drop-category']);

export const OFFERED_FOR_FUNCTIONS: readonly Kind[] = OFFERED.filter((one) => !OF_ROWS_ALONE.has(one.kind));

export function offersForFunction(func: number, recursion: Recursion | null): Offer[] {
    const place = { func, category: -1, path: [], inverted: inverted.value };
    return OFFERED_FOR_FUNCTIONS.map((one) => makeOffer(one, place, recursion));
}

async function recursionFor(key: string, func: number): Promise<Recursion | null> {
    return key === 'r' || key === 'R' ? engine.recursion(func) : null;
}

async function doOffer(offer: Offer | undefined): Promise<void> {
    if (!offer) return;
    if (offer.obstacle !== '') showNotice(offer.obstacle);
    else await transform(offer.transform);
}

/** Does what a key stands for; says why if it cannot be done. */
export async function transformByKey(key: string, node: NodePlace): Promise<void> {
    const recursion = await recursionFor(key, node.func);
    await doOffer(offersFor(node, recursion).find((one) => one.key === key));
}

export async function transformFunctionByKey(key: string, func: number): Promise<void> {
    const recursion = await recursionFor(key, func);
    await doOffer(offersForFunction(func, recursion).find((one) => one.key === key));
}

/** What a transform that was done is called: before the name of its function, library or category. */
const VERBS: Record<TransformKind, string> = {
    'merge-function': 'Merge',
    'merge-call-node': 'Merge row',
    'focus-function': 'Focus',
    'focus-subtree': 'Focus on subtree',
    'focus-self': 'Focus on self',
    'focus-category': 'Focus on category',
    'drop-function': 'Drop',
    'drop-category': 'Drop category',
    'merge-category': 'Merge category',
    'collapse-resource': 'Collapse',
    'collapse-direct-recursion': 'Collapse direct recursion',
    'collapse-recursion': 'Collapse recursion',
    'collapse-function-subtree': 'Collapse',
    'filter-samples': 'Only inside markers',
};

export interface DoneTransform {
    verb: string;
    /** Whose name follows; -1: `other` does. */
    func: number;
    /** The name of a category, or what markers were searched for. */
    other: string;
}

export function describeTransform({ kind, index, path, inverted: isInverted, text = '' }: Transform): DoneTransform {
    const verb = kind === 'focus-subtree' && isInverted ? 'Focus on callers' : VERBS[kind];
    if (kind === 'focus-category' || kind === 'drop-category' || kind === 'merge-category') return { verb, func: -1, other: categoryName(index) };
    if (kind === 'filter-samples') return { verb, func: -1, other: text || '(any)' };
    const func = kind === 'collapse-resource' ? info.value.funcCount + index : (path[path.length - 1] ?? index);
    return { verb, func, other: '' };
}
