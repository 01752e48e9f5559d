/** The calls about the call tree, the function list and names, which lib/wasm/wasm_tree.c answers. */

import { baseName } from '../base/plain';
import type {
    FilteredSides,
    FuncInfo,
    FuncRow,
    NodeDetails,
    NodePath,
    Query,
    QueryAnswer,
    ScaledBy,
    SideColumns,
    Transform,
    TreeCalls,
    TreeRows,
} from './api';
import {
    CATEGORY_WEIGHT,
    COMPARE_BY,
    COMPARED,
    FUNC_NAMES,
    INLINING,
    LINE_WEIGHT,
    QUERY_SUMMARY,
    RECURSION,
    TRANSFORM_KIND,
} from './layout';
import { type EngineModule, NONE, type Pointer, type View } from './module';
import type { Answers } from './protocol';
import { sidesAt } from './sides';

interface Functions {
    session_query(session: Pointer): number;
    session_rewrite_path(session: Pointer, query: number, transformWords: number, length: number): Pointer;
    session_recursion(session: Pointer, query: number, func: number): number;
    session_release(session: Pointer, query: number): void;
    session_summary(session: Pointer, query: number): Pointer;
    session_children(session: Pointer, query: number, node: number): Pointer;
    session_descendants(session: Pointer, query: number, node: number, limit: number): Pointer;
    session_row(session: Pointer, query: number, node: number): Pointer;
    session_path(session: Pointer, query: number, node: number): Pointer;
    session_heaviest_path(session: Pointer, query: number, depth: number, share: number): Pointer;
    session_find(session: Pointer, query: number, length: number, nearest: number): number;
    session_scale(session: Pointer, by: number, size: number): Pointer;
    session_functions(session: Pointer, query: number, byTotal: number): Pointer;
    session_func(session: Pointer, func: number): Pointer;
    session_unnamed_share(session: Pointer): number;
    session_details(session: Pointer, query: number, node: number): number;
    session_function_details(session: Pointer, query: number, func: number): number;
    session_truncated(session: Pointer): number;
    session_categories(session: Pointer, self: number): Pointer;
    session_lines(session: Pointer): Pointer;
    session_inlining(session: Pointer): number;
    session_func_inlining(session: Pointer, func: number): number;
    session_inlined_into(session: Pointer): number;
}

const MOST_LINES = 20;
/** enum filtered_sides (lib/tree/transform.h), without FILTER_BOTH_SIDES. */
const FILTERED_SIDES: readonly FilteredSides[] = ['split', 'base', 'new'];

/** Returns a transform in the words that wasm_tree.c reads. */
export function transformWords(transform: Transform): number[] {
    const { kind, index, inverted, path, text = '', slowest = 0, sides } = transform;
    const bytes = new TextEncoder().encode(text);
    const words = new Uint32Array(Math.ceil(bytes.length / 4));
    new Uint8Array(words.buffer).set(bytes);
    const head = [TRANSFORM_KIND.indexOf(kind), index, Number(inverted), path.length, bytes.length];
    return [...head, Math.round(slowest * 1e9), sides ? FILTERED_SIDES.indexOf(sides) + 1 : 0, ...path, ...words];
}

/** Reads four columns of an answer about both sides of a comparison. */
function sideColumns(view: View, first: number): SideColumns | undefined {
    if (!view.has(first)) return undefined;
    const [baseTotal, baseSelf, newTotal, newSelf] = [0, 1, 2, 3].map((at) => view.doubles(first + at)) as [
        Float64Array,
        Float64Array,
        Float64Array,
        Float64Array,
    ];
    return { baseTotal, baseSelf, newTotal, newSelf };
}

/** Reads rows that session_get_row_view() returned. */
export function treeRows(module: EngineModule, pointer: Pointer): TreeRows {
    const view = module.view(pointer);
    const sides = sideColumns(view, 8);
    return {
        ...(sides && { sides }),
        node: view.ints(0),
        depth: view.ints(1),
        func: view.ints(2),
        category: view.ints(3),
        total: view.doubles(4),
        self: view.doubles(5),
        hasChildren: view.bytes(6),
        isEntry: view.bytes(7),
    };
}

