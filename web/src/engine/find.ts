/** Finding functions by letters of their names: a thin layer over lib/tree/wasm_tree.c. */
import { FOUND_NAME } from './layout';
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
            return module.view(wasm.session_find_names(session, query, length, limit)).records(0, FOUND_NAME);
        },
    };
}
