/**
 * The calls of the page to the engine. The engine is lib/tree compiled to WebAssembly, in a worker; every number on the
 * page comes from the engine. All calls are asynchronous and answered in order; calls about a query name its number.
 * The answer to a call about an outdated query is null.
 *
 * Indexes (thread, func, node, category) are plain numbers. Times are milliseconds after the profile's zero.
 */

import type { ButterflyCalls } from './butterfly';
import type { ChangesCalls } from './changes';
import type { ChartCalls } from './charts';
import type { CriticalPathCalls } from './critical_path';
import type { AnySource } from './download';
import type { ExportCalls } from './exports';
import type { FindCalls } from './find';
import type { FindingCalls } from './findings';
import type { COMPARE_BY, COMPARED, INLINING, RECURSION, TRANSFORM_KIND } from './layout';
import type { CounterInfo, MarkerCalls, MarkerGraphs } from './markers';
import type { ProcessCalls } from './processes';
import type { SourceCalls } from './source';
import type { WaitCalls } from './waits';

/** How far loading has come: bytes of the (compressed) file so far and in all (0 if unknown). */
export interface Progress {
    phase: 'download' | 'parse' | 'index' | 'names';
    done: number;
    total: number;
    /** The library whose debug file the server downloads. */
    file?: string;
}

export interface Category {
    name: string;
    color: string;
    subcategories: string[];
}

export interface ThreadInfo {
    index: number;
    name: string;
    processName: string;
    pid: string;
    tid: string;
    /** The argument of its process that fewest processes of this name have; '' for none. */
    argument: string;
    isMain: boolean;
    /** Of a comparison: 0 base, 1 new, and which run of that side. */
    side: number;
    run: number;
    /** ms; of its process where it is not known of the thread; null: of neither. */
    start: number | null;
    end: number | null;
    markerCount: number;
    /** Where its markers are shown: bits of MARKER_PLACES. */
    markerPlaces: number;
    /** Whether it is known when it ran and why it waited. */
    hasWaits: boolean;
    /** Whether its samples have its waits. */
    hasWaitRows: boolean;
    /** CPU time in ms if the profile has it, else sample count x interval. The order of threads follows this number. */
    activity: number;
}

/** A weight of samples, as in lib/tree/weight_list.h. */
export interface Weight {
    id: string;
    label: string;
    hint: string;
    /** "samples", "ms", "bytes" or another unit. */
    unit: string;
}

export interface ExtraSection {
    label: string;
    entries: { label: string; value: string }[];
}

export interface ProfileInfo {
    product: string;
    /** ms; 0: not known. */
    interval: number;
    /** The file has no times: those of the samples only have their order, see session/axis_text.ts. */
    timesAreOrder: boolean;
    /** ms since the Unix epoch: zero of all times. */
    startTime: number;
    /** The full range, ms. */
    rangeStart: number;
    rangeEnd: number;
    /** Labels and texts of the known facts (command, system, CPU, cores, memory and others). */
    metadata: { label: string; value: string }[];
    extra: ExtraSection[];
    categories: Category[];
    threads: ThreadInfo[];
    libs: { name: string; path: string }[];
    /** The weights that samples can have, at least one. The first is the weight of the recording. */
    weights: Weight[];
    /** Kinds of frames that functions have: bits of FRAME_KIND. */
    frameKinds: number;
    /** The category of samples that wait, or -1 for none. */
    idleCategory: number;
    /** The subcategory of waits in which the thread could have run, or -1 for none. */
    runnableReason: number;
    /** Whether the recording has the waits of threads, with stacks and reasons. */
    hasWaits: boolean;
    /** Whether the profile has the wakers of waits. */
    hasWakers: boolean;
    /** Whether markers have durations. */
    hasIntervals: boolean;
    /** Whether the threads belong to several processes. */
    hasProcesses: boolean;
    symbolicated: boolean;
    /** Only of a comparison: its threads have sides. */
    comparison?: Comparison;
    sampleCount: number;
    markerCount: number;
    /** The number of addresses in libraries, and of those whose function has a name. */
    addressCount: number;
    resolvedCount: number;
    counters: CounterInfo[];
    markerGraphs: MarkerGraphs[];
    /** The CPUs of which it is known who ran when. */
    cpus: number[];
    /** Those that the file wants to be seen at first; none: the busiest. */
    initialThreads: number[];
    /** Those that the file wants to be selected at first. */
    initialSelection: number[];
    /** Functions; indexes from there on stand for whole libraries. */
    funcCount: number;
    /** The query that asks the server for the following samples, or '' if no samples follow. */
    addedNext: string;
    /** Whether the recording still runs. The page sets this member, because the engine cannot know it. */
    isLive?: boolean;
}