/**
 * Returns about `most` functions of the rows near the end of a path: the functions on the path, and the heaviest
 * functions of each level, from the last level on.
 */
function funcsAround(levels: readonly TreeRows[], path: NodePath, most: number): Set<number> {
    const funcs = new Set<number>(most > 0 ? path.slice(-most) : []);
    for (const { func } of [...levels].reverse())
        for (const index of func.subarray(0, Math.max(0, most - funcs.size))) funcs.add(index);
    return funcs;
}

function sumOf(list: readonly { weight: number }[]): number {
    return list.reduce((sum, entry) => sum + entry.weight, 0);
}

/** Creates functions that read rows, paths and functions from the engine's memory. */
function createReaders(module: EngineModule, wasm: Functions) {
    const { session } = module;

    const rows = (pointer: Pointer): TreeRows => treeRows(module, pointer);

    function path(pointer: Pointer): NodePath {
        return Array.from(module.view(pointer).ints(0));
    }

    /** Returns the rows, and the children of each node of a path that exists in the rows. */
    function levelsAlong(query: number, first: TreeRows, path: NodePath): TreeRows[] {
        const levels = [first];
        for (const func of path) {
            const { func: funcs, node: nodes, hasChildren } = levels[levels.length - 1] as TreeRows;
            const at = funcs.indexOf(func);
            if (at < 0 || hasChildren[at] === 0) break;
            levels.push(rows(wasm.session_children(session, query, nodes[at] ?? NONE)));
        }
        return levels;
    }

    function func(index: number): FuncInfo {
        const names = module.view(wasm.session_func(session, index)).record(FUNC_NAMES);
        const fileName = module.text(names.file);
        return {
            name: module.text(names.name),
            lib: module.text(names.lib) || baseName(fileName),
            libPath: module.text(names.libPath),
            file: fileName,
            line: names.line,
            resource: names.resource,
            inlined: INLINING[wasm.session_func_inlining(session, index)] ?? 'no',
        };
    }

    function categories(self: 0 | 1): NodeDetails['categoriesTotal'] {
        return module.view(wasm.session_categories(session, self)).records(0, CATEGORY_WEIGHT);
    }

    function lines(file: string): NodeDetails['lines'] {
        const list = module.view(wasm.session_lines(session)).records(0, LINE_WEIGHT, MOST_LINES);
        return list.map((line) => ({ file, ...line }));
    }

    /** Reads the details that session_details() or a similar call stored last. */
    function readDetails(index: number): Omit<NodeDetails, 'total' | 'self'> {
        const info = func(index);
        return {
            func: info,
            categoriesTotal: categories(0),
            categoriesSelf: categories(1),
            inlined: INLINING[wasm.session_inlining(session)] ?? 'no',
            inlinedInto: module.text(wasm.session_inlined_into(session) | 0),
            lines: lines(info.file),
            truncated: wasm.session_truncated(session),
        };
    }

    return { rows, path, levelsAlong, func, readDetails };
}

/** Caches the factor by which the engine scales the new side of each comparison. */
function createScales(module: EngineModule, wasm: Functions): (scaledBy: ScaledBy) => number {
    const scales = new Map<ScaledBy, number>();

    return (scaledBy) => {
        const known = scales.get(scaledBy);
        if (known !== undefined) return known;
        const [by = '', ...name] = scaledBy.split(':');
        const size = module.inputWords([], `${name.join(':').replace(/\0/g, '')}\0`);
        const index = (COMPARE_BY as readonly string[]).indexOf(by);
        const [scale = 1] = module.view(wasm.session_scale(module.session, index, size)).doubles(0);
        scales.set(scaledBy, scale);
        return scale;
    };
}

