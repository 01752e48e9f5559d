/** The kinds of tracks of the timeline. A new one is one file beside this one, and one entry here. */
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

/** The heading of a process that no track speaks for: layoutTracks() adds it. */
const HEADINGS: TrackKind = { id: 'process', name: 'process', seeds: () => [], Graph: null, showTooltip: null };

/** In the order in which tracks of a process, or below a thread, follow one another. */
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

/** Every track that a profile has something for. */
export function seedsOf(info: ProfileInfo): TrackSeed[] {
    const threads = THREADS.seeds(info, []);
    return [...threads, ...KINDS.filter((kind) => kind !== THREADS).flatMap((kind) => kind.seeds(info, threads))];
}