/** lib/tree/transform.h describes the transforms. */
export type TransformKind = (typeof TRANSFORM_KIND)[number];

export interface Transform {
    kind: TransformKind;
    /** The func, category or resource; -1 for those with a path or a text. */
    index: number;
    /** The call node of merge-call-node and focus-subtree; else empty. */
    path: NodePath;
    /** The path is one of the inverted tree (focus-subtree). */
    inverted: boolean;
    /** The search of filter-samples (for markers) and merge-matching (for functions); others have none. */
    text?: string;
    /** Of filter-samples: only this share (0 to 1) of the intervals, the longest. */
    slowest?: number;
    /** In a comparison of a profile with itself, the base counts the other intervals. */
    splits?: boolean;
}

/** The weight of a comparison: the new side less the base, or one side alone. */
export type Compared = (typeof COMPARED)[number];

/** The figures of both sides of a row whose total and self are changes. */
export interface SideColumns {
    baseTotal: Float64Array;
    baseSelf: Float64Array;
    newTotal: Float64Array;
    newSelf: Float64Array;
}

/** The figures of one side of a comparison. */
export interface SideFigures {
    total: number;
    self: number;
}

/** The same of both sides, of one row. */
export interface Sides {
    base: SideFigures;
    new: SideFigures;
}

/** Of a profile with the threads of two sides: lib/profile/compare.h. */
export interface Comparison {
    /** Names of the sides. */
    base: string;
    new: string;
    baseRuns: number;
    newRuns: number;
    /** The factor of the new side, which makes `scaledBy` equal on both sides. `scaledBy` is '' without a factor. */
    scale: number;
    scaledBy: string;
    /** All of one side was recorded before any of the other. */
    isOneAfterOther: boolean;
    /** How long a run took, ms, and the interval of the change where both sides have several runs. */
    wallTime: { base: number; new: number; low: number; high: number };
}

/** One of COMPARE_BY; "function:NAME". */
export type ScaledBy = Exclude<(typeof COMPARE_BY)[number], 'function'> | `function:${string}`;

/** Everything that the numbers of a tree depend on. */
export interface Query {
    threads: number[];
    /** Committed and preview range together, ms; null: all. */
    range: [number, number] | null;
    /** Done one after another, before the search. */
    transforms: Transform[];
    /** Comma-separated terms that must all match; '' for none. */
    search: string;
    inverted: boolean;
    /** The id of one of the profile's weights; the first if it is missing. */
    weight?: string;
    /** The weight of a comparison. Undefined: the change. */
    compared?: Compared;
    /** The quantity that is equal on both sides of a comparison. Undefined: that of the profile. */
    scaledBy?: ScaledBy;
}

/** A node by the funcs on its path, root first (inverted: leaf first): the name of a node that outlives a query. */
export type NodePath = number[];

export interface PathFilter {
    path: NodePath;
    inverted: boolean;
}

/** Rows of a tree, one entry of each array per row, in display order. */
export interface TreeRows {
    /** Handle of the node for children() and path() of the same query. */
    node: Int32Array;
    depth: Int32Array;
    func: Int32Array;
    total: Float64Array;
    self: Float64Array;
    category: Int32Array;
    hasChildren: Uint8Array;
    /** 1: a frame of a runtime or an interpreter, in which programs and threads start. */
    isEntry: Uint8Array;
    /** If the query is about both sides of a comparison. */
    sides?: SideColumns;
}

export interface TreeSummary {
    /** The number of the query. */
    id: number;
    /** The scale of the new side of a comparison, or 0 if the query has none. */
    scale: number;
    /** Of a query about both sides of a comparison, their totals; else 0. */
    baseTotal?: number;
    newTotal?: number;
    /** Of a query that compares intervals, how many each side is the mean of; else 0. */
    baseIntervals: number;
    newIntervals: number;
    /** The 100 % of total percentages, which is the weight of all samples that match the search. */
    rootTotal: number;
    /** Samples (with a stack) in the query. */
    samples: number;
    /** Both as they are without the search. */
    allTotal: number;
    allSamples: number;
    nodeCount: number;
}

/** Which path of a new tree is wanted with it: this one, as far as it exists, else the heaviest. */
export interface FirstPath {
    path: NodePath;
    /** Of the heaviest: see heaviestPath(). */
    depth: number;
    share: number;
    /** How many names of the rows around its end are wanted. */
    names: number;
}

