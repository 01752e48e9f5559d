/** The list of visible tracks: the positions of its rows, the focused row, and the dragged row. */
import { computed, signal } from '@preact/signals';
import type { StorePart } from '../session/store';
import type { TrackKey } from '../view/tracks';

export function createTrackList(session: { store: StorePart }) {
    const { tracks } = session.store;

    /** px: where each row begins, and where the last one ends. */
    const offsets = computed<number[]>(() => {
        const tops = [0];
        for (const row of tracks.value.rows) tops.push((tops[tops.length - 1] ?? 0) + row.height);
        return tops;
    });

    /** The row that the keyboard is at. */
    const focusedRow = signal<TrackKey | null>(null);

    /** The row that is dragged, and the one whose place it would take. */
    const dragged = signal<{ key: TrackKey; target: TrackKey; isBelow: boolean } | null>(null);

    return {
        offsets,
        focusedRow,
        dragged,
    };
}

export type TrackListPart = ReturnType<typeof createTrackList>;