export function treeAnswers(module: EngineModule): Answers<TreeCalls> {
    const { session } = module;
    const wasm = module.functions<Functions>();
    const { rows, path, levelsAlong, func, readDetails } = createReaders(module, wasm);
    const scaleOf = createScales(module, wasm);

    return {
        query(query: Query, first, place = 0): QueryAnswer {
            const transforms = query.transforms.flatMap(transformWords);
            const scale = query.scaledBy === undefined ? 0 : scaleOf(query.scaledBy);
            const search = module.encode(query.search);
            const [from, to] = query.range ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
            const words = [
                place,
                query.threads.length,
                transforms.length,
                search.length,
                Number(query.inverted),
                module.weightIndex(query.weight),
                COMPARED.indexOf(query.compared ?? 'change'),
            ];
            module.inputRequest([from, to, scale], [...words, ...query.threads, ...transforms], search);
            const id = module.check(wasm.session_query(session));
            const roots = rows(wasm.session_children(session, id, NONE));
            const isThere = first && roots.func.includes(first.path[0] ?? NONE);
            const heaviest = (): NodePath =>
                first ? path(wasm.session_heaviest_path(session, id, first.depth, first.share)) : [];
            const wanted = isThere ? first.path : heaviest();
            const levels = levelsAlong(id, roots, wanted);
            return {
                id,
                scale,
                ...module.view(wasm.session_summary(session, id)).record(QUERY_SUMMARY),
                roots,
                path: wanted,
                levels: levels.slice(1),
                names: [...funcsAround(levels, wanted, first?.names ?? 0)].map((index) => [index, func(index)]),
            };
        },
        release(query) {
            wasm.session_release(session, query);
            return null;
        },
        roots: (query) => rows(wasm.session_children(session, query, NONE)),
        children: (query, node) => rows(wasm.session_children(session, query, node)),
        childrenAlong: (query, node, path) =>
            levelsAlong(query, rows(wasm.session_children(session, query, node)), path),
        heaviestBelow(query, node, limit, least) {
            const below: NodePath = [];
            let own = least;
            for (let at = node; below.length < limit; ) {
                const { func, node: nodes, hasChildren, total, self } = rows(wasm.session_children(session, query, at));
                const [heaviest] = func;
                if (heaviest === undefined || (own !== null && own > (total[0] ?? 0))) break;
                below.push(heaviest);
                if (hasChildren[0] === 0) break;
                at = nodes[0] ?? NONE;
                if (own !== null) own = self[0] ?? 0;
            }
            return below;
        },
        descendants: (query, node, limit) => rows(wasm.session_descendants(session, query, node, limit)),
        heaviestPath: (query, depth, share) => path(wasm.session_heaviest_path(session, query, depth, share)),
        path: (query, node) => path(wasm.session_path(session, query, node)),
        find(query, funcs, nearest) {
            module.inputWords(funcs);
            return wasm.session_find(session, query, funcs.length, Number(nearest)) | 0;
        },
        details(query, node) {
            const row = rows(wasm.session_row(session, query, node));
            module.check(wasm.session_details(session, query, node));
            return {
                ...readDetails(row.func[0] ?? NONE),
                total: row.total[0] ?? 0,
                self: row.self[0] ?? 0,
                ...(row.sides && { sides: sidesAt(row.sides, 0) }),
            };
        },
        functionDetails(query, index) {
            module.check(wasm.session_function_details(session, query, index));
            const read = readDetails(index);
            return { ...read, total: sumOf(read.categoriesTotal), self: sumOf(read.categoriesSelf) };
        },
        rewritePaths(query, transform, paths) {
            const words = transformWords(transform);
            return paths.map((funcs) => {
                module.inputWords([...words, ...funcs]);
                return path(wasm.session_rewrite_path(session, query, words.length, funcs.length));
            });
        },
        recursion: (query, index) => RECURSION[module.check(wasm.session_recursion(session, query, index))] ?? 'none',
        unnamedShare: () => wasm.session_unnamed_share(session),
        funcs: (indexes) => indexes.map(func),
        functions(query, limit, order = 'self') {
            const view = module.view(wasm.session_functions(session, query, Number(order === 'total')));
            const funcs = view.ints(0);
            const totals = view.doubles(1);
            const selfs = view.doubles(2);
            const sides = sideColumns(view, 3);
            const list: FuncRow[] = [];
            for (let i = 0; i < Math.min(funcs.length, limit); i++)
                list.push({
                    func: funcs[i] ?? NONE,
                    total: totals[i] ?? 0,
                    self: selfs[i] ?? 0,
                    ...(sides && { sides: sidesAt(sides, i) }),
                });
            return list;
        },
    };
}
