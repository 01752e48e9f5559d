/** Splits the engine's answer about lanes into lanes. */
import { STATE_THERE, type StateLanes } from '../engine/api';
import type { TrackKey } from '../view/tracks';
import type { Lane } from './draw_states';

export interface AskedLane {
    key: TrackKey;
    threads: readonly number[];
}

/** `rankOf` returns the position of a state in a lane, from the bottom. */
export function lanesOf(
    asked: readonly AskedLane[],
    range: [number, number],
    { rows, shares, width }: StateLanes,
    rankOf: (state: number) => number,
): Map<TrackKey, Lane> {
    const nobody = new Float32Array(width);
    const lanes = asked.map(
        ({ threads }): Lane => ({ width, range, threads: threads.length, there: nobody, states: [] }),
    );
    for (let row = 0; 2 * row < rows.length; row++) {
        const lane = lanes[rows[2 * row] ?? -1];
        const state = rows[2 * row + 1] ?? 0;
        const part = shares.subarray(row * width, (row + 1) * width);
        if (lane && state === STATE_THERE) lane.there = part;
        else lane?.states.push({ state, shares: part });
    }
    for (const lane of lanes) lane.states.sort((a, b) => rankOf(a.state) - rankOf(b.state));
    return new Map(asked.map(({ key }, at) => [key, lanes[at] as Lane]));
}
