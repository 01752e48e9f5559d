/** Finding functions by letters of their names: a thin layer over lib/tree/wasm_tree.c. */
import type { EngineModule, Pointer } from './module';
import type { Answers } from './protocol';

export interface FoundFunction {
    func: number;
    /** How well its name has what was typed: see lib/tree/find_names.h. */
    score: number;
}

export interface FindCalls {
    /** Orders what is found from now on, where it is equally good, by the totals of the current query. */
    beginFind(): Promise<null>;
    /** The best functions of the whole profile for what was typed, best first; null if overtaken. */
    findFunctions(text: string, limit: number): Promise<FoundFunction[] | null>;
}

interface Functions {
    session_find_begin(session: Pointer): number;
    session_find_names(session: Pointer, length: number, limit: number): Pointer;
}

export function findAnswers(module: EngineModule): Answers<FindCalls> {
    const { session } = module;
    const wasm = module.functions<Functions>();
    return {
        beginFind() {
            module.check(wasm.session_find_begin(session));
            return null;
        },
        findFunctions(text, limit) {
            const length = module.inputWords([], text);
            const view = module.view(wasm.session_find_names(session, length, limit));
            const words = view.ints(0, view.length * 2);
            return Array.from({ length: view.length }, (_, i) => ({
                func: words[2 * i] ?? 0,
                score: words[2 * i + 1] ?? 0,
            }));
        },
    };
}
