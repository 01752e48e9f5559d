/**
 * The worker: owns the engine, fetches the profile, and answers calls one after another. Calls are queued here and taken
 * one per turn of the event loop, so that a query that a newer one has overtaken is seen and dropped.
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

/** Calls of which only the newest is answered. */
const OVERTAKEN: ReadonlySet<Method> = new Set(['query', 'findFunctions', 'changes']);

/** Short calls that typing waits for: they go before all others. */
const URGENT: ReadonlySet<Method> = new Set(['findFunctions', 'findTexts', 'searchTerms', 'funcs']);

/**
 * Graphs of the timeline, dozens of them, and how far changes are known. What the user has asked for takes several calls, each made when the one before is
 * answered: it goes first, and has a moment for its next call. A call comes right behind the graphs that the same answer made
 * the page ask for: they wait for a moment, too. A graph that has waited for BACKGROUND_TIMEOUT takes turns with it.
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
const MOMENT = 16; // ms: the page draws an answer, which is a frame, before it asks again

/** The worker adds one thread a turn to the graph of several threads. An unfinished graph. */
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

// Compiling starts with the worker, before the first request of the page.
let giveEngine = (_engine: Blob): void => undefined;
const compiled = contained
    ? new Promise<Blob>((resolve) => {
          giveEngine = resolve;
      }).then(async (engine) => WebAssembly.compile(await engine.arrayBuffer()))
    : WebAssembly.compileStreaming(fetch(new URL(ENGINE_URL, location.href)));
compiled.catch(() => undefined); // load() reports it

scope.onmessage = (event) => {
    if (event.data instanceof Blob) return giveEngine(event.data);
    queue.push({ request: event.data, since: performance.now() });
    turn.port2.postMessage(null);
};
turn.port1.onmessage = () => void takeTurn();

/** The next call to answer; undefined: none yet. */
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
    // The next profile arrives in pieces. The worker answers other calls between two pieces.
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

/** Adds one thread to a graph. The call is in `parts` until its last thread. */
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

/** The previous profile stays until the new profile is loaded, because the file may be no profile. */
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

/** The array buffers right inside an answer, which are handed over instead of copied. */
function buffersOf(value: unknown): Transferable[] {
    if (typeof value !== 'object' || value === null) return [];
    const buffers = Object.values(value).flatMap((part: unknown) =>
        ArrayBuffer.isView(part) && part.buffer instanceof ArrayBuffer ? [part.buffer] : [],
    );
    return [...new Set(buffers)];
}
