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
import type { ExportCalls, ProfileNote } from './exports';
import type { FindCalls } from './find';
import type { FindingCalls } from './findings';
import type { COMPARE_BY, COMPARED, INLINING, RECURSION, TRANSFORM_KIND } from './layout';
import type { CounterInfo, MarkerCalls, MarkerGraphs } from './markers';
import type { ProcessCalls } from './processes';
import type { SourceCalls } from './source';
import type { WaitCalls } from './waits';

/** The progress of loading: bytes of the (compressed) file so far, and in total (0 if unknown). */
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
    /** The argument that fewest processes of this name have, or '' for none. */
    argument: string;
    isMain: boolean;
    /** In a comparison, the side (0 base, 1 new) and the run of the side. */
    side: number;
    run: number;
    /** ms: start of the thread, or of its process, or null if both are unknown. */
    start: number | null;
    end: number | null;
    markerCount: number;
    /** The places that show the thread's markers: bits of MARKER_PLACES. */
    markerPlaces: number;
    /** Whether the profile has the times and reasons of the thread's waits. */
    hasWaits: boolean;
    /** Whether the samples include rows of waits. */
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
    /** ms between two samples, or 0 if unknown. */
    interval: number;
    /** Whether the file has no times, so that times of samples are only an order: see session/axis_text.ts. */
    timesAreOrder: boolean;
    /** ms since the Unix epoch at time 0. */
    startTime: number;
    /** The full range, ms. */
    rangeStart: number;
    rangeEnd: number;
    /** Labels and texts of the metadata (command, system, CPU, cores, memory and others). */
    metadata: { label: string; value: string }[];
    extra: ExtraSection[];
    notes: ProfileNote[];
    categories: Category[];
    threads: ThreadInfo[];
    libs: { name: string; path: string }[];
    /** The weights that samples can have, at least one. The first is the weight of the recording. */
    weights: Weight[];
    /** Kinds of frames that functions have: bits of FRAME_KIND. */
    frameKinds: number;
    /** The category of samples that wait, or -1 for none. */
    idleCategory: number;
    /** The subcategory of waits in which the thread was runnable, or -1 for none. */
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
    /** Present if the profile is a comparison, whose threads have sides. */
    comparison?: Comparison;
    sampleCount: number;
    markerCount: number;
    /** The number of addresses in libraries, and of the addresses with a symbol. */
    addressCount: number;
    resolvedCount: number;
    counters: CounterInfo[];
    markerGraphs: MarkerGraphs[];
    /** The CPUs for which the profile has slices of threads. */
    cpus: number[];
    /** The threads that the file shows at first. Empty: the busiest threads. */
    initialThreads: number[];
    /** The threads that the file selects at first. */
    initialSelection: number[];
    /** The number of functions. Higher indexes stand for libraries. */
    funcCount: number;
    /** The query that asks the server for the following samples, or '' if no samples follow. */
    addedNext: string;
    /** Whether the recording still runs. The page sets this member, because the engine cannot know it. */
    isLive?: boolean;
}

/** lib/tree/transform.h describes the transforms. */
export type TransformKind = (typeof TRANSFORM_KIND)[number];

export type FilteredSides = 'split' | 'base' | 'new';

