/**
 * The page's state. `view` is what the address says; everything else either follows from it and the profile, or is about
 * this window alone (sizes, what the mouse is over). Components read signals and call the functions at the end; only they
 * change the view.
 */
import { batch, computed, signal } from '@preact/signals';
import type { ProfileInfo, Progress, ThreadInfo, Transform } from '../engine/api';
import { engine, firstProfile, followFirstProfile } from '../engine/start';
import { messageOf } from '../text/message';
import { decodeView, EMPTY_VIEW, encodeView, type Range, roundRange, type View } from './codec';
import { counterTracks, graphTracks, markerTracks, waitTracks } from './more_tracks';
import { isCpu, layoutTracks, type TrackSeed, threadTracks } from './tracks';

export { engine };

export type LoadState =
    | { phase: 'loading'; progress: Progress | null }
    | { phase: 'failed'; message: string }
    | { phase: 'ready'; info: ProfileInfo };

export const loading = signal<LoadState>({ phase: 'loading', progress: null });

/** The profile; only read by what is shown once it is there. */
export const info = computed<ProfileInfo>(() => {
    const state = loading.value;
    return state.phase === 'ready' ? state.info : NO_PROFILE;
});

/** A thread by its index. */
export function threadInfo(thread: number): ThreadInfo | undefined {
    return info.value.threads.find((one) => one.index === thread);
}

/** What a category is called; a profile may name none. */
export function categoryName(category: number): string {
    return info.value.categories[category]?.name ?? 'Other';
}

const NO_PROFILE: ProfileInfo = {
    product: '',
    interval: 1,
    startTime: 0,
    rangeStart: 0,
    rangeEnd: 0,
    facts: [],
    extra: [],
    categories: [],
    threads: [],
    libs: [],
    weightUnit: 'samples',
    weights: [],
    symbolicated: true,
    sampleCount: 0,
    markerCount: 0,
    counters: [],
    markerGraphs: [],
    initialThreads: [],
    initialSelection: [],
    funcCount: 0,
};

export const view = signal<View>(EMPTY_VIEW);

export const fullRange = computed<Range>(() => [info.value.rangeStart, info.value.rangeEnd]);
/** The range that the timeline shows. */
export const committedRange = computed<Range>(() => view.value.ranges[view.value.ranges.length - 1] ?? fullRange.value);
export const previewRange = computed<Range | null>(() => view.value.preview);
export const selectedThreads = computed<number[]>(() => view.value.threads);
export const transforms = computed<Transform[]>(() => view.value.transforms);
export const search = computed<string>(() => view.value.search);
export const inverted = computed<boolean>(() => view.value.inverted);

/** Every track that the profile has something for. */
export const trackSeeds = computed<TrackSeed[]>(() => {
    const { threads, counters, markerGraphs, initialThreads } = info.value;
    const seeds = threadTracks(threads, initialThreads);
    const places = new Map(threads.map((thread) => [thread.index, thread.markerPlaces]));
    const hasWaits = new Set(threads.filter((thread) => thread.hasWaits).map((thread) => thread.index));
    return [
        ...seeds,
        ...waitTracks(seeds, (thread) => hasWaits.has(thread)),
        ...markerTracks(seeds, places),
        ...graphTracks(seeds, markerGraphs),
        ...counterTracks(seeds, counters),
    ];
});
/** Of its own: a thousand tracks are not laid out again while a range is dragged. */
const trackChoice = computed(() => view.value.tracks);
export const tracks = computed(() => layoutTracks(trackSeeds.value, trackChoice.value, selectedThreads.value));

/** Dialogs, tooltips and menus that are open. */
export const openDialog = signal<'info' | 'keys' | null>(null);

/** Whether the command palette is open. */
export const isPaletteOpen = signal(false);

/** Whether a change of the view is a step of its own for the back button. */
export type Step = 'push' | 'replace';

/** Browsers refuse to change the address as often as a mouse moves: small changes are written when they pause, ms. */
const ADDRESS_DELAY = 120;
let addressTimer = 0;

