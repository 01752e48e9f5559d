/**
 * Encodes the view as the query part of the page's address, and decodes it. Parameters that the Firefox Profiler has,
 * too, have its names and forms (`thread`, `range`, `transforms`, `search`, `invertCallstack`, `implementation`,
 * `hideIdleSamples`). prof adds `path` (the selected call node), `preview` (the range during its selection), `tab`,
 * `sort`, `center` (of the butterfly), `waitsBy`, `weight`, `chains`, `groupsBy`, `compared`, `scaledBy`, `colorBy`,
 * `note`, and the tracks (`tracks`, `shownTracks`, `hiddenTracks`, `openTracks`, `trackOrder`).
 */

import { COLOR_KEYS, type ColorKey } from '../base/color_key';
import { decodeIndex, decodeIndexes, encodeIndexes } from '../base/indexes';
import type { Compared, NodePath, ProfileInfo, ScaledBy, Transform } from '../engine/api';
import { CENTER_KINDS, type Center } from '../engine/butterfly';
import { COMPARE_BY, COMPARED } from '../engine/layout';
import { WAIT_GROUPING, type WaitGrouping } from '../engine/waits';
import { decodeNotes, encodeNotes, type Note } from './note_codec';
import { decodeSourcePanel, encodeSourcePanel, type SourcePanelView } from './source_codec';
import { decodeTracks, encodeTracks } from './track_choice';
import { DEFAULT_TRACKS, type TrackChoice } from './tracks';
import { decodeTransforms, encodeTransforms } from './transform_codec';

/** [start, end) in ms after the profile's zero. */
export type Range = [number, number];

export const TABS = [
    'summary',
    'calltree',
    'functions',
    'butterfly',
    'flame-graph',
    'stack-chart',
    'marker-chart',
    'marker-table',
    'waits',
    'intervals',
    'processes',
    'notes',
    'heat-map',
] as const;
export type Tab = (typeof TABS)[number];
export const TAB_TITLES: Record<Tab, string> = {
    summary: 'Summary',
    calltree: 'Call Tree',
    functions: 'Functions',
    butterfly: 'Butterfly',
    'flame-graph': 'Flame Graph',
    'stack-chart': 'Stack Chart',
    'marker-chart': 'Marker Chart',
    'marker-table': 'Marker Table',
    waits: 'Waits',
    intervals: 'Intervals',
    processes: 'Processes',
    notes: 'Notes',
    'heat-map': 'Heat Map',
};
/** The tabs of the call tree, whose selected node is the view's path. */
export const NODE_TABS: ReadonlySet<Tab> = new Set<Tab>(['calltree', 'flame-graph']);
/** The charts with a choice of colors. */
export const COLORED_TABS: ReadonlySet<Tab> = new Set<Tab>(['flame-graph', 'stack-chart']);
/** Returns the tabs for which a profile has data, and the open tab. */
export function offeredTabs(
    info: Pick<ProfileInfo, 'hasWaits' | 'hasIntervals' | 'hasProcesses' | 'comparison' | 'notes' | 'timesAreOrder'>,
    { notes, tab }: Pick<View, 'notes' | 'tab'>,
): Tab[] {
    const offers: Partial<Record<Tab, boolean>> = {
        waits: info.hasWaits,
        intervals: info.hasIntervals,
        processes: info.hasProcesses,
        notes: (notes ?? info.notes).length > 0 || tab === 'notes',
        'heat-map': !info.comparison && !info.timesAreOrder,
    };
    return TABS.filter((offered) => offers[offered] ?? true);
}

/** The tabs that show markers. */
export const MARKER_TABS: ReadonlySet<Tab> = new Set<Tab>(['marker-chart', 'marker-table', 'intervals']);

export const STACK_TYPES = ['all', 'user', 'kernel', 'native', 'jit', 'js'] as const;
export type StackType = (typeof STACK_TYPES)[number];

const TRACK_BASES = ['busy', 'all', 'none'] as const;

