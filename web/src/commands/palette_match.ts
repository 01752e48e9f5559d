/**
 * Scores the entries of the command palette against the typed text. The engine scores all texts alike
 * (lib/tree/fuzzy.h).
 */
import { plainText } from '../base/plain';
import type { FoundTexts } from '../engine/find';

export interface PaletteEntry {
    id: string;
    group: string;
    title: string;
    /** The share of a function in the view. The share stays visible beside a long name. */
    share: string;
    detail: string;
    keys: string;
    score: number;
    /** Returns the marks of the characters in title and detail. */
    titleMarks: (at: number) => boolean;
    detailMarks: (at: number) => boolean;
    run: (held: { ctrl: boolean }) => void;
}

/** An entry without a score. Functions already have the engine's score. */
export type Unscored = Omit<PaletteEntry, 'score' | 'share' | 'titleMarks' | 'detailMarks'> & {
    score?: number;
    share?: string;
};

/** The order of entries with equal scores. */
const GROUPS = ['View', 'Command', 'Selection', 'Thread', 'Function', 'Marker'];

/** Limit of the characters of a title. */
const TITLE_LIMIT = 160;
const DETAIL_LIMIT = 80;

/** Other words for the titles, which users of other programs type. */
const SYNONYMS: readonly [RegExp, string][] = [
    [/ as an image$| as SVG$/, 'export download picture png screenshot svg'],
    [/^Save the profile$/, 'download export'],
    [/ as a web page$/, 'download export html self-contained share'],
    [/^Save without/, 'anonymize download export sanitize share'],
    [/^Copy a link/, 'address share url'],
    [/^(Select f|F)ull range$|^Zoom/, 'range reset zoom'],
    [/^Compact rows$|^Default row height$/, 'appearance density line small spacing'],
    [/ theme$/, 'appearance colors mode theme'],
    [/^Recording details$/, 'info metadata quality trust'],
    [/^Filter stacks/, 'find grep search'],
    [/^Invert call stack$/, 'bottom-up reverse'],
    [/^Keys$/, 'help keyboard shortcuts'],
    [/^Undo/, 'back revert'],
    [/^Open a file$/, 'import load'],
    [/^Compare /, 'diff difference'],
    [/^Count the /, 'compare diff side'],
    [/ new window$/, 'duplicate tab compare diff'],
    [/ assembly$/, 'disassembly instructions'],
    [/ tracks$/, 'processes threads'],
];

export function synonymsOf(title: string): string {
    return SYNONYMS.flatMap(([pattern, list]) => (pattern.test(title) ? [list] : [])).join(' ');
}

const NOTHING_MARKED = (): boolean => false;

/** Returns an entry for an empty search, without marks. */
export function unmarked(entry: Unscored): PaletteEntry {
    return {
        ...entry,
        ...shownTexts(entry),
        share: entry.share ?? '',
        score: 0,
        titleMarks: NOTHING_MARKED,
        detailMarks: NOTHING_MARKED,
    };
}

function shownTexts({ title, detail }: Unscored): { title: string; detail: string } {
    return { title: plainText(title, TITLE_LIMIT) || '(no name)', detail: plainText(detail, DETAIL_LIMIT) };
}

/** A text with the engine's scores. */
class FoundText {
    constructor(
        private readonly found: FoundTexts,
        private readonly index: number,
        private readonly start: number,
        readonly text: string,
    ) {}

    /** Returns the score of a word, or -1 if the text does not contain it. */
    score(word: number): number {
        return this.found.scores[this.index * this.found.words + word] ?? -1;
    }

    /** Returns whether any of these words (a bit for each) matches at a character. */
    isMarked(at: number, words: number): boolean {
        return ((this.found.marks[this.start + at] ?? 0) & words) !== 0;
    }

    /** Returns the start and the end of the word in the text that begins with a typed word. */
    begun(word: number): [start: number, end: number] | null {
        if (this.score(word) < 0) return null;
        const bit = 1 << word;
        const marked = [...this.text].map((_, at) => this.isMarked(at, bit));
        const start = marked.indexOf(true);
        const isRun = !marked.slice(start, marked.lastIndexOf(true)).includes(false);
        const end = this.text.indexOf(' ', start);
        return isRun && (start === 0 || this.text[start - 1] === ' ')
            ? [start, end < 0 ? this.text.length : end]
            : null;
    }
}

/**
 * Scores an entry by its title, its detail or a synonym, which the entry then shows. Returns null if a word does not
 * match.
 */
function scoredEntry(entry: Unscored, words: number, [title, detail, others]: FoundText[]): PaletteEntry | null {
    if (!title || !detail || !others) return null;
    const shown = { ...entry, title: title.text, share: entry.share ?? '', detail: detail.text };
    const beside: number[] = [];
    const begun: { start: number; end: number; words: number }[] = [];
    let score = entry.score ?? 0;
    for (let word = 0; word < words; word++) {
        const inTitle = title.score(word);
        const other = others.begun(word);
        if (inTitle < 0) beside.push(word);
        if (inTitle < 0 && other) begun.push({ start: other[0], end: other[1], words: 1 << word });
        else if (inTitle < 0 && (entry.score === undefined || detail.score(word) < 0)) return null;
        // a match of the visible text counts more
        if (entry.score === undefined) score += Math.max(inTitle, other ? others.score(word) / 2 : -1);
    }
    const mask = beside.reduce((bits, word) => bits | (1 << word), 0);
    const titleMarks = (at: number): boolean => title.isMarked(at, ~0);
    if (begun.length === 0) return { ...shown, score, titleMarks, detailMarks: (at) => detail.isMarked(at, mask) };
    const marks = begun.flatMap((place, at) => [
        ...(at > 0 ? [false] : []),
        ...Array.from({ length: place.end - place.start }, (_, i) => others.isMarked(place.start + i, place.words)),
    ]);
    const said = begun.map(({ start, end }) => others.text.slice(start, end)).join(' ');
    return { ...shown, detail: said, score, titleMarks, detailMarks: (at) => marks[at] === true };
}

/** The number of texts per entry that the engine scores: title, detail, and synonyms of the title. */
const TEXTS_OF_ENTRY = 3;

export function textsOf(entries: readonly Unscored[]): string[] {
    return entries.flatMap((entry) => {
        const { title, detail } = shownTexts(entry);
        return [title, detail, entry.score === undefined ? synonymsOf(title) : ''];
    });
}

/** Returns the entries that match all words, best first. `found`: the engine's answer to textsOf(entries). */
export function matchingEntries(entries: readonly Unscored[], found: FoundTexts): PaletteEntry[] {
    let start = 0;
    const texts = textsOf(entries).map((text, index) => {
        const foundText = new FoundText(found, index, start, text);
        start += text.length;
        return foundText;
    });
    return entries
        .flatMap((entry, at) => {
            const first = TEXTS_OF_ENTRY * at;
            return scoredEntry(entry, found.words, texts.slice(first, first + TEXTS_OF_ENTRY)) ?? [];
        })
        .sort((a, b) => b.score - a.score || GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group));
}
