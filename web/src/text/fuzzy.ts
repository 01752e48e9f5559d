/**
 * How well a text has the letters that were typed: the same as lib/tree/find_names.h says for functions, so that commands,
 * threads and functions can stand in one list; and where the letters are, for marking them.
 */
import type { Piece } from './highlight';

const AFTER_LAST = 12;
const AT_PART = 10;
const ELSEWHERE = 1;
const AT_START = 4;
const WHOLE = 20;

const MOST_WORDS = 8;
const LONGEST_WORD = 64;
const LONGEST_TEXT = 1024;

export function typedWords(typed: string): string[] {
    return typed
        .split(/[ \t]+/)
        .filter((word) => word !== '')
        .slice(0, MOST_WORDS)
        .map((word) => lowerCase(word.slice(0, LONGEST_WORD)));
}

/** Of the letters of ASCII, so that every character keeps its place. */
function lowerCase(text: string): string {
    return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function isLetter(character: string): boolean {
    return /[\p{L}\p{N}]/u.test(character);
}

function beginsPart(text: string, at: number): boolean {
    if (at === 0) return true;
    const before = text.charAt(at - 1);
    const here = text.charAt(at);
    return isLetter(here) && (!isLetter(before) || (/[a-z]/.test(before) && /[A-Z]/.test(here)));
}

interface Way {
    score: number;
    /** Where the letters are, the last one first. */
    at: number;
    before: Way | null;
}

/** The best way to find the letters of a word (small ones) in a text in their order; null if they are not there. */
function bestWay(text: string, lower: string, word: string): Way | null {
    let ways: (Way | null)[] = [];
    for (let i = 0; i < word.length; i++) {
        const next: (Way | null)[] = [];
        let left: Way | null = null;
        let isAny = false;
        for (let j = 0; j < lower.length; j++) {
            const last: Way | null = ways[j - 1] ?? null;
            const further: Way | null = left;
            if (last && (!left || last.score > left.score)) left = last;
            if (lower.charAt(j) !== word.charAt(i)) continue;
            const place = beginsPart(text, j) ? AT_PART : ELSEWHERE;
            let way: Way | null = null;
            if (i === 0) way = { score: place + (j === 0 ? AT_START : 0), at: j, before: null };
            else {
                if (further) way = { score: further.score + place, at: j, before: further };
                if (last && (!way || last.score + AFTER_LAST > way.score))
                    way = { score: last.score + AFTER_LAST, at: j, before: last };
            }
            if (way) {
                next[j] = way;
                isAny = true;
            }
        }
        if (!isAny) return null;
        ways = next;
    }
    return ways.reduce((best, way) => (way && (!best || way.score > best.score) ? way : best), null);
}

/** -1 if some word is not in the text. */
export function fuzzyScore(text: string, typed: string): number {
    const used = text.slice(0, LONGEST_TEXT);
    const lower = lowerCase(used);
    let score = 0;
    for (const word of typedWords(typed)) {
        const way = bestWay(used, lower, word);
        if (!way) return -1;
        score += way.score + (lower === word ? WHOLE : 0);
    }
    return score;
}

/** The text cut into pieces, the letters that were typed marked. */
export function fuzzyPieces(text: string, typed: string): Piece[] {
    const used = text.slice(0, LONGEST_TEXT);
    const marked = new Set<number>();
    for (const word of typedWords(typed))
        for (let way = bestWay(used, lowerCase(used), word); way; way = way.before) marked.add(way.at);
    const pieces: Piece[] = [];
    for (let at = 0; at < text.length; ) {
        const isMarked = marked.has(at);
        let end = at + 1;
        while (end < text.length && marked.has(end) === isMarked) end++;
        pieces.push({ text: text.slice(at, end), marked: isMarked });
        at = end;
    }
    return pieces;
}
