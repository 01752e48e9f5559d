/**
 * The engine as WebAssembly, with types: loading, and the answers of all themes. Runs in the worker, and in node for
 * tests and benchmarks. To add a theme, write a file with its types, its interface of calls (a part of Engine in
 * api.ts) and its answers, and add the answers here.
 */
import type { ProfileInfo } from './api';
import { butterflyAnswers } from './butterfly';
import { changesAnswers } from './changes';
import { chartAnswers } from './charts';
import { criticalPathAnswers } from './critical_path';
import type { ComparedSource } from './download';
import { exportAnswers } from './exports';
import { findAnswers } from './find';
import { findingAnswers } from './findings';
import type { Run } from './helper';
import { DEFERRED_RUN } from './layout';
import { markerAnswers } from './markers';
import { EngineModule, type Pointer, type View } from './module';
import { processAnswers } from './processes';
import type { EngineAnswers } from './protocol';
import { sourceAnswers } from './source';
import { timelineAnswers } from './timeline';
import { treeAnswers } from './tree';
import { waitAnswers } from './waits';

interface Functions {
    session_feed(session: Pointer, size: number): number;
    session_begin(session: Pointer): number;
    session_finish(session: Pointer): number;
    session_defer(session: Pointer, least: number): void;
    session_deferred(session: Pointer): Pointer;
    session_deferred_elements(session: Pointer, run: number): Pointer;
    session_finish_side(session: Pointer, side: number): number;
    session_keep_threads(session: Pointer, side: number, size: number): number;
    session_compare(
        session: Pointer,
        size: number,
        baseFrom: number,
        baseTo: number,
        newFrom: number,
        newTo: number,
        forgives: number,
    ): number;
    session_info(session: Pointer): Pointer;
}

const ALL_TIME = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const;
const FEED_BYTES = 1 << 20;
const DEFER_BYTES = 1 << 15; // numbers from which a run is worth the start of a helper

/** An engine that the caller feeds with a profile. The engine answers calls about the profile after finish(). */
export interface WasmEngine extends EngineAnswers {
    /** Takes the next bytes of the uncompressed file. Throws a message for the user if they are invalid. */
    feed(bytes: Uint8Array): void;
    /** The same, but returns long runs of numbers, which the caller has to put in place before finish(). */
    feedPassing(bytes: Uint8Array): Run[];
    put(run: Run, elements: Uint8Array): void;
    /** Begins to load another profile. The engine has the previous profile until the new profile is complete. */
    begin(): void;
    finish(): ProfileInfo;
    /** Finishes one side of a comparison, and begins to load the next profile. */
    finishSide(side: 'base' | 'new'): void;
    /** Makes one profile of both sides. */
    compare(source: ComparedSource): ProfileInfo;
    /** Returns the memory of the engine so far, in bytes. */
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
    function readInfo(): ProfileInfo {
        module.forgetTexts();
        const info = JSON.parse(module.decode(module.view(wasm.session_info(session)))) as ProfileInfo;
        module.weights = info.weights.map(({ id }) => id);
        module.profiles++;
        return info;
    }
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
        begin: () => void module.check(wasm.session_begin(session)),
        finish() {
            module.check(wasm.session_finish(session));
            return readInfo();
        },
        finishSide(side) {
            module.check(wasm.session_finish_side(session, side === 'base' ? 0 : 1));
            module.check(wasm.session_begin(session));
        },
        compare({ base, new: next, forgives }) {
            for (const [side, { kept }] of [base, next].entries()) {
                const bytes = Uint8Array.from(kept ?? [], Number);
                module.input(bytes.length).set(bytes);
                module.check(wasm.session_keep_threads(session, side, bytes.length));
            }
            const names = [base, next].map(({ name }) => `${name.replace(/\0/g, '')}\0`).join('');
            const size = module.inputWords([], names);
            const [baseFrom, baseTo] = base.range ?? ALL_TIME;
            const [newFrom, newTo] = next.range ?? ALL_TIME;
            module.check(wasm.session_compare(session, size, baseFrom, baseTo, newFrom, newTo, Number(forgives)));
            return readInfo();
        },
        memoryBytes: () => module.memoryBytes,
        ...treeAnswers(module),
        ...butterflyAnswers(module),
        ...waitAnswers(module),
        ...findingAnswers(module),
        ...criticalPathAnswers(module),
        ...processAnswers(module),
        ...timelineAnswers(module),
        ...sourceAnswers(module),
        ...markerAnswers(module),
        ...changesAnswers(module),
        ...chartAnswers(module),
        ...exportAnswers(module),
        ...findAnswers(module),
    };
}

/** Returns the runs that feedPassing() left out, in the part of the bytes that begins at `start`. */
function runsOf(view: View, start: number): Run[] {
    return view.records(0, DEFERRED_RUN).map((run) => ({ ...run, offset: start + run.offset }));
}
