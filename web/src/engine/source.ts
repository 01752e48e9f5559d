/**
 * The costs of lines and instructions, and the keys to fetch their text and code: a thin layer over
 * lib/wasm/wasm_source.c.
 */
import type { PathFilter } from './api';
import {
    ADDRESS_COST,
    ADDRESS_LINE,
    CODE_ADDRESS,
    HOT_LINE,
    INLINED_COST,
    LINE_COST,
    SELECTION_KIND,
    SYMBOL_COST,
} from './layout';
import { type EngineModule, type Layout, NONE, type Pointer } from './module';
import type { Answers } from './protocol';

/** Which frames of the samples count: those of one row of a tree, or of one func, and all that these call; null: all. */
export type FrameSelection = PathFilter | { func: number } | null;

/** How the symbol API and the profile name a library. */
export interface LibraryId {
    name: string;
    debugName: string;
    debugId: string;
    codeId: string;
}

/** Code at an address, relative to its library. */
export interface CodePlace {
    lib: LibraryId;
    address: number;
}

export interface SourceFile {
    file: string;
    /** The whole text, if the profile has it. */
    content: string | null;
    /** Addresses that come from the file, one of each library. */
    places: CodePlace[];
}

export interface LineCost {
    /** 1-based; 0: frames of the file without a line. */
    line: number;
    total: number;
    self: number;
}

/** A call that the compiler put in place of the line. */
export interface InlinedCost {
    line: number;
    func: number;
    total: number;
}

export interface LineCosts {
    lines: LineCost[];
    inlined: InlinedCost[];
    /** The figures of each side of a comparison. The other members are changes. */
    sides?: { base: LineCost[]; new: LineCost[] };
    /** Of the whole file: each sample once. */
    total: number;
    self: number;
}

export interface HotLine {
    func: number;
    /** The source file of the func. */
    file: string;
    line: number;
    self: number;
}

export interface HotLines {
    lines: HotLine[];
    /** Self of all lines. The rest of the total has no line. */
    known: number;
}

export interface AddressCost {
    address: number;
    total: number;
    self: number;
}

export interface AddressCosts {
    addresses: AddressCost[];
    total: number;
    self: number;
}

export interface NativeSymbol {
    symbol: number;
    name: string;
    lib: LibraryId;
    address: number;
    /** Bytes; 0: not known. */
    size: number;
    total: number;
    self: number;
}

/** A frame at an address. Depth 0 is the symbol, and the other frames are inlined calls. */
export interface AddressLine {
    address: number;
    depth: number;
    func: number;
    /** '' if not known. */
    file: string;
    /** 0: not known. */
    line: number;
}

export interface Callee {
    func: number;
    symbol: number;
}

export interface SourceCalls {
    /** The source file of a func; -1: not known. */
    funcSource(func: number): Promise<number>;
    sourceFile(source: number): Promise<SourceFile>;
    /** The lines of a file with the costs of one func, or of all funcs (-1). A comparison also has those of each side. */
    lineCosts(
        query: number,
        source: number,
        func: number,
        selection: FrameSelection,
        withSides?: boolean,
    ): Promise<LineCosts>;
    /** The lines of all files with the most self time. */
    hotLines(query: number, limit: number): Promise<HotLines>;
    /** The native symbols with code of a func, heaviest first. */
    symbols(query: number, func: number, selection: FrameSelection): Promise<NativeSymbol[]>;
    /** Of instructions that begin at these addresses, ascending, those that some stack has. */
    addressCosts(query: number, symbol: number, selection: FrameSelection, starts: number[]): Promise<AddressCosts>;
    /** The lines of a symbol in the frames of the profile. */
    addressLines(symbol: number): Promise<AddressLine[]>;
    /** The symbol that begins at an address of the caller's library, or null if no stack has it. */
    calleeAt(caller: number, address: number): Promise<Callee | null>;
}

interface Functions {
    session_func_source(session: Pointer, func: number): number;
    session_source(session: Pointer, source: number): Pointer;
    session_source_places(session: Pointer, source: number): Pointer;
    session_library(session: Pointer, lib: number): Pointer;
    session_symbol(session: Pointer, symbol: number): Pointer;
    session_address_lines(session: Pointer, symbol: number): Pointer;
    session_line_costs(
        session: Pointer,
        query: number,
        source: number,
        func: number,
        kind: number,
        length: number,
        side: number,
    ): Pointer;
    session_inlined_costs(session: Pointer): Pointer;
    session_hot_lines(session: Pointer, query: number, limit: number): Pointer;
    session_address_costs(
        session: Pointer,
        query: number,
        symbol: number,
        kind: number,
        length: number,
        starts: number,
    ): Pointer;
    session_symbol_costs(session: Pointer, query: number, func: number, kind: number, length: number): Pointer;
}

