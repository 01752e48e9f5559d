/**
 * The horizontal axis of a chart, which the user moves and zooms; and the axis of time, on which zooming selects a
 * range.
 */

import type { SessionBase } from './session_base';
import type { StorePart } from './store';

export type Span = [number, number];

/** The range along a chart in any unit: time, or parts of a whole. */
export interface Axis {
    shown(): Span;
    /** Returns the longest range that the chart can show, and the minimum length. */
    limits(): Span;
    shortest(): number;
    show(span: Span): void;
}

/** Moves `span` into `limits`, and shortens it if necessary. */
function clampSpan(span: Span, limits: Span): Span {
    const length = Math.min(span[1] - span[0], limits[1] - limits[0]);
    const start = Math.min(Math.max(span[0], limits[0]), limits[1] - length);
    return [start, start + length];
}

/** Makes the shown range `factor` times as long, and keeps the position of `at`. */
export function zoomAxis(axis: Axis, at: number, factor: number): void {
    const [from, to] = axis.shown();
    const limits = axis.limits();
    const length = Math.min(Math.max((to - from) * factor, axis.shortest()), limits[1] - limits[0]);
    const used = length / (to - from);
    const zoomed: Span = [at - (at - from) * used, at + (to - at) * used];
    axis.show(clampSpan(zoomed, limits));
}

/** Moves the shown range by an amount in the unit of the axis. */
export function panAxis(axis: Axis, by: number): void {
    const [from, to] = axis.shown();
    const moved = clampSpan([from + by, to + by], axis.limits());
    if (moved[0] !== from) axis.show(moved);
}

/** The shortest range in ms that a profile without an interval can show. */
const SHORTEST = 0.001;
/** A range of this part of the whole or more counts as the whole. */
const WHOLE = 0.9999;

export function createAxis(session: SessionBase & { store: StorePart }) {
    const { info } = session;
    const { committedRange, moveRange, outerRange, previewRange, setPreview } = session.store;

    /**
     * Returns the range of charts over time, ms: the range that the user selected in the timeline, else the timeline's
     * range.
     */
    function shownRange(): Span {
        return previewRange.value ?? committedRange.value;
    }

    /** The axis of charts over time, on which zooming selects a range of the timeline. */
    const previewAxis: Axis = {
        shown: shownRange,
        limits: () => committedRange.value,
        shortest: () => Math.max(info.value.interval, SHORTEST),
        show(range) {
            const [from, to] = committedRange.value;
            setPreview(range[1] - range[0] >= (to - from) * WHOLE ? null : range);
        },
    };

    /** The axis of the timeline, on which zooming zooms into a range. */
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
