/**
 * The page's state. `view` is the content of the address; all other state either follows from `view` and the profile,
 * or belongs to this window (sizes, the place under the mouse). Components read signals and call the functions at the
 * end; only these functions change the view.
 */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { termsExpression } from '../base/highlight';
import type { ProfileInfo, ThreadInfo, Transform } from '../engine/api';
import type { SearchTerm } from '../engine/find';
import { decodeView, EMPTY_VIEW, encodeView, type Range, roundRange, type View } from '../view/codec';
import { type Note, notesOf } from '../view/note_codec';
import { type ChooseMode, chosenThreads } from '../view/thread_choice';
import { threadOnAllSides } from '../view/thread_sides';
import { areAll, isCpu, layoutTracks, type TrackSeed } from '../view/tracks';
import type { Step } from './history';
import { Request } from './request';
import type { SessionBase } from './session_base';

/**
 * ms without a change before the page writes small changes to the address, because browsers refuse frequent changes.
 */
const ADDRESS_DELAY = 120;

/** Adjusts the view of an address to this profile: removes unknown threads and empty ranges. */
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

/**
 * Returns the first selected threads: the threads that the file selects, else all recorded threads, like `prof report`.
 */
function firstThreads({ threads, initialThreads, initialSelection, comparison }: ProfileInfo): number[] {
    if (initialSelection.length > 0 && !comparison) return [...new Set(initialSelection)];
    const wanted = comparison ? [] : threads.filter((thread) => initialThreads.includes(thread.index));
    const busy = threads.filter((thread) => !isCpu(thread));
    return ([wanted, busy, threads].find((list) => list.length > 0) ?? []).map((thread) => thread.index);
}

export interface StoreStart extends SessionBase {
    /** Returns every track for which a profile has data. */
    seedsOf(info: ProfileInfo): TrackSeed[];
}