/** The state of the page, except sizes and colors. */
export interface View {
    /** Indexes of threads, empty before the page loads the profile. */
    threads: number[];
    /** The ranges of the zoom, outermost first. Each lies within the previous range. */
    ranges: Range[];
    /** The range during its selection in the timeline. */
    preview: Range | null;
    /** The transforms of the call tree, in the order in which the user applied them. */
    transforms: Transform[];
    search: string;
    inverted: boolean;
    /** The path of the selected call node, or empty. */
    path: NodePath;
    /** The shown view of the selected threads. */
    tab: Tab;
    /** The node that is as wide as the flame graph, or empty without zoom. */
    zoom: NodePath;
    /** The visible part of the width (0 to 1), or null if the node at `zoom` is visible. */
    part: [number, number] | null;
    /** The id of a weight, which the profile may lack. */
    weight: string;
    /** Whether a comparison shows the change, or one side alone. */
    compared: Compared;
    /** The quantity that is equal on both sides. '': that of the file. */
    scaledBy: ScaledBy | '';
    /** The kinds of shown frames. */
    stackType: StackType;
    hidesIdle: boolean;
    /** Whether each call of a chain has a row in the call tree. */
    showsChains: boolean;
    /** The common property of the waits of a group. */
    waitsBy: WaitGrouping;
    /** The grouping of the list of functions: of FUNC_GROUPING, or terms of a search. null: single functions. */
    groupsBy: string | null;
    /** The center of the butterfly, or null for the heaviest function. */
    center: Center | null;
    /** Whether all stacks of the stack chart have the same width, regardless of their durations. */
    sameWidths: boolean;
    /**
     * The property that colors the rects of charts, or null for the default: the change in a comparison, else the
     * category.
     */
    colorBy: ColorKey | null;
    /** The order of the tables without their default order: see session/tables.ts. */
    sorts: Record<string, string>;
    /** The search of markers. */
    markerSearch: string;
    /** The index of the selected marker among the markers of the threads, or -1. */
    marker: number;
    /** The shown tracks and their order. */
    tracks: TrackChoice;
    /** The name that the user gave the profile, or '' for the profile's own name. */
    profileName: string;
    /** The panel with source and assembly, or null if closed. */
    sourcePanel: SourcePanelView | null;
    /** The selected line in the panel, or 0. */
    sourceLine: number;
    /** The notes of the user, or null for the notes of the profile. */
    notes: readonly Note[] | null;
}

export const EMPTY_VIEW: View = {
    threads: [],
    ranges: [],
    preview: null,
    transforms: [],
    search: '',
    inverted: false,
    path: [],
    tab: 'calltree',
    zoom: [],
    part: null,
    weight: 'recorded',
    compared: 'change',
    scaledBy: '',
    stackType: 'all',
    hidesIdle: false,
    showsChains: false,
    waitsBy: 'object',
    groupsBy: null,
    center: null,
    sameWidths: false,
    colorBy: null,
    sorts: {},
    markerSearch: '',
    marker: -1,
    tracks: DEFAULT_TRACKS,
    profileName: '',
    sourcePanel: null,
    sourceLine: 0,
    notes: null,
};

const MOST_TABLES = 20;
const UNITS: Record<string, number> = { m: 1, u: 1e3, n: 1e6 };

function unitFor(duration: number): string {
    if (duration >= 10_000) return 'm';
    return duration >= 10 ? 'u' : 'n';
}

/** Encodes `range` as start, unit and duration after `zero`: "1200m350", "15250u4000". */
function encodeRange(range: Range, zero: number): string {
    const unit = unitFor(range[1] - range[0]);
    const scale = UNITS[unit] ?? 1;
    return `${Math.round((range[0] - zero) * scale)}${unit}${Math.max(1, Math.round((range[1] - range[0]) * scale))}`;
}

