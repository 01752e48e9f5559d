/**
 * The times beside the tracks, for the shown range or the range during its selection. The tracks keep the order of the
 * whole profile.
 */
import { computed } from '@preact/signals';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';

export function createTrackTimes(session: SessionBase & { store: StorePart }) {
    const { engine, info, lifetime } = session;
    const { committedRange, fullRange, previewRange } = session.store;

    const request = new Request<Float64Array>();
    const range = computed(() => previewRange.value ?? committedRange.value);
    const isWhole = computed(() => range.value === fullRange.value);

    lifetime.effect(() => {
        const asked = range.value;
        if (!isWhole.value) request.ask(() => engine.threadTimes(asked));
    });
    lifetime.onEnd(() => request.clear());

    /** The times by thread index, ms. The old times stay until the new times arrive. */
    const times = computed<ReadonlyMap<number, number>>(() => {
        const part = isWhole.value ? null : request.value.value;
        return new Map(info.value.threads.map((thread) => [thread.index, part?.[thread.index] ?? thread.activity]));
    });

    /** Returns the sum of the times of threads. */
    function timeOf(threads: readonly number[]): number {
        const { value: all } = times;
        return threads.reduce((sum, thread) => sum + (all.get(thread) ?? 0), 0);
    }

    /** The length of the range, ms, which is 100 %. */
    const length = computed(() => range.value[1] - range.value[0]);

    return { timeOf, length };
}

export type TrackTimesPart = ReturnType<typeof createTrackTimes>;
