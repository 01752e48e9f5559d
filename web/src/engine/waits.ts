/** The calls about groups of waits, which lib/wasm/wasm_waits.c answers. */
import type { NodePath } from './api';
import type { KnownChange } from './changes';
import type { PathState } from './critical_path';
import { WAIT_GROUP, WAIT_GROUPING } from './layout';
import type { EngineModule, Pointer } from './module';
import type { Answers } from './protocol';

export { WAIT_GROUPING };
export type WaitGrouping = (typeof WAIT_GROUPING)[number];

/** A group of waits with the same key (struct wait_group). Times are in ms. */
export interface WaitGroup {
    total: number;
    /** Half of the 95 % intervals of the total and the count, or 0 for exact numbers. */
    totalError: number;
    countError: number;
    /** The 99th percentile of the durations, NaN if unknown. */
    percentile99: number;
    /** The start of the first wait, NaN if unknown. */
    first: number;
    firstThread: number;
    /** The number of threads that waited. */
    threads: number;
    /** The program's innermost function in the longest wait and its line, or -1 and 0 if unknown. */
    ownFunc: number;
    ownLine: number;
    /** The waker's innermost function and line at the end of the longest wait with a waker's stack, or -1 and 0. */
    wakerFunc: number;
    wakerLine: number;
    /** The part of the total in which the thread was runnable. */
    runnable: number;
    longest: number;
    /** The start and the end of the longest wait, or null if prof recorded no wait of the group individually. */
    range: [number, number] | null;
    /** A key that no other group of the answer has. */
    key: string;
    /** The number of waits, 0 if unknown. */
    count: number;
    /** The reason (a subcategory of "Idle"), function and thread of the longest wait, -1 if unknown. */
    reason: number;
    func: number;
    thread: number;
    /** The waker at the end of the longest wait, '' if unknown. */
    waker: string;
    /** The stack of the longest wait. In groups by stack, the callers that all waits share. */
    path: NodePath;
    /** The number of innermost callers outside the program, in libc and runtimes. */
    runtimeCallers: number;
}

export interface WaitGroups {
    /** The groups, largest total first. */
    list: WaitGroup[];
    /** The lifetime of the threads in the range, and the part of it in which they did not run, ms. */
    there: number;
    waited: number;
    runnable: number;
    /** The number of recorded waits. */
    count: number;
    /** The CPU time of the call tree, ms. */
    ran: number;
}

/** See longest_wait_write() of lib/tree/wait_json.h. */
interface LongestWait {
    ms: number;
    from_ms: number;
    to_ms: number;
    thread: number;
}

/** A function with its line: see wait_place_write(). */
interface WaitPlace {
    function: string;
    line?: number;
}

/** The waits on one side of a comparison: their mean time (ms) and their number, per run. */
export interface ComparedSide {
    ms: number;
    count: number;
    longest?: LongestWait;
}

/** The waits with one name on both sides. No other row of the answer has this name. */
export interface ComparedWait {
    name: string;
    reason: string;
    base: ComparedSide;
    new: ComparedSide;
    /** The function that waits, and its line. */
    where?: WaitPlace;
    /** undefined if both sides wait too little for a verdict. */
    known: KnownChange | undefined;
}

export interface ComparedWaits {
    /** The off-CPU time of all threads, ms. */
    all: { base: number; new: number; known: KnownChange };
    /** The rows, largest change first. */
    list: ComparedWait[];
}

/** The waits at one call site, or the waits that threads of one name end at this site (struct site_waits). */
export interface SiteWaits {
    waker?: string;
    total_ms: number;
    count: number;
    threads: number;
    /** The mean time for which the waker held a lock while others waited. */
    held_ms?: number;
    longest?: LongestWait;
    where?: WaitPlace;
    /** The callers, innermost first. */
    callers: string[];
}

/** The waits for one object: see lib/tree/object_waits.h. */
export interface ObjectWaits {
    object: string;
    reason: string;
    total_ms: number;
    count: number;
    /** Whether the numbers are estimates, because prof records a part of the short waits. */
    is_estimated: boolean;
    from_ms: number;
    to_ms: number;
    /** The number of waiting threads over time, in equal steps. */
    waiting: number[];
    /** The waiters, largest total first. */
    waiters: SiteWaits[];
    wakers: SiteWaits[];
    /** The parts of the critical paths during the longest waits. */
    meanwhile: { ms: number; state: PathState; thread: number; function?: string; object?: string }[];
}

export interface WaitCalls {
    /** Returns the waits on both sides of a comparison, matched by name. */
    comparedWaits(query: number, by: WaitGrouping): Promise<ComparedWaits>;
    /** Returns the waits for the object whose function is `object`. */
    objectWaits(query: number, object: number): Promise<ObjectWaits>;
    /** Returns groups of the waits of the query. */
    waitGroups(query: number, by: WaitGrouping): Promise<WaitGroups>;
}

/** A change in the JSON text of the engine. */
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
