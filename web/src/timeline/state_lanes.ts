/** The lanes of the tracks on the screen: one request has all of them, for the range and width that are shown. */
import { signal } from '@preact/signals';
import { STATE_THERE, type StateLanes } from '../engine/api';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';
import type { StatesPart } from '../session/states';
import type { StorePart } from '../session/store';
import type { TrackKey, TrackRow } from '../view/tracks';
import { graphWidth } from '../window/windows';
import type { Lane } from './draw_states';

/** More device pixels per px than these are not seen in a lane. */
const MOST_RATIO = 2;

interface AskedLane {
    key: TrackKey;
    threads: readonly number[];
}

export function createStateLanes(session: SessionBase & { states: StatesPart; store: StorePart }) {
    const { engine, info, lifetime } = session;
    const { threadStates } = session.states;
    const { committedRange } = session.store;

    const shown = signal<readonly AskedLane[]>([]);
    const request = new Request<ReadonlyMap<TrackKey, Lane>>();

    /** The threads of a track whose states are known. */
    function threadsWithStates({ kind, members }: Pick<TrackRow, 'kind' | 'members'>): readonly number[] {
        if (kind === 'cpu') return [];
        return members.filter((thread) => info.value.threads[thread]?.hasWaitRows);
    }

    function lanesOf(asked: readonly AskedLane[], range: [number, number], answer: StateLanes) {
        const { rows, shares, width } = answer;
        const lanes = asked.map(
            ({ threads }): Lane => ({
                width,
                range,
                threads: threads.length,
                there: new Float32Array(width),
                states: [],
            }),
        );
        for (let row = 0; 2 * row < rows.length; row++) {
            const lane = lanes[rows[2 * row] ?? -1];
            const state = rows[2 * row + 1] ?? 0;
            const part = shares.subarray(row * width, (row + 1) * width);
            if (lane && state === STATE_THERE) lane.there = part;
            else lane?.states.push({ state, shares: part });
        }
        const rankOf = (state: number): number => threadStates.value[state]?.rank ?? 0;
        for (const lane of lanes) lane.states.sort((a, b) => rankOf(a.state) - rankOf(b.state));
        return new Map(asked.map(({ key }, at) => [key, lanes[at] as Lane]));
    }

    lifetime.effect(() => {
        const asked = shown.value;
        const range = committedRange.value;
        const width = Math.round(graphWidth.value * Math.min(window.devicePixelRatio || 1, MOST_RATIO));
        if (asked.length === 0 || width <= 0) return;
        request.ask(async () =>
            lanesOf(
                asked,
                range,
                await engine.stateLanes(
                    asked.map(({ threads }) => threads),
                    range[0],
                    range[1],
                    width,
                ),
            ),
        );
    });
    lifetime.onEnd(() => request.clear());

    /** Adds a track to those on the screen; the returned function removes it. */
    function showLane(key: TrackKey, threads: readonly number[]): () => void {
        const lane = { key, threads };
        shown.value = [...shown.peek(), lane];
        return () => {
            shown.value = shown.peek().filter((other) => other !== lane);
        };
    }

    return { lanes: request.value, laneError: request.error, showLane, threadsWithStates };
}

export type StateLanesPart = ReturnType<typeof createStateLanes>;
