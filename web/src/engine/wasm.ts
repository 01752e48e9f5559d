/**
 * The engine as WebAssembly, with types: a thin layer over lib/tree/wasm.c. It runs in the worker (and in node, for tests
 * and measurements); it knows nothing of messages or of the network.
 */
import {
    type Activity,
    type FuncInfo,
    type FuncRow,
    type NodeDetails,
    type NodePath,
    type PathFilter,
    type ProfileInfo,
    type Query,
    type Recursion,
    type SampleAt,
    TRANSFORM_KINDS,
    type Transform,
    type TreeRows,
    type TreeSummary,
} from './api';

type Pointer = number;

interface Exports {
    memory: WebAssembly.Memory;
    _initialize(): void;
    session_new(): Pointer;
    session_input(session: Pointer, size: number): Pointer;
    session_feed(session: Pointer, size: number): number;
    session_finish(session: Pointer): number;
    session_error(session: Pointer): Pointer;
    session_info(session: Pointer): Pointer;
    session_string(session: Pointer, string: number): Pointer;
    session_query(
        session: Pointer,
        threads: number,
        transformWords: number,
        from: number,
        to: number,
        searchLength: number,
        inverted: number,
    ): number;
    session_rewrite_path(session: Pointer, transformWords: number, length: number): Pointer;
    session_recursion(session: Pointer, func: number): number;
    session_root_total(session: Pointer): number;
    session_samples(session: Pointer): number;
    session_node_count(session: Pointer): number;
    session_children(session: Pointer, node: number): Pointer;
    session_descendants(session: Pointer, node: number, limit: number): Pointer;
    session_row(session: Pointer, node: number): Pointer;
    session_path(session: Pointer, node: number): Pointer;
    session_heaviest_path(session: Pointer, depth: number): Pointer;
    session_find(session: Pointer, length: number, nearest: number): number;
    session_functions(session: Pointer, byTotal: number): Pointer;
    session_func(session: Pointer, func: number): Pointer;
    session_details(session: Pointer, node: number): number;
    session_categories(session: Pointer, self: number): Pointer;
    session_lines(session: Pointer): Pointer;
    session_inlining(session: Pointer): number;
    session_inlined_into(session: Pointer): number;
    session_activity(session: Pointer, thread: number, from: number, to: number, width: number): Pointer;
    session_activity_kept(
        session: Pointer,
        thread: number,
        from: number,
        to: number,
        width: number,
        pathLength: number,
        inverted: number,
        searchLength: number,
    ): Pointer;
    session_sample_at(session: Pointer, thread: number, time: number): Pointer;
}

const NONE = -1; // PROFILE_NONE and NODE_NONE, as a signed number
const INLINED = ['no', 'some', 'yes'] as const;
const RECURSION: readonly Recursion[] = ['none', 'indirect', 'direct'];
const MOST_LINES = 20;
const CATEGORY_WEIGHT_BYTES = 16;
const LINE_WEIGHT_BYTES = 24;
const FEED_BYTES = 1 << 20;
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

export class EngineModule {
    private readonly exports: Exports;
    private readonly session: Pointer;
    private readonly decoder = new TextDecoder();
    private readonly encoder = new TextEncoder();
    private readonly strings = new Map<number, string>();
    /** Whether the last query had any. */
    private hasTransforms = false;

    private constructor(exports: Exports) {
        this.exports = exports;
        exports._initialize();
        this.session = exports.session_new();
    }

