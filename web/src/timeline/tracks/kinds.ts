/** The kinds of tracks of the timeline. A new kind is one file in this directory and one entry here. */
import type { ProfileInfo } from '../../engine/api';
import type { TrackSeed } from '../../view/tracks';
import { COUNTERS } from './counter';
import { CPU_GROUP, CPU_LANES } from './cpus';
import type { TrackKind } from './kind';
import { MARKER_GRAPHS } from './marker_graphs';
import { MARKER_STRIPS } from './marker_strips';
import { GROUPS, PROCESS_SUMS } from './sums';
import { CPUS, THREADS } from './thread';
import { WAITS } from './waits';

/** The heading of a process whose first track is hidden. layoutTracks() adds headings. */
const HEADINGS: TrackKind = { id: 'process', name: 'process', seeds: () => [], Graph: null, showTooltip: null };

/** The kinds in the order of the tracks in a process or below a thread. */
const KINDS: readonly TrackKind[] = [
    HEADINGS,
    THREADS,
    GROUPS,
    PROCESS_SUMS,
    CPUS,
    WAITS,
    ...MARKER_STRIPS,
    MARKER_GRAPHS,
    COUNTERS,
    CPU_GROUP,
    CPU_LANES,
];

export function trackKind(id: string): TrackKind {
    return KINDS.find((kind) => kind.id === id) ?? HEADINGS;
}

/** Returns every track for which a profile has data. */
export function seedsOf(info: ProfileInfo): TrackSeed[] {
    const threads = THREADS.seeds(info, []);
    return [...threads, ...KINDS.filter((kind) => kind !== THREADS).flatMap((kind) => kind.seeds(info, threads))];
}
