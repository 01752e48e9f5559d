/**
 * Encodes the transforms of a view as the `transforms` part of the address, and decodes it, in the syntax of the
 * Firefox Profiler: codes with `~` between them, `mf-12~f-combined-0w2~fs-m-text`. `combined` means all kinds of
 * stacks, and `m` the markers that a search finds. `s5`, `c5`, `dc`, `mg`, `fl`, `dl`, `ml` and `mm-text` are prof's
 * own.
 */

import { decodeIndexes, encodeIndexes } from '../base/indexes';
import type { Transform } from '../engine/api';
import { TRANSFORM_ENTRIES, TRANSFORMS } from './transform_kinds';

const STACK_TYPE = 'combined';
const MOST = 200;
/**
 * Matches the filters of samples: markers (`m`), the slowest 5 % (`s5`), or a comparison of these with the others
 * (`c5`). A letter at the end limits the filter to the base (`mb`, `s5b`) or to the new side of a comparison (`mn`).
 */
const BY_MARKERS = /^(?:m|([sc])(\d{1,3}(?:\.\d{1,7})?))([bn]?)$/;

function encodeBy({ slowest, sides }: Transform): string {
    const by = slowest ? `${sides === 'split' ? 'c' : 's'}${Number((100 * slowest).toFixed(7))}` : 'm';
    return by + (sides === 'base' ? 'b' : sides === 'new' ? 'n' : '');
}

function decodeSides(how = '', side = ''): Pick<Transform, 'sides'> {
    if (how === 'c') return { sides: 'split' };
    return side === '' ? {} : { sides: side === 'b' ? 'base' : 'new' };
}

/** Escapes `~`, which separates transforms. */
function encodeText(text: string): string {
    return text.replaceAll('%', '%25').replaceAll('~', '%7E');
}

function decodeText(text: string): string {
    return text.replace(/%(25|7E)/g, (_, code) => (code === '25' ? '%' : '~'));
}

function encodeTransform(transform: Transform, funcCount: number): string {
    const { kind, index, path, inverted, text = '' } = transform;
    const { code, subject, hasStackType } = TRANSFORMS[kind];
    if (subject === 'markers') return `${code}-${encodeBy(transform)}-${encodeText(text)}`;
    if (subject === 'functions') return `${code}-${encodeText(text)}`;
    const parts = hasStackType ? [code, STACK_TYPE] : [code];
    parts.push(subject === 'node' ? encodeIndexes(path) : String(index));
    // The function that represents a whole library comes after the functions of the profile.
    if (kind === 'collapse-resource') parts.push(String(funcCount + index));
    if (inverted) parts.push('i');
    return parts.join('-');
}

function decodeTransform(part: string): Transform | null {
    const [code = '', ...rest] = part.split('-');
    const [kind, words] = TRANSFORM_ENTRIES.find(([, entry]) => entry.code === code) ?? [];
    if (!kind || !words) return null;
    if (words.subject === 'markers') {
        const [by = '', ...text] = rest;
        const [all, how, percent, side] = BY_MARKERS.exec(by) ?? [];
        if (!all || Number(percent) > 100 || (how === 'c' && side !== '')) return null;
        const made = { kind, index: -1, path: [], inverted: false, text: decodeText(text.join('-')) };
        return { ...made, ...(how && { slowest: Number(percent) / 100 }), ...decodeSides(how, side) };
    }
    if (words.subject === 'functions') {
        const text = decodeText(rest.join('-'));
        return text === '' ? null : { kind, index: -1, path: [], inverted: false, text };
    }
    const [value = '', last] = words.hasStackType ? rest.slice(1) : rest;
    if (words.subject === 'node') {
        const path = decodeIndexes(value);
        return path.length > 0 ? { kind, index: -1, path, inverted: kind === 'focus-subtree' && last === 'i' } : null;
    }
    return /^\d{1,9}$/.test(value) ? { kind, index: Number(value), path: [], inverted: false } : null;
}

export function encodeTransforms(transforms: readonly Transform[], funcCount: number): string {
    return transforms.map((transform) => encodeTransform(transform, funcCount)).join('~');
}

/** Omits invalid parts. */
export function decodeTransforms(text: string): Transform[] {
    return text
        .split('~', MOST)
        .map(decodeTransform)
        .filter((transform) => transform !== null);
}
