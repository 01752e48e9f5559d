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

/** Returns an expression that matches any of the terms, or null without terms. */
export function termsExpression(all: readonly SearchTerm[]): RegExp | null {
    const terms = all.filter((term) => !term.excluded);
    if (terms.length === 0) return null;
    const sources = terms.sort((a, b) => b.text.length - a.text.length).map(sourceOf);
    return new RegExp(sources.join('|'), 'gi');
}

/** Returns an expression that finds a text literally, ignoring case, or null for an empty text. */
export function partExpression(text: string): RegExp | null {
    return text === '' ? null : new RegExp(escaped(text), 'gi');
}

export interface Piece {
    text: string;
    marked: boolean;
}

/** Splits `text` into pieces of characters with equal marks. */
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

/** Limits of the characters before the first mark and between two marks, so that a list shows both marks. */
const LONGEST_LEAD = 52;
const LONGEST_BETWEEN = 36;
/** The parts of longer texts that stay: the beginning of the name, and the characters next to a mark. */
const BEGINNING = 34;
const BESIDE = 16;

/**
 * Returns pieces of a text for a place that truncates texts at the end. Shortens the part before a mark, so that the
 * mark stays visible.
 */
export function piecesInSight(pieces: readonly Piece[]): Piece[] {
    return pieces.map((piece, at) => {
        const { text, marked } = piece;
        if (marked || at === pieces.length - 1) return piece;
        if (text.length <= (at === 0 ? LONGEST_LEAD : LONGEST_BETWEEN)) return piece;
        return { text: `${text.slice(0, at === 0 ? BEGINNING : BESIDE)}…${text.slice(-BESIDE)}`, marked };
    });
}

/** Splits `text` into pieces, and marks the pieces that match `expression`. */
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
