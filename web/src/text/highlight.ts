/** Where the terms of a search occur in a name, so that a row can mark them. */

/** The terms of a search: separated by commas, all must match, case does not matter. */
export function searchTerms(search: string): string[] {
    return search
        .split(',')
        .map((term) => term.trim())
        .filter((term) => term !== '');
}

/** An expression that finds any of the terms, or null if there are none. */
export function termsExpression(search: string): RegExp | null {
    const terms = searchTerms(search);
    if (terms.length === 0) return null;
    const escaped = terms
        .sort((a, b) => b.length - a.length)
        .map((term) => term.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'));
    return new RegExp(escaped.join('|'), 'gi');
}

export interface Piece {
    text: string;
    marked: boolean;
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
