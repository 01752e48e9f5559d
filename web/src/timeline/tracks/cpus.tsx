/**
 * The tracks of CPUs: a group with a lane for each CPU. The page loads the code that draws lanes with the first lane.
 */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { TrackRow, TrackSeed } from '../../view/tracks';
import type { TrackKind } from './kind';

/** The height in px, including the line below. */
const GROUP_HEIGHT = 25;
const LANE_HEIGHT = 19;
const GROUP_KEY = 'z0';

type OnDemand = typeof import('../../app/on_demand');

function load(): Promise<OnDemand> {
    return import('../../app/on_demand');
}

function CpuGraph({ row }: { row: TrackRow }): JSX.Element {
    const [module, setModule] = useState<OnDemand | null>(null);
    useEffect(() => {
        load().then(setModule, () => undefined);
    }, []);
    return <div class="track-graph">{module && <module.CpuLane row={row} height={LANE_HEIGHT - 1} />}</div>;
}

/** The common properties of the group and its lanes. */
const COMMON = { process: 'cpus', processName: 'CPUs', detail: '', words: 'cpu', thread: -1, members: [], activity: 0 };

/** The row of the group, which is closed by default. */
export const CPU_GROUP: TrackKind = {
    id: 'cpus',
    name: 'CPU',
    seeds: ({ cpus }) =>
        cpus.length === 0
            ? []
            : [
                  {
                      ...COMMON,
                      key: GROUP_KEY,
                      kind: 'cpus',
                      index: 0,
                      below: '',
                      title: 'CPUs',
                      isLead: true,
                      isQuiet: false,
                      height: GROUP_HEIGHT,
                  },
              ],
    Graph: null,
    showTooltip: null,
};

export const CPU_LANES: TrackKind = {
    id: 'lane',
    name: 'CPU',
    seeds: ({ cpus }) =>
        cpus.map(
            (cpu): TrackSeed => ({
                ...COMMON,
                key: `l${cpu}`,
                kind: 'lane',
                index: cpu,
                below: GROUP_KEY,
                title: `CPU ${cpu}`,
                isLead: false,
                isQuiet: false,
                height: LANE_HEIGHT,
            }),
        ),
    Graph: CpuGraph,
    showTooltip(session, row, time, x, y) {
        session.hover.tellOf(x, y, async () => (await load()).cpuTooltip(session, row.index, time));
    },
    threadAt: async (session, row, time) => (await session.engine.cpuAt(row.index, time)).thread,
};
