/**
 * The place under the mouse in the timeline and in charts: the time, and its tooltip; and the drawn graphs of the
 * timeline, in which the mouse finds values.
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

/** The tooltip of a place. */
export interface Told {
    content: ComponentChildren;
    counter?: { counter: number; value: CounterValue };
}

/** For places without a tooltip. */
const NOTHING: Told = { content: null };

export function createHover(session: SessionBase) {
    const { effect } = session.lifetime;

    /** What is drawn in each track. */
    const drawnWaits = new NewestMap<TrackKey, Waits>(MOST_DRAWN);
    const drawnMarkers = new NewestMap<TrackKey, MarkerRects>(MOST_DRAWN);
    /** By track and graph. */
    const drawnGraphs = new NewestMap<string, MarkerGraph>(MOST_DRAWN);
    /** A row that scrolls away and back is not empty meanwhile. */
    const drawnActivities = new NewestMap<TrackKey, Activity>(MOST_ACTIVITIES);

    /** Whether the time was put where it is by the keyboard, which leaves it there until the focus goes elsewhere. */
    const heldByKeys = signal(false);
    /** The value of a counter that the mouse is over. */
    const hoveredCounter = signal<Told['counter'] | null>(null);

    /** Where the mouse is in the window; null: over nothing. */
    let place: { x: number; y: number } | null = null;
    const request = new Request<Told>();
    let show = tooltipShower();

    /**
     * Shows what a place of the window has; null: nothing. While the answer is under way, the tooltip that is there goes along.
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

    /** The mouse is elsewhere. */
    function endHover(): void {
        hoverTime.value = null;
        endTelling();
    }

    /** The time under the mouse, ms; null: it is elsewhere. */
    const hoverTime = signal<number | null>(null);
    /** What the graphs have of each category when they are first drawn. */
    const categoryAmounts = signal<ReadonlyMap<number, number>>(new Map());
    const notedTracks = new Set<TrackKey>();

    /** Categories of the graphs, the largest first. */
    const seenCategories = computed<number[]>(() =>
        [...categoryAmounts.value]
            .sort(([a, amount], [b, other]) => other - amount || a - b)
            .map(([category]) => category),
    );

    /** A track counts once: the order does not change with what is zoomed into. */
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
