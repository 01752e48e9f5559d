/** The intervals of the changes of a comparison: a thin layer over lib/tree/changes.h. */
import { KNOWN_CHANGE } from './layout';
import type { EngineModule, Pointer } from './module';
import type { Answers } from './protocol';

export interface KnownChange {
    /** It is in this interval with 95 %. */
    low: number;
    high: number;
    /** It is not more than noise. */
    isNoise: boolean;
}

export interface FuncChange extends KnownChange {
    func: number;
}

export interface Changes {
    /** Of the total. */
    all: KnownChange;
    /** Of the functions that are heavy enough on either side. */
    ofFuncs: FuncChange[];
}

export interface ChangesCalls {
    /**
     * The changes of a query about both sides of a comparison, by the self or the total of functions, as `prof diff` judges
     * them. null if a newer question is waiting.
     */
    changes(query: number, by: 'self' | 'total'): Promise<Changes | null>;
}

interface Functions {
    session_changes(session: Pointer, query: number, byTotal: number): Pointer;
}

export function changesAnswers(module: EngineModule): Answers<ChangesCalls> {
    const { session } = module;
    const wasm = module.functions<Functions>();
    return {
        changes(query, by) {
            const [all, ...ofFuncs] = module
                .view(wasm.session_changes(session, query, Number(by === 'total')))
                .records(0, KNOWN_CHANGE)
                .map(({ isNoise, ...change }) => ({ ...change, isNoise: isNoise !== 0 }));
            if (!all) throw new Error('The engine has no change of the total');
            return { all, ofFuncs };
        },
    };
}
