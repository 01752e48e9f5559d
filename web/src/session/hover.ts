/**
 * The position of the mouse in the timeline and in charts: its time and its tooltip. Also keeps the drawn graphs of the
 * timeline, which have the values under the mouse.
 */
import { computed, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { NewestMap } from '../base/newest_map';
import type { Activity } from '../engine/api';
import type { CounterValue, MarkerGraph, MarkerRects, Waits } from '../engine/markers';
import type { TrackKey } from '../view/tracks';
import { tooltip, tooltipShower } from '../window/windows';
import { type Question, Request } from './request';
import type { SessionBase } from './session_base';

const MOST_DRAWN = 200;
const MOST_ACTIVITIES = 100;

/** The tooltip of a position. */
export interface Told {
    content: ComponentChildren;
    counter?: { counter: number; value: CounterValue };
}

/** The answer for positions without a tooltip. */
const NOTHING: Told = { content: null };

export function createHover(session: SessionBase) {
    const { effect } = session.lifetime;

    /** The drawn data of each track. */
    const drawnWaits = new NewestMap<TrackKey, Waits>(MOST_DRAWN);
    const drawnMarkers = new NewestMap<TrackKey, MarkerRects>(MOST_DRAWN);
    /** The drawn graphs by track and graph. */
    const drawnGraphs = new NewestMap<string, MarkerGraph>(MOST_DRAWN);
    /** Keeps data of rows that scroll out of view, so that they are not empty when they scroll back. */
    const drawnActivities = new NewestMap<TrackKey, Activity>(MOST_ACTIVITIES);

    /** Whether the keyboard set the time, which then stays until the focus leaves. */
    const heldByKeys = signal(false);
    /** The value of the counter under the mouse. */
    const hoveredCounter = signal<Told['counter'] | null>(null);

    /** The position of the mouse in the window, or null while the mouse is elsewhere. */
    let place: { x: number; y: number } | null = null;
    const request = new Request<Told>();
    let show = tooltipShower();

    /**
     * Shows the tooltip of a position in the window, or hides the tooltip if `question` is null. Until the answer, the
     * old tooltip moves with the mouse.
     */
    function tellOf(x: number, y: number, question: Question<Told> | null): void {
        if (!question) {
            endTelling();
            return;
        }
        place = { x, y };
        show = tooltipShower();
        if (tooltip.peek()) tooltip.value = { x, y, content: tooltip.peek()?.content };
        request.ask(async () => (await question()) ?? NOTHING);
    }

    function endTelling(): void {
        place = null;
        request.clear();
        hoveredCounter.value = null;
        tooltip.value = null;
    }

    effect(() => {
        const answer = request.value.value;
        const { value: error } = request.error;
        if (place === null || (answer === null && error === '')) return;
        hoveredCounter.value = answer?.counter ?? null;
        const content = error === '' ? answer?.content : error;
        if (content) show({ ...place, content });
        else tooltip.value = null;
    });

    /** Called when the mouse leaves. */
    function endHover(): void {
        hoverTime.value = null;
        endTelling();
    }

    /** The time under the mouse in ms, or null while the mouse is elsewhere. */
    const hoverTime = signal<number | null>(null);
    /** The amount of each category in the graphs when the page draws them first. */
    const categoryAmounts = signal<ReadonlyMap<number, number>>(new Map());
    const notedTracks = new Set<TrackKey>();

    /** Categories of the graphs, largest amount first. */
    const seenCategories = computed<number[]>(() =>
        [...categoryAmounts.value]
            .sort(([a, amount], [b, other]) => other - amount || a - b)
            .map(([category]) => category),
    );

    /** Counts each track once, so that zooming does not change the order. */
    function noteCategories(track: TrackKey, amounts: ReadonlyMap<number, number>): void {
        const known = categoryAmounts.value;
        const isFirst = !notedTracks.has(track);
        if (!isFirst && [...amounts.keys()].every((category) => known.has(category))) return;
        notedTracks.add(track);
        const sums = new Map(known);
        for (const [category, amount] of amounts)
            sums.set(category, (known.get(category) ?? 0) + (isFirst ? amount : 0));
        categoryAmounts.value = sums;
    }

    return {
        drawnWaits,
        drawnMarkers,
        drawnGraphs,
        drawnActivities,
        heldByKeys,
        hoveredCounter,
        tellOf,
        endHover,
        hoverTime,
        seenCategories,
        noteCategories,
    };
}

export type HoverPart = ReturnType<typeof createHover>;
