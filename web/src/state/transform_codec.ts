/**
 * The transforms of a view as the `transforms` part of the address, and back, in the words of the Firefox Profiler: codes
 * with `~` between them, `mf-12~f-combined-0w2~fs-m-text`. `combined` is its name for "all kinds of stacks", `m` that for
 * "the markers that a search finds". `dc` and `mg` are prof's own.
 */
import { TRANSFORM_KINDS, type Transform, type TransformKind } from '../engine/api';
import { decodeIndexes, encodeIndexes } from './indexes';

const CODES: Record<TransformKind, string> = {
    'merge-function': 'mf',
    'merge-call-node': 'mcn',
    'focus-function': 'ff',
    'focus-subtree': 'f',
    'focus-self': 'ffs',
    'focus-category': 'fg',
    'drop-function': 'df',
    'drop-category': 'dc',
    'collapse-resource': 'cr',
    'collapse-direct-recursion': 'drec',
    'collapse-recursion': 'rec',
    'collapse-function-subtree': 'cfs',
    'merge-category': 'mg',
    'filter-samples': 'fs',
};

/** Those whose code also says which kinds of stacks they are about. */
const WITH_STACK_TYPE = new Set(['mcn', 'f', 'ffs', 'cr', 'drec']);
const STACK_TYPE = 'combined';
const MOST = 200;
/** What samples are filtered by. */
const BY_MARKERS = 'm';

export function hasPath(kind: TransformKind): boolean {
    return kind === 'merge-call-node' || kind === 'focus-subtree';
}

/** A text may have the `~` that stands between transforms. */
function encodeText(text: string): string {
    return text.replaceAll('%', '%25').replaceAll('~', '%7E');
}

function decodeText(text: string): string {
    return text.replace(/%(25|7E)/g, (_, code) => (code === '25' ? '%' : '~'));
}

function encodeTransform(transform: Transform, funcCount: number): string {
    const { kind, index, path, inverted, text = '' } = transform;
    const code = CODES[kind];
    const parts = WITH_STACK_TYPE.has(code) ? [code, STACK_TYPE] : [code];
    if (kind === 'filter-samples') return `${code}-${BY_MARKERS}-${encodeText(text)}`;
    if (hasPath(kind)) parts.push(encodeIndexes(path));
    else parts.push(String(index));
    // The func that stands for all of a library comes after those of the profile.
    if (kind === 'collapse-resource') parts.push(String(funcCount + index));
    if (inverted) parts.push('i');
    return parts.join('-');
}

function decodeTransform(part: string): Transform | null {
    const [code = '', ...rest] = part.split('-');
    const kind = TRANSFORM_KINDS.find((one) => CODES[one] === code);
    if (!kind) return null;
    if (kind === 'filter-samples') {
        const [by, ...text] = rest;
        return by === BY_MARKERS ? { kind, index: -1, path: [], inverted: false, text: decodeText(text.join('-')) } : null;
    }
    const [value = '', last] = WITH_STACK_TYPE.has(code) ? rest.slice(1) : rest;
    if (hasPath(kind)) {
        const path = decodeIndexes(value);
        return path.length > 0 ? { kind, index: -1, path, inverted: kind === 'focus-subtree' && last === 'i' } : null;
    }
    return /^\d{1,9}$/.test(value) ? { kind, index: Number(value), path: [], inverted: false } : null;
}

export function encodeTransforms(transforms: readonly Transform[], funcCount: number): string {
    return transforms.map((transform) => encodeTransform(transform, funcCount)).join('~');
}

/** What cannot be read is left out. */
export function decodeTransforms(text: string): Transform[] {
    return text
        .split('~', MOST)
        .map(decodeTransform)
        .filter((transform) => transform !== null);
}
