/**
 * The upper part of the page: a ruler and one track per thread. Dragging selects a range. A click selects the thread,
 * and the call node of the sample under the mouse. All tracks show the time under the mouse.
 */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Session } from '../app/session';
import { startDrag } from '../base/drag';
import { formatCount, formatShare } from '../base/format';
import { tickStep } from '../base/tick_step';
import { useSession } from '../session/context';
import { useChartNavigation } from '../ui/chart_navigation';
import { ChevronIcon } from '../ui/icons';
import { timelineHeight } from '../window/settings';
import { act, graphWidth, isTrackListOpen } from '../window/windows';
import { RangeBand, RangeEdges, RangeLabel, RangeShade } from './RangeSelection';
import { StateLegend } from './StateLane';
import { laneAt } from './state_hover';
import { chooseRow } from './Track';
import { TrackList } from './TrackList';
import { ticks } from './ticks';
import { hideTime, selectInTrack, selectSample, showTime } from './track_hover';

/** The minimum distance of ticks, px. */
const TICK_GAP = { ms: 88, samples: 132 };
const LABEL_PADDING = 8;
const DIGIT_WIDTH = 6.5;
const DRAG_THRESHOLD = 3;

/** Returns the time at a position of the window, limited to the shown range. */
function timeAt(session: Session, clientX: number, graph: DOMRect): number {
    const { committedRange } = session.store;
    const [from, to] = committedRange.value;
    const share = Math.min(1, Math.max(0, (clientX - graph.left) / Math.max(1, graph.width)));
    return from + share * (to - from);
}

function labelWidth(label: string): number {
    return LABEL_PADDING + DIGIT_WIDTH * label.length;
}

function threadOf(target: EventTarget | null): number {
    const track = target instanceof Element ? target.closest<HTMLElement>('[data-thread]') : null;
    return track ? Number(track.dataset.thread) : -1;
}

function Ruler(): JSX.Element {
    const session = useSession();
    const { committedRange, fullRange, setPreview, view } = session.store;
    const [from, to] = committedRange.value;
    const width = graphWidth.value;
    const zero = fullRange.value[0];
    const { unit } = session.axisText;
    const tickGap = TICK_GAP[unit.value];
    const gap = (tickStep(to - from, width, tickGap) / (to - from)) * width;
    const onKeyDown = (event: KeyboardEvent): void => {
        if (event.key !== 'Enter' || event.target !== event.currentTarget) return;
        if (!view.value.preview) setPreview([from + (to - from) / 4, to - (to - from) / 4]);
        event.preventDefault();
        requestAnimationFrame(() => document.querySelector<HTMLElement>('.range-edge')?.focus());
    };
    return (
        <div
            class="ruler"
            role="group"
            aria-label="Time ruler: Enter selects a range"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: the ruler is where a range is chosen by keyboard
            tabIndex={0}
            onKeyDown={onKeyDown}
        >
            <RangeBand />
            {ticks(from, to, zero, width, tickGap, unit.value).map((tick) => {
                const x = ((tick.time - from) / (to - from)) * width;
                // A label without room at the right of its mark goes to the left, if the previous label leaves room
                // there.
                const room = labelWidth(tick.label);
                const isLast = x > width - room;
                const isBefore = isLast && gap > 2 * room;
                return (
                    <span key={tick.label} class={isBefore ? 'tick before' : 'tick'} style={{ left: `${x}px` }}>
                        {isLast && !isBefore ? '' : tick.label}
                    </span>
                );
            })}
            <RangeLabel />
        </div>
    );
}

function GridLines(): JSX.Element {
    const session = useSession();
    const { unit } = session.axisText;
    const { committedRange, fullRange } = session.store;
    const [from, to] = committedRange.value;
    const width = graphWidth.value;
    return (
        <>
            {ticks(from, to, fullRange.value[0], width, TICK_GAP[unit.value], unit.value).map((tick) => (
                <div
                    key={tick.label}
                    class="grid-line"
                    style={{ left: `${((tick.time - from) / (to - from)) * width}px` }}
                />
            ))}
        </>
    );
}

function HoverLine(): JSX.Element | null {
    const session = useSession();
    const { hoverTime } = session.hover;
    const { committedRange } = session.store;
    const time = hoverTime.value;
    if (time === null) return null;
    const [from, to] = committedRange.value;
    const x = ((time - from) / (to - from)) * graphWidth.value;
    return <div class="hover-line" style={{ transform: `translateX(${x}px)` }} />;
}

function TrackCorner(): JSX.Element {
    const { tracks } = useSession().store;
    const { count, total } = tracks.value;
    return (
        <div class="track-corner">
            <button
                type="button"
                class="button quiet track-count"
                aria-haspopup="dialog"
                aria-expanded={isTrackListOpen.value}
                title="Search, show and hide tracks (T)"
                onClick={() => {
                    isTrackListOpen.value = !isTrackListOpen.value;
                }}
            >
                {`${formatCount(count)} / ${formatCount(total)} ${total === 1 ? 'track' : 'tracks'}`}
                <ChevronIcon />
            </button>
        </div>
    );
}