export function changeView(change: Partial<View>, step: Step): void {
    // The step that is left keeps the last of the small changes made in it.
    if (step === 'push') writeAddress('replace');
    view.value = { ...view.value, ...change };
    window.clearTimeout(addressTimer);
    if (step === 'push') writeAddress('push');
    else addressTimer = window.setTimeout(() => writeAddress('replace'), ADDRESS_DELAY);
}

/** Which step of the browser's history this is, and the newest one there is: what is before the page is none of its. */
let stepAt = stepOf(window.history.state);
let newestStep = stepAt;

function stepOf(state: unknown): number {
    const step = typeof state === 'object' && state !== null && 'step' in state ? state.step : 0;
    return typeof step === 'number' ? step : 0;
}

function writeAddress(step: Step): void {
    window.clearTimeout(addressTimer);
    const address = encodeView(view.value, info.value.rangeStart, info.value.funcCount);
    if (address === window.location.search) return;
    try {
        if (step === 'push') window.history.pushState({ step: stepAt + 1 }, '', address);
        else window.history.replaceState({ step: stepAt }, '', address);
        if (step === 'push') newestStep = ++stepAt;
    } catch {
        // An address may be too long for the browser: the view works without.
    }
}

/** Goes back to the view before the last step; false if there is none. */
export function undoStep(): boolean {
    if (stepAt <= 0) return false;
    window.history.back();
    return true;
}

/** Does again what undoStep() undid; false if there is nothing. */
export function redoStep(): boolean {
    if (stepAt >= newestStep) return false;
    window.history.forward();
    return true;
}

/** Makes what the address says possible for this profile: unknown threads and empty ranges fall away. */
function sensibleView(wanted: View, profile: ProfileInfo): View {
    const known = new Set(profile.threads.map((thread) => thread.index));
    const threads = wanted.threads.filter((thread) => known.has(thread));
    const within = (range: Range): boolean =>
        range[1] > range[0] && range[0] < profile.rangeEnd && range[1] > profile.rangeStart;
    return {
        ...wanted,
        threads: threads.length > 0 ? threads : firstThreads(profile),
        ranges: wanted.ranges.filter(within),
        preview: wanted.preview && within(wanted.preview) ? wanted.preview : null,
    };
}

function firstThreads(profile: ProfileInfo): number[] {
    const { threads, initialThreads, initialSelection } = profile;
    if (initialSelection.length > 0) return [...new Set(initialSelection)];
    const wanted = threads.filter((thread) => initialThreads.includes(thread.index));
    const busy = threads.filter((thread) => !isCpu(thread));
    const among = [wanted, busy, threads].find((list) => list.length > 0) ?? [];
    const [first] = [...among].sort((a, b) => b.activity - a.activity);
    return first ? [first.index] : [];
}

function readAddress(): void {
    window.clearTimeout(addressTimer);
    view.value = sensibleView(decodeView(window.location.search, info.value.rangeStart), info.value);
}

/** What forgets the profile that was there, when another takes its place. */
const forgets: (() => void)[] = [];

/** For what is kept of a profile and does not follow from the view: `forget` is called before another profile is shown. */
export function onOtherProfile(forget: () => void): void {
    forgets.push(forget);
}

/** Waits for the profile next to the page and shows the view that the address asks for. */
export async function start(): Promise<void> {
    try {
        followFirstProfile((progress) => {
            if (loading.value.phase === 'loading') loading.value = { phase: 'loading', progress };
        });
        const profile = await firstProfile;
        batch(() => {
            loading.value = { phase: 'ready', info: profile };
            readAddress();
        });
    } catch (error) {
        loading.value = { phase: 'failed', message: messageOf(error) };
    }
    window.addEventListener('popstate', (event) => {
        stepAt = stepOf(event.state);
        newestStep = Math.max(newestStep, stepAt);
        readAddress();
    });
    window.addEventListener('pagehide', () => writeAddress('replace'));
}

