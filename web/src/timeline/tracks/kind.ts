/** The interface of a kind of tracks, which the timeline calls. */
import type { JSX } from 'preact';
import type { Session } from '../../app/session';
import type { ProfileInfo } from '../../engine/api';
import type { TrackRow, TrackSeed } from '../../view/tracks';

export interface TrackKind {
    /** In the class of its rows: `of-thread`. */
    id: string;
    /** In the menu: "Hide all tracks of this kind (wait)". */
    name: string;
    /** Its tracks, each with a key that begins with a letter of its own; `threads`: those of threads and CPUs, which are there before. */
    seeds: (info: ProfileInfo, threads: readonly TrackSeed[]) => TrackSeed[];
    /** What is drawn at the right of the label; null: nothing. */
    Graph: ((props: { row: TrackRow }) => JSX.Element) | null;
    /** The thread that a click at a time (ms) selects, in a track of several threads; -1: none. */
    threadAt?: (session: Session, row: TrackRow, time: number) => Promise<number>;
    /** Tells of a time (ms) at a place of the window; null: nothing. */
    showTooltip: ((session: Session, row: TrackRow, time: number, x: number, y: number) => void) | null;
}
