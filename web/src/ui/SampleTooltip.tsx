/** What the mouse is over in a track: time, category, CPU share and the stack, its leaf first. */
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { categoryColor } from '../base/colors';
import { formatDuration } from '../base/format';
import type { SampleAt } from '../engine/api';
import { useSession } from '../session/context';
import { FrameList } from './FrameList';
import { absence } from './LifeShade';
import { ProfileText } from './text';

const MOST_FRAMES = 14;
const NAME_LIMIT = 120;

/** Tells of the sample of a thread at a time. */
export function showSample(session: Session, thread: number, time: number, x: number, y: number): void {
    const { engine } = session;
    const { tellOf } = session.hover;
    const { fetchNames } = session.names;
    tellOf(x, y, async () => {
        const sample = await engine.sampleAt(thread, time, session.tree.query.peek());
        if (sample) await fetchNames(leafFirst(sample).slice(0, MOST_FRAMES));
        const why = absence(session, thread, time);
        if (sample) return { content: <SampleContent sample={sample} /> };
        return why === '' ? null : { content: <p class="muted">{why}</p> };
    });
}

function leafFirst(sample: SampleAt): number[] {
    return [...sample.path].reverse();
}

function SampleContent({ sample }: { sample: SampleAt }): JSX.Element {
    const session = useSession();
    const { info } = session;
    const frames = leafFirst(sample);
    const category = info.value.categories[sample.category];
    return (
        <>
            <div class="sample-head">
                <strong>{session.axisText.placeText(sample.time)}</strong>
                {category && frames.length > 0 && (
                    <span>
                        <span class="category-square" style={{ background: categoryColor(category) }} />
                        <ProfileText text={category.name} limit={40} />
                    </span>
                )}
                {sample.cpu !== null && <span>{Math.round(sample.cpu)}% CPU</span>}
            </div>
            {sample.notRunning && (
                <p class="muted">
                    {frames.length > 0 ? 'Waited' : 'Not running'} for{' '}
                    {formatDuration(sample.notRunning[1] - sample.notRunning[0])}
                </p>
            )}
            {frames.length === 0 && !sample.notRunning && (
                <p class="muted">
                    {sample.dropped ? 'Call tree transforms drop this sample.' : 'No stack was recorded here.'}
                </p>
            )}
            <FrameList frames={frames} most={MOST_FRAMES} nameLimit={NAME_LIMIT} />
        </>
    );
}