export interface QueryAnswer extends TreeSummary {
    roots: TreeRows;
    /** The path, and the children of each node on it; empty if none was wanted. */
    path: NodePath;
    levels: TreeRows[];
    names: [number, FuncInfo][];
}

/** The stacks after transforms. `threads` have the markers of filters by markers. */
export interface Stacks {
    threads: number[];
    transforms: Transform[];
}

/** The parts that a graph of activity shows in addition to the whole. */
export interface ActivityFilter extends Stacks {
    search: string;
    /** Keeps the samples that the row at the end of a path counts, in a tree of that direction. */
    of: PathFilter | null;
}

export type Inlining = (typeof INLINING)[number];

export interface FuncInfo {
    name: string;
    /** Library name, or file name of a script; '' if unknown. */
    lib: string;
    libPath: string;
    /** Source file and first line where known. */
    file: string;
    line: number;
    /** The library that collapse-resource collapses, or -1 for none. */
    resource: number;
    /** Whether its calls are inlined, all over the profile. */
    inlined: Inlining;
}

export interface NodeDetails {
    func: FuncInfo;
    total: number;
    self: number;
    /** If the query is about both sides of a comparison: all other figures are changes. */
    sides?: Sides;
    /** Weight per category, biggest first. */
    categoriesTotal: { category: number; weight: number }[];
    categoriesSelf: { category: number; weight: number }[];
    /** 'yes': inlined everywhere, 'some', 'no'; and into which symbol. */
    inlined: Inlining;
    inlinedInto: string;
    /** Lines of this func that this node's samples hit, heaviest first (at most 20): of the frame itself. */
    lines: { file: string; line: number; total: number; self: number }[];
    /** Of samples with a truncated stack: the callers of its outermost function are unknown. */
    truncated: number;
}

/** Activity of threads: per pixel and category the CPUs in use (of one thread 0..1), category-major: shares[category * width + x]. */
export interface Activity {
    width: number;
    categories: number[];
    shares: Float32Array;
    /** The same for the samples that the filter keeps, or null without a filter. */
    matching: Float32Array | null;
    /** The samples of each pixel, as indexes of STRIP_PIXEL. */
    strip: Uint8Array;
    matchingStrip: Uint8Array | null;
}

export type Recursion = (typeof RECURSION)[number];

export interface FuncRow {
    func: number;
    total: number;
    self: number;
    /** If the query is about both sides of a comparison. */
    sides?: Sides;
}

/** The contents of a place of a thread's activity graph. */
export interface SampleAt {
    time: number;
    /** Funcs root first; empty if the sample has no stack. */
    path: NodePath;
    category: number;
    /** CPU share in percent, null if unknown. */
    cpu: number | null;
    /** A transform has dropped it: the path is empty. */
    dropped: boolean;
    /** From when to when (ms) the thread did not run there; with a path: a recorded wait. */
    notRunning: [number, number] | null;
    /** Of a recorded wait: subcategory of "Idle"; -1: it is none. */
    reason: number;
    /** The thread that ended the wait; '': not recorded. */
    waker: string;
    /** ms of the unseen waits that the wait stands for. */
    unseen: number;
    /** How many of its innermost callers are functions of libc or another runtime. */
    runtimeCallers: number;
}

/** The states of threads, followed by one state for each subcategory of "Idle", and a last one for short waits of unknown reason. */
export const STATE_RUNNING = 0;
export const STATE_REASONS = 1;
/** The number of threads in this row of lanes. */
export const STATE_THERE = -1;

/** The states of threads per pixel: see lib/tree/state_lanes.h. */
export interface StateLanes {
    width: number;
    /** Per row: lane and state. */
    rows: Int32Array;
    /** `width` shares per row. */
    shares: Float32Array;
}

/** In the rows of CPUs: threads that have no row of their own. */
export const LANE_OTHERS = 0x7fffffff;

/** The work of a CPU at a time (ms), as in lib/tree/cpu_lanes.h. */
export interface CpuPlace {
    start: number;
    end: number;
    offCpu: number;
    previousEnd: number;
    /** -1: no recorded thread. */
    thread: number;
    /** -1: the thread did not run before. */
    previousCpu: number;
}

export interface LoadCalls {
    /** Loads a profile from an address (same origin) or a file. Rejects with a sentence for the user; what was loaded before
     * is then still there. */
    load(source: AnySource, onProgress: (progress: Progress) => void): Promise<ProfileInfo>;
    /**
     * Adds to the profile what an address has of it, the newest samples or all of them. All queries are closed then. null: the
     * recording has ended, and nothing was added.
     */
    grow(source: string): Promise<ProfileInfo | null>;
}

