/** The client of the engine: every call becomes a message to the worker, which answers in order. */
import type { Engine, Progress } from './api';
import { contained, workerAddress } from './contained';
import { type AnySource, type ComparedPart, isCompared, type ProfileSource } from './download';
import { type Arguments, ClosedError, type Method, type Reply, type Request } from './protocol';

interface Waiting {
    resolve(value: unknown): void;
    reject(error: Error): void;
    onProgress: ((progress: Progress) => void) | undefined;
}

/** An engine in a worker of its own. */
export interface EngineWorker extends Engine {
    /** Ends the worker, and frees its memory. Open calls get no answer. */
    end(): void;
    /** Calls `report` with a sentence when the worker fails. All later calls then fail. */
    onDeath(report: (sentence: string) => void): void;
}

/**
 * Starts the worker. The worker is a classic script, because Chromium does not start a module from a blob of a page on
 * the disk.
 */
export function createEngine(workerUrl = 'worker.js'): EngineWorker {
    const waiting = new Map<number, Waiting>();
    const worker = new Worker(workerAddress(workerUrl, document.baseURI), { name: 'engine' });
    if (contained?.engine) worker.postMessage(contained.engine);
    let lastId = 0;
    let death: Error | null = null;
    let reportDeath = (_sentence: string): void => undefined;

    function die(sentence: string): void {
        death = new Error(sentence);
        for (const call of waiting.values()) call.reject(death);
        waiting.clear();
        worker.terminate();
        reportDeath(sentence);
    }

    function call<M extends Method>(
        method: M,
        args: Arguments<M>,
        onProgress?: (progress: Progress) => void,
    ): ReturnType<Engine[M]> {
        if (death) return Promise.reject(death) as ReturnType<Engine[M]>;
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
        if (reply.kind === 'died') die(`The engine failed: ${reply.message}`);
        if (reply.kind === 'result') call.resolve(reply.value);
        else
            call.reject(
                reply.kind === 'error' && reply.isClosed ? new ClosedError(reply.message) : new Error(reply.message),
            );
    };

    worker.onerror = (event) => die(event.message || 'Cannot start the engine');

    const absolute = <Source>(source: Source | string): Source | Blob | string =>
        typeof source === 'string' ? (contained?.profile ?? new URL(source, document.baseURI).href) : source;
    const load: Engine['load'] = (source, onProgress) => {
        const part = (side: ComparedPart): ComparedPart => ({
            ...side,
            source: absolute(side.source) as ProfileSource,
        });
        const posted = isCompared(source)
            ? { ...source, base: part(source.base), new: part(source.new) }
            : absolute(source);
        return call('load', [posted as AnySource], onProgress);
    };
    const grow: Engine['grow'] = (source) => call('grow', [new URL(source, document.baseURI).href]);
    const end = (): void => {
        worker.terminate();
        waiting.clear();
    };
    const onDeath = (report: (sentence: string) => void): void => {
        reportDeath = report;
        if (death) report(death.message);
    };
    const own = { load, grow, end, onDeath } as EngineWorker;
    // Every other method becomes a message with its name. The types list the methods.
    return new Proxy(own, {
        get: (target, method) =>
            method in target
                ? target[method as keyof EngineWorker]
                : (...args: unknown[]) => call(method as Method, args as Arguments<Method>),
    });
}
