/**
 * The calls about the costs of lines and instructions, and about the keys by which the page requests their text and
 * code. lib/wasm/wasm_source.c answers them.
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

/**
 * Selects the frames that count: the frames of one row of a tree, or of one function, and all frames that they call.
 * null selects all frames.
 */
export type FrameSelection = PathFilter | { func: number } | null;

/** The names of a library in the symbol API and in the profile. */
export interface LibraryId {
    name: string;
    debugName: string;
    debugId: string;
    codeId: string;
}

/** A place in code: an address relative to its library. */
export interface CodePlace {
    lib: LibraryId;
    address: number;
}

export interface SourceFile {
    file: string;
    /** The whole text, if the profile contains the text. */
    content: string | null;
    /** Addresses with code from the file, one address of each library. */
    places: CodePlace[];
}

export interface LineCost {
    /** The line number, from 1 on, or 0 for frames of the file without a line. */
    line: number;
    total: number;
    self: number;
}

/** A call on the line that the compiler inlined. */
export interface InlinedCost {
    line: number;
    func: number;
    total: number;
}

export interface LineCosts {
    lines: LineCost[];
    inlined: InlinedCost[];
    /** The costs on each side of a comparison. The other members are changes. */
    sides?: { base: LineCost[]; new: LineCost[] };
    /** The total of the whole file, in which each sample counts once. */
    total: number;
    self: number;
}

export interface HotLine {
    func: number;
    /** The source file of the function. */
    file: string;
    line: number;
    self: number;
}

export interface HotLines {
    lines: HotLine[];
    /** The self time of all lines. The rest of the total has no line. */
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
    /** The size in bytes, 0 if unknown. */
    size: number;
    total: number;
    self: number;
}

/** A frame at an address. Depth 0 is the symbol; other depths are inlined calls. */
export interface AddressLine {
    address: number;
    depth: number;
    func: number;
    /** The source file, or '' if unknown. */
    file: string;
    /** The line, or 0 if unknown. */
    line: number;
}

export interface Callee {
    func: number;
    symbol: number;
}

export interface SourceCalls {
    /** Returns the source file of a function, or -1 if unknown. */
    funcSource(func: number): Promise<number>;
    sourceFile(source: number): Promise<SourceFile>;
    /**
     * Returns the costs of the lines of a file for one function, or for all functions (-1). A comparison also has the
     * costs on each side.
     */
    lineCosts(
        query: number,
        source: number,
        func: number,
        selection: FrameSelection,
        withSides?: boolean,
    ): Promise<LineCosts>;
    /** Returns the lines of all files with the most self time. */
    hotLines(query: number, limit: number): Promise<HotLines>;
    /** Returns the native symbols with code of a function, heaviest first. */
    symbols(query: number, func: number, selection: FrameSelection): Promise<NativeSymbol[]>;
    /** Returns the costs of the instructions at these ascending addresses. An instruction in no stack has no entry. */
    addressCosts(query: number, symbol: number, selection: FrameSelection, starts: number[]): Promise<AddressCosts>;
    /** Returns the lines of a symbol that frames of the profile have. */
    addressLines(symbol: number): Promise<AddressLine[]>;
    /**
     * Returns the symbol that begins at an address of the caller's library, or null if no stack contains the symbol.
     */
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

    /** Writes a selection to the input buffer: its kind, and the number of its words. */
    function inputSelection(selection: FrameSelection, more: number[] = []): [kind: number, length: number] {
        const words = selection === null ? [] : 'func' in selection ? [selection.func] : selection.path;
        module.inputWords(words.concat(more));
        if (selection === null) return [SELECTION_KIND.indexOf('all'), 0];
        if ('func' in selection) return [SELECTION_KIND.indexOf('function'), 1];
        return [SELECTION_KIND.indexOf(selection.inverted ? 'inverted-path' : 'path'), words.length];
    }

    /** Reads the structs in the first column of an answer. */
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

    /** Reads the total and self of all rows from the second column. */
    function sums(pointer: Pointer): { total: number; self: number } {
        const view = module.view(pointer);
        // An answer without rows has the sums, too.
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
            // A line without a change still needs a row.
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
