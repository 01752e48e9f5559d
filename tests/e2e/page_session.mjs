// Sessions of the page without a browser, with the engine in place of the worker.
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { loadEngine } from '../engine_loader.mjs';
import { loadParts } from './page_modules.mjs';

globalThis.document ??= { baseURI: 'http://localhost/', activeElement: null, querySelector: () => null };
export const [{ createSession }, axes, costText, { Request }, { weightColumns }, { describeWeight }, { BatchCache }] = await loadParts([
    'app/session', 'session/axis', 'source/cost_text', 'session/request', 'table/weight_columns.tsx', 'base/format',
    'base/batch_cache',
]);
const { openEngine, module } = await loadEngine();

/** What a session writes into the history of a browser, the newest last. */
function hostOf(written) {
    return {
        write: (address, step) => written.push(`${step} ${address}`),
        undo: () => false,
        redo: () => false,
        chooseFile: () => undefined,
    };
}

let count = 0;

function sessionOf(engine, info, query) {
    const written = [];
    const session = createSession({ id: `session-${++count}`, engine, info, file: null, host: hostOf(written), query });
    return Object.assign(session, { written });
}

/** A profile that is open. Calls are answered in order, each in a turn of its own, as the worker does it. */
export async function openSession(file, query = '') {
    const bytes = await readFile(file);
    const wasm = await openEngine(module);
    wasm.feed(file.endsWith('.gz') ? gunzipSync(bytes) : bytes);
    const info = wasm.finish();
    const calls = { asked: 0, ended: false };
    let last = Promise.resolve();
    const engine = new Proxy(wasm, {
        get: (target, method) => {
            if (method === 'then') return undefined;
            if (method === 'onDeath') return () => undefined;
            if (method === 'end') return () => void (calls.ended = true);
            return (...args) => {
                calls.asked++;
                if (calls.ended) return new Promise(() => undefined);
                last = last.catch(() => undefined).then(
                    () => new Promise((resolve, reject) => setImmediate(() => {
                        try {
                            if (!calls.ended) resolve(target[method](...args));
                        } catch (error) {
                            reject(error);
                        }
                    })),
                );
                return last;
            };
        },
    });
    return Object.assign(sessionOf(engine, info, query), { calls });
}

const NO_PROFILE = {
    product: '', interval: 1, startTime: 0, rangeStart: 0, rangeEnd: 0, metadata: [], extra: [], categories: [], threads: [], libs: [],
    timesAreOrder: false, weights: [], frameKinds: 0, idleCategory: -1, symbolicated: true, sampleCount: 0, markerCount: 0, addressCount: 0, resolvedCount: 0, counters: [], markerGraphs: [], cpus: [],
    initialThreads: [], initialSelection: [], funcCount: 0,
};

/** A session whose engine never answers: what is set stays. */
export function stillSession() {
    const engine = new Proxy({}, { get: (_, method) => (method === 'end' || method === 'onDeath' ? () => undefined : () => new Promise(() => undefined)) });
    return sessionOf(engine, NO_PROFILE, '');
}

/** Resolves once `is` holds; a session that never comes to it fails. */
export async function until(is, what) {
    for (let turn = 0; turn < 20_000; turn++) {
        if (is()) return;
        await new Promise((resolve) => setImmediate(resolve));
    }
    throw new Error(`it never came to this: ${what}`);
}
