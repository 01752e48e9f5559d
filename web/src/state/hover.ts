/**
 * What the mouse is over in the timeline and in charts: the time, and the tooltip that tells of it. And what the graphs of
 * the timeline have drawn, which the mouse finds there.
 */
import { computed, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Activity } from '../engine/api';
import type { CounterValue, MarkerGraph, MarkerRects, Waits } from '../engine/markers';
import { NewestMap } from './newest_map';
import type { TrackKey } from './tracks';
import { tooltip } from './windows';

const MOST_DRAWN = 200;
const MOST_ACTIVITIES = 100;

/** What is told of a place. */
export interface Told {
    content: ComponentChildren;
    counter?: { counter: number; value: CounterValue };
}

type Ask = () => Promise<Told | null>;

export function createHover() {
    /** What is drawn in each track. */
    const drawnWaits = new NewestMap<TrackKey, Waits>(MOST_DRAWN);
    const drawnMarkers = new NewestMap<TrackKey, MarkerRects>(MOST_DRAWN);
    /** By track and graph. */
    const drawnGraphs = new NewestMap<string, MarkerGraph>(MOST_DRAWN);
    /** By thread: a row that scrolls away and back is not empty meanwhile. */
    const drawnActivities = new NewestMap<number, Activity>(MOST_ACTIVITIES);

    let newest: { x: number; y: number; ask: Ask } | null = null;
    let isAsking = false;

    /** Whether the time was put where it is by the keyboard, which leaves it there until the focus goes elsewhere. */
    const heldByKeys = signal(false);
    /** The value of a counter that the mouse is over. */
    const hoveredCounter = signal<Told['counter'] | null>(null);

    /**
     * Shows what a place of the window has; null: nothing. While the answer is under way, only the newest place is remembered, and
     * the tooltip that is there goes along.
     */
    function tellOf(x: number, y: number, ask: Ask | null): void {
        newest = ask && { x, y, ask };
        if (!ask) tooltip.value = null;
        else if (tooltip.value) tooltip.value = { ...tooltip.value, x, y };
        if (ask && !isAsking) void answer();
    }

    async function answer(): Promise<void> {
        isAsking = true;
        for (let sent: typeof newest = null; newest !== null && newest !== sent; ) {
            sent = newest;
            const told = await sent.ask().catch(() => null);
            if (newest === null) break;
            hoveredCounter.value = told?.counter ?? null;
            tooltip.value = told && { x: newest.x, y: newest.y, content: told.content };
        }
        isAsking = false;
    }

    /** The mouse is elsewhere. */
    function endHover(): void {
        newest = null;
        hoverTime.value = null;
        hoveredCounter.value = null;
        tooltip.value = null;
    }

    /** The time under the mouse, ms; null: it is elsewhere. */
    const hoverTime = signal<number | null>(null);
    /** What the graphs have of each category when they are first drawn. */
    const categoryAmounts = signal<ReadonlyMap<number, number>>(new Map());
    const notedThreads = new Set<number>();

    /** Categories of the graphs, the largest first. */
    const seenCategories = computed<number[]>(() =>
        [...categoryAmounts.value].sort(([a, one], [b, other]) => other - one || a - b).map(([category]) => category),
    );

    /** A thread counts once: the order does not change with what is zoomed into. */
    function noteCategories(thread: number, amounts: ReadonlyMap<number, number>): void {
        const known = categoryAmounts.value;
        const isFirst = !notedThreads.has(thread);
        if (!isFirst && [...amounts.keys()].every((category) => known.has(category))) return;
        notedThreads.add(thread);
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
