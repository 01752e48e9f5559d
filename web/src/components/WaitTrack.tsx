/** The strip that shows when a thread ran, and when and why it waited. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { pixelRatio } from '../draw/boxes';
import { type MarkerDetails, WAIT_STATES, type Waits, type WaitState } from '../engine/markers';
import { STRIP_HEIGHT } from '../state/more_tracks';
import { committedRange, engine, fullRange, onOtherProfile } from '../state/store';
import { theme } from '../state/theme';
import type { TrackRow } from '../state/tracks';
import { graphWidth, tooltip } from '../state/windows';
import { formatDuration, formatShare } from '../text/format';
import { LifeShade } from './LifeShade';
import { ProfileText } from './text';
import { useNewest, useSeen } from './use';

const HEIGHT = STRIP_HEIGHT - 1;
const MARGIN = 4;
const LEAST_WIDTH = 1;
const MOST_STRIPS = 200;

/** Colours of the categories: none has a meaning of its own here. */
const COLORS: Record<WaitState, string> = {
    runs: '--category-green',
    preempted: '--category-orange',
    blocked: '--line-strong',
    other: '--line',
};

const NAMES: Record<WaitState, string> = {
    runs: 'On a CPU',
    preempted: 'Ready, but another thread had the CPU',
    blocked: 'Blocked: it waited for something',
    other: 'Off the CPU; why is not known',
};

const SHORT_NAMES: Record<WaitState, string> = {
    runs: 'on a CPU',
    preempted: 'ready',
    blocked: 'blocked',
    other: 'off the CPU',
};

/** What is drawn in each track, for the mouse. */
const strips = new Map<number, Waits>();

onOtherProfile(() => strips.clear());

function stateOf(waits: Waits, box: number): WaitState {
    return WAIT_STATES[waits.boxes.row[box] ?? 0] ?? 'other';
}

function drawWaits(canvas: HTMLCanvasElement, waits: Waits, range: [number, number], width: number): void {
    const context = canvas.getContext('2d');
    if (!context) return;
    const ratio = pixelRatio();
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(HEIGHT * ratio));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(document.documentElement);
    const scale = width / (range[1] - range[0]);
    const { boxes } = waits;
    for (let i = 0; i < boxes.row.length; i++) {
        const state = stateOf(waits, i);
        // What reaches far out of the picture is cut at its edges.
        const x = Math.max(-LEAST_WIDTH, ((boxes.start[i] ?? 0) - range[0]) * scale);
        const length = Math.max(LEAST_WIDTH, Math.min(width, ((boxes.end[i] ?? 0) - range[0]) * scale) - x);
        context.fillStyle = style.getPropertyValue(COLORS[state]).trim();
        // Running is high, waiting low: the two are told apart without colours.
        const top = state === 'runs' ? MARGIN : HEIGHT / 2;
        context.fillRect(x, top, length, HEIGHT - MARGIN - top);
    }
}

export function WaitStrip({ row: { thread } }: { row: TrackRow }): JSX.Element {
    const canvas = useRef<HTMLCanvasElement>(null);
    const isSeen = useSeen(canvas);
    const [waits, setWaits] = useState<Waits | null>(null);
    const [from, to] = committedRange.value;
    const width = graphWidth.value;
    const colors = theme.value;
    useNewest(
        isSeen && width > 0 ? () => engine.waits(thread, [from, to], (to - from) / (width * pixelRatio())) : null,
        (answer) => {
            strips.set(thread, answer);
            const [oldest] = strips.keys();
            if (strips.size > MOST_STRIPS && oldest !== undefined) strips.delete(oldest);
            setWaits(answer);
        },
        [thread, isSeen, from, to, width],
    );
    useEffect(() => {
        if (!canvas.current || !waits) return;
        canvas.current.dataset.theme = colors;
        drawWaits(canvas.current, waits, [from, to], width);
    }, [waits, width, colors]);
    return (
        <div class="track-graph">
            <LifeShade thread={thread} />
            <canvas ref={canvas} class="track-canvas" style={{ height: `${HEIGHT}px` }} />
        </div>
    );
}

// ---- the tooltip ----

let wanted = 0;

export function hideWait(): void {
    wanted++;
}

function boxAt({ boxes }: Waits, time: number): number {
    for (let i = 0; i < boxes.row.length; i++)
        if ((boxes.start[i] ?? 0) <= time && time < (boxes.end[i] ?? 0)) return i;
    return -1;
}

export function showWait(thread: number, time: number, x: number, y: number): void {
    const mine = ++wanted;
    const waits = strips.get(thread);
    const box = waits ? boxAt(waits, time) : -1;
    if (!waits || box < 0) {
        tooltip.value = null;
        return;
    }
    void engine.threadMarkerDetails(thread, waits.boxes.marker[box] ?? -1).then((marker) => {
        if (mine === wanted)
            tooltip.value = { x, y, content: <WaitContent waits={waits} box={box} marker={marker} /> };
    });
}

function WaitContent({ waits, box, marker }: { waits: Waits; box: number; marker: MarkerDetails }): JSX.Element {
    const start = waits.boxes.start[box] ?? 0;
    const end = waits.boxes.end[box] ?? 0;
    const sum = waits.totals.reduce((total, part) => total + part, 0);
    return (
        <>
            <div class="sample-head">
                <strong>{formatDuration(end - start)}</strong>
                <span>{NAMES[stateOf(waits, box)]}</span>
            </div>
            <dl class="marker-fields wide">
                <div>
                    <dt>From</dt>
                    <dd>{formatDuration(start - fullRange.value[0])}</dd>
                </div>
                {marker.fields.map((field) => (
                    <div key={field.key}>
                        <dt>
                            <ProfileText text={field.label} limit={40} />
                        </dt>
                        <dd>
                            <ProfileText text={field.value} limit={200} />
                        </dd>
                    </div>
                ))}
                {waits.totals.map((total, at) =>
                    total > 0 ? (
                        <div key={at}>
                            <dt>{`In view ${SHORT_NAMES[WAIT_STATES[at] ?? 'other']}`}</dt>
                            <dd>{`${formatShare(total, sum)}, ${formatDuration(total)}`}</dd>
                        </div>
                    ) : null,
                )}
            </dl>
        </>
    );
}