/** Shows a profile that the engine has loaded in place of the one before, from its first view on. */
export function showOther(profile: ProfileInfo): void {
    window.clearTimeout(addressTimer);
    // Everything on the screen goes before what it is made of does.
    loading.value = { phase: 'loading', progress: null };
    batch(() => {
        for (const forget of forgets) forget();
        loading.value = { phase: 'ready', info: profile };
        view.value = sensibleView(EMPTY_VIEW, profile);
    });
    stepAt = 0;
    newestStep = 0;
    writeAddress('replace');
}

/** Zooms the timeline into the range that is being chosen. */
export function commitPreview(): void {
    const { preview, ranges } = view.value;
    if (preview) changeView({ ranges: [...ranges, preview], preview: null }, 'push');
}

/** Back to the first `depth` of the ranges that were zoomed into. */
export function popRanges(depth: number): void {
    const { ranges } = view.value;
    if (depth < ranges.length || view.value.preview)
        changeView({ ranges: ranges.slice(0, depth), preview: null }, 'push');
}

/** The range that the timeline can be moved and zoomed out to: the one that was zoomed into before. */
export function outerRange(): Range {
    const { ranges } = view.value;
    return ranges[ranges.length - 2] ?? fullRange.value;
}

/** Moves the shown range within the one that encloses it; a range as long as that one is the same as leaving it. */
export function moveRange(range: Range): void {
    const { ranges, preview } = view.value;
    const outer = outerRange();
    const length = Math.min(range[1] - range[0], outer[1] - outer[0]);
    const start = Math.min(Math.max(range[0], outer[0]), outer[1] - length);
    const isWhole = length >= (outer[1] - outer[0]) * 0.9999;
    if (isWhole && ranges.length === 0) return;
    const moved = roundRange([start, start + length], info.value.rangeStart);
    const isInside = preview && preview[0] >= moved[0] && preview[1] <= moved[1];
    changeView(
        {
            ranges: isWhole ? ranges.slice(0, -1) : [...ranges.slice(0, -1), moved],
            preview: isInside || isWhole ? preview : null,
        },
        ranges.length === 0 ? 'push' : 'replace',
    );
}

export function setPreview(range: Range | null, step: Step = 'replace'): void {
    const [from, to] = committedRange.value;
    if (range === null) {
        if (view.value.preview) changeView({ preview: null }, step);
        return;
    }
    const start = Math.max(from, Math.min(range[0], range[1]));
    const end = Math.min(to, Math.max(range[0], range[1]));
    if (end > start) changeView({ preview: roundRange([start, end], info.value.rangeStart) }, step);
}

export type ChooseMode = 'only' | 'toggle' | 'extend';

/** Chooses threads as lists do: alone, one more or less (Ctrl), all from the last one on (Shift). */
export function chooseThread(thread: number, mode: ChooseMode): void {
    const chosen = view.value.threads;
    let threads = [thread];
    if (mode === 'toggle')
        threads = chosen.includes(thread) ? chosen.filter((one) => one !== thread) : [...chosen, thread];
    if (mode === 'extend') {
        const order = tracks.value.shown;
        const last = order.indexOf(chosen[chosen.length - 1] ?? thread);
        const at = order.indexOf(thread);
        if (last >= 0 && at >= 0) {
            threads = order.slice(Math.min(last, at), Math.max(last, at) + 1);
            if (at < last) threads.reverse();
        }
    }
    if (threads.length > 0 && threads.join() !== chosen.join()) changeView({ threads }, 'push');
}

/** Keeps a setting of this window in the browser; it is no part of the view. */
export function stored(key: string): string | null {
    try {
        return window.localStorage.getItem(`prof.${key}`);
    } catch {
        return null;
    }
}

export function store(key: string, value: string | null): void {
    try {
        if (value === null) window.localStorage.removeItem(`prof.${key}`);
        else window.localStorage.setItem(`prof.${key}`, value);
    } catch {
        // Storage may be forbidden: the setting then lasts as long as the page.
    }
}
