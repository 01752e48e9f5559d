/** The tooltip of a position in a track: time, category or wait, CPU share, and the stack, leaf first. */
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { categoryColor } from '../base/colors';
import { formatDuration } from '../base/format';
import { type SampleAt, STATE_REASONS } from '../engine/api';
import { useSession } from '../session/context';
import { stateBackground, type ThreadState } from '../session/states';
import { FrameList } from './FrameList';
import { absence } from './LifeShade';
import { StateShares } from './StateShares';
import { ProfileText } from './text';

const MOST_FRAMES = 14;
const NAME_LIMIT = 120;

/** The sample of a thread at a time, with the names and the states for its tooltip. */
export interface ShownSample {
    sample: SampleAt;
    /** The time of each state in ms, if the thread had no recorded wait and did not run, else null. */
    sums: Float64Array | null;
}

export async function fetchSample(session: Session, thread: number, time: number): Promise<ShownSample | null> {
    const { engine } = session;
    const sample = await engine.sampleAt(thread, time, session.tree.query.peek());
    if (!sample) return null;
    await session.names.fetchNames(
        [entryOf(sample), ...leafFirst(sample).slice(0, MOST_FRAMES)].filter((func) => func >= 0),
    );
    const gap = sample.path.length === 0 && session.store.threadInfo(thread)?.hasWaitRows ? sample.notRunning : null;
    return { sample, sums: gap && (await engine.stateSums([thread], gap)) };
}

/** Shows the tooltip of a thread's sample at a time. */
export function showSample(session: Session, thread: number, time: number, x: number, y: number): void {
    session.hover.tellOf(x, y, async () => {
        const shown = await fetchSample(session, thread, time);
        const why = absence(session, thread, time);
        if (shown) return { content: <SampleContent {...shown} /> };
        return why === '' ? null : { content: <p class="muted">{why}</p> };
    });
}

/**
 * Returns the stack of a sample. Removes functions of a runtime from a wait, so that the function of the program that
 * waited follows the object of the wait.
 */
function leafFirst(sample: SampleAt): number[] {
    const frames = [...sample.path].reverse();
    if (sample.runtimeCallers === 0) return frames;
    const [leaf = -1, ...callers] = frames;
    return [leaf, ...callers.slice(sample.runtimeCallers)];
}

/** Returns the function of a runtime that the program called to wait, or -1 if the program itself waited. */
function entryOf({ path, runtimeCallers }: SampleAt): number {
    return runtimeCallers === 0 ? -1 : (path[path.length - 1 - runtimeCallers] ?? -1);
}

interface WaitFactsProps {
    sample: SampleAt;
    known: ThreadState;
    time: [number, number];
}

/** The duration of a recorded wait and its other facts. */
function WaitFacts({ sample: { unseen, waker }, known, time: [from, to] }: WaitFactsProps): JSX.Element {
    const { axisText } = useSession();
    return (
        <>
            <div class="sample-head">
                <span>
                    <span class="category-square" style={{ background: stateBackground(known) }} />
                    <ProfileText text={known.name} limit={40} />
                </span>
                <strong>{`Waited for ${formatDuration(to - from)}`}</strong>
                <span>{`since ${axisText.placeText(from)}`}</span>
            </div>
            {waker !== '' && (
                <p>
                    Ended by <ProfileText text={waker} limit={NAME_LIMIT} />
                </p>
            )}
            {unseen > 0 && <p class="muted">{`Stands for ${formatDuration(unseen)} of short waits before it`}</p>}
        </>
    );
}

/** The facts of a time without individual waits. */
function GapFacts({ sample, sums }: ShownSample): JSX.Element | null {
    const gap = sample.notRunning;
    if (!gap) return null;
    const length = formatDuration(gap[1] - gap[0]);
    if (!sums) return <p class="muted">{`${sample.path.length > 0 ? 'Waited' : 'Not running'} for ${length}`}</p>;
    return (
        <>
            <p class="muted">{`Short waits, and running between them, for ${length}`}</p>
            <StateShares sums={sums} />
        </>
    );
}

/** The time and the category of a sample, and the facts about the time around it. */
function SampleFacts({ sample, sums }: ShownSample): JSX.Element {
    const { axisText, info } = useSession();
    const category = info.value.categories[sample.category];
    return (
        <>
            <div class="sample-head">
                <strong>{axisText.placeText(sample.time)}</strong>
                {category && sample.path.length > 0 && (
                    <span>
                        <span class="category-square" style={{ background: categoryColor(category) }} />
                        <ProfileText text={category.name} limit={40} />
                    </span>
                )}
                {sample.cpu !== null && <span>{Math.round(sample.cpu)}% CPU</span>}
            </div>
            <GapFacts sample={sample} sums={sums} />
        </>
    );
}

export function SampleContent({ sample, sums }: ShownSample): JSX.Element {
    const { names, states } = useSession();
    const { notRunning, reason } = sample;
    const known = reason < 0 ? undefined : states.threadStates.value[STATE_REASONS + reason];
    const entry = entryOf(sample);
    return (
        <>
            {known && notRunning ? (
                <WaitFacts sample={sample} known={known} time={notRunning} />
            ) : (
                <SampleFacts sample={sample} sums={sums} />
            )}
            {sample.path.length === 0 && !notRunning && (
                <p class="muted">
                    {sample.dropped ? 'Call tree transforms drop this sample.' : 'No stack was recorded here.'}
                </p>
            )}
            {entry >= 0 && (
                <p class="muted">
                    via <ProfileText text={names.nameOf(entry)} limit={NAME_LIMIT} />
                </p>
            )}
            <FrameList frames={leafFirst(sample)} most={MOST_FRAMES} nameLimit={NAME_LIMIT} />
        </>
    );
}
