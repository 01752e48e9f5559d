/** Where the terms of a search occur in a name, so that a row can mark them. */

/** A term of a search as lib/tree/search.h describes it. */
export interface SearchTerm {
    text: string;
    kind: 'part' | 'exact' | 'expression';
    excluded: boolean;
}

/** `-`, a field and what follows: a term in quotes or slashes up to a comma or the end, or anything up to a comma. */
const TERM = /\s*(-(?=[^,\s]))?(?:(?:lib|file):(?!:)\s*(?=[^,\s]))?(?:"([^"]+(?:"(?!\s*(?:,|$))[^"]*)*)"(?=\s*(?:,|$))|\/((?:[^\\/]|\\.|\/(?!\s*(?:,|$)))+)\/(?=\s*(?:,|$))|([^,]*))\s*(?:,|$)/gy;

export function searchTerms(search: string): SearchTerm[] {
    const terms: SearchTerm[] = [];
    for (const [all, minus, exact, expression, part] of search.matchAll(TERM)) {
        if (all === '') break;
        const text = exact ?? expression ?? part?.trim() ?? '';
        const kind = exact !== undefined ? 'exact' : expression !== undefined ? 'expression' : 'part';
        if (text !== '') terms.push({ text, kind, excluded: minus !== undefined });
    }
    return terms;
}

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

/** An expression that finds what any of the terms looks for, or null if there is nothing to find. */
export function termsExpression(search: string): RegExp | null {
    const terms = searchTerms(search).filter((term) => !term.excluded);
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
