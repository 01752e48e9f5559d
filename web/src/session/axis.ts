/** The horizontal axis of a chart, with moving and zooming; and the axis of time, on which zooming selects a range. */

import type { SessionBase } from './session_base';
import type { StorePart } from './store';

export type Span = [number, number];

/** What lies across a chart, in any unit: time, or parts of a whole. */
export interface Axis {
    shown(): Span;
    /** What may be shown at most, and how little of it. */
    limits(): Span;
    shortest(): number;
    show(span: Span): void;
}

/** `span` inside of `limits`, with its length as far as there is room. */
function clampSpan(span: Span, limits: Span): Span {
    const length = Math.min(span[1] - span[0], limits[1] - limits[0]);
    const start = Math.min(Math.max(span[0], limits[0]), limits[1] - length);
    return [start, start + length];
}

/** Shows `factor` times as much; `at`, a place of the axis, stays where it is. */
export function zoomAxis(axis: Axis, at: number, factor: number): void {
    const [from, to] = axis.shown();
    const limits = axis.limits();
    const length = Math.min(Math.max((to - from) * factor, axis.shortest()), limits[1] - limits[0]);
    const used = length / (to - from);
    const zoomed: Span = [at - (at - from) * used, at + (to - at) * used];
    axis.show(clampSpan(zoomed, limits));
}

/** Moves along, in the axis's unit. */
export function panAxis(axis: Axis, by: number): void {
    const [from, to] = axis.shown();
    const moved = clampSpan([from + by, to + by], axis.limits());
    if (moved[0] !== from) axis.show(moved);
}

/** ms; what a profile without an interval can be zoomed into. */
const SHORTEST = 0.001;
/** A range as long as this part of all is all. */
const WHOLE = 0.9999;

export function createAxis(session: SessionBase & { store: StorePart }) {
    const { info } = session;
    const { committedRange, moveRange, outerRange, previewRange, setPreview } = session.store;

    /** What charts over time show, ms: the range that is chosen in the timeline, else all of the timeline. */
    function shownRange(): Span {
        return previewRange.value ?? committedRange.value;
    }

    /** For charts over time: what is shown is what is chosen, as in the timeline. */
    const previewAxis: Axis = {
        shown: shownRange,
        limits: () => committedRange.value,
        shortest: () => Math.max(info.value.interval, SHORTEST),
        show(range) {
            const [from, to] = committedRange.value;
            setPreview(range[1] - range[0] >= (to - from) * WHOLE ? null : range);
        },
    };

    /** For the timeline itself: what is shown is what was zoomed into. */
    const committedAxis: Axis = {
        shown: () => committedRange.value,
        limits: outerRange,
        shortest: () => SHORTEST,
        show: moveRange,
    };

    return {
        shownRange,
        previewAxis,
        committedAxis,
    };
}

export type AxisPart = ReturnType<typeof createAxis>;
