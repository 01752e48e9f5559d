/**
 * The WebAssembly module with the profile, and the transfer of bytes and columns. Each theme of calls has a file
 * (tree.ts, timeline.ts, ...) and its part of lib/wasm/wasm_*.c. All of this runs in the worker (and in node, for tests
 * and benchmarks) and does not depend on messages or the network.
 */

import { VIEW } from './layout';
import { ClosedError } from './protocol';

/** An address as WebAssembly gives it: from 2 GiB on it is negative, see address(). */
export type Pointer = number;

/** lib/wasm/wasm_memory.c has the limit. */
const NO_MEMORY = 'This profile needs more memory than the browser allows, which is at most 4 GiB';
/** The sentence of error_no_memory() in lib/base/error.c. */
const ENGINE_NO_MEMORY = 'out of memory';

/** What every theme needs; the others are known to the theme that calls them. */
interface Exports {
    memory: WebAssembly.Memory;
    _initialize(): void;
    session_new(seedLow: number, seedHigh: number): Pointer;
    session_input(session: Pointer, size: number): Pointer;
    session_error(session: Pointer): Pointer;
    session_used_closed(session: Pointer): number;
    session_string(session: Pointer, string: number): Pointer;
}

/** PROFILE_NONE and NODE_NONE, as a signed number. */
export const NONE = -1;

const ENOSYS = 52; // "function not supported", in the numbering of wasi

/** The functions of wasi that the C library links. None is ever needed: the engine does no input or output. */
const WASI_IMPORTS: WebAssembly.ModuleImports = {
    fd_close: () => ENOSYS,
    fd_seek: () => ENOSYS,
    fd_write: () => ENOSYS,
    fd_read: () => ENOSYS,
    fd_fdstat_get: () => ENOSYS,
    proc_exit: () => {
        throw new Error('The engine stopped');
    },
};

/** The place that a pointer means. */
function address(pointer: Pointer): number {
    return pointer >>> 0;
}

/** 32 random bits: the author of a profile cannot know what its hash tables depend on. */
function randomWord(): number {
    return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
}

export class EngineModule {
    /** The first argument of every call. */
    readonly session: Pointer;
    private readonly decoder = new TextDecoder();
    private readonly encoder = new TextEncoder();
    private readonly strings = new Map<number, string>();
    /** The ids of the profile's weights. Empty until a profile is loaded. */
    weights: string[] = [];
    /** The number of loaded profiles, and of extensions of a profile. */
    profiles = 0;

    private constructor(private readonly exports: Exports) {
        exports._initialize();
        this.session = exports.session_new(randomWord(), randomWord());
    }

    static async create(compiled: WebAssembly.Module): Promise<EngineModule> {
        const instance = await WebAssembly.instantiate(compiled, { wasi_snapshot_preview1: WASI_IMPORTS });
        return new EngineModule(instance.exports as unknown as Exports);
    }

    /** The functions of a theme. `T` lists the exports of its wasm_*.c. */
    functions<T>(): T {
        return this.exports as unknown as T;
    }

    /** Bytes of memory that the engine has taken so far. */
    get memoryBytes(): number {
        return this.exports.memory.buffer.byteLength;
    }

    /** The engine's input buffer, for the next call. Its memory may move with that call. */
    input(size: number): Uint8Array {
        const pointer = this.exports.session_input(this.session, Math.max(size, 1));
        if (pointer === 0) throw new Error(NO_MEMORY);
        return new Uint8Array(this.exports.memory.buffer, address(pointer), size);
    }

    /** A part of its memory, which may move with the next call. */
    memory(pointer: Pointer, size: number): Uint8Array {
        if (pointer === 0) throw new Error('There is no such place');
        return new Uint8Array(this.exports.memory.buffer, address(pointer), size);
    }

    encode(text: string): Uint8Array {
        return this.encoder.encode(text);
    }

    /** Puts a request (wasm_session.h) into the input: its doubles, its words, the words after it, and bytes. */
    inputRequest(doubles: readonly number[], words: readonly number[], bytes: Uint8Array): void {
        const at = doubles.length * 8;
        const end = at + words.length * 4;
        const { buffer, byteOffset } = this.input(end + bytes.length);
        new Float64Array(buffer, byteOffset, doubles.length).set(doubles);
        new Int32Array(buffer, byteOffset + at, words.length).set(words);
        new Uint8Array(buffer, byteOffset + end).set(bytes);
    }

