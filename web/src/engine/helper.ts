/** A helper of the worker: reads runs of numbers that its engine has deferred (helpers.ts), with an engine of its own. */
import { EngineModule, type Pointer } from './module';

/** A run of numbers in a piece of a file: lib/wasm/wasm_load.c, session_deferred(). */
export interface Run {
    run: number;
    /** Offset of the text in the piece. */
    offset: number;
    size: number;
    /** Number of bytes of the elements. */
    bytes: number;
    type: number;
}

/** A request to a helper, after the compiled engine, and its answer. The buffer is that of the piece. */
export interface Task {
    buffer: ArrayBuffer;
    runs: Run[];
}
export interface Answer {
    buffer: ArrayBuffer;
    runs: Run[];
    elements: Uint8Array<ArrayBuffer>[];
}

interface Functions {
    session_numbers(session: Pointer, type: number, size: number): Pointer;
}

const scope = self as unknown as {
    onmessage: ((event: MessageEvent<WebAssembly.Module | Task>) => void) | null;
    postMessage(message: Answer | 'ready', transfer?: Transferable[]): void;
};

const BRACKETS = { open: 0x5b, close: 0x5d };
let engine: EngineModule | undefined;

scope.onmessage = ({ data }) => {
    if (data instanceof WebAssembly.Module) void prepare(data);
    else if (engine) answer(engine, data);
};

async function prepare(compiled: WebAssembly.Module): Promise<void> {
    engine = await EngineModule.create(compiled);
    scope.postMessage('ready');
}

function answer(engine: EngineModule, { buffer, runs }: Task): void {
    const elements = runs.map((run) => read(engine, new Uint8Array(buffer, run.offset, run.size), run.type));
    scope.postMessage({ buffer, runs, elements }, [buffer, ...elements.map((array) => array.buffer)]);
}

function read(engine: EngineModule, text: Uint8Array, type: number): Uint8Array<ArrayBuffer> {
    const size = text.length + 2;
    const input = engine.input(size);
    input[0] = BRACKETS.open;
    input.set(text, 1);
    input[size - 1] = BRACKETS.close;
    return engine.view(engine.functions<Functions>().session_numbers(engine.session, type, size)).bytes(0);
}
