/** Encodes a comparison of parts of the served profile in the address, so that a reload repeats the comparison. */
import { decodeIndexes, encodeIndexes } from '../base/indexes';
import type { ComparedPart, ComparedSource } from '../engine/download';

/** The parameter of the address. */
export const COMPARED_PARAMETER = 'comparison';

/** The name, range and threads of a side. The threads are their number, and the indexes of the compared threads. */
type Side = [name: string, range: [number, number] | null, kept: [count: number, indexes: string] | null];

function encodeSide({ name, range, kept }: ComparedPart): Side {
    const indexes = (kept ?? []).flatMap((isKept, at) => (isKept ? [at] : []));
    return [name, range, kept && [kept.length, encodeIndexes(indexes)]];
}

/** Returns null if a side is a file, which the page cannot load again. */
export function encodeCompared({ base, new: next, forgives }: ComparedSource, served: string): string | null {
    if (base.source !== served || next.source !== served) return null;
    return JSON.stringify([encodeSide(base), encodeSide(next), forgives]);
}

const MOST_THREADS = 1_000_000;

function isRange(value: unknown): value is [number, number] {
    return Array.isArray(value) && value.length === 2 && value.every(Number.isFinite);
}

function decodeSide(side: unknown, source: string): ComparedPart | null {
    if (!Array.isArray(side)) return null;
    const [name, range, kept] = side as unknown[];
    if (typeof name !== 'string' || (range !== null && !isRange(range))) return null;
    if (kept === null) return { source, name, range, kept };
    const [count, indexes] = (Array.isArray(kept) ? kept : []) as unknown[];
    if (typeof count !== 'number' || !(count >= 0 && count <= MOST_THREADS) || typeof indexes !== 'string') return null;
    const chosen = new Set(decodeIndexes(indexes));
    return { source, name, range, kept: Array.from({ length: count }, (_, at) => chosen.has(at)) };
}

/** Returns null if the text has no comparison. */
export function decodeCompared(text: string, served: string): ComparedSource | null {
    try {
        const [first, second, forgives] = JSON.parse(text) as unknown[];
        const [base, next] = [decodeSide(first, served), decodeSide(second, served)];
        return base && next && { base, new: next, forgives: forgives === true };
    } catch {
        return null;
    }
}
