/** Loading a profile: its bytes go into an engine as they arrive, those of large columns of numbers by way of helpers. */
import type { ProfileInfo, Progress } from './api';
import { type Body, openSource, type ProfileSource, readProfile } from './download';
import { Helpers } from './helpers';
import { openEngine, type WasmEngine } from './wasm';

/** Bytes of a file from which helpers are worth their start, if it says how many it has, and if it does not. */
const LARGE = 64 << 20;
const LARGE_SO_FAR = 24 << 20;

export interface Loaded {
    engine: WasmEngine;
    info: ProfileInfo;
}

/**
 * Helpers only see that something is wrong with a file, not what. Then it is read once more without them, as it is if
 * they cannot work here.
 */
export async function loadProfile(
    compiled: Promise<WebAssembly.Module>,
    source: ProfileSource,
    onProgress: (progress: Progress) => void,
): Promise<Loaded> {
    const body = openSource(source); // arrives while the engine is compiled
    body.catch(() => undefined); // the engine's failure is told first
    const module = await compiled;
    const engine = await openEngine(module);
    const helpers = new Helpers(module, engine);
    try {
        return await loadInto(engine, await body, onProgress, helpers);
    } catch (error) {
        if (!helpers.haveHelped) throw error;
    } finally {
        helpers.end();
    }
    return loadInto(await openEngine(module), await openSource(source), onProgress);
}

async function loadInto(
    engine: WasmEngine,
    body: Body,
    onProgress: (progress: Progress) => void,
    helpers?: Helpers,
): Promise<Loaded> {
    let bytes = 0;
    await readProfile(
        body,
        (piece, total) => {
            bytes += piece.length;
            if (total > LARGE || bytes > LARGE_SO_FAR) helpers?.start();
            helpers?.check();
            if (!helpers?.areFree) {
                engine.feed(piece);
                return piece.buffer;
            }
            const runs = engine.feedPassing(piece);
            if (runs.length === 0) return piece.buffer;
            helpers.give(piece, runs);
            return helpers.spare();
        },
        onProgress,
    );
    await helpers?.settle();
    onProgress({ phase: 'index', done: bytes, total: bytes });
    return { engine, info: engine.finish() };
}
