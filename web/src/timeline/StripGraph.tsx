/**
 * A strip of rects of one thread in the timeline, which the page fetches when the strip becomes visible, and for each
 * new range and width.
 */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { pixelRatio } from '../base/canvas';
import { useSession } from '../session/context';
import { GraphError } from '../ui/GraphError';
import { LifeShade } from '../ui/LifeShade';
import { useRequest, useSeen } from '../ui/use';
import type { TrackKey, TrackRow } from '../view/tracks';
import { theme } from '../window/theme';
import { graphWidth } from '../window/windows';

type Range = [number, number];

/** Sizes in px. */
export interface StripSize {
    width: number;
    height: number;
}

interface StripGraphProps<Answer> {
    row: TrackRow;
    /** `pixel` is the duration of a device pixel, ms. */
    ask: (thread: number, range: Range, pixel: number) => Promise<Answer>;
    /** The drawn answers, to which the component adds its answer. */
    drawn: Map<TrackKey, Answer>;
    draw: (canvas: HTMLCanvasElement, answer: Answer, range: Range, size: StripSize) => void;
}

export function StripGraph<Answer>({ row, ask, drawn, draw }: StripGraphProps<Answer>): JSX.Element {
    const { committedRange } = useSession().store;
    const { thread } = row;
    const height = row.height - 1; // without the line below
    const canvas = useRef<HTMLCanvasElement>(null);
    const isSeen = useSeen(canvas);
    const [from, to] = committedRange.value;
    const width = graphWidth.value;
    const colors = theme.value;
    const request = useRequest(
        isSeen && width > 0 ? () => ask(thread, [from, to], (to - from) / (width * pixelRatio())) : null,
        [thread, isSeen, from, to, width],
    );
    const answer = request.value.value;
    useLayoutEffect(() => {
        if (!canvas.current || answer === null) return;
        drawn.set(row.key, answer);
        canvas.current.dataset.theme = colors;
        draw(canvas.current, answer, [from, to], { width, height });
    }, [answer, width, colors]);
    return (
        <div class="track-graph">
            <LifeShade thread={thread} />
            <GraphError sentence={request.error.value} />
            <canvas ref={canvas} class="track-canvas" style={{ height: `${height}px` }} />
        </div>
    );
}
