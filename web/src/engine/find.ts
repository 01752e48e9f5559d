/** Finding functions by letters of their names: a thin layer over lib/tree/wasm_tree.c. */
import type { EngineModule, Pointer } from './module';
import type { Answers } from './protocol';

export interface FoundFunction {
    func: number;
    /** How well its name has what was typed: see lib/tree/find_names.h. */
    score: number;
}

export interface FindCalls {
    /** The best functions of the whole profile for what was typed, best first, those that are equally good by the totals of
     * the query; null if overtaken. */
    findFunctions(query: number, text: string, limit: number): Promise<FoundFunction[] | null>;
}

interface Functions {
    session_find_names(session: Pointer, query: number, length: number, limit: number): Pointer;
}

export function findAnswers(module: EngineModule): Answers<FindCalls> {
    const { session } = module;
    const wasm = module.functions<Functions>();
    return {
        findFunctions(query, text, limit) {
            const length = module.inputWords([], text);
            const view = module.view(wasm.session_find_names(session, query, length, limit));
            const words = view.ints(0, view.length * 2);
            return Array.from({ length: view.length }, (_, i) => ({
                func: words[2 * i] ?? 0,
                score: words[2 * i + 1] ?? 0,
            }));
        },
    };
}
