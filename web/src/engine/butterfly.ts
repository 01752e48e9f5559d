/** Callers and callees of a function, a library or a category, and lists of such: a thin layer over lib/tree/wasm_butterfly.c. */
import type { FuncRow, TreeRows } from './api';
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
    /** The number of the butterfly. */
    id: number;
    /** Of samples with it anywhere in their stack. */
    total: number;
    /** Of those that end in it. */
    self: number;
}

export interface ButterflyCalls {
    /** Libraries (`func`: resource, -1 for what is in none), categories or threads of the query, heaviest first by self. */
    groups(query: number, by: GroupKind): Promise<FuncRow[]>;
    /** The functions of the query by self, had it another weight. */
    functionsWeighed(query: number, weight: string, limit: number): Promise<FuncRow[]>;
    /** Opens a butterfly, as long as its query is open and there are no four newer ones. */
    butterfly(query: number, center: Center): Promise<CenterWeights>;
    /** The children of a node of one side, or of the center (-1), heaviest first. */
    butterflyChildren(butterfly: number, side: Side, node: number): Promise<TreeRows>;
    /** All rows below (to `limit` rows), depth first. */
    butterflyDescendants(butterfly: number, side: Side, node: number, limit: number): Promise<TreeRows>;
}

interface Functions {
    session_groups(session: Pointer, query: number, by: number): Pointer;
    session_functions_weighed(session: Pointer, query: number, weight: number): Pointer;
    session_butterfly(session: Pointer, query: number, kind: number, index: number): number;
    session_butterfly_weights(session: Pointer, id: number): Pointer;
    session_butterfly_children(session: Pointer, id: number, side: number, node: number): Pointer;
    session_butterfly_descendants(session: Pointer, id: number, side: number, node: number, limit: number): Pointer;
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
        groups: (query, by) => timings(wasm.session_groups(session, query, GROUP_KINDS.indexOf(by))),
        functionsWeighed: (query, weight, limit) =>
            timings(wasm.session_functions_weighed(session, query, module.weightIndex(weight)), limit),
        butterfly(query, { kind, index }) {
            const id = module.check(wasm.session_butterfly(session, query, CENTER_KINDS.indexOf(kind), index));
            const [total = 0, self = 0] = module.view(wasm.session_butterfly_weights(session, id)).doubles(0);
            return { id, total, self };
        },
        butterflyChildren: (id, side, node) =>
            treeRows(module, wasm.session_butterfly_children(session, id, SIDES.indexOf(side), node)),
        butterflyDescendants: (id, side, node, limit) =>
            treeRows(module, wasm.session_butterfly_descendants(session, id, SIDES.indexOf(side), node, limit)),
    };
}
