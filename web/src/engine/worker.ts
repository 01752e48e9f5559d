/**
 * The worker of the page, which has the engine, fetches the profile, and answers calls one after another. The worker
 * queues calls and takes one call per turn of the event loop, so that it sees newer queries in time and drops older
 * queries.
 */
import { messageOf } from '../base/message';
import { addActivity } from './activity_parts';
import type { Activity, ProfileInfo } from './api';
import { contained } from './contained';
import type { AnySource } from './download';
import { growProfile, loadProfile } from './load';
import { ClosedError, type Method, type Reply, type Request } from './protocol';
import type { WasmEngine } from './wasm';

const ENGINE_URL = 'engine.wasm';

const scope = self as unknown as {
    onmessage: ((event: MessageEvent<Request | Blob>) => void) | null;
    postMessage(message: Reply, transfer?: Transferable[]): void;
};

/** Calls of which the worker answers only the newest. */
const OVERTAKEN: ReadonlySet<Method> = new Set(['query', 'findFunctions', 'changes']);

/** Short calls that run while the user types. The worker answers them before all other calls. */
const URGENT: ReadonlySet<Method> = new Set(['findFunctions', 'findTexts', 'searchTerms', 'funcs']);

/**
 * Calls that the worker answers after all others: the graphs of the timeline, which are dozens, and the confidence
 * intervals of changes. The user's action takes several calls, and the page makes each call after the previous answer,
 * so the worker waits for a moment before it starts a background call. A background call that has waited for
 * BACKGROUND_TIMEOUT takes turns with other calls.
 */
const BACKGROUND: ReadonlySet<Method> = new Set([
    'activity',
    'changes',
    'markerStrip',
    'waits',
    'counterGraph',
    'stateLanes',
    'cpuLanes',
    'threadTimes',
]);
const BACKGROUND_TIMEOUT = 150; // ms
const MOMENT = 16; // ms, a frame: the page draws an answer before it makes the next call

/** An unfinished graph of several threads, to which the worker adds one thread per turn. */
interface ActivityPart {
    threads: number;
    sum: Activity;
    since: number;
}
const parts = new Map<number, ActivityPart>();

const queue: { request: Request; since: number }[] = [];
let lastForeground = 0;
let wasBackground = false;
let isPausing = false;
const turn = new MessageChannel();
let isBusy = false;
let engine: WasmEngine | undefined;

// The worker compiles the engine when it starts, before the first call of the page.
let giveEngine = (_engine: Blob): void => undefined;
const compiled = contained
    ? new Promise<Blob>((resolve) => {
          giveEngine = resolve;
      }).then(async (engine) => WebAssembly.compile(await engine.arrayBuffer()))
    : WebAssembly.compileStreaming(fetch(new URL(ENGINE_URL, location.href)));
compiled.catch(() => undefined); // load() reports the error

scope.onmessage = (event) => {
    if (event.data instanceof Blob) return giveEngine(event.data);
    queue.push({ request: event.data, since: performance.now() });
    turn.port2.postMessage(null);
};
turn.port1.onmessage = () => void takeTurn();

/** Takes the next call to answer from the queue, or returns undefined if the call has not arrived yet. */
function nextRequest(): Request | undefined {
    const [oldest] = queue;
    if (!oldest) return undefined;
    const now = performance.now();
    const urgent = queue.findIndex(({ request }) => URGENT.has(request.method));
    if (engine && urgent >= 0) return queue.splice(urgent, 1)[0]?.request;
    const at = queue.findIndex(({ request }) => !BACKGROUND.has(request.method));
    const isOverdue = now - oldest.since >= BACKGROUND_TIMEOUT;
    if (at > 0 && (wasBackground || !isOverdue)) return queue.splice(at, 1)[0]?.request;
    const newest = queue[queue.length - 1] ?? oldest;
    if (at < 0 && now - Math.max(lastForeground, newest.since) < MOMENT) {
        pause();
        return undefined;
    }
    return queue.shift()?.request;
}

