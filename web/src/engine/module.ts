/**
 * The WebAssembly module with the profile, and the transfer of bytes and columns between the module and TypeScript.
 * Each theme of calls has a file here (tree.ts, timeline.ts, ...) and a file lib/wasm/wasm_*.c. All files run in the
 * worker, and in node for tests and benchmarks, and depend on neither messages nor the network.
 */

import { VIEW } from './layout';
import { ClosedError } from './protocol';

/** An address from WebAssembly, which is negative from 2 GiB on. address() converts it. */
export type Pointer = number;

/** lib/wasm/wasm_memory.c sets the limit. */
const NO_MEMORY = 'This profile needs more memory than the browser allows, which is at most 4 GiB';
/** The message of error_no_memory() in lib/base/error.c. */
const ENGINE_NO_MEMORY = 'out of memory';

/** The exports that every theme needs. Each theme lists its own exports. */
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

const ENOSYS = 52; // The number of "function not supported" in WASI.

/** The WASI functions that the C library links. The engine calls none, because it does no input or output. */
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

/** Converts a pointer to an index of the memory. */
function address(pointer: Pointer): number {
    return pointer >>> 0;
}

/**
 * Returns 32 random bits for the hash tables of the engine, so that the author of a profile cannot cause collisions.
 */
function randomWord(): number {
    return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
}

export class EngineModule {
    /** The engine's session, the first argument of every call. */
    readonly session: Pointer;
    private readonly decoder = new TextDecoder();
    private readonly encoder = new TextEncoder();
    private readonly strings = new Map<number, string>();
    /** The ids of the profile's weights, empty before the page loads a profile. */
    weights: string[] = [];
    /** The number of loaded profiles and of extensions of a profile. */
    profiles = 0;

    private constructor(private readonly exports: Exports) {
        exports._initialize();
        this.session = exports.session_new(randomWord(), randomWord());
    }

    static async create(compiled: WebAssembly.Module): Promise<EngineModule> {
        const instance = await WebAssembly.instantiate(compiled, { wasi_snapshot_preview1: WASI_IMPORTS });
        return new EngineModule(instance.exports as unknown as Exports);
    }

    /** Returns the exports of a theme. `T` lists the exports of its wasm_*.c. */
    functions<T>(): T {
        return this.exports as unknown as T;
    }

    /** The memory of the engine so far, in bytes. */
    get memoryBytes(): number {
        return this.exports.memory.buffer.byteLength;
    }

    /** Returns the engine's input buffer for the next call, which may move the memory of the buffer. */
    input(size: number): Uint8Array {
        const pointer = this.exports.session_input(this.session, Math.max(size, 1));
        if (pointer === 0) throw new Error(NO_MEMORY);
        return new Uint8Array(this.exports.memory.buffer, address(pointer), size);
    }

    /** Returns a part of the engine's memory, which the next call may move. */
    memory(pointer: Pointer, size: number): Uint8Array {
        if (pointer === 0) throw new Error('There is no such place');
        return new Uint8Array(this.exports.memory.buffer, address(pointer), size);
    }

    encode(text: string): Uint8Array {
        return this.encoder.encode(text);
    }

    /** Writes a request (wasm_session.h) to the input buffer: doubles, the number of words, words, and bytes. */
    inputRequest(doubles: readonly number[], words: readonly number[], bytes: Uint8Array): void {
        const at = doubles.length * 8;
        const end = at + words.length * 4;
        const { buffer, byteOffset } = this.input(end + bytes.length);
        new Float64Array(buffer, byteOffset, doubles.length).set(doubles);
        new Int32Array(buffer, byteOffset + at, words.length).set(words);
        new Uint8Array(buffer, byteOffset + end).set(bytes);
    }

    /** Writes 32-bit words and then a UTF-8 text to the input buffer. Returns the number of bytes of the text. */
    inputWords(words: readonly number[], text = ''): number {
        const bytes = this.encoder.encode(text);
        const input = this.input(words.length * 4 + bytes.length);
        new Int32Array(input.buffer, input.byteOffset, words.length).set(words);
        input.set(bytes, words.length * 4);
        return bytes.length;
    }

    /** Returns the index of a weight of the profile, or 0 without an id. */
    weightIndex(id?: string): number {
        const index = id === undefined ? 0 : this.weights.indexOf(id);
        if (index < 0) throw new Error(`This profile has no weight "${id}"`);
        return index;
    }

    /** Returns a string of the profile, or '' for NONE, and caches the decoded string. */
    text(string: number): string {
        if (string < 0) return '';
        let text = this.strings.get(string);
        if (text === undefined) {
            text = this.decode(this.view(this.exports.session_string(this.session, string)));
            this.strings.set(string, text);
        }
        return text;
    }

    /** Drops the cached strings, because another profile has other string numbers. */
    forgetTexts(): void {
        this.strings.clear();
    }

    /** Returns the text of an answer that has one column of bytes. */
    decode(view: View): string {
        return this.decoder.decode(view.bytes(0));
    }

    /** Throws the engine's message if a call failed. */
    check(code: number): number {
        if (code < 0) throw this.error();
        return code;
    }

    /** Returns the answer of a call, or throws the engine's message if the call failed. */
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

/** The size of a struct in memory, and the function that reads the struct (layout.ts). */
export interface Layout<T> {
    size: number;
    read: (data: DataView, at: number) => T;
}

/**
 * `struct view` of wasm_session.h: a length and columns. Copies each column, because the engine's memory moves, and the
 * engine writes the next answer to the same place.
 */
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

    /** Returns whether the answer has this column. */
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

    /** Reads the first `most` structs of a column. */
    records<T>(column: number, { size, read }: Layout<T>, most = this.length): T[] {
        const data = new DataView(this.memory, this.at(column, this.length), this.length * size);
        return Array.from({ length: Math.min(this.length, most) }, (_, i) => read(data, i * size));
    }

    /** Reads the struct in the first column, which has one row. */
    record<T>({ size, read }: Layout<T>): T {
        return read(new DataView(this.memory, this.at(0, 1), size), 0);
    }

    /** Copies the bytes of the structs in the first column, from whose fields the caller makes columns. */
    structs(size: number): ArrayBuffer {
        return this.bytes(0, this.length * size).buffer;
    }

    private at(column: number, length: number): number {
        return length === 0 ? 0 : (this.columns[column] ?? 0);
    }
}
