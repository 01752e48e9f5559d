/**
 * The worker: owns the engine, fetches the profile, and answers calls one after another. Calls are queued here and taken
 * one per turn of the event loop, so that a query that a newer one has overtaken is seen and dropped.
 */
import type { ProfileInfo } from './api';
import { download } from './download';
import type { Reply, Request } from './protocol';
import { EngineModule } from './wasm';

const ENGINE_URL = 'engine.wasm';

const scope = self as unknown as {
    onmessage: ((event: MessageEvent<Request>) => void) | null;
    postMessage(message: Reply, transfer?: Transferable[]): void;
};

const queue: Request[] = [];
const turn = new MessageChannel();
let isBusy = false;
let engine: EngineModule | undefined;

// Compiling starts with the worker, before the page has asked for anything.
const compiled = WebAssembly.compileStreaming(fetch(new URL(ENGINE_URL, import.meta.url)));
compiled.catch(() => undefined); // load() reports it

scope.onmessage = (event) => {
    queue.push(event.data);
    turn.port2.postMessage(null);
};
turn.port1.onmessage = () => void takeTurn();

async function takeTurn(): Promise<void> {
    if (isBusy) return;
    const request = queue.shift();
    if (!request) return;
    isBusy = true;
    try {
        const value = await answer(request);
        scope.postMessage({ id: request.id, kind: 'result', value }, buffersOf(value));
    } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        scope.postMessage({ id: request.id, kind: 'error', message });
    }
    isBusy = false;
    if (queue.length > 0) turn.port2.postMessage(null);
}

function answer(request: Request): unknown {
    if (request.method === 'load') return load(request.id, ...request.args);
    if (!engine) throw new Error('No profile is loaded');
    switch (request.method) {
        case 'query':
            return queue.some((later) => later.method === 'query') ? null : engine.query(...request.args);
        case 'roots':
            return engine.roots();
        case 'children':
            return engine.children(...request.args);
        case 'descendants':
            return engine.descendants(...request.args);
        case 'heaviestPath':
            return engine.heaviestPath(...request.args);
        case 'path':
            return engine.path(...request.args);
        case 'find':
            return engine.find(...request.args);
        case 'details':
            return engine.details(...request.args);
        case 'rewritePaths': {
            const [transform, paths] = request.args;
            const loaded = engine;
            return paths.map((path) => loaded.rewritePath(transform, path));
        }
        case 'recursion':
            return engine.recursion(...request.args);
        case 'funcs': {
            const [indexes] = request.args;
            const loaded = engine;
            return indexes.map((index) => loaded.func(index));
        }
        case 'functions': {
            const [limit, order] = request.args;
            return engine.functions(limit, order ?? 'self');
        }
        case 'activity':
            return engine.activity(...request.args);
        case 'sampleAt':
            return engine.sampleAt(...request.args);
    }
}

async function load(id: number, url: string): Promise<ProfileInfo> {
    engine = undefined; // a profile that was loaded before gives its memory back
    const module = await compiled.catch((error: unknown) => {
        throw new Error(`The engine could not be loaded: ${error instanceof Error ? error.message : String(error)}`);
    });
    const fresh = await EngineModule.create(module);
    let bytes = 0;
    await download(
        url,
        (piece) => {
            bytes += piece.length;
            fresh.feed(piece);
        },
        (progress) => scope.postMessage({ id, kind: 'progress', progress }),
    );
    scope.postMessage({ id, kind: 'progress', progress: { phase: 'index', done: bytes, total: bytes } });
    const info = fresh.finish();
    engine = fresh;
    return info;
}

/** The array buffers right inside an answer, which are handed over instead of copied. */
function buffersOf(value: unknown): Transferable[] {
    if (typeof value !== 'object' || value === null) return [];
    const buffers = Object.values(value).flatMap((part: unknown) =>
        ArrayBuffer.isView(part) && part.buffer instanceof ArrayBuffer ? [part.buffer] : [],
    );
    return [...new Set(buffers)];
}
