/**
 * The notes of the user, about a range of the timeline or a function. Each note is a parameter of the address with
 * three lines, `note=15250u4000`, the name of the range, and the comment. A note about a function has four lines,
 * `function-12`, its name, the comment, and its library, because the index belongs to one profile. The parameter
 * without a note stands for an empty list.
 */

import { decodeIndex } from '../base/indexes';
import type { ProfileNote } from '../engine/exports';
import type { Range } from './codec';

export interface Note {
    /** The part of the timeline, ms, or null in a note about a function. */
    range: Range | null;
    /** The index of the function in the profile with the note, or -1 if unknown. */
    func: number;
    /** The name of the range or of the function. Addresses of older pages lack names of functions. */
    name: string;
    /** The library of the function, or ''. */
    library: string;
    comment: string;
}

/** Limits of the list and of texts in UTF-16 code units. */
export const MOST_NOTES = 100;
export const NAME_LENGTH = 200;
export const FUNCTION_LENGTH = 1000;
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
    for (const { range, func, name, library, comment } of notes ?? []) {
        const place = range ? encodeRange(range) : FUNCTION + (func < 0 ? '' : func);
        const lines = range ? [place, name, comment] : [place, name, comment, library];
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
            const [place = '', name = '', ...rest] = text.split('\n');
            const range = decodeRange(place);
            const func = place.startsWith(FUNCTION) ? decodeIndex(place.slice(FUNCTION.length)) : -1;
            const [comment = '', library = ''] = range ? [rest.join(' ')] : rest;
            return checkedNotes({ range, func, name, library, comment });
        });
}

/** Returns the note with texts for one line each, or no note if it has no place. */
function checkedNotes({ range, func, name, library, comment }: Note): Note[] {
    if (range ? range[0] >= range[1] : func < 0 && name.trim() === '') return [];
    return [
        {
            range,
            func,
            name: noteText(name, range ? NAME_LENGTH : FUNCTION_LENGTH),
            library: range ? '' : noteText(library, NAME_LENGTH),
            comment: noteText(comment, COMMENT_LENGTH),
        },
    ];
}

/** Returns the notes of a profile (lib/profile/notes.h). */
export function notesOf(notes: readonly ProfileNote[]): readonly Note[] {
    return notes
        .slice(0, MOST_NOTES)
        .flatMap(({ from, to, ...note }) =>
            checkedNotes({ ...note, range: from === null || to === null ? null : [from, to] }),
        );
}

/** Returns the notes as set_notes() of lib/profile/notes.h reads them. */
export function noteValues(notes: readonly Note[]): (string | number)[][] {
    return notes.map(({ range, name, library, comment }) =>
        range ? [...range, name, comment] : [name, library, comment],
    );
}
