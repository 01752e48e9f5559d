/** A strip of boxes in the timeline, of one thread: asked for once it has been seen, and again for each range and width. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { pixelRatio } from '../draw/canvas';
import { STRIP_HEIGHT } from '../state/more_tracks';
import { NewestMap } from '../state/newest_map';
import { committedRange, onOtherProfile } from '../state/store';
import { theme } from '../state/theme';
import { graphWidth } from '../state/windows';
import { LifeShade } from './LifeShade';
import { useNewest, useSeen } from './use';

/** px, without the line below. */
export const STRIP_GRAPH_HEIGHT = STRIP_HEIGHT - 1;
const MOST_STRIPS = 200;

type Range = [number, number];

/** What is drawn in each track, by thread: for the mouse. */
export function keptStrips<Answer>(): Map<number, Answer> {
    const strips = new NewestMap<number, Answer>(MOST_STRIPS);
    onOtherProfile(() => strips.clear());
    return strips;
}

interface StripGraphProps<Answer> {
    thread: number;
    /** `pixel`: ms of a device pixel. */
    ask: (thread: number, range: Range, pixel: number) => Promise<Answer>;
    strips: Map<number, Answer>;
    draw: (canvas: HTMLCanvasElement, answer: Answer, range: Range, width: number) => void;
}

export function StripGraph<Answer>({ thread, ask, strips, draw }: StripGraphProps<Answer>): JSX.Element {
    const canvas = useRef<HTMLCanvasElement>(null);
    const isSeen = useSeen(canvas);
    const [answer, setAnswer] = useState<Answer | null>(null);
    const [from, to] = committedRange.value;
    const width = graphWidth.value;
    const colors = theme.value;
    useNewest(
        isSeen && width > 0 ? () => ask(thread, [from, to], (to - from) / (width * pixelRatio())) : null,
        (newest) => {
            strips.set(thread, newest);
            setAnswer(newest);
        },
        [thread, isSeen, from, to, width],
    );
    useEffect(() => {
        if (!canvas.current || answer === null) return;
        canvas.current.dataset.theme = colors;
        draw(canvas.current, answer, [from, to], width);
    }, [answer, width, colors]);
    return (
        <div class="track-graph">
            <LifeShade thread={thread} />
            <canvas ref={canvas} class="track-canvas" style={{ height: `${STRIP_GRAPH_HEIGHT}px` }} />
        </div>
    );
}
