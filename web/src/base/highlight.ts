/** Finds the terms of a search in a name, so that a row can mark them. The engine splits the search into terms. */
import type { SearchTerm } from '../engine/find';

function escaped(text: string): string {
    return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

function sourceOf({ text, kind }: SearchTerm): string {
    if (kind === 'part') return escaped(text);
    if (kind === 'exact') return `^${escaped(text)}$`;
    try {
        return `(?:${new RegExp(text).source})`;
    } catch {
        return escaped(`/${text}/`);
    }
}

/** An expression that matches any of the terms; null without terms. */
export function termsExpression(all: readonly SearchTerm[]): RegExp | null {
    const terms = all.filter((term) => !term.excluded);
    if (terms.length === 0) return null;
    const sources = terms.sort((a, b) => b.text.length - a.text.length).map(sourceOf);
    return new RegExp(sources.join('|'), 'gi');
}

/** An expression that finds a text as it is, but for capitals; null for none. */
export function partExpression(text: string): RegExp | null {
    return text === '' ? null : new RegExp(escaped(text), 'gi');
}

export interface Piece {
    text: string;
    marked: boolean;
}

/** `text` cut into pieces where characters are marked, one of `marks` for each. */
export function piecesOf(text: string, marks: (at: number) => boolean): Piece[] {
    const pieces: Piece[] = [];
    for (let at = 0; at < text.length; ) {
        const marked = marks(at);
        let end = at + 1;
        while (end < text.length && marks(end) === marked) end++;
        pieces.push({ text: text.slice(at, end), marked });
        at = end;
    }
    return pieces;
}

/** Characters before the first mark, and between two, that leave both in sight in a list. */
const LONGEST_LEAD = 52;
const LONGEST_BETWEEN = 36;
/** What stays of longer ones: the beginning of the name, and what is beside a mark. */
const BEGINNING = 34;
const BESIDE = 16;

/** Pieces of a text that is cut at its end where it has no room: what is before a mark is shortened so that the mark can be seen. */
export function piecesInSight(pieces: readonly Piece[]): Piece[] {
    return pieces.map((piece, at) => {
        const { text, marked } = piece;
        if (marked || at === pieces.length - 1) return piece;
        if (text.length <= (at === 0 ? LONGEST_LEAD : LONGEST_BETWEEN)) return piece;
        return { text: `${text.slice(0, at === 0 ? BEGINNING : BESIDE)}…${text.slice(-BESIDE)}`, marked };
    });
}

/** `text` cut into pieces, those that match `expression` marked. */
export function markedPieces(text: string, expression: RegExp | null): Piece[] {
    if (expression === null) return [{ text, marked: false }];
    const pieces: Piece[] = [];
    let end = 0;
    for (const match of text.matchAll(expression)) {
        if (match[0] === '') continue;
        if (match.index > end) pieces.push({ text: text.slice(end, match.index), marked: false });
        pieces.push({ text: match[0], marked: true });
        end = match.index + match[0].length;
    }
    if (end < text.length || pieces.length === 0) pieces.push({ text: text.slice(end), marked: false });
    return pieces;
}