    static async create(module: WebAssembly.Module): Promise<EngineModule> {
        const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: WASI_IMPORTS });
        return new EngineModule(instance.exports as unknown as Exports);
    }

    /** Bytes of memory that the engine has taken so far. */
    get memoryBytes(): number {
        return this.exports.memory.buffer.byteLength;
    }

    // ---- loading ----

    /** The next bytes of the uncompressed file. Throws with a sentence for the user. */
    feed(bytes: Uint8Array): void {
        for (let at = 0; at < bytes.length; at += FEED_BYTES) {
            const piece = bytes.subarray(at, at + FEED_BYTES);
            this.input(piece.length).set(piece);
            this.check(this.exports.session_feed(this.session, piece.length));
        }
    }

    finish(): ProfileInfo {
        this.check(this.exports.session_finish(this.session));
        const view = this.view(this.exports.session_info(this.session));
        return JSON.parse(this.decoder.decode(view.bytes(0))) as ProfileInfo;
    }

    // ---- the query ----

    query(query: Query): TreeSummary {
        const search = this.encoder.encode(query.search);
        const threads = query.threads.length;
        const transforms = query.transforms.flatMap(transformWords);
        const words = threads + transforms.length;
        const input = this.input(words * 4 + search.length);
        new Int32Array(input.buffer, input.byteOffset, words).set([...query.threads, ...transforms]);
        input.set(search, words * 4);
        const [from, to] = query.range ?? [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
        this.hasTransforms = transforms.length > 0;
        this.check(
            this.exports.session_query(
                this.session,
                threads,
                transforms.length,
                from,
                to,
                search.length,
                Number(query.inverted),
            ),
        );
        return {
            rootTotal: this.exports.session_root_total(this.session),
            samples: this.exports.session_samples(this.session),
            nodeCount: this.exports.session_node_count(this.session),
        };
    }

    roots(): TreeRows {
        return this.rows(this.exports.session_children(this.session, NONE));
    }

    children(node: number): TreeRows {
        return this.rows(this.exports.session_children(this.session, node));
    }

    descendants(node: number, limit: number): TreeRows {
        return this.rows(this.exports.session_descendants(this.session, node, limit));
    }

    heaviestPath(depth: number): NodePath {
        return Array.from(this.view(this.exports.session_heaviest_path(this.session, depth)).ints(0));
    }

    path(node: number): NodePath {
        return Array.from(this.view(this.exports.session_path(this.session, node)).ints(0));
    }

    find(path: NodePath, nearest: boolean): number {
        const input = this.input(path.length * 4);
        new Int32Array(input.buffer, input.byteOffset, path.length).set(path);
        return this.exports.session_find(this.session, path.length, Number(nearest)) | 0;
    }

    rewritePath(transform: Transform, path: NodePath): NodePath {
        const words = transformWords(transform);
        const input = this.input((words.length + path.length) * 4);
        new Int32Array(input.buffer, input.byteOffset, words.length + path.length).set([...words, ...path]);
        return Array.from(
            this.view(this.exports.session_rewrite_path(this.session, words.length, path.length)).ints(0),
        );
    }

    recursion(func: number): Recursion {
        return RECURSION[this.exports.session_recursion(this.session, func)] ?? 'none';
    }

    functions(limit: number, order: 'self' | 'total'): FuncRow[] {
        const view = this.view(this.exports.session_functions(this.session, Number(order === 'total')));
        const funcs = view.ints(0);
        const totals = view.doubles(1);
        const selfs = view.doubles(2);
        const rows: FuncRow[] = [];
        for (let i = 0; i < Math.min(funcs.length, limit); i++)
            rows.push({ func: funcs[i] ?? NONE, total: totals[i] ?? 0, self: selfs[i] ?? 0 });
        return rows;
    }

    // ---- names ----

    func(index: number): FuncInfo {
        const [name = NONE, lib = NONE, libPath = NONE, file = NONE, line = 0, resource = NONE] = this.view(
            this.exports.session_func(this.session, index),
        ).ints(0);
        const fileName = this.text(file);
        return {
            name: this.text(name),
            lib: this.text(lib) || fileName.slice(fileName.lastIndexOf('/') + 1),
            libPath: this.text(libPath),
            file: fileName,
            line,
            resource,
        };
    }

    // ---- one node ----

    details(node: number): NodeDetails {
        const row = this.rows(this.exports.session_row(this.session, node));
        this.check(this.exports.session_details(this.session, node));
        const func = this.func(row.func[0] ?? NONE);
        return {
            func,
            total: row.total[0] ?? 0,
            self: row.self[0] ?? 0,
            categoriesTotal: this.categories(0),
            categoriesSelf: this.categories(1),
            inlined: INLINED[this.exports.session_inlining(this.session)] ?? 'no',
            inlinedInto: this.text(this.exports.session_inlined_into(this.session) | 0),
            lines: this.lines(func.file),
        };
    }

    private categories(self: 0 | 1): NodeDetails['categoriesTotal'] {
        const view = this.view(this.exports.session_categories(this.session, self));
        const data = view.records(0, CATEGORY_WEIGHT_BYTES);
        return Array.from({ length: view.length }, (_, i) => ({
            category: data.getUint32(i * CATEGORY_WEIGHT_BYTES, true),
            weight: data.getFloat64(i * CATEGORY_WEIGHT_BYTES + 8, true),
        }));
    }

    private lines(file: string): NodeDetails['lines'] {
        const view = this.view(this.exports.session_lines(this.session));
        const data = view.records(0, LINE_WEIGHT_BYTES);
        return Array.from({ length: Math.min(view.length, MOST_LINES) }, (_, i) => ({
            file,
            line: data.getUint32(i * LINE_WEIGHT_BYTES, true),
            total: data.getFloat64(i * LINE_WEIGHT_BYTES + 8, true),
            self: data.getFloat64(i * LINE_WEIGHT_BYTES + 16, true),
        }));
    }

    // ---- the timeline ----

    activity(thread: number, from: number, to: number, width: number, search: string, of: PathFilter | null = null): Activity {
        const all = this.activityRows(this.exports.session_activity(this.session, thread, from, to, width), width);
        const isCut = of !== null || search !== '' || this.hasTransforms;
        const kept = isCut ? this.activityKept(thread, from, to, width, search, of) : null;
        return { width, categories: all.categories, shares: all.shares, kept: kept && spread(kept, all.categories, width) };
    }

    private activityKept(
        thread: number,
        from: number,
        to: number,
        width: number,
        search: string,
        of: PathFilter | null,
    ): ActivityRows {
        const bytes = this.encoder.encode(search);
        const path = of?.path ?? [];
        const input = this.input(path.length * 4 + bytes.length);
        new Int32Array(input.buffer, input.byteOffset, path.length).set(path);
        input.set(bytes, path.length * 4);
        const pointer = this.exports.session_activity_kept(
            this.session,
            thread,
            from,
            to,
            width,
            path.length,
            Number(of?.inverted ?? false),
            bytes.length,
        );
        return this.activityRows(pointer, width);
    }

    private activityRows(pointer: Pointer, width: number): ActivityRows {
        const view = this.view(pointer);
        return { categories: Array.from(view.ints(0)), shares: view.floats(1, view.length * width) };
    }

    sampleAt(thread: number, time: number): SampleAt | null {
        const pointer = this.exports.session_sample_at(this.session, thread, time);
        if (pointer === 0) return null;
        const view = this.view(pointer);
        const cpu = view.doubles(2, 1)[0] ?? Number.NaN;
        return {
            time: view.doubles(1, 1)[0] ?? 0,
            path: Array.from(view.ints(0)),
            category: view.ints(3, 1)[0] ?? 0,
            cpu: Number.isNaN(cpu) ? null : cpu,
            dropped: view.bytes(4, 1)[0] === 1,
        };
    }

    // ---- helpers ----

    private rows(pointer: Pointer): TreeRows {
        const view = this.view(pointer);
        return {
            node: view.ints(0),
            depth: view.ints(1),
            func: view.ints(2),
            category: view.ints(3),
            total: view.doubles(4),
            self: view.doubles(5),
            hasChildren: view.bytes(6),
        };
    }

    /** A string of the profile, decoded when it is first asked for. */
    private text(string: number): string {
        if (string < 0) return '';
        let text = this.strings.get(string);
        if (text === undefined) {
            text = this.decoder.decode(this.view(this.exports.session_string(this.session, string)).bytes(0));
            this.strings.set(string, text);
        }
        return text;
    }

    /** The engine's input buffer. Its memory may move with the next call. */
    private input(size: number): Uint8Array {
        const pointer = this.exports.session_input(this.session, Math.max(size, 1));
        if (pointer === 0) throw new Error('The profile is too large for the memory of the browser');
        return new Uint8Array(this.exports.memory.buffer, pointer, size);
    }

    private check(code: number): void {
        if (code < 0) throw new Error(this.errorText());
    }

    private errorText(): string {
        const memory = new Uint8Array(this.exports.memory.buffer);
        const start = this.exports.session_error(this.session);
        return this.decoder.decode(memory.subarray(start, memory.indexOf(0, start))) || 'The engine failed';
    }

    private view(pointer: Pointer): View {
        if (pointer === 0) throw new Error(this.errorText());
        return new View(this.exports.memory.buffer, pointer);
    }
}

