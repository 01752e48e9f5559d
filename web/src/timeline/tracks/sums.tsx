/** Tracks of many threads: groups of threads, and the sum of all threads of a process. */
import type { JSX } from 'preact';
import type { Session } from '../../app/session';
import { categoryColor } from '../../base/colors';
import type { Activity } from '../../engine/api';
import { useSession } from '../../session/context';
import { ProfileText } from '../../ui/text';
import { activityOf, LEAST_IN_GROUP, partsOf } from '../../view/thread_groups';
import { isCpu, type TrackRow, type TrackSeed, threadHeight } from '../../view/tracks';
import { cpusAt, peakOf } from '../draw_activity';
import { showState } from '../state_hover';
import type { TrackKind } from './kind';
import { ThreadGraph } from './thread';

const MOST_CATEGORIES = 8;

function cpuText(cpus: number): string {
    return cpus > 0 && cpus < 0.05 ? '<0.1' : cpus.toFixed(1);
}

function SumContent({ activity, time, x }: { activity: Activity; time: number; x: number }): JSX.Element {
    const { axisText, info } = useSession();
    const parts = activity.categories
        .map((category, at) => ({ category, cpus: activity.shares[at * activity.width + x] ?? 0 }))
        .filter(({ cpus }) => cpus >= 0.005)
        .sort((a, b) => b.cpus - a.cpus)
        .slice(0, MOST_CATEGORIES);
    return (
        <>
            <div class="sample-head">
                <strong>{axisText.placeText(time)}</strong>
                <span>{`${cpuText(cpusAt(activity, x))} CPUs in use, at most ${cpuText(peakOf(activity))} in view`}</span>
            </div>
            <dl class="marker-fields wide">
                {parts.map(({ category, cpus }) => {
                    const known = info.value.categories[category];
                    return (
                        <div key={category}>
                            <dt>
                                {known && <span class="category-square" style={{ background: categoryColor(known) }} />}{' '}
                                <ProfileText text={known?.name ?? 'Other'} limit={40} />
                            </dt>
                            <dd>{cpuText(cpus)}</dd>
                        </div>
                    );
                })}
            </dl>
        </>
    );
}

/** Shows the activity of the pixel, because a sample belongs to one thread only. */
function showSumTooltip(session: Session, row: TrackRow, time: number, x: number, y: number): void {
    const { key } = row;
    if (showState(session, row, time, x, y)) return;
    const { drawnActivities, tellOf } = session.hover;
    const [from, to] = session.store.committedRange.value;
    const activity = drawnActivities.get(key);
    const pixel = activity
        ? Math.min(activity.width - 1, Math.floor(((time - from) / (to - from)) * activity.width))
        : 0;
    tellOf(x, y, activity ? async () => ({ content: <SumContent activity={activity} time={time} x={pixel} /> }) : null);
}

/** The tracks of threads include the groups. */
export const GROUPS: TrackKind = {
    id: 'group',
    name: 'group',
    seeds: () => [],
    Graph: ThreadGraph,
    showTooltip: showSumTooltip,
};

/** Tracks of processes with many running threads, shown by default if no thread did half of the work. */
export const PROCESS_SUMS: TrackKind = {
    ...GROUPS,
    id: 'sum',
    name: 'process CPU',
    seeds: ({ threads, initialThreads }, seeds) => {
        const shown = new Set(seeds.filter((seed) => !seed.isQuiet).map((seed) => seed.process));
        const processes = partsOf(threads, (thread) => (isCpu(thread) || !(thread.activity > 0) ? '' : thread.pid));
        return [...processes].flatMap(([pid, all]): TrackSeed[] => {
            const [first] = all;
            if (!first || all.length < LEAST_IN_GROUP) return [];
            const activity = activityOf(all);
            const hasOne = all.some((thread) => thread.activity >= activity / 2);
            return [
                {
                    key: `s${first.index}`,
                    kind: 'sum',
                    index: first.index,
                    process: pid,
                    processName: first.processName || first.name || 'Process',
                    below: '',
                    title: 'CPU use',
                    detail: 'all threads',
                    words: 'cpu sum',
                    thread: -1,
                    members: all.map((thread) => thread.index),
                    isLead: false,
                    activity,
                    isQuiet: hasOne || initialThreads.length > 0 || !shown.has(pid),
                    height: threadHeight(all),
                },
            ];
        });
    },
};