function pause(): void {
    if (isPausing) return;
    isPausing = true;
    setTimeout(() => {
        isPausing = false;
        turn.port2.postMessage(null);
    }, MOMENT);
}

async function takeTurn(): Promise<void> {
    if (isBusy) return;
    const request = nextRequest();
    if (!request) return;
    // The server sends a profile in pieces, and the worker answers other calls between two pieces.
    if ((request.method === 'load' || request.method === 'grow') && engine) {
        void reply(request);
        turn.port2.postMessage(null);
        return;
    }
    isBusy = true;
    wasBackground = BACKGROUND.has(request.method);
    await reply(request);
    isBusy = false;
    if (!wasBackground) lastForeground = performance.now();
    if (queue.length > 0) turn.port2.postMessage(null);
}

async function reply(request: Request): Promise<void> {
    try {
        const value = await answer(request);
        const part = parts.get(request.id);
        if (part) {
            queue.unshift({ request, since: part.since });
            return;
        }
        scope.postMessage({ id: request.id, kind: 'result', value }, buffersOf(value));
    } catch (error) {
        parts.delete(request.id);
        const message = messageOf(error);
        const hasDied = error instanceof WebAssembly.RuntimeError && request.method !== 'load';
        const isClosed = error instanceof ClosedError;
        scope.postMessage({
            id: request.id,
            ...(hasDied ? { kind: 'died', message } : { kind: 'error', message, isClosed }),
        });
    }
}

function overtakes(later: Request, request: Request): boolean {
    if (later.method !== request.method) return false;
    return later.method !== 'query' || request.method !== 'query' || (later.args[2] ?? 0) === (request.args[2] ?? 0);
}

function answer(request: Request): unknown {
    if (request.method === 'load') return load(request.id, ...request.args);
    if (!engine) throw new Error('No profile is loaded');
    if (request.method === 'grow') return growProfile(engine, ...request.args);
    if (OVERTAKEN.has(request.method) && queue.some(({ request: later }) => overtakes(later, request))) return null;
    if (request.method === 'activity') return activity(engine, request.id, request.args);
    const method = engine[request.method] as (...args: unknown[]) => unknown;
    return method(...request.args);
}

/** Adds one thread to a graph. `parts` contains the call until the graph has all threads. */
function activity(of: WasmEngine, id: number, args: Parameters<WasmEngine['activity']>): Activity {
    const [threads, from, to, width, filter] = args;
    if (threads.length <= 1) return of.activity(...args);
    const before = parts.get(id);
    const done = before?.threads ?? 0;
    const since = before?.since ?? performance.now();
    const part = of.activity(threads.slice(done, done + 1), from, to, width, filter);
    const sum = addActivity(before?.sum ?? null, part);
    if (done + 1 < threads.length) parts.set(id, { threads: done + 1, sum, since });
    else parts.delete(id);
    return sum;
}

/** Loads a profile. The engine keeps the previous profile until then, because the file may be no profile. */
async function load(id: number, source: AnySource): Promise<ProfileInfo> {
    const module = compiled.catch((error: unknown) => {
        throw new Error(`Cannot load the engine: ${messageOf(error)}`);
    });
    const loaded = await loadProfile(module, source, (progress) =>
        scope.postMessage({ id, kind: 'progress', progress }),
    );
    engine = loaded.engine;
    return loaded.info;
}

/**
 * Returns the array buffers that are direct members of an answer. The worker moves them to the page instead of copying.
 */
function buffersOf(value: unknown): Transferable[] {
    if (typeof value !== 'object' || value === null) return [];
    const buffers = Object.values(value).flatMap((part: unknown) =>
        ArrayBuffer.isView(part) && part.buffer instanceof ArrayBuffer ? [part.buffer] : [],
    );
    return [...new Set(buffers)];
}
