/**
 * Callers and callees of a function, a library or a category, and lists of these: a thin layer over
 * lib/wasm/wasm_butterfly.c.
 */
import type { FuncRow, Sides, TreeRows } from './api';
import { BUTTERFLY_KIND, BUTTERFLY_SIDE, FUNC_TIMING, GROUP_KIND } from './layout';
import type { EngineModule, Pointer } from './module';
import type { Answers } from './protocol';
import { treeRows } from './tree';

export { BUTTERFLY_KIND as CENTER_KINDS };
export type CenterKind = (typeof BUTTERFLY_KIND)[number];

export interface Center {
    kind: CenterKind;
    /** Index of a func, a resource or a category. */
    index: number;
}

/** The kinds of groups that groups() lists. */
export type GroupKind = (typeof GROUP_KIND)[number];

/** The groupings of functions besides terms of a search (enum func_grouping of lib/tree/func_groups.h). */
export const FUNC_GROUPING = ['namespace', 'directory'];
/** The group of functions that match no term. */
export const OTHER_GROUP = '(other)';

export interface FuncGroup {
    /**
     * The namespace, the directory or the term. Functions without a namespace or a directory have their library in
     * brackets.
     */
    name: string;
    total: number;
    self: number;
}

export type Side = (typeof BUTTERFLY_SIDE)[number];

export interface CenterWeights {
    /** The number of the butterfly. */
    id: number;
    /** Weight of samples with the center anywhere in their stack. */
    total: number;
    /** Weight of samples that end in the center. */
    self: number;
    /** Figures of both sides, in a query of both sides of a comparison. Otherwise all are 0. */
    sides: Sides;
}

export interface ButterflyCalls {
    /**
     * Returns libraries (`func`: resource, or -1 for code without a library), categories or threads, heaviest first by
     * self.
     */
    groups(query: number, by: GroupKind): Promise<FuncRow[]>;
    /** Returns groups of functions, heaviest first by total. `by`: of FUNC_GROUPING, or terms of a search. */
    funcGroups(query: number, by: string): Promise<FuncGroup[]>;
    /** Returns the functions of the query by self, with another weight than the query's. */
    functionsWeighed(query: number, weight: string, limit: number): Promise<FuncRow[]>;
    /** Opens a butterfly, which stays open until its query closes or four newer butterflies exist. */
    butterfly(query: number, center: Center): Promise<CenterWeights>;
    /** Returns the children of a node of one side, or of the center (-1), heaviest first. */
    butterflyChildren(butterfly: number, side: Side, node: number): Promise<TreeRows>;
    /** Returns all rows below (at most `limit`), depth first. */
    butterflyDescendants(butterfly: number, side: Side, node: number, limit: number): Promise<TreeRows>;
}

interface Functions {
    session_groups(session: Pointer, query: number, by: number): Pointer;
    session_func_groups(session: Pointer, query: number, by: number): Pointer;
    session_functions_weighed(session: Pointer, query: number, weight: number): Pointer;
    session_butterfly(session: Pointer, query: number, kind: number, index: number): number;
    session_butterfly_weights(session: Pointer, id: number): Pointer;
    session_butterfly_children(session: Pointer, id: number, side: number, node: number): Pointer;
    session_butterfly_descendants(session: Pointer, id: number, side: number, node: number, limit: number): Pointer;
}

export function butterflyAnswers(module: EngineModule): Answers<ButterflyCalls> {
    const { session } = module;
    const wasm = module.functions<Functions>();

    function timings(pointer: Pointer, limit?: number): FuncRow[] {
        return module
            .view(pointer)
            .records(0, FUNC_TIMING, limit)
            .map(({ func, total, self, baseTotal, baseSelf, newTotal, newSelf }) => ({
                func,
                total,
                self,
                sides: { base: { total: baseTotal, self: baseSelf }, new: { total: newTotal, self: newSelf } },
            }));
    }

    return {
        groups: (query, by) => timings(wasm.session_groups(session, query, GROUP_KIND.indexOf(by))),
        funcGroups(query, by) {
            const known = FUNC_GROUPING.indexOf(by);
            module.inputWords([], `${by}\0`);
            const groups = wasm.session_func_groups(session, query, known < 0 ? FUNC_GROUPING.length : known);
            return JSON.parse(module.decode(module.view(groups))) as FuncGroup[];
        },
        functionsWeighed: (query, weight, limit) =>
            timings(wasm.session_functions_weighed(session, query, module.weightIndex(weight)), limit),
        butterfly(query, { kind, index }) {
            const id = module.check(wasm.session_butterfly(session, query, BUTTERFLY_KIND.indexOf(kind), index));
            const figures = module.view(wasm.session_butterfly_weights(session, id)).doubles(0);
            const [total = 0, self = 0, baseTotal = 0, baseSelf = 0, newTotal = 0, newSelf = 0] = figures;
            const sides = { base: { total: baseTotal, self: baseSelf }, new: { total: newTotal, self: newSelf } };
            return { id, total, self, sides };
        },
        butterflyChildren: (id, side, node) =>
            treeRows(module, wasm.session_butterfly_children(session, id, BUTTERFLY_SIDE.indexOf(side), node)),
        butterflyDescendants: (id, side, node, limit) =>
            treeRows(
                module,
                wasm.session_butterfly_descendants(session, id, BUTTERFLY_SIDE.indexOf(side), node, limit),
            ),
    };
}
