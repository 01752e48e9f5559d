/** The intervals of the changes of a comparison: a thin layer over lib/tree/changes.h. */
import { KNOWN_CHANGE } from './layout';
import type { EngineModule, Pointer } from './module';
import type { Answers } from './protocol';

export interface KnownChange {
    /** Bounds of the 95 % interval. */
    low: number;
    high: number;
    /** Whether the change may be noise. */
    isNoise: boolean;
}

export interface FuncChange extends KnownChange {
    func: number;
}

export interface Changes {
    /** The change of the total. */
    all: KnownChange;
    /** The changes of functions with enough weight on either side. */
    ofFuncs: FuncChange[];
}

export interface ChangesCalls {
    /**
     * Returns the changes of a query of both sides of a comparison, by self or total of functions, as `prof diff`
     * judges them. Returns null if a newer request waits.
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