/** Selects ranges and zooms into them. */
function createRanges(
    info: ReadonlySignal<ProfileInfo>,
    view: ReadonlySignal<View>,
    changeView: (change: Partial<View>, step: Step) => void,
) {
    const fullRange = computed<Range>(() => [info.value.rangeStart, info.value.rangeEnd]);
    /** The range that the timeline shows. */
    const committedRange = computed<Range>(() => view.value.ranges[view.value.ranges.length - 1] ?? fullRange.value);
    const previewRange = computed<Range | null>(() => view.value.preview);

    /** Zooms the timeline into the selection. */
    function commitPreview(): void {
        const { preview, ranges } = view.value;
        if (preview) changeView({ ranges: [...ranges, preview], preview: null }, 'push');
    }

    /** Goes back to the first `depth` ranges of the zoom. */
    function popRanges(depth: number): void {
        const { ranges } = view.value;
        if (depth < ranges.length || view.value.preview)
            changeView({ ranges: ranges.slice(0, depth), preview: null }, 'push');
    }

    /**
     * Returns the range to which the user can move and zoom out the timeline, which is the previous range of the zoom.
     */
    function outerRange(): Range {
        const { ranges } = view.value;
        return ranges[ranges.length - 2] ?? fullRange.value;
    }

    /** Moves the shown range within the enclosing range. A range of the enclosing length ends the zoom. */
    function moveRange(range: Range): void {
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

    function setPreview(range: Range | null, step: Step = 'replace'): void {
        const [from, to] = committedRange.value;
        if (range === null) {
            if (view.value.preview) changeView({ preview: null }, step);
            return;
        }
        const start = Math.max(from, Math.min(range[0], range[1]));
        const end = Math.min(to, Math.max(range[0], range[1]));
        if (end > start) changeView({ preview: roundRange([start, end], info.value.rangeStart) }, step);
    }

    return { fullRange, committedRange, previewRange, commitPreview, popRanges, outerRange, moveRange, setPreview };
}

export function createStore(session: StoreStart) {
    const { engine, host, info, lifetime, query, seedsOf } = session;
    const { onEnd } = session.lifetime;

    /** Returns a thread by its index. */
    function threadInfo(thread: number): ThreadInfo | undefined {
        return info.value.threads.find((candidate) => candidate.index === thread);
    }

    /** Returns the name of a category, even in a profile without categories. */
    function categoryName(category: number): string {
        return info.value.categories[category]?.name ?? 'Other';
    }

    let namesThreads = false;
    const view = signal<View>(viewOf(query));

    const selectedThreads = computed<number[]>(() => view.value.threads);
    const transforms = computed<Transform[]>(() => view.value.transforms);
    const search = computed<string>(() => view.value.search);
    /** The terms of the search, into which the engine splits the text. */
    const termsRequest = new Request<readonly SearchTerm[]>();
    /** The expression that marks found text in names. */
    const searchExpression = computed(() =>
        search.value.trim() === '' ? null : termsExpression(termsRequest.value.value ?? []),
    );
    const inverted = computed<boolean>(() => view.value.inverted);

    const notes = computed<readonly Note[]>(() => view.value.notes ?? notesOf(info.value.notes));

    const trackSeeds = computed<TrackSeed[]>(() => seedsOf(info.value));
    /** A separate signal, so that dragging a range does not lay out a thousand tracks again. */
    const trackChoice = computed(() => view.value.tracks);
    const tracks = computed(() =>
        layoutTracks(trackSeeds.value, trackChoice.value, selectedThreads.value, info.value.isLive),
    );
    /** Whether all threads are selected, so that the page marks none. */
    const isAllSelected = computed(() => areAll(trackSeeds.value, trackChoice.value, selectedThreads.value.length));
    let addressTimer: ReturnType<typeof setTimeout> | undefined;

    function changeView(change: Partial<View>, step: Step): void {
        // Small changes belong to the step before the new step.
        if (step === 'push') flushAddress();
        if (change.threads) namesThreads = true;
        view.value = { ...view.value, ...change };
        clearTimeout(addressTimer);
        if (step === 'push') writeAddress('push');
        else addressTimer = setTimeout(flushAddress, ADDRESS_DELAY);
    }

    /** Returns the view as the query part of an address. */
    function address(): string {
        return encodeView(view.value, info.value.rangeStart, info.value.funcCount);
    }

    /** Writes the small changes that wait for a pause. */
    function flushAddress(): void {
        clearTimeout(addressTimer);
        writeAddress('replace');
    }

    function writeAddress(step: Step): void {
        if (!lifetime.isOver) host.write(address(), step);
    }

    onEnd(() => clearTimeout(addressTimer));

    /** Sets the view from the query part of an address as far as this profile allows; '' is the default view. */
    function readAddress(text: string): void {
        clearTimeout(addressTimer);
        view.value = viewOf(text);
    }

    function viewOf(text: string): View {
        const { value: profile } = info;
        const wanted = text === '' ? EMPTY_VIEW : decodeView(text, profile.rangeStart);
        namesThreads = wanted.threads.length > 0;
        return sensibleView(wanted, profile);
    }

    /** Selects the threads that a growing profile got, unless the user or the address named threads. */
    function followThreads(): void {
        if (!namesThreads) view.value = { ...view.value, threads: firstThreads(info.value) };
    }

    /** Selects threads like other lists do. In a comparison, selects the same thread on both sides. */
    function chooseThread(thread: number, mode: ChooseMode): void {
        const chosen = view.value.threads;
        const clicked = info.value.comparison ? threadOnAllSides(info.value.threads, thread) : [thread];
        const threads = chosenThreads(chosen, { thread, clicked, mode, order: tracks.value.shown });
        if (threads.length > 0 && threads.join() !== chosen.join()) changeView({ threads }, 'push');
    }

    lifetime.effect(() => {
        const text = search.value;
        if (text.trim() === '') termsRequest.clear();
        else termsRequest.ask(() => engine.searchTerms(text));
    });

    return {
        ...createRanges(info, view, changeView),
        threadInfo,
        categoryName,
        view,
        selectedThreads,
        isAllSelected,
        transforms,
        search,
        searchExpression,
        inverted,
        notes,
        trackSeeds,
        tracks,
        changeView,
        address,
        flushAddress,
        readAddress,
        followThreads,
        chooseThread,
    };
}

export type StorePart = ReturnType<typeof createStore>;
