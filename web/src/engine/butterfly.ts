/** Callers and callees of a function, a library or a category, and lists of such: a thin layer over lib/tree/wasm_butterfly.c. */
import { type FuncRow, type TreeRows, WEIGHTS, type Weight } from './api';
import type { EngineModule, Pointer } from './module';
import type { Answers } from './protocol';
import { treeRows } from './tree';

/** In the order of enum butterfly_kind. */
export const CENTER_KINDS = ['function', 'library', 'category'] as const;
export type CenterKind = (typeof CENTER_KINDS)[number];

export interface Center {
    kind: CenterKind;
    /** Func, resource or category. */
    index: number;
}

/** What groups() lists, in the order of wasm_butterfly.c. */
const GROUP_KINDS = ['library', 'category', 'thread'] as const;
export type GroupKind = (typeof GROUP_KINDS)[number];

export type Side = 'callers' | 'callees';

export interface CenterWeights {
    /** Of samples with it anywhere in their stack. */
    total: number;
    /** Of those that end in it. */
    self: number;
}

export interface ButterflyCalls {
    /** Libraries (`func`: resource, -1 for what is in none), categories or threads of the query, heaviest first by self. */
    groups(by: GroupKind): Promise<FuncRow[]>;
    /** The functions of the query by self, had it another weight. */
    functionsWeighed(weight: Weight, limit: number): Promise<FuncRow[]>;
    /** Makes the butterfly that the other calls speak of, until the next query. */
    butterfly(center: Center): Promise<CenterWeights>;
    /** The children of a node of one side, or of the center (-1), heaviest first. */
    butterflyChildren(side: Side, node: number): Promise<TreeRows>;
    /** All rows below (to `limit` rows), depth first. */
    butterflyDescendants(side: Side, node: number, limit: number): Promise<TreeRows>;
}

interface Functions {
    session_groups(session: Pointer, by: number): Pointer;
    session_functions_weighed(session: Pointer, weight: number): Pointer;
    session_butterfly(session: Pointer, kind: number, index: number): number;
    session_butterfly_total(session: Pointer): number;
    session_butterfly_self(session: Pointer): number;
    session_butterfly_children(session: Pointer, side: number, node: number): Pointer;
    session_butterfly_descendants(session: Pointer, side: number, node: number, limit: number): Pointer;
}

const SIDES: readonly Side[] = ['callers', 'callees'];
const FUNC_TIMING_BYTES = 24;

export function butterflyAnswers(module: EngineModule): Answers<ButterflyCalls> {
    const { session } = module;
    const wasm = module.functions<Functions>();

    function timings(pointer: Pointer, limit?: number): FuncRow[] {
        const read = (data: DataView, at: number): FuncRow => ({
            func: data.getInt32(at, true),
            total: data.getFloat64(at + 8, true),
            self: data.getFloat64(at + 16, true),
        });
        return module.view(pointer).records(0, FUNC_TIMING_BYTES, read, limit);
    }

    return {
        groups: (by) => timings(wasm.session_groups(session, GROUP_KINDS.indexOf(by))),
        functionsWeighed: (weight, limit) =>
            timings(wasm.session_functions_weighed(session, WEIGHTS.indexOf(weight)), limit),
        butterfly({ kind, index }) {
            module.check(wasm.session_butterfly(session, CENTER_KINDS.indexOf(kind), index));
            return { total: wasm.session_butterfly_total(session), self: wasm.session_butterfly_self(session) };
        },
        butterflyChildren: (side, node) =>
            treeRows(module, wasm.session_butterfly_children(session, SIDES.indexOf(side), node)),
        butterflyDescendants: (side, node, limit) =>
            treeRows(module, wasm.session_butterfly_descendants(session, SIDES.indexOf(side), node, limit)),
    };
}
