/** Loading a profile: its bytes go into an engine as they arrive, those of large columns of numbers by way of helpers. */
import type { ProfileInfo, Progress } from './api';
import {
    type AnySource,
    type Body,
    type ComparedSource,
    isCompared,
    openGrowing,
    openSource,
    readProfile,
} from './download';
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
    source: AnySource,
    onProgress: (progress: Progress) => void,
): Promise<Loaded> {
    if (isCompared(source)) return loadCompared(await compiled, source, onProgress);
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

/** The name under which growProfile() tells what its last call cost: see tests/bench/bench_live_page.mjs. */
const APPEND = 'append';

/**
 * Loads into an engine what has been added to its profile since, or all of that once more: what the answer has, it says.
 * null: the recording has ended.
 */
export async function growProfile(engine: WasmEngine, source: string): Promise<ProfileInfo | null> {
    const body = await openGrowing(source);
    if (!body) return null;
    let duration = 0; // ms of the engine, without the time that bytes take to arrive
    const timed = <T>(act: () => T): T => {
        const start = performance.now();
        const result = act();
        duration += performance.now() - start;
        return result;
    };
    engine.begin();
    await readProfile(
        body,
        (piece) => {
            timed(() => engine.feed(piece));
            return piece.buffer;
        },
        () => undefined,
    );
    const info = timed(() => engine.finish());
    performance.clearMeasures(APPEND);
    performance.measure(APPEND, { start: performance.now() - duration, duration, detail: engine.memoryBytes() });
    return { ...info, isLive: body.isLive ?? false };
}

/** One after the other, into one engine. */
async function loadCompared(
    module: WebAssembly.Module,
    source: ComparedSource,
    onProgress: (progress: Progress) => void,
): Promise<Loaded> {
    const engine = await openEngine(module);
    await loadInto(engine, await openSource(source.base.source), onProgress);
    engine.setAside();
    engine.begin();
    await loadInto(engine, await openSource(source.new.source), onProgress);
    return { engine, info: engine.compare(source) };
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
    return { engine, info: { ...engine.finish(), isLive: body.isLive ?? false } };
}
