/** The calls about the tree of processes, which lib/tree/process_json.c answers. Times are in ms. */
import type { EngineModule, Pointer } from './module';
import type { Answers } from './protocol';

export interface ProcessRow {
    pid: string;
    name: string;
    /** The argument that the fewest processes of this name have, or ''. */
    argument: string;
    /** The command line, or '' if unknown. */
    command: string;
    /** The exit status, such as "exit status 2", or '' if unknown. */
    exit: string;
    from_ms: number;
    to_ms: number;
    cpu_ms: number;
    /** CPU time of the process and its descendants. */
    tree_cpu_ms: number;
    /** Time on the critical path of processes. */
    path_ms: number;
    depth: number;
    descendants: number;
    /** The index of the parent's row, undefined for a root. */
    parent?: number;
    threads: number[];
}

export interface ProcessTree {
    /** Describes the longest time in which only one process ran at a time; '' without such a time. */
    sentence: string;
    idle_ms: number;
    alone_ms: number;
    parallel_ms: number;
    serial: { from_ms: number; to_ms: number };
    /** Each process precedes its descendants. */
    processes: ProcessRow[];
    /** The steps of the critical path in order of time. */
    path: { process: number; from_ms: number; to_ms: number }[];
}

export interface ProcessCalls {
    /** Returns the processes that live in a range. */
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