export interface TreeCalls {
    /**
     * Opens a query: the answer has its number, by which all that follows asks about it, and the first rows of its tree.
     * `place`: it closes the query that was opened there last, and uses what it has in common with it again. null if a
     * newer one of the same place is waiting.
     */
    query(query: Query, first?: FirstPath, place?: number): Promise<QueryAnswer | null>;
    /** Closes a query. Later calls for the query fail with ClosedError. */
    release(query: number): Promise<null>;

    /** The roots, heaviest first. */
    roots(query: number): Promise<TreeRows>;
    /** The children of a node, heaviest first. */
    children(query: number, node: number): Promise<TreeRows>;
    /** The children of `node`, and of each node of a path below it that exists. */
    childrenAlong(query: number, node: number, path: NodePath): Promise<TreeRows[]>;
    /**
     * What is below a node along its heaviest children, at most `limit` of them; with `least`, the node's own cost, no further
     * than to where a node costs more by itself than any child.
     */
    heaviestBelow(query: number, node: number, limit: number, least: number | null): Promise<NodePath>;
    /** All rows below a node (to `limit` rows), depth first, heaviest first: expand-all. */
    descendants(query: number, node: number, limit: number): Promise<TreeRows>;
    /**
     * The path from the roots down that is heaviest by what is not idle: until self exceeds every child, no child has
     * `share` (0..1) of all, or `depth` levels.
     */
    heaviestPath(query: number, depth: number, share: number): Promise<NodePath>;
    path(query: number, node: number): Promise<NodePath>;
    /** The node with this path, or -1; the longest prefix that exists if `nearest`. */
    find(query: number, path: NodePath, nearest: boolean): Promise<number>;
    details(query: number, node: number): Promise<NodeDetails>;
    /** The same for a func, wherever it is: of its innermost frame in each stack. */
    functionDetails(query: number, func: number): Promise<NodeDetails>;
    /** The paths of the tree after one more transform. Empty: the new tree has no such path. */
    rewritePaths(query: number, transform: Transform, paths: NodePath[]): Promise<NodePath[]>;
    /** Whether a func calls itself in the query, and somewhere without others between. */
    recursion(query: number, func: number): Promise<Recursion>;

    /** The share (0 to 1) of all CPU time in functions without a symbol. */
    unnamedShare(): Promise<number>;
    /** Names for many funcs at once. */
    funcs(indexes: number[]): Promise<FuncInfo[]>;
    /** The funcs of the query, heaviest first by self (or total); recursion counts once. */
    functions(query: number, limit: number, order?: 'self' | 'total'): Promise<FuncRow[]>;
}

export interface TimelineCalls {
    /** Of one thread, or the sum of several. */
    activity(
        threads: readonly number[],
        from: number,
        to: number,
        width: number,
        filter: ActivityFilter,
    ): Promise<Activity>;
    /** The activity of each thread in a range, ms by thread index. `activity` of ThreadInfo has that of all time. */
    threadTimes(range: [number, number]): Promise<Float64Array>;
    /** The states of threads in several lanes, each the sum of some threads. */
    stateLanes(lanes: readonly (readonly number[])[], from: number, to: number, width: number): Promise<StateLanes>;
    /** The threads on each CPU, by index in place of a state; LANE_OTHERS: those with little time. */
    cpuLanes(cpus: readonly number[], from: number, to: number, width: number): Promise<StateLanes>;
    cpuAt(cpu: number, time: number): Promise<CpuPlace>;
    /** The time of threads in each state, ms. */
    stateSums(threads: readonly number[], range: [number, number]): Promise<Float64Array>;
    /** A time (ms) during the longest wait of a thread in a state and a range, or null for none. */
    longestWait(thread: number, state: number, range: [number, number]): Promise<number | null>;
    /** The sample or wait of the thread at a time, after transforms. */
    sampleAt(thread: number, time: number, stacks: Stacks): Promise<SampleAt | null>;
}

/** The calls of all themes; wasm.ts answers them. */
export interface Engine
    extends LoadCalls,
        TreeCalls,
        TimelineCalls,
        SourceCalls,
        ChartCalls,
        ExportCalls,
        ButterflyCalls,
        ChangesCalls,
        CriticalPathCalls,
        ProcessCalls,
        FindCalls,
        MarkerCalls,
        WaitCalls,
        FindingCalls {}
