/** Loads a profile: passes its bytes to an engine as they arrive, and large numeric columns to helpers. */
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

/** Bytes: minimum size of a file for which helpers start. The second limit is for files of unknown size. */
const LARGE = 64 << 20;
const LARGE_SO_FAR = 24 << 20;

export interface Loaded {
    engine: WasmEngine;
    info: ProfileInfo;
}

export function loadProfile(
    compiled: Promise<WebAssembly.Module>,
    source: AnySource,
    onProgress: (progress: Progress) => void,
): Promise<Loaded> {
    if (isCompared(source))
        return loadHelped(compiled, (engine, helpers) => compareInto(engine, source, onProgress, helpers));
    const early = openSource(source); // the file arrives while the browser compiles the engine
    early.catch(() => undefined); // an error of the engine has precedence
    let isFirst = true;
    return loadHelped(compiled, async (engine, helpers) => {
        const body = isFirst ? early : openSource(source);
        isFirst = false;
        return loadInto(engine, await body, onProgress, helpers);
    });
}

/**
 * Fills an engine with `load`. Helpers detect an error in a file, but not its position. After an error, or if helpers
 * cannot work here, reads the file once more without helpers.
 */
async function loadHelped(
    compiled: Promise<WebAssembly.Module>,
    load: (engine: WasmEngine, helpers?: Helpers) => Promise<ProfileInfo>,
): Promise<Loaded> {
    const module = await compiled;
    const engine = await openEngine(module);
    const helpers = new Helpers(module, engine);
    try {
        return { engine, info: await load(engine, helpers) };
    } catch (error) {
        if (!helpers.haveHelped) throw error;
    } finally {
        helpers.end();
    }
    const next = await openEngine(module);
    return { engine: next, info: await load(next) };
}

/** The performance entry of the last growProfile(): see tests/bench/bench_live_page.mjs. */
const APPEND = 'append';

/**
 * Loads the samples that were added to a profile, or all samples. The answer states which. Returns null if the
 * recording has ended.
 */
export async function growProfile(engine: WasmEngine, source: string): Promise<ProfileInfo | null> {
    const body = await openGrowing(source);
    if (!body) return null;
    let duration = 0; // ms of the engine, without the time of the download
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

/** Loads both sides, one after the other. */
async function compareInto(
    engine: WasmEngine,
    source: ComparedSource,
    onProgress: (progress: Progress) => void,
    helpers?: Helpers,
): Promise<ProfileInfo> {
    for (const side of ['base', 'new'] as const) {
        await feedInto(engine, await openSource(source[side].source), onProgress, helpers);
        engine.finishSide(side);
    }
    return engine.compare(source);
}

async function loadInto(
    engine: WasmEngine,
    body: Body,
    onProgress: (progress: Progress) => void,
    helpers?: Helpers,
): Promise<ProfileInfo> {
    await feedInto(engine, body, onProgress, helpers);
    return { ...engine.finish(), isLive: body.isLive ?? false };
}

async function feedInto(
    engine: WasmEngine,
    body: Body,
    onProgress: (progress: Progress) => void,
    helpers?: Helpers,
): Promise<void> {
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
}