    /** Puts 32-bit words and after them text, as UTF-8, into the input. Returns how many bytes the text has. */
    inputWords(words: readonly number[], text = ''): number {
        const bytes = this.encoder.encode(text);
        const input = this.input(words.length * 4 + bytes.length);
        new Int32Array(input.buffer, input.byteOffset, words.length).set(words);
        input.set(bytes, words.length * 4);
        return bytes.length;
    }

    /** The index of a weight of the profile; of the first for none. */
    weightIndex(id?: string): number {
        const index = id === undefined ? 0 : this.weights.indexOf(id);
        if (index < 0) throw new Error(`This profile has no weight "${id}"`);
        return index;
    }

    /** A string of the profile, decoded at its first use, or '' for none. */
    text(string: number): string {
        if (string < 0) return '';
        let text = this.strings.get(string);
        if (text === undefined) {
            text = this.decode(this.view(this.exports.session_string(this.session, string)));
            this.strings.set(string, text);
        }
        return text;
    }

    /** After another profile was loaded, its strings have other numbers. */
    forgetTexts(): void {
        this.strings.clear();
    }

    /** The text of an answer of one column of bytes. */
    decode(view: View): string {
        return this.decoder.decode(view.bytes(0));
    }

    /** Throws the engine's sentence if a call failed. */
    check(code: number): number {
        if (code < 0) throw this.error();
        return code;
    }

    /** The answer of a call. Throws the engine's error if the call failed. */
    view(pointer: Pointer): View {
        if (pointer === 0) throw this.error();
        return new View(this.exports.memory.buffer, address(pointer));
    }

    private error(): Error {
        const text = this.errorText();
        return this.exports.session_used_closed(this.session) ? new ClosedError(text) : new Error(text);
    }

    private errorText(): string {
        const memory = new Uint8Array(this.exports.memory.buffer);
        const start = address(this.exports.session_error(this.session));
        const text = this.decoder.decode(memory.subarray(start, memory.indexOf(0, start)));
        return text === ENGINE_NO_MEMORY ? NO_MEMORY : text || 'The engine failed';
    }
}

/** Structs in memory: their size, and how one is read (layout.ts). */
export interface Layout<T> {
    size: number;
    read: (data: DataView, at: number) => T;
}

/** `struct view` of wasm_session.h: a length and columns. Each column is copied, because wasm memory moves and is used again. */
export class View {
    readonly length: number;
    private readonly columns: Uint32Array;

    constructor(
        private readonly memory: ArrayBuffer,
        start: number,
    ) {
        this.length = new DataView(memory).getUint32(start + VIEW.at.length, true);
        this.columns = new Uint32Array(memory, start + VIEW.at.columns, (VIEW.size - VIEW.at.columns) / 4);
    }

    /** Whether the answer has this column. */
    has(column: number): boolean {
        return (this.columns[column] ?? 0) !== 0;
    }

    ints(column: number, length = this.length): Int32Array {
        return new Int32Array(this.memory, this.at(column, length), length).slice();
    }

    shorts(column: number, length: number): Int16Array {
        return new Int16Array(this.memory, this.at(column, length), length).slice();
    }

    doubles(column: number, length = this.length): Float64Array {
        return new Float64Array(this.memory, this.at(column, length), length).slice();
    }

    floats(column: number, length: number): Float32Array {
        return new Float32Array(this.memory, this.at(column, length), length).slice();
    }

    bytes(column: number, length = this.length): Uint8Array<ArrayBuffer> {
        return new Uint8Array(this.memory, this.at(column, length), length).slice();
    }

    /** The first `most` structs of a column. */
    records<T>(column: number, { size, read }: Layout<T>, most = this.length): T[] {
        const data = new DataView(this.memory, this.at(column, this.length), this.length * size);
        return Array.from({ length: Math.min(this.length, most) }, (_, i) => read(data, i * size));
    }

    /** The struct in the first column, which has one row. */
    record<T>({ size, read }: Layout<T>): T {
        return read(new DataView(this.memory, this.at(0, 1), size), 0);
    }

    /** The structs of the first column as they are, for columns that are made of their fields. */
    structs(size: number): ArrayBuffer {
        return this.bytes(0, this.length * size).buffer;
    }

    private at(column: number, length: number): number {
        return length === 0 ? 0 : (this.columns[column] ?? 0);
    }
}