function MoreTracks(): JSX.Element | null {
    const session = useSession();
    const { tracks } = session.store;
    const { show } = session.trackActions;
    const { hasOnlyThreads, quiet, quietShare } = tracks.value;
    if (quiet.length === 0) return null;
    const kind = hasOnlyThreads ? 'thread' : 'track';
    return (
        <div class="more-tracks">
            <button type="button" class="link" onClick={() => show(quiet)}>
                {`Show ${formatCount(quiet.length)} less busy ${kind}${quiet.length === 1 ? '' : 's'}`}
            </button>
            {quietShare > 0 && <span class="muted">{` (${formatShare(quietShare, 1)} of the CPU time)`}</span>}
        </div>
    );
}

/** Handles dragging, clicking and hovering over the graphs. */
function usePointer(graph: { current: HTMLElement | null }): {
    onPointerDown(event: PointerEvent): void;
    onPointerMove(event: PointerEvent): void;
    onPointerLeave(): void;
} {
    const session = useSession();
    const { endHover } = session.hover;
    const { chooseThread, setPreview, tracks, view } = session.store;
    const onPointerDown = (event: PointerEvent): void => {
        const target = event.target as Element;
        const bounds = graph.current?.getBoundingClientRect();
        if (event.button !== 0 || !bounds || target.closest('button, .track-label, .range-edge, .range-band')) return;
        if (event.clientX < bounds.left || event.clientX > bounds.right) return;
        const thread = threadOf(target);
        const track = target.closest<HTMLElement>('[data-track]')?.dataset.track;
        const start = timeAt(session, event.clientX, bounds);
        const mode = event.ctrlKey || event.metaKey ? 'toggle' : event.shiftKey ? 'extend' : 'only';
        startDrag(event, {
            threshold: DRAG_THRESHOLD,
            along: 'x',
            onMove(move) {
                endHover();
                setPreview([start, timeAt(session, move.clientX, bounds)]);
            },
            onDrop(isDragged) {
                if (isDragged) return;
                const preview = view.value.preview;
                if (preview && (start < preview[0] || start > preview[1])) setPreview(null);
                if (thread < 0) {
                    const row = tracks.value.rows.find((shown) => shown.key === track);
                    if (row) act(selectInTrack(session, row, start, mode));
                    if (row && row.members.length > 0 && row.kind !== 'process') chooseRow(session, row, mode);
                    return;
                }
                chooseThread(thread, mode);
                const place = track ? laneAt(session, track, start, event.clientY) : null;
                if (mode === 'only') act(selectSample(session, thread, start, place));
            },
        });
    };
    const onPointerMove = (event: PointerEvent): void => {
        const bounds = graph.current?.getBoundingClientRect();
        if (!bounds || event.clientX < bounds.left || event.clientX > bounds.right) {
            hideTime(session);
            return;
        }
        const target = event.target as Element;
        const isQuiet = event.buttons !== 0 || target.closest('button, .track-label') !== null;
        const track = isQuiet ? '' : (target.closest<HTMLElement>('[data-track]')?.dataset.track ?? '');
        showTime(session, timeAt(session, event.clientX, bounds), track, event.clientX, event.clientY);
    };
    return { onPointerDown, onPointerMove, onPointerLeave: () => hideTime(session) };
}

type Listeners = Record<string, (event: never) => void>;

/** Handles the mouse and the keys of the timeline: selecting, and moving as in all charts. */
function useListeners(root: { current: HTMLElement | null }, graph: { current: HTMLElement | null }): Listeners {
    const session = useSession();
    const { committedAxis } = session.axis;
    const { endHover } = session.hover;
    const pointer = usePointer(graph);
    const moving = useChartNavigation(root, {
        axis: committedAxis,
        plot: () => graph.current?.getBoundingClientRect() ?? { left: 0, width: 0 },
        hasWasd: true,
    });
    return {
        onPointerDown: pointer.onPointerDown,
        onPointerMove: (event: PointerEvent) => {
            moving.onPointerMove(event);
            pointer.onPointerMove(event);
        },
        onPointerLeave: () => {
            moving.onPointerLeave();
            pointer.onPointerLeave();
        },
        onWheel: (event: WheelEvent) => {
            moving.onWheel(event);
            if (event.defaultPrevented) endHover();
        },
        onKeyDown: (event: KeyboardEvent) => {
            if (moving.onKeyDown(event)) event.preventDefault();
        },
        onKeyUp: moving.onKeyUp,
        onFocusOut: moving.onBlur,
    };
}

export function Timeline(): JSX.Element {
    const root = useRef<HTMLElement>(null);
    const graph = useRef<HTMLDivElement>(null);
    const listeners = useListeners(root, graph);
    useLayoutEffect(() => {
        const target = graph.current;
        if (!target) return;
        const measure = (): void => {
            graphWidth.value = target.clientWidth;
        };
        measure();
        const observer = new ResizeObserver(measure);
        observer.observe(target);
        return () => observer.disconnect();
    }, []);
    const height = timelineHeight.value;
    return (
        <section
            ref={root}
            class={height === null ? 'timeline auto' : 'timeline'}
            aria-label="Timeline"
            style={{ height: height === null ? '' : `${height}px` }}
        >
            <div class="timeline-content" {...listeners}>
                <div class="timeline-head">
                    <TrackCorner />
                    <Ruler />
                </div>
                <div class="graph-layer" ref={graph}>
                    <GridLines />
                </div>
                <TrackList root={root} />
                <MoreTracks />
                <StateLegend />
                <div class="graph-layer above">
                    <RangeShade />
                    <HoverLine />
                    <RangeEdges />
                </div>
            </div>
        </section>
    );
}
