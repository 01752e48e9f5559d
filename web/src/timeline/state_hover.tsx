/** The states under the mouse in a lane: the shares of the pixel, and of a single thread the wait there. */
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { STATE_REASONS } from '../engine/api';
import { useSession } from '../session/context';
import { fetchSample, SampleContent, type ShownSample } from '../ui/SampleTooltip';
import { StateShares } from '../ui/StateShares';
import { LANE_HEIGHT, type TrackKey, type TrackRow } from '../view/tracks';
import { type Lane, stateAtHeight } from './draw_states';

/** A place in the lane of a track. */
export interface LanePlace {
    /** The state there; -1: none. */
    state: number;
    /** ms: the time of the pixel. */
    range: [number, number];
    /** ms by state, of all threads of the lane. */
    sums: number[];
    threads: number;
}

function placeIn(lane: Lane, time: number, height: number): LanePlace {
    const [from, to] = lane.range;
    const pixel = (to - from) / lane.width;
    const x = Math.max(0, Math.min(lane.width - 1, Math.floor((time - from) / pixel)));
    const sums: number[] = [];
    for (const { state, shares } of lane.states) sums[state] = (shares[x] ?? 0) * pixel;
    return {
        state: stateAtHeight(lane, x, height),
        range: [from + x * pixel, from + (x + 1) * pixel],
        sums: Array.from(sums, (ms) => ms ?? 0),
        threads: lane.threads,
    };
}

/** The place in the lane of a track at a time and a height of the window; null: not in a lane. */
export function laneAt(session: Session, key: TrackKey, time: number, y: number): LanePlace | null {
    const lane = session.stateLanes.lanes.value?.get(key);
    const box = lane && document.querySelector(`[data-track="${key}"] .state-lane`)?.getBoundingClientRect();
    if (!lane || !box || y < box.top || y > box.top + LANE_HEIGHT) return null;
    return placeIn(lane, time, (box.bottom - y) / LANE_HEIGHT);
}

/** The time of what a place of a lane shows of a thread: of the wait in this state that has the most of the pixel. */
export async function timeInLane(session: Session, thread: number, time: number, place: LanePlace): Promise<number> {
    if (place.state < STATE_REASONS) return time;
    return (await session.engine.longestWait(thread, place.state, place.range)) ?? time;
}

function LaneContent({ shown, place }: { shown: ShownSample | null; place: LanePlace }): JSX.Element {
    const { axisText } = useSession();
    const isMixed = place.sums.filter((ms) => ms > 0).length > 1;
    const [from, to] = place.range;
    return (
        <>
            {shown && <SampleContent {...shown} />}
            {(isMixed || !shown) && (
                <>
                    <p class="muted">{`In the ${axisText.lengthText(to - from)} of this pixel`}</p>
                    <StateShares sums={place.sums} />
                </>
            )}
        </>
    );
}

/** Tells of a place in a lane; false: there is no lane. */
export function showState(session: Session, row: TrackRow, time: number, x: number, y: number): boolean {
    const place = laneAt(session, row.key, time, y);
    if (!place || place.sums.every((ms) => ms === 0)) return false;
    session.hover.tellOf(x, y, async () => {
        const isOne = row.thread >= 0;
        const shown = isOne
            ? await fetchSample(session, row.thread, await timeInLane(session, row.thread, time, place))
            : null;
        return { content: <LaneContent shown={shown} place={place} /> };
    });
    return true;
}
