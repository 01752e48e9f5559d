/** The waits of threads, in groups: a thin layer over lib/wasm/wasm_waits.c. */
import type { NodePath } from './api';
import type { KnownChange } from './changes';
import type { PathState } from './critical_path';
import { WAIT_GROUP, WAIT_GROUPING } from './layout';
import type { EngineModule, Pointer } from './module';
import type { Answers } from './protocol';

export { WAIT_GROUPING };
export type WaitGrouping = (typeof WAIT_GROUPING)[number];

/** Waits that have something in common: see struct wait_group. Times are ms. */
export interface WaitGroup {
    total: number;
    /** Half of the 95 % intervals of the total and the count; 0 if they are no estimates. */
    totalError: number;
    countError: number;
    /** 99 % of the waits are not longer; NaN: unknown. */
    percentile99: number;
    /** When the first wait began; NaN: unknown. */
    first: number;
    firstThread: number;
    /** How many threads waited. */
    threads: number;
    /** The program's innermost function in the longest, and its line; -1 and 0: unknown. */
    ownFunc: number;
    ownLine: number;
    /** The waker's innermost function and line at the end of the longest wait with a waker's stack, or -1 and 0. */
    wakerFunc: number;
    wakerLine: number;
    /** The part of the total in which the thread could have run. */
    runnable: number;
    longest: number;
    /** When the longest began and ended; null: all were too short to be recorded one by one. */
    range: [number, number] | null;
    /** Different in all groups of an answer. */
    key: string;
    /** 0: unknown. */
    count: number;
    /** Of the longest: subcategory of "Idle", func, and thread. -1: not recorded. */
    reason: number;
    func: number;
    thread: number;
    /** Who ended the longest; '': not known. */
    waker: string;
    /** Where the longest was; by stack, the callers that all have. */
    path: NodePath;
    /** The number of innermost callers that are no functions of the program: libc, runtimes. */
    runtimeCallers: number;
}

export interface WaitGroups {
    /** The longest in total first. */
    list: WaitGroup[];
    /** The lifetime of the threads in the range, and the part in which they did not run, ms. */
    there: number;
    waited: number;
    runnable: number;
    /** Recorded waits. */
    count: number;
    /** CPU time as the call tree has it, ms. */
    ran: number;
}

/** See longest_wait_write() of lib/tree/wait_json.h. */
interface LongestWait {
    ms: number;
    from_ms: number;
    to_ms: number;
    thread: number;
}

/** A function, with its line: see wait_place_write(). */
interface WaitPlace {
    function: string;
    line?: number;
}

/** The waits of one side of a comparison: mean time (ms) and number of the runs. */
export interface ComparedSide {
    ms: number;
    count: number;
    longest?: LongestWait;
}

/** Waits of both sides with the same name, which is different in all rows of an answer. */
export interface ComparedWait {
    name: string;
    reason: string;
    base: ComparedSide;
    new: ComparedSide;
    /** The function that waits, with its line. */
    where?: WaitPlace;
    /** undefined: both sides wait too little for a verdict. */
    known: KnownChange | undefined;
}

export interface ComparedWaits {
    /** All off-CPU time, ms. */
    all: { base: number; new: number; known: KnownChange };
    /** The largest change first. */
    list: ComparedWait[];
}

/** The waits at one call site, or the waits that threads of one name end there (struct site_waits). */
export interface SiteWaits {
    waker?: string;
    total_ms: number;
    count: number;
    threads: number;
    /** For how long the waker held a lock on average while others waited. */
    held_ms?: number;
    longest?: LongestWait;
    where?: WaitPlace;
    /** The innermost first. */
    callers: string[];
}

/** The waits for one object: see lib/tree/object_waits.h. */
export interface ObjectWaits {
    object: string;
    reason: string;
    total_ms: number;
    count: number;
    /** Short waits stand for others. */
    is_estimated: boolean;
    from_ms: number;
    to_ms: number;
    /** The number of waiting threads, in equal steps. */
    waiting: number[];
    /** The longest total first. */
    waiters: SiteWaits[];
    wakers: SiteWaits[];
    /** The parts of the critical paths during the longest waits. */
    meanwhile: { ms: number; state: PathState; thread: number; function?: string; object?: string }[];
}

export interface WaitCalls {
    /** The waits of both sides of a comparison, matched by name. */
    comparedWaits(query: number, by: WaitGrouping): Promise<ComparedWaits>;
    /** The waits of the query for the object with this func. */
    objectWaits(query: number, object: number): Promise<ObjectWaits>;
    /** The waits of the query in groups. */
    waitGroups(query: number, by: WaitGrouping): Promise<WaitGroups>;
}

/** A change as the engine writes it. */
interface WrittenChange {
    interval: [number, number];
    is_noise: boolean;
}

interface ComparedAnswer {
    all: { base: number; new: number } & WrittenChange;
    waits: (Omit<ComparedWait, 'known'> & Partial<WrittenChange>)[];
}

function knownOf({ interval, is_noise: isNoise = true }: Partial<WrittenChange>): KnownChange | undefined {
    return interval && { low: interval[0], high: interval[1], isNoise };
}

interface Functions {
    session_compared_waits(session: Pointer, query: number, by: number): Pointer;
    session_object_waits(session: Pointer, query: number, object: number): Pointer;
    session_wait_groups(session: Pointer, query: number, by: number): Pointer;
}

export function waitAnswers(module: EngineModule): Answers<WaitCalls> {
    const { session } = module;
    const wasm = module.functions<Functions>();
    return {
        comparedWaits(query, by) {
            const view = module.view(wasm.session_compared_waits(session, query, WAIT_GROUPING.indexOf(by)));
            const { all, waits } = JSON.parse(module.decode(view)) as ComparedAnswer;
            return {
                all: { ...all, known: knownOf(all) as KnownChange },
                list: waits.map((wait) => ({ ...wait, known: knownOf(wait) })),
            };
        },
        objectWaits(query, object) {
            return JSON.parse(module.decode(module.view(wasm.session_object_waits(session, query, object))));
        },
        waitGroups(query, by) {
            const view = module.view(wasm.session_wait_groups(session, query, WAIT_GROUPING.indexOf(by)));
            const [there = 0, waited = 0, runnable = 0, count = 0, ran = 0] = view.doubles(1, 5);
            const ends = view.ints(2);
            const funcs = view.ints(3, ends[ends.length - 1] ?? 0);
            const runtime = view.ints(4);
            const list = view.records(0, WAIT_GROUP).map(({ from, to, key, node: _, waker, ...group }, at) => ({
                ...group,
                key: by === 'object-waker' ? `${key} ${waker}` : `${key}`,
                waker: waker < 0 ? '' : module.text(waker),
                range: Number.isNaN(from) ? null : ([from, to] as [number, number]),
                path: Array.from(funcs.subarray(ends[at - 1] ?? 0, ends[at])),
                runtimeCallers: runtime[at] ?? 0,
            }));
            return { list, there, waited, runnable, count, ran };
        },
    };
}