function decodeRange(text: string, zero: number): Range | null {
    const match = /^(-?\d{1,15})([mun])(\d{1,15})$/.exec(text);
    if (!match) return null;
    const scale = UNITS[match[2] ?? 'm'] ?? 1;
    const start = zero + Number(match[1]) / scale;
    return [start, start + Number(match[3]) / scale];
}

/** Rounds `range` as the address does, so that a reload shows the same numbers. */
export function roundRange(range: Range, zero: number): Range {
    return decodeRange(encodeRange(range, zero), zero) ?? range;
}

/** Decodes `function-12`, `library-3`, `category-1`. */
function decodeCenter(text: string): Center | null {
    const [, name, index] = /^([a-z]{1,10})-(\d{1,9})$/.exec(text) ?? [];
    const kind = CENTER_KINDS.find((known) => known === name);
    return kind ? { kind, index: Number(index) } : null;
}

/** Decodes `calltree.self~functions.name.r`: the table, its column, and `r` for the reversed order. */
function decodeSorts(text: string): Record<string, string> {
    const sorts: Record<string, string> = {};
    for (const part of text.split('~', MOST_TABLES)) {
        const [, table, order] = /^([a-z]{1,40})\.([a-zA-Z]{1,40}(?:\.r)?)$/.exec(part) ?? [];
        if (table && order) sorts[table] = order;
    }
    return sorts;
}

/** Decodes the kind of frames. The Firefox Profiler calls native code "cpp". */
function decodeStackType(text: string | null): StackType {
    return STACK_TYPES.find((type) => type === (text === 'cpp' ? 'native' : text)) ?? 'all';
}

/** Decodes the weight, which the profile may not have. */
function decodeWeight(text: string): string {
    return /^[\w:.+@/-]{1,300}$/.test(text) ? text : EMPTY_VIEW.weight;
}

