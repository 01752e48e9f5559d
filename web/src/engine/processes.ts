/** The tree of processes: a thin layer over lib/tree/process_json.c. Times are in ms. */
import type { EngineModule, Pointer } from './module';
import type { Answers } from './protocol';

export interface ProcessRow {
    pid: string;
    name: string;
    /** The argument that fewest processes of this name have, or ''. */
    argument: string;
    /** '': not known. */
    command: string;
    /** "exit status 2", or '' if not known. */
    exit: string;
    from_ms: number;
    to_ms: number;
    cpu_ms: number;
    /** With its descendants. */
    tree_cpu_ms: number;
    /** On the critical path of processes. */
    path_ms: number;
    depth: number;
    descendants: number;
    /** Index of the row; undefined for a root. */
    parent?: number;
    threads: number[];
}

export interface ProcessTree {
    /** About the longest time in which one process runs at a time; '' for none. */
    sentence: string;
    idle_ms: number;
    alone_ms: number;
    parallel_ms: number;
    serial: { from_ms: number; to_ms: number };
    /** Each precedes its descendants. */
    processes: ProcessRow[];
    /** The critical path, by time. */
    path: { process: number; from_ms: number; to_ms: number }[];
}

export interface ProcessCalls {
    /** The processes that live in a range. */
    processes(from: number, to: number): Promise<ProcessTree>;
}

interface Functions {
    session_processes(session: Pointer, from: number, to: number): Pointer;
}

export function processAnswers(module: EngineModule): Answers<ProcessCalls> {
    const wasm = module.functions<Functions>();
    return {
        processes: (from, to) =>
            JSON.parse(module.decode(module.view(wasm.session_processes(module.session, from, to)))) as ProcessTree,
    };
}