/** A transform as wasm.c reads it. */
function transformWords({ kind, index, inverted, path }: Transform): number[] {
    return [TRANSFORM_KINDS.indexOf(kind), index, Number(inverted), path.length, ...path];
}

interface ActivityRows {
    categories: number[];
    shares: Float32Array;
}

/** The rows of `kept` in the order of `categories`, with zeros where it has none. */
function spread(kept: ActivityRows, categories: number[], width: number): Float32Array {
    const shares = new Float32Array(categories.length * width);
    kept.categories.forEach((category, row) => {
        const at = categories.indexOf(category);
        if (at >= 0) shares.set(kept.shares.subarray(row * width, (row + 1) * width), at * width);
    });
    return shares;
}

/** `struct view` of wasm.c: a length and columns. Each column is copied, because wasm memory moves and is used again. */
class View {
    readonly length: number;
    private readonly columns: Uint32Array;

    constructor(
        private readonly memory: ArrayBuffer,
        pointer: Pointer,
    ) {
        const words = new Uint32Array(memory, pointer, 9);
        this.length = words[0] ?? 0;
        this.columns = words.subarray(1);
    }

    ints(column: number, length = this.length): Int32Array {
        return new Int32Array(this.memory, this.at(column, length), length).slice();
    }

    doubles(column: number, length = this.length): Float64Array {
        return new Float64Array(this.memory, this.at(column, length), length).slice();
    }

    floats(column: number, length: number): Float32Array {
        return new Float32Array(this.memory, this.at(column, length), length).slice();
    }

    bytes(column: number, length = this.length): Uint8Array {
        return new Uint8Array(this.memory, this.at(column, length), length).slice();
    }

    records(column: number, size: number): DataView {
        return new DataView(this.memory, this.at(column, this.length), this.length * size);
    }

    private at(column: number, length: number): Pointer {
        return length === 0 ? 0 : (this.columns[column] ?? 0);
    }
}
