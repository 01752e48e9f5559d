/**
 * The engine as WebAssembly, with types: loading, and the answers of all themes. It runs in the worker (and in node, for
 * tests and measurements). A new theme is a file with its types, its interface of calls (a part of Engine in api.ts) and
 * its answers, which are added here.
 */
import type { ProfileInfo } from './api';
import { butterflyAnswers } from './butterfly';
import { chartAnswers } from './charts';
import { findAnswers } from './find';
import type { Run } from './helper';
import { DEFERRED_RUN } from './layout';
import { markerAnswers } from './markers';
import { EngineModule, type Pointer, type View } from './module';
import type { EngineAnswers } from './protocol';
import { sourceAnswers } from './source';
import { timelineAnswers } from './timeline';
import { treeAnswers } from './tree';
import { waitAnswers } from './waits';

interface Functions {
    session_feed(session: Pointer, size: number): number;
    session_finish(session: Pointer): number;
    session_defer(session: Pointer, least: number): void;
    session_deferred(session: Pointer): Pointer;
    session_deferred_elements(session: Pointer, run: number): Pointer;
    session_info(session: Pointer): Pointer;
}

const FEED_BYTES = 1 << 20;
const DEFER_BYTES = 1 << 15; // a run of numbers that is worth being read elsewhere

/** An engine that is fed with a profile, and answers once that is finished. */
export interface WasmEngine extends EngineAnswers {
    /** The next bytes of the uncompressed file. Throws with a sentence for the user. */
    feed(bytes: Uint8Array): void;
    /** The same, but long runs of numbers are deferred, and have to be put in their places before the end. */
    feedPassing(bytes: Uint8Array): Run[];
    put(run: Run, elements: Uint8Array): void;
    finish(): ProfileInfo;
    /** Bytes of memory that it has taken so far. */
    memoryBytes(): number;
}

export async function openEngine(compiled: WebAssembly.Module): Promise<WasmEngine> {
    const module = await EngineModule.create(compiled);
    const { session } = module;
    const wasm = module.functions<Functions>();
    const feed = (bytes: Uint8Array, fed?: (at: number) => void): void => {
        for (let at = 0; at < bytes.length; at += FEED_BYTES) {
            const piece = bytes.subarray(at, at + FEED_BYTES);
            module.input(piece.length).set(piece);
            module.check(wasm.session_feed(session, piece.length));
            fed?.(at);
        }
    };
    return {
        feed,
        feedPassing(bytes) {
            const runs: Run[] = [];
            wasm.session_defer(session, DEFER_BYTES);
            feed(bytes, (at) => runs.push(...runsOf(module.view(wasm.session_deferred(session)), at)));
            wasm.session_defer(session, 0);
            return runs;
        },
        put(run, elements) {
            if (elements.length !== run.bytes) throw new Error('This is not what was deferred');
            module.memory(wasm.session_deferred_elements(session, run.run), run.bytes).set(elements);
        },
        finish() {
            module.check(wasm.session_finish(session));
            const info = JSON.parse(module.decode(module.view(wasm.session_info(session)))) as ProfileInfo;
            module.weights = info.weights.map(({ id }) => id);
            return info;
        },
        memoryBytes: () => module.memoryBytes,
        ...treeAnswers(module),
        ...butterflyAnswers(module),
        ...waitAnswers(module),
        ...timelineAnswers(module),
        ...sourceAnswers(module),
        ...markerAnswers(module),
        ...chartAnswers(module),
        ...findAnswers(module),
    };
}

/** The runs that were deferred in the part of a piece that begins at `start`. */
function runsOf(view: View, start: number): Run[] {
    return view.records(0, DEFERRED_RUN).map((run) => ({ ...run, offset: start + run.offset }));
}