export interface Transform {
    kind: TransformKind;
    /** The func, category or resource, or -1 for a transform with a path or a text. */
    index: number;
    /** The call node of merge-call-node and focus-subtree, otherwise empty. */
    path: NodePath;
    /** Whether the path belongs to the inverted tree (focus-subtree). */
    inverted: boolean;
    /** The search of filter-samples (for markers) and merge-matching (for functions). */
    text?: string;
    /** For filter-samples: the share (0 to 1) of the longest intervals. */
    slowest?: number;
    /**
     * For filter-samples in a comparison: the sides whose samples the transform drops, or 'split' if both do and the base
     * counts the other intervals. Without a side: both. Values that refer to a side are means per interval if the
     * transform has a share.
     */
    sides?: FilteredSides;
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

/** The figures of both sides, of one row. */
export interface Sides {
    base: SideFigures;
    new: SideFigures;
}

/** A comparison, whose profile has the threads of both sides: lib/profile/compare.h. */
export interface Comparison {
    /** Names of the sides. */
    base: string;
    new: string;
    baseRuns: number;
    newRuns: number;
    /** The factor of the new side, which makes `scaledBy` equal on both sides. `scaledBy` is '' without a factor. */
    scale: number;
    scaledBy: string;
    /** Whether one side was recorded entirely before the other side. */
    isOneAfterOther: boolean;
    /** The duration of a run, ms, and the interval of the change if both sides have several runs. */
    wallTime: { base: number; new: number; low: number; high: number };
}

/** One of COMPARE_BY; "function:NAME". */
export type ScaledBy = Exclude<(typeof COMPARE_BY)[number], 'function'> | `function:${string}`;

/** All parameters of a tree. */
export interface Query {
    threads: number[];
    /** The committed range and the preview range together, ms, or null for all. */
    range: [number, number] | null;
    /** Applied in order, before the search. */
    transforms: Transform[];
    /** Comma-separated terms that must all match, or '' for none. */
    search: string;
    inverted: boolean;
    /** The id of a weight of the profile. If the profile lacks it, the first weight counts. */
    weight?: string;
    /** The weight of a comparison. Undefined: the change. */
    compared?: Compared;
    /** The quantity that is equal on both sides of a comparison. Undefined: that of the profile. */
    scaledBy?: ScaledBy;
}

/**
 * The path of a node, as funcs from the root (in an inverted tree, from the leaf). A path identifies a node across
 * queries.
 */
export type NodePath = number[];

export interface PathFilter {
    path: NodePath;
    inverted: boolean;
}

/** Rows of a tree in display order. Each array has one entry per row. */
export interface TreeRows {
    /** Handle of the node, for children() and path() of the same query. */
    node: Int32Array;
    depth: Int32Array;
    func: Int32Array;
    total: Float64Array;
    self: Float64Array;
    category: Int32Array;
    hasChildren: Uint8Array;
    /** 1 for a frame of a runtime or an interpreter, in which programs and threads start. */
    isEntry: Uint8Array;
    /** Present if the query covers both sides of a comparison. */
    sides?: SideColumns;
}

export interface TreeSummary {
    /** The number of the query. */
    id: number;
    /** The scale of the new side of a comparison, or 0 if the query has none. */
    scale: number;
    /** In a query of both sides of a comparison, the total of the base. Otherwise 0. */
    baseTotal?: number;
    newTotal?: number;
    /** In a query that compares intervals, the number of intervals of the base. Otherwise 0. */
    baseIntervals: number;
    newIntervals: number;
    /** The 100 % of total percentages, which is the weight of all samples that match the search. */
    rootTotal: number;
    /** The number of samples with a stack in the query. */
    samples: number;
    /** Total and number of samples without the search. */
    allTotal: number;
    allSamples: number;
    nodeCount: number;
}

/** The path that the first answer of a new tree follows: `path` as far as it exists, otherwise the heaviest path. */
export interface FirstPath {
    path: NodePath;
    /** The length limit of the heaviest path: see heaviestPath(). */
    depth: number;
    share: number;
    /** The number of names to fetch around the end of the path. */
    names: number;
}

export interface QueryAnswer extends TreeSummary {
    roots: TreeRows;
    /** The path, and the children of each node on it. Empty if no path was requested. */
    path: NodePath;
    levels: TreeRows[];
    names: [number, FuncInfo][];
}

/** The stacks after transforms. Marker filters read the markers of `threads`. */
export interface Stacks {
    threads: number[];
    transforms: Transform[];
}

/** The parts that a graph of activity shows in addition to the whole. */
export interface ActivityFilter extends Stacks {
    search: string;
    /** Keeps the samples of the row at the end of a path. */
    of: PathFilter | null;
}

export type Inlining = (typeof INLINING)[number];

export interface FuncInfo {
    name: string;
    /** Name of the library, or file name of a script, or '' if unknown. */
    lib: string;
    libPath: string;
    /** Source file and first line, if known. */
    file: string;
    line: number;
    /** The library for collapse-resource, or -1 for none. */
    resource: number;
    /** Whether the profile inlines its calls. */
    inlined: Inlining;
}

export interface NodeDetails {
    func: FuncInfo;
    total: number;
    self: number;
    /** Present if the query covers both sides of a comparison. All other figures are then changes. */
    sides?: Sides;
    /** Weight per category, largest first. */
    categoriesTotal: { category: number; weight: number }[];
    categoriesSelf: { category: number; weight: number }[];
    /** Whether the function is inlined ('yes': everywhere, 'some', 'no'), and the symbol that contains it. */
    inlined: Inlining;
    inlinedInto: string;
    /** Lines of this func in the samples of the node, heaviest first (at most 20). */
    lines: { file: string; line: number; total: number; self: number }[];
    /** Weight of samples with a truncated stack, whose outermost callers are unknown. */
    truncated: number;
}

/** Activity of threads: CPUs in use per pixel and category (0 to 1 for one thread), as shares[category * width + x]. */
export interface Activity {
    width: number;
    categories: number[];
    shares: Float32Array;
    /** The activity of the samples that the filter keeps, or null without a filter. */
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
    /** Present if the query covers both sides of a comparison. */
    sides?: Sides;
}

/** The sample or wait at a place of a thread's activity graph. */
export interface SampleAt {
    time: number;
    /** Funcs from the root. Empty if the sample has no stack. */
    path: NodePath;
    category: number;
    /** CPU share in percent, or null if unknown. */
    cpu: number | null;
    /** Whether a transform has dropped the sample, so that the path is empty. */
    dropped: boolean;
    /** ms: start and end of the time in which the thread did not run. With a path, this is a recorded wait. */
    notRunning: [number, number] | null;
    /** Reason of a recorded wait: subcategory of "Idle", or -1 for none. */
    reason: number;
    /** The thread that ended the wait, or '' if unknown. */
    waker: string;
    /** ms of the unseen waits that the wait stands for. */
    unseen: number;
    /** The number of innermost callers that are functions of libc or another runtime. */
    runtimeCallers: number;
}

/**
 * The numbers of states. The subcategories of "Idle" follow STATE_RUNNING. The last state is for short waits with an
 * unknown reason.
 */
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

/** The state of all threads without a row of their own, in lanes of CPUs. */
export const LANE_OTHERS = 0x7fffffff;

/** The work of a CPU at a time (ms), as in lib/tree/cpu_lanes.h. */
export interface CpuPlace {
    start: number;
    end: number;
    offCpu: number;
    previousEnd: number;
    /** The thread on the CPU, or -1 for no recorded thread. */
    thread: number;
    /** The CPU of the thread's previous slice, or -1 for none. */
    previousCpu: number;
}

export interface LoadCalls {
    /**
     * Loads a profile from an address (same origin) or a file. After a failure, rejects with a sentence for the user,
     * and keeps the previous profile.
     */
    load(source: AnySource, onProgress: (progress: Progress) => void): Promise<ProfileInfo>;
    /**
     * Adds the newest samples at an address to the profile, or replaces all samples. Closes all queries. Returns null
     * if the recording has ended, without a change.
     */
    grow(source: string): Promise<ProfileInfo | null>;
}

export interface TreeCalls {
    /**
     * Opens a query, and returns its number for later calls, and the first rows of its tree. Closes the last query with
     * the same `place`, and reuses its results. Returns null if a newer query of this place waits.
     */
    query(query: Query, first?: FirstPath, place?: number): Promise<QueryAnswer | null>;
    /** Closes a query. Later calls for the query fail with ClosedError. */
    release(query: number): Promise<null>;

