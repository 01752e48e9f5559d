/** The lifetime of a thread. All tracks of the thread have a hatching before its start and after its end. */
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { useSession } from '../session/context';
import { graphWidth } from '../window/windows';

/** Says why a thread has no data at a time, or returns '' within its lifetime. */
export function absence(session: Session, index: number, time: number): string {
    const { threadInfo } = session.store;
    const thread = threadInfo(index);
    if (thread && thread.start !== null && time < thread.start)
        return `Not started yet (starts at ${session.axisText.placeText(thread.start)}).`;
    if (thread && thread.end !== null && time > thread.end)
        return `Ended at ${session.axisText.placeText(thread.end)}.`;
    return '';
}

/** Describes the lifetime for a label, or returns '' for a thread that existed during the whole recording. */
export function lifeText(session: Session, index: number): string {
    const { fullRange, threadInfo } = session.store;
    const thread = threadInfo(index);
    const [from, to] = fullRange.value;
    const words: string[] = [];
    if (thread && thread.start !== null && thread.start > from)
        words.push(`started at ${session.axisText.placeText(thread.start)}`);
    if (thread && thread.end !== null && thread.end < to)
        words.push(`ended at ${session.axisText.placeText(thread.end)}`);
    return words.join(', ');
}

export function LifeShade({ thread: index }: { thread: number }): JSX.Element | null {
    const { committedRange, threadInfo } = useSession().store;
    const thread = threadInfo(index);
    if (!thread) return null;
    const [from, to] = committedRange.value;
    const width = graphWidth.value;
    const place = (time: number | null, other: number): number =>
        time === null ? other : Math.max(0, Math.min(width, ((time - from) / (to - from)) * width));
    const start = place(thread.start, 0);
    const end = place(thread.end, width);
    return (
        <>
            {start > 0 && <div class="not-there" style={{ left: 0, width: `${start}px` }} />}
            {end < width && <div class="not-there" style={{ left: `${end}px`, width: `${width - end}px` }} />}
        </>
    );
}