/** Decodes a part such as "0.25-0.5". */
function decodePart(text: string): [number, number] | null {
    const match = /^([01](?:\.\d{1,9})?)-([01](?:\.\d{1,9})?)$/.exec(text);
    const [from, to] = [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
    return to > from && to <= 1 ? [from, to] : null;
}

function decodeScaledBy(text: string): ScaledBy | '' {
    const by = COMPARE_BY.find((candidate) => candidate === text);
    if (by && by !== 'function') return by;
    return /^function:./.test(text) ? (text as ScaledBy) : '';
}

/** `zero` is the start of the profile in ms, and `funcCount` the number of its functions. */
export function encodeView(view: View, zero: number, funcCount: number): string {
    const query = new URLSearchParams();
    query.set('thread', encodeIndexes(view.threads));
    if (view.ranges.length > 0) query.set('range', view.ranges.map((range) => encodeRange(range, zero)).join('~'));
    if (view.preview) query.set('preview', encodeRange(view.preview, zero));
    if (view.transforms.length > 0) query.set('transforms', encodeTransforms(view.transforms, funcCount));
    if (view.search !== '') query.set('search', view.search);
    if (view.inverted) query.set('invertCallstack', '');
    if (view.path.length > 0) query.set('path', encodeIndexes(view.path));
    if (view.tab !== 'calltree') query.set('tab', view.tab);
    if (view.zoom.length > 0) query.set('zoom', encodeIndexes(view.zoom));
    if (view.part) query.set('part', view.part.map((place) => Number(place.toFixed(9))).join('-'));
    if (view.weight !== EMPTY_VIEW.weight) query.set('weight', view.weight);
    if (view.compared !== 'change') query.set('compared', view.compared);
    if (view.scaledBy !== '') query.set('scaledBy', view.scaledBy);
    if (view.stackType !== 'all') query.set('implementation', view.stackType);
    if (view.hidesIdle) query.set('hideIdleSamples', '');
    if (view.showsChains) query.set('chains', '');
    if (view.waitsBy !== EMPTY_VIEW.waitsBy) query.set('waitsBy', view.waitsBy);
    if (view.groupsBy !== null) query.set('groupsBy', view.groupsBy);
    if (view.center) query.set('center', `${view.center.kind}-${view.center.index}`);
    if (view.sameWidths) query.set('sameWidths', '');
    if (view.colorBy) query.set('colorBy', view.colorBy);
    const sorts = Object.entries(view.sorts).map(([table, order]) => `${table}.${order}`);
    if (sorts.length > 0) query.set('sort', sorts.join('~'));
    if (view.markerSearch !== '') query.set('markerSearch', view.markerSearch);
    if (view.marker >= 0) query.set('marker', String(view.marker));
    const { base, shown, hidden, opened, order } = view.tracks;
    if (base !== 'busy') query.set('tracks', base);
    if (shown.length > 0) query.set('shownTracks', encodeTracks(shown));
    if (hidden.length > 0) query.set('hiddenTracks', encodeTracks(hidden));
    if (opened.length > 0) query.set('openTracks', encodeTracks(opened));
    if (order.length > 0) query.set('trackOrder', encodeTracks(order));
    if (view.profileName !== '') query.set('profileName', view.profileName);
    encodeSourcePanel(view.sourcePanel, query);
    if (view.sourcePanel && view.sourceLine > 0) query.set('sourceLine', String(view.sourceLine));
    encodeNotes(view.notes, query, (range) => encodeRange(range, zero));
    return `?${query.toString().replace(/=(?=&|$)/g, '')}`;
}

export function decodeView(text: string, zero: number): View {
    const query = new URLSearchParams(text);
    const ranges: Range[] = [];
    for (const part of (query.get('range') ?? '').split('~')) {
        const range = decodeRange(part, zero);
        if (range) ranges.push(range);
    }
    return {
        threads: decodeIndexes(query.get('thread') ?? ''),
        ranges,
        preview: decodeRange(query.get('preview') ?? '', zero),
        transforms: decodeTransforms(query.get('transforms') ?? ''),
        search: query.get('search') ?? '',
        inverted: query.has('invertCallstack'),
        path: decodeIndexes(query.get('path') ?? ''),
        tab: TABS.find((tab) => tab === query.get('tab')) ?? 'calltree',
        zoom: decodeIndexes(query.get('zoom') ?? ''),
        part: decodePart(query.get('part') ?? ''),
        weight: decodeWeight(query.get('weight') ?? ''),
        compared: COMPARED.find((compared) => compared === query.get('compared')) ?? EMPTY_VIEW.compared,
        scaledBy: decodeScaledBy(query.get('scaledBy') ?? ''),
        stackType: decodeStackType(query.get('implementation')),
        hidesIdle: query.has('hideIdleSamples'),
        showsChains: query.has('chains'),
        waitsBy: WAIT_GROUPING.find((by) => by === query.get('waitsBy')) ?? EMPTY_VIEW.waitsBy,
        groupsBy: query.get('groupsBy'),
        center: decodeCenter(query.get('center') ?? ''),
        sameWidths: query.has('sameWidths'),
        colorBy: COLOR_KEYS.find((by) => by === query.get('colorBy')) ?? null,
        sorts: decodeSorts(query.get('sort') ?? ''),
        markerSearch: query.get('markerSearch') ?? '',
        marker: decodeIndex(query.get('marker')),
        tracks: {
            base: TRACK_BASES.find((base) => base === query.get('tracks')) ?? 'busy',
            shown: decodeTracks(query.get('shownTracks') ?? ''),
            hidden: decodeTracks(query.get('hiddenTracks') ?? ''),
            opened: decodeTracks(query.get('openTracks') ?? ''),
            order: decodeTracks(query.get('trackOrder') ?? ''),
        },
        profileName: query.get('profileName') ?? '',
        sourcePanel: decodeSourcePanel(query),
        sourceLine: Math.max(0, decodeIndex(query.get('sourceLine'))),
        notes: decodeNotes(query, (range) => decodeRange(range, zero)),
    };
}
