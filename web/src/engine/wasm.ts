/**
 * The engine as WebAssembly, with types: loading, and the answers of all themes. It runs in the worker (and in node, for
 * tests and measurements). A new theme is a file with its types, its interface of calls (a part of Engine in api.ts) and
 * its answers, which are added here.
 */
import type { ProfileInfo } from './api';
import { butterflyAnswers } from './butterfly';
import { chartAnswers } from './charts';
import { findAnswers } from './find';
import { markerAnswers } from './markers';
import { EngineModule, type Pointer } from './module';
import type { EngineAnswers } from './protocol';
import { sourceAnswers } from './source';
import { timelineAnswers } from './timeline';
import { treeAnswers } from './tree';

interface Functions {
    session_feed(session: Pointer, size: number): number;
    session_finish(session: Pointer): number;
    session_info(session: Pointer): Pointer;
}

const FEED_BYTES = 1 << 20;

/** An engine that is fed with a profile, and answers once that is finished. */
export interface WasmEngine extends EngineAnswers {
    /** The next bytes of the uncompressed file. Throws with a sentence for the user. */
    feed(bytes: Uint8Array): void;
    finish(): ProfileInfo;
    /** Bytes of memory that it has taken so far. */
    memoryBytes(): number;
}

export async function openEngine(compiled: WebAssembly.Module): Promise<WasmEngine> {
    const module = await EngineModule.create(compiled);
    const { session } = module;
    const wasm = module.functions<Functions>();
    return {
        feed(bytes) {
            for (let at = 0; at < bytes.length; at += FEED_BYTES) {
                const piece = bytes.subarray(at, at + FEED_BYTES);
                module.input(piece.length).set(piece);
                module.check(wasm.session_feed(session, piece.length));
            }
        },
        finish() {
            module.check(wasm.session_finish(session));
            return JSON.parse(module.decode(module.view(wasm.session_info(session)))) as ProfileInfo;
        },
        memoryBytes: () => module.memoryBytes,
        ...treeAnswers(module),
        ...butterflyAnswers(module),
        ...timelineAnswers(module),
        ...sourceAnswers(module),
        ...markerAnswers(module),
        ...chartAnswers(module),
        ...findAnswers(module),
    };
}
