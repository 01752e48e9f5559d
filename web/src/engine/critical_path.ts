/** The critical path of a thread: a thin layer over lib/wasm/wasm_critical_path.c. */
import type { EngineModule, Pointer } from './module';
import type { Answers } from './protocol';

export type PathState = 'runs' | 'runnable' | 'waits' | 'unseen' | 'absent';

/** A part of the path: see struct path_part of lib/tree/path_parts.h. */
export interface PathPart {
    ms: number;
    state: PathState;
    thread: number;
    /** Whether some of the waits have no rows of their own. */
    isEstimated: boolean;
    /** The function that ran or waited. */
    func?: string;
    /** The object of a wait. */
    object?: string;
    /** The thread that waited meanwhile, and the object for which it waited. */
    waiter?: number;
    waitedFor?: string;
}

/** Consecutive segments of one thread and state. */
export interface PathRow {
    /** ms */
    from: number;
    to: number;
    thread: number;
    state: PathState;
    /** The innermost callers, and the waker or the thread that waits. */
    where: string;
}

export interface CriticalPath {
    sentence: string;
    /** Parts, the longest first. The parts add up to the range. */
    parts: PathPart[];
    /** Rows, by time. */
    rows: PathRow[];
}

export interface CriticalPathCalls {
    /** Returns the critical path of a thread up to the end of a range, ms. */
    criticalPath(thread: number, from: number, to: number): Promise<CriticalPath>;
    /** Returns the critical paths of the slowest intervals that a query selects. */
    slowestPaths(query: number): Promise<CriticalPath>;
}

interface Functions {
    session_critical_path(session: Pointer, thread: number, from: number, to: number): Pointer;
    session_slowest_paths(session: Pointer, query: number): Pointer;
}

export function criticalPathAnswers(module: EngineModule): Answers<CriticalPathCalls> {
    const { session } = module;
    const wasm = module.functions<Functions>();
    const read = (answer: Pointer): CriticalPath => JSON.parse(module.decode(module.view(answer)));
    return {
        criticalPath: (thread, from, to) => read(wasm.session_critical_path(session, thread, from, to)),
        slowestPaths: (query) => read(wasm.session_slowest_paths(session, query)),
    };
}
