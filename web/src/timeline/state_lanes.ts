/** The lanes of the visible tracks, which the page fetches with one request for the shown range and width. */
import { signal } from '@preact/signals';
import { columnRatio } from '../base/canvas';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';
import type { StatesPart } from '../session/states';
import type { StorePart } from '../session/store';
import type { TrackKey, TrackRow } from '../view/tracks';
import { graphWidth } from '../window/windows';
import type { Lane } from './draw_states';
import { type AskedLane, lanesOf } from './lane_answer';

export function createStateLanes(session: SessionBase & { states: StatesPart; store: StorePart }) {
    const { engine, info, lifetime } = session;
    const { threadStates } = session.states;
    const { committedRange } = session.store;

    const shown = signal<readonly AskedLane[]>([]);
    const request = new Request<ReadonlyMap<TrackKey, Lane>>();

    /** Returns the threads of a track with known states. */
    function threadsWithStates({ kind, members }: Pick<TrackRow, 'kind' | 'members'>): readonly number[] {
        if (kind === 'cpu') return [];
        return members.filter((thread) => info.value.threads[thread]?.hasWaitRows);
    }

    const rankOf = (state: number): number => threadStates.value[state]?.rank ?? 0;

    lifetime.effect(() => {
        const asked = shown.value;
        const range = committedRange.value;
        const columns = graphWidth.value;
        if (asked.length === 0 || columns <= 0) return;
        const width = Math.max(1, Math.round(columns * columnRatio()));
        const threads = asked.map((lane) => lane.threads);
        request.ask(async () =>
            lanesOf(asked, range, await engine.stateLanes(threads, range[0], range[1], width), rankOf),
        );
    });
    lifetime.onEnd(() => request.clear());

    /** Adds a track to the visible tracks. The returned function removes it. */
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
