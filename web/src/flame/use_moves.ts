/** Draws a chart, and moves its rects from their previous positions when a new answer arrives. */
import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { type Band, drawRects, type Frame } from './draw_rects';
import { formerSides, type Sides, sidesBetween } from './rect_moves';

/** The duration of the animation, ms. */
const DURATION = 120;

interface Move {
    former: Sides;
    since: number;
}

/** Returns the previous sides of the rects of a frame with one band, or null without rects to move. */
function moveFrom(before: Frame | null, frame: Frame): Sides | null {
    const [old] = before?.bands ?? [];
    const [band] = frame.bands;
    if (!before || !old || !band || old.rects === band.rects || before.canvasWidth !== frame.canvasWidth) return null;
    if (window.matchMedia('(prefers-reduced-motion: reduce)').matches) return null;
    const axisPerShare = ({ span }: Band): number => span[1] - span[0];
    const axisPerPixel = ({ shown, width }: Frame): number => (shown[1] - shown[0]) / width;
    const place = (share: number): number => {
        const pixel = (old.span[0] + share * axisPerShare(old) - before.shown[0]) / axisPerPixel(before);
        return (frame.shown[0] + pixel * axisPerPixel(frame) - band.span[0]) / axisPerShare(band);
    };
    const least = axisPerPixel(frame) / axisPerShare(band);
    return formerSides(old.rects, band.rects, { place, byFunc: before.fromBottom !== frame.fromBottom, least });
}

/** Draws the frame after each render. `moves` enables the animation from one answer to the next. */
export function useMovingRects(canvas: RefObject<HTMLCanvasElement | null>, frame: Frame, moves: boolean): void {
    const before = useRef<Frame | null>(null);
    const move = useRef<Move | null>(null);
    const next = useRef(0);
    const draw = (): void => {
        const [band] = frame.bands;
        const progress = move.current ? Math.min(1, (performance.now() - move.current.since) / DURATION) : 1;
        if (!canvas.current || frame.canvasWidth <= 0) return;
        if (!band || !move.current || progress === 1) {
            move.current = null;
            drawRects(canvas.current, frame);
            return;
        }
        // The animation is slower at the end, so that the eye can follow.
        const sides = sidesBetween(move.current.former, band.rects, 1 - (1 - progress) ** 3);
        drawRects(canvas.current, { ...frame, bands: [{ ...band, rects: { ...band.rects, ...sides } }] });
        next.current = requestAnimationFrame(draw);
    };
    useLayoutEffect(() => {
        if (moves && frame.bands[0]?.rects !== before.current?.bands[0]?.rects) {
            const former = moveFrom(before.current, frame);
            move.current = former && { former, since: performance.now() };
        }
        before.current = frame;
        cancelAnimationFrame(next.current);
        draw();
    });
    useEffect(() => () => cancelAnimationFrame(next.current), []);
}
