/**
 * The times beside the tracks, for the shown range or the range during its selection. The order of tracks is that of
 * the whole time.
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

    /** By thread index, ms; those of the range before until the next are there. */
    const times = computed<ReadonlyMap<number, number>>(() => {
        const part = isWhole.value ? null : request.value.value;
        return new Map(info.value.threads.map((thread) => [thread.index, part?.[thread.index] ?? thread.activity]));
    });

    /** What threads did together. */
    function timeOf(threads: readonly number[]): number {
        const { value: all } = times;
        return threads.reduce((sum, thread) => sum + (all.get(thread) ?? 0), 0);
    }

    /** ms: what the times are parts of. */
    const length = computed(() => range.value[1] - range.value[0]);

    return { timeOf, length };
}

export type TrackTimesPart = ReturnType<typeof createTrackTimes>;
