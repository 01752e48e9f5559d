/** A strip of rects in the timeline, of one thread: asked for once it has been seen, and again for each range and width. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { pixelRatio } from '../draw/canvas';
import { NewestMap } from '../state/newest_map';
import { committedRange, onOtherProfile } from '../state/store';
import { theme } from '../state/theme';
import type { TrackKey, TrackRow } from '../state/tracks';
import { graphWidth } from '../state/windows';
import { LifeShade } from './LifeShade';
import { useNewest, useSeen } from './use';

const MOST_STRIPS = 200;

type Range = [number, number];

/** What is drawn in each track: for the mouse. */
export function cachedStrips<Answer>(): Map<TrackKey, Answer> {
    const strips = new NewestMap<TrackKey, Answer>(MOST_STRIPS);
    onOtherProfile(() => strips.clear());
    return strips;
}

/** px */
export interface StripSize {
    width: number;
    height: number;
}

interface StripGraphProps<Answer> {
    row: TrackRow;
    /** `pixel`: ms of a device pixel. */
    ask: (thread: number, range: Range, pixel: number) => Promise<Answer>;
    strips: Map<TrackKey, Answer>;
    draw: (canvas: HTMLCanvasElement, answer: Answer, range: Range, size: StripSize) => void;
}

export function StripGraph<Answer>({ row, ask, strips, draw }: StripGraphProps<Answer>): JSX.Element {
    const { thread } = row;
    const height = row.height - 1; // the line below
    const canvas = useRef<HTMLCanvasElement>(null);
    const isSeen = useSeen(canvas);
    const [answer, setAnswer] = useState<Answer | null>(null);
    const [from, to] = committedRange.value;
    const width = graphWidth.value;
    const colors = theme.value;
    useNewest(
        isSeen && width > 0 ? () => ask(thread, [from, to], (to - from) / (width * pixelRatio())) : null,
        (newest) => {
            strips.set(row.key, newest);
            setAnswer(newest);
        },
        [thread, isSeen, from, to, width],
    );
    useEffect(() => {
        if (!canvas.current || answer === null) return;
        canvas.current.dataset.theme = colors;
        draw(canvas.current, answer, [from, to], { width, height });
    }, [answer, width, colors]);
    return (
        <div class="track-graph">
            <LifeShade thread={thread} />
            <canvas ref={canvas} class="track-canvas" style={{ height: `${height}px` }} />
        </div>
    );
}
