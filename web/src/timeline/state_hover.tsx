/** The states under the mouse in a lane: the shares of the pixel, and for a single thread, the wait. */
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { STATE_REASONS } from '../engine/api';
import { useSession } from '../session/context';
import { fetchSample, SampleContent, type ShownSample } from '../ui/SampleTooltip';
import { StateShares } from '../ui/StateShares';
import { LANE_HEIGHT, type TrackKey, type TrackRow } from '../view/tracks';
import { type Lane, stateAtHeight } from './draw_states';

/** A position in the lane of a track. */
export interface LanePlace {
    /** The state at this position, or -1. */
    state: number;
    /** The range of the pixel, ms. */
    range: [number, number];
    /** The time of each state in ms, for all threads of the lane. */
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

/** Returns the position in the lane of a track from a time and a height in the window, or null outside of lanes. */
export function laneAt(session: Session, key: TrackKey, time: number, y: number): LanePlace | null {
    const lane = session.stateLanes.lanes.value?.get(key);
    const box = lane && document.querySelector(`[data-track="${key}"] .state-lane`)?.getBoundingClientRect();
    if (!lane || !box || y < box.top || y > box.top + LANE_HEIGHT) return null;
    return placeIn(lane, time, (box.bottom - y) / LANE_HEIGHT);
}

/**
 * Returns the time at which a thread's wait has the largest part of the pixel, among waits in the state at a position.
 */
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

/** Shows the tooltip of a position in a lane. Returns false without a lane. */
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