    /** Returns the roots, heaviest first. */
    roots(query: number): Promise<TreeRows>;
    /** Returns the children of a node, heaviest first. */
    children(query: number, node: number): Promise<TreeRows>;
    /** Returns the children of `node`, and of each existing node of a path below it. */
    childrenAlong(query: number, node: number, path: NodePath): Promise<TreeRows[]>;
    /**
     * Returns the rows below a node along its heaviest children, at most `limit`. With `least`, the row's own cost,
     * stops where a node has more self than any child.
     */
    heaviestBelow(query: number, node: number, limit: number, least: number | null): Promise<NodePath>;
    /** Returns all rows below a node (at most `limit`), depth first, heaviest first. */
    descendants(query: number, node: number, limit: number): Promise<TreeRows>;
    /**
     * Returns the heaviest path from the roots, by time that is not idle. Ends where self exceeds every child, where no
     * child has `share` (0 to 1) of the total, or after `depth` levels.
     */
    heaviestPath(query: number, depth: number, share: number): Promise<NodePath>;
    path(query: number, node: number): Promise<NodePath>;
    /** Returns the node with this path, or -1. With `nearest`, returns the node of the longest existing prefix. */
    find(query: number, path: NodePath, nearest: boolean): Promise<number>;
    details(query: number, node: number): Promise<NodeDetails>;
    /** Returns the details of a func, with its innermost frame in each stack. */
    functionDetails(query: number, func: number): Promise<NodeDetails>;
    /** Converts paths to the tree after one more transform. An empty path has no row in the new tree. */
    rewritePaths(query: number, transform: Transform, paths: NodePath[]): Promise<NodePath[]>;
    /** Returns whether a func calls itself in the query, directly or through other functions. */
    recursion(query: number, func: number): Promise<Recursion>;

    /** Returns the share (0 to 1) of CPU time in functions without a symbol. */
    unnamedShare(): Promise<number>;
    /** Returns the names of several funcs. */
    funcs(indexes: number[]): Promise<FuncInfo[]>;
    /** Returns the funcs of the query, heaviest first by self (or total). Recursion counts once. */
    functions(query: number, limit: number, order?: 'self' | 'total'): Promise<FuncRow[]>;
}

export interface TimelineCalls {
    /** Returns the activity of one thread, or the sum of several threads. */
    activity(
        threads: readonly number[],
        from: number,
        to: number,
        width: number,
        filter: ActivityFilter,
    ): Promise<Activity>;
    /**
     * Returns the activity of each thread in a range, ms, indexed by thread. `activity` of ThreadInfo covers the full
     * range.
     */
    threadTimes(range: [number, number]): Promise<Float64Array>;
    /** Returns the states of threads in several lanes. Each lane is the sum of some threads. */
    stateLanes(lanes: readonly (readonly number[])[], from: number, to: number, width: number): Promise<StateLanes>;
    /**
     * Returns the shares of threads on each CPU, with thread indexes as states. LANE_OTHERS has the threads with little
     * time.
     */
    cpuLanes(cpus: readonly number[], from: number, to: number, width: number): Promise<StateLanes>;
    cpuAt(cpu: number, time: number): Promise<CpuPlace>;
    /** Returns the time of threads in each state, ms. */
    stateSums(threads: readonly number[], range: [number, number]): Promise<Float64Array>;
    /** Returns a time (ms) during the longest wait of a thread in a state and a range, or null. */
    longestWait(thread: number, state: number, range: [number, number]): Promise<number | null>;
    /** Returns the sample or wait of the thread at a time, after transforms. */
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
