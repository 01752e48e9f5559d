/** The interface of a kind of tracks for the timeline. */
import type { JSX } from 'preact';
import type { Session } from '../../app/session';
import type { ProfileInfo } from '../../engine/api';
import type { TrackRow, TrackSeed } from '../../view/tracks';

export interface TrackKind {
    /** The id, which is in the class of the rows: `of-thread`. */
    id: string;
    /** The name in the menu: "Hide all tracks of this kind (wait)". */
    name: string;
    /**
     * Returns the tracks of this kind, whose keys begin with the kind's own letter. `threads` has the tracks of threads
     * and CPUs, which the timeline makes first.
     */
    seeds: (info: ProfileInfo, threads: readonly TrackSeed[]) => TrackSeed[];
    /** Draws the track at the right of the label, or null if the track has no graph. */
    Graph: ((props: { row: TrackRow }) => JSX.Element) | null;
    /** Returns the thread that a click at a time (ms) selects in a track of several threads, or -1. */
    threadAt?: (session: Session, row: TrackRow, time: number) => Promise<number>;
    /** Shows the tooltip of a time (ms) at a position of the window, or null if the track has no tooltip. */
    showTooltip: ((session: Session, row: TrackRow, time: number, x: number, y: number) => void) | null;
}
