/**
 * The lane below the activity of a thread, which shows whether the thread ran, or why it waited; and the legend of all
 * lanes.
 */
import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { styleColor } from '../base/canvas';
import { useSession } from '../session/context';
import { stateBackground } from '../session/states';
import { GraphError } from '../ui/GraphError';
import { ProfileText } from '../ui/text';
import { LANE_HEIGHT, type TrackKey } from '../view/tracks';
import { theme } from '../window/theme';
import { graphWidth } from '../window/windows';
import { drawLane, type Lane, pixelColor, type StateColors } from './draw_states';

/**
 * Draws a lane on a canvas whenever the lane, the width or the theme changes. `looksOf` returns the colors of a state.
 */
export function useLaneDrawing(
    canvas: RefObject<HTMLCanvasElement | null>,
    lane: Lane | null | undefined,
    height: number,
    looksOf: (state: number) => StateColors,
): void {
    const width = graphWidth.value;
    const colors = theme.value;
    useLayoutEffect(() => {
        if (!canvas.current || !lane) return;
        canvas.current.dataset.theme = colors;
        const looks = lane.states.map(({ state }) => looksOf(state));
        drawLane(canvas.current, lane, looks, width, height);
    }, [lane, width, colors]);
}

export function StateLane({ trackKey, threads }: { trackKey: TrackKey; threads: readonly number[] }): JSX.Element {
    const { stateLanes, states } = useSession();
    const canvas = useRef<HTMLCanvasElement>(null);
    useEffect(() => stateLanes.showLane(trackKey, threads), [trackKey, threads.join()]);
    useLaneDrawing(canvas, stateLanes.lanes.value?.get(trackKey), LANE_HEIGHT, (state) => {
        const known = states.threadStates.value[state];
        const color = pixelColor(styleColor(known?.color ?? 'state-other'));
        return { color, stripe: known?.isUnseen ? pixelColor(styleColor('state-stripe')) : color };
    });
    return (
        <>
            <GraphError sentence={stateLanes.laneError.value} />
            <canvas ref={canvas} class="track-canvas state-lane" style={{ height: `${LANE_HEIGHT}px` }} />
        </>
    );
}

/** The states in the visible lanes. */
export function StateLegend(): JSX.Element | null {
    const { info, stateLanes, states } = useSession();
    const seen = new Set(
        [...(stateLanes.lanes.value?.values() ?? [])].flatMap((lane) => lane.states.map(({ state }) => state)),
    );
    const shown = states.threadStates.value.filter(({ state }) => seen.has(state)).sort((a, b) => a.rank - b.rank);
    // The legend takes its height before the first lane, so that it never covers a track to which the user has
    // scrolled.
    if (!info.value.threads.some((thread) => thread.hasWaitRows)) return null;
    return (
        <ul class="state-legend" aria-label="States of threads">
            {shown.map((known) => (
                <li key={known.state}>
                    <span class="category-square" style={{ background: stateBackground(known) }} />
                    <ProfileText text={known.name} limit={30} />
                </li>
            ))}
        </ul>
    );
}
