/**
 * The notes of the user, about a range of the timeline or a function. Each note is a parameter of the address with
 * three lines, `note=15250u4000`, the name of the range, and the comment. A note about a function begins with
 * `function-12`. The parameter without a note stands for an empty list.
 */

import { decodeIndex } from '../base/indexes';
import type { Range } from './codec';

export interface Note {
    /** The part of the timeline, ms, or null in a note about a function. */
    range: Range | null;
    /** The index of the function, or -1 in a note about a range. */
    func: number;
    /** The name of the range, or the name of the function in the profile with the note. */
    name: string;
    comment: string;
}

/** Limits of the list and of texts in UTF-16 code units. */
export const MOST_NOTES = 100;
export const NAME_LENGTH = 200;
export const COMMENT_LENGTH = 1000;

const PARAMETER = 'note';
const FUNCTION = 'function-';

/** Returns the text as one line. Blanks replace control characters. */
export function noteText(text: string, limit: number): string {
    return text
        .slice(0, limit)
        .replace(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+/gu, ' ')
        .trim();
}

export function encodeNotes(
    notes: readonly Note[] | null,
    query: URLSearchParams,
    encodeRange: (range: Range) => string,
): void {
    if (notes?.length === 0) query.set(PARAMETER, '');
    for (const { range, func, name, comment } of notes ?? []) {
        const lines = range ? [encodeRange(range), name, comment] : [FUNCTION + func, '', comment];
        query.append(PARAMETER, lines.join('\n').trimEnd());
    }
}

export function decodeNotes(
    query: URLSearchParams,
    decodeRange: (text: string) => Range | null,
): readonly Note[] | null {
    if (!query.has(PARAMETER)) return null;
    return query
        .getAll(PARAMETER)
        .slice(0, MOST_NOTES)
        .flatMap((text) => {
            const [place = '', name = '', ...comment] = text.split('\n');
            const range = decodeRange(place);
            const func = place.startsWith(FUNCTION) ? decodeIndex(place.slice(FUNCTION.length)) : -1;
            if (range ? range[0] >= range[1] : func < 0) return [];
            return {
                range,
                func,
                name: noteText(name, NAME_LENGTH),
                comment: noteText(comment.join(' '), COMMENT_LENGTH),
            };
        });
}
