/** Searches for typed text: a thin layer over lib/wasm/wasm_find.c. */
import { FOUND_NAME } from './layout';
import type { EngineModule, Pointer } from './module';
import type { Answers } from './protocol';

export interface FoundFunction {
    func: number;
    /** Score of the name: see lib/tree/find_names.h. */
    score: number;
    /** The magnitude of its total in the query. */
    weight: number;
}

/** The matches of typed words in texts: see lib/tree/fuzzy.h. */
export interface FoundTexts {
    /** Number of typed words. */
    words: number;
    /** For each text, the score of each word, or -1 for no match. */
    scores: Int16Array;
    /** For each character of all texts, a bit for each word that matches the character. */
    marks: Uint8Array;
}

/** A term of a search as lib/tree/search_filter.h describes it. */
export interface SearchTerm {
    text: string;
    kind: 'part' | 'exact' | 'expression';
    excluded: boolean;
}

export interface FindCalls {
    /**
     * Returns the best functions of the profile for the typed text, best first. Totals of the query order equal scores.
     * Returns null if a newer request waits.
     */
    findFunctions(query: number, typed: string, limit: number): Promise<FoundFunction[] | null>;
    /** Returns the matches of the typed text in any texts (without NUL). */
    findTexts(typed: string, texts: string[]): Promise<FoundTexts>;
    searchTerms(search: string): Promise<SearchTerm[]>;
}

interface Functions {
    session_find_names(session: Pointer, query: number, length: number, limit: number): Pointer;
    session_find_texts(session: Pointer, typed: number, length: number): Pointer;
    session_search_terms(session: Pointer, length: number): Pointer;
}

/** Converts marks of UTF-8 bytes to marks of JavaScript's characters. */
function marksOfCharacters(marks: Uint8Array, texts: readonly string[]): Uint8Array {
    const found = new Uint8Array(texts.reduce((sum, text) => sum + text.length, 0));
    let byte = 0;
    let at = 0;
    for (const text of texts) {
        for (const character of text) {
            const code = character.codePointAt(0) ?? 0;
            const end = byte + (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
            let mark = 0;
            while (byte < end) mark |= marks[byte++] ?? 0;
            found.fill(mark, at, at + character.length);
            at += character.length;
        }
        byte++;
    }
    return found;
}

export function findAnswers(module: EngineModule): Answers<FindCalls> {
    const { session } = module;
    const wasm = module.functions<Functions>();
    return {
        findFunctions(query, typed, limit) {
            const length = module.inputWords([], typed);
            return module.view(wasm.session_find_names(session, query, length, limit)).records(0, FOUND_NAME);
        },
        findTexts(typed, texts) {
            const size = new TextEncoder().encode(typed).length;
            const length = module.inputWords([], typed + texts.map((text) => `${text}\0`).join('')) - size;
            const view = module.view(wasm.session_find_texts(session, size, length));
            const words = view.ints(2, 1)[0] ?? 0;
            return {
                words,
                scores: view.shorts(0, view.length * words),
                marks: marksOfCharacters(view.bytes(1, length), texts),
            };
        },
        searchTerms(search) {
            const length = module.inputWords([], search);
            return JSON.parse(module.decode(module.view(wasm.session_search_terms(session, length)))) as SearchTerm[];
        },
    };
}