export function sourceAnswers(module: EngineModule): Answers<SourceCalls> {
    const { session } = module;
    const wasm = module.functions<Functions>();

    /** Puts a selection into the input: its kind, and how many words it has. */
    function inputSelection(selection: FrameSelection, more: number[] = []): [kind: number, length: number] {
        const words = selection === null ? [] : 'func' in selection ? [selection.func] : selection.path;
        module.inputWords(words.concat(more));
        if (selection === null) return [SELECTION_KIND.indexOf('all'), 0];
        if ('func' in selection) return [SELECTION_KIND.indexOf('function'), 1];
        return [SELECTION_KIND.indexOf(selection.inverted ? 'inverted-path' : 'path'), words.length];
    }

    /** The structs of an answer's first column. */
    function records<T>(pointer: Pointer, layout: Layout<T>): T[] {
        return module.view(pointer).records(0, layout);
    }

    function library(lib: number): LibraryId {
        const [name = NONE, debugName = NONE, debugId = NONE, codeId = NONE] = module
            .view(wasm.session_library(session, lib))
            .ints(0);
        return {
            name: module.text(name),
            debugName: module.text(debugName),
            debugId: module.text(debugId),
            codeId: module.text(codeId),
        };
    }

    function symbol(index: number): Omit<NativeSymbol, 'total' | 'self'> {
        const view = module.view(wasm.session_symbol(session, index));
        const [lib = NONE, name = NONE, size = 0] = view.ints(0);
        const address = view.doubles(1, 1)[0] ?? NONE;
        return { symbol: index, name: module.text(name), lib: library(lib), address, size: size >>> 0 };
    }

    function fileName(source: number): string {
        return module.text(module.view(wasm.session_source(session, source)).ints(0)[0] ?? NONE);
    }

    /** Total and self of everything, the second column. */
    function sums(pointer: Pointer): { total: number; self: number } {
        const view = module.view(pointer);
        // Also where there are no rows.
        const [total = 0, self = 0] = view.length === 0 ? [] : view.doubles(1, 2);
        return { total, self };
    }

    function linesOf(index: number): AddressLine[] {
        const rows = records(wasm.session_address_lines(session, index), ADDRESS_LINE);
        return rows.map(({ source, ...row }) => ({ ...row, file: fileName(source) }));
    }

    return {
        funcSource: (func) => wasm.session_func_source(session, func) | 0,
        sourceFile(source) {
            const content = module.view(wasm.session_source(session, source)).ints(0)[1] ?? NONE;
            const places = records(wasm.session_source_places(session, source), CODE_ADDRESS);
            return {
                file: fileName(source),
                content: content < 0 ? null : module.text(content),
                places: places.map(({ lib, address }) => ({ lib: library(lib), address })),
            };
        },
        lineCosts(query, source, func, selection, withSides) {
            const [kind, length] = inputSelection(selection);
            const ask = (side: number): Pointer =>
                wasm.session_line_costs(session, query, source, func, kind, length, side);
            const sides = withSides && { base: records(ask(0), LINE_COST), new: records(ask(1), LINE_COST) };
            const pointer = ask(-1);
            const lines = records(pointer, LINE_COST);
            // What has not changed is a line, too.
            const known = new Set(lines.map(({ line }) => line));
            for (const { line } of sides ? [...sides.base, ...sides.new] : [])
                if (!known.has(line) && known.add(line)) lines.push({ line, total: 0, self: 0 });
            const whole = sums(pointer);
            const inlined = records(wasm.session_inlined_costs(session), INLINED_COST);
            return { lines, inlined, ...(sides && { sides }), ...whole };
        },
        hotLines(query, limit) {
            const pointer = wasm.session_hot_lines(session, query, limit);
            const rows = records(pointer, HOT_LINE);
            const [known = 0] = rows.length === 0 ? [] : module.view(pointer).doubles(1, 1);
            const lines = rows.map((row) => ({ ...row, file: fileName(wasm.session_func_source(session, row.func)) }));
            return { lines, known };
        },
        symbols(query, func, selection) {
            const [kind, length] = inputSelection(selection);
            const costs = records(wasm.session_symbol_costs(session, query, func, kind, length), SYMBOL_COST);
            return costs.map((cost) => ({ ...symbol(cost.symbol), ...cost }));
        },
        addressCosts(query, index, selection, starts) {
            const base = symbol(index).address;
            const offsets = starts.map((address) => address - base).filter((offset) => offset >= 0);
            const [kind, length] = inputSelection(selection, offsets);
            const pointer = wasm.session_address_costs(session, query, index, kind, length, offsets.length);
            const addresses = records(pointer, ADDRESS_COST);
            return { addresses, ...sums(pointer) };
        },
        addressLines: linesOf,
        calleeAt(caller, address) {
            const place = (index: number): { lib: number; start: number } => {
                const view = module.view(wasm.session_symbol(session, index));
                return { lib: view.ints(0)[0] ?? NONE, start: view.doubles(1, 1)[0] ?? NONE };
            };
            const { lib: wanted } = place(caller);
            for (let index = 0; ; index++) {
                const { lib, start } = place(index);
                if (lib === NONE) return null;
                if (lib !== wanted || start !== address) continue;
                const own = linesOf(index).find((row) => row.depth === 0);
                return own ? { func: own.func, symbol: index } : null;
            }
        },
    };
}
