/** The list of visible tracks: the positions of its rows, the focused row, and the dragged row. */
import { computed, signal } from '@preact/signals';
import type { StorePart } from '../session/store';
import type { TrackKey } from '../view/tracks';

export function createTrackList(session: { store: StorePart }) {
    const { tracks } = session.store;

    /** The top of each row, and the bottom of the last row, px. */
    const offsets = computed<number[]>(() => {
        const tops = [0];
        for (const row of tracks.value.rows) tops.push((tops[tops.length - 1] ?? 0) + row.height);
        return tops;
    });

    /** The row with the keyboard's focus. */
    const focusedRow = signal<TrackKey | null>(null);

    /** The dragged row, and the row whose position it would take. */
    const dragged = signal<{ key: TrackKey; target: TrackKey; isBelow: boolean } | null>(null);

    return {
        offsets,
        focusedRow,
        dragged,
    };
}

export type TrackListPart = ReturnType<typeof createTrackList>;
