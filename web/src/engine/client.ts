/** The engine as the page sees it: every call becomes a message to the worker, which answers in order. */
import type { Engine, Progress } from './api';
import type { Arguments, Method, Reply, Request } from './protocol';

interface Waiting {
    resolve(value: unknown): void;
    reject(error: Error): void;
    onProgress: ((progress: Progress) => void) | undefined;
}

/** An engine in a worker of its own. */
export interface EngineWorker extends Engine {
    /** Ends the worker, and frees what it has. What is still asked is never answered. */
    end(): void;
}

/** Starts the worker. `workerUrl` is relative to the page. */
export function createEngine(workerUrl = 'worker.js'): EngineWorker {
    const waiting = new Map<number, Waiting>();
    const worker = new Worker(new URL(workerUrl, document.baseURI), { type: 'module', name: 'engine' });
    let lastId = 0;

    function call<M extends Method>(method: M, args: Arguments<M>, onProgress?: (progress: Progress) => void): ReturnType<Engine[M]> {
        const id = ++lastId;
        const promise = new Promise((resolve, reject) => {
            waiting.set(id, { resolve, reject, onProgress });
        });
        worker.postMessage({ id, method, args } as Request);
        return promise as ReturnType<Engine[M]>;
    }

    worker.onmessage = (event: MessageEvent<Reply>) => {
        const reply = event.data;
        const call = waiting.get(reply.id);
        if (!call) return;
        if (reply.kind === 'progress') {
            call.onProgress?.(reply.progress);
            return;
        }
        waiting.delete(reply.id);
        if (reply.kind === 'result') call.resolve(reply.value);
        else call.reject(new Error(reply.message));
    };

    worker.onerror = (event) => {
        const error = new Error(event.message || 'The engine could not be started');
        for (const call of waiting.values()) call.reject(error);
        waiting.clear();
    };

    const load: Engine['load'] = (source, onProgress) =>
        call('load', [typeof source === 'string' ? new URL(source, document.baseURI).href : source], onProgress);
    const end = (): void => {
        worker.terminate();
        waiting.clear();
    };
    // Each other method becomes a message of its name: what there is to call, the types say.
    return new Proxy({ load, end } as EngineWorker, {
        get: (target, method) =>
            method === 'load' || method === 'end'
                ? target[method]
                : (...args: unknown[]) => call(method as Method, args as Arguments<Method>),
    });
}
