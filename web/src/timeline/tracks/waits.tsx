/** The strip of the times in which a thread ran or waited, with the reasons. */
import type { JSX } from 'preact';
import type { Session } from '../../app/session';
import { styleColor } from '../../base/canvas';
import { formatDuration, formatShare } from '../../base/format';
import { type MarkerDetails, WAIT_STATES, type WaitState, type Waits } from '../../engine/markers';
import { useSession } from '../../session/context';
import { ProfileText } from '../../ui/text';
import type { TrackRow } from '../../view/tracks';
import { drawRectStrip } from '../draw_rect_strip';
import { StripGraph, type StripSize } from '../StripGraph';
import type { TrackKind } from './kind';

/** The height in px, including the line below. */
const TRACK_HEIGHT = 17;
const MARGIN = 4;
const LEAST_WIDTH = 1;

/** Colors of categories, which have no meaning here. */
const COLORS: Record<WaitState, string> = {
    runs: 'category-green',
    runnable: 'category-orange',
    blocked: 'line-strong',
    other: 'line',
};

const NAMES: Record<WaitState, string> = {
    runs: 'Running',
    runnable: 'Runnable: waits for a CPU',
    blocked: 'Blocked: waiting',
    other: 'Off CPU, reason unknown',
};

const SHORT_NAMES: Record<WaitState, string> = {
    runs: 'on a CPU',
    runnable: 'runnable',
    blocked: 'blocked',
    other: 'off the CPU',
};

function stateOf(waits: Waits, rect: number): WaitState {
    return WAIT_STATES[waits.rects.row[rect] ?? 0] ?? 'other';
}

function drawWaits(canvas: HTMLCanvasElement, waits: Waits, range: [number, number], size: StripSize): void {
    const colors = WAIT_STATES.map((state) => styleColor(COLORS[state]));
    drawRectStrip(canvas, {
        rects: waits.rects,
        range,
        ...size,
        leastWidth: LEAST_WIDTH,
        look: (rect) => {
            const state = stateOf(waits, rect);
            // Running is high and waiting is low, which distinguishes the two without colors.
            const top = state === 'runs' ? MARGIN : size.height / 2;
            return { color: colors[WAIT_STATES.indexOf(state)] ?? '', top, bottom: size.height - MARGIN };
        },
    });
}

function WaitStrip({ row }: { row: TrackRow }): JSX.Element {
    const session = useSession();
    const { engine } = session;
    const { drawnWaits } = session.hover;
    return <StripGraph row={row} ask={engine.waits} drawn={drawnWaits} draw={drawWaits} />;
}

// ---- the tooltip ----

function rectAt({ rects }: Waits, time: number): number {
    for (let i = 0; i < rects.row.length; i++)
        if ((rects.start[i] ?? 0) <= time && time < (rects.end[i] ?? 0)) return i;
    return -1;
}

function showWaitTooltip(session: Session, { key, thread }: TrackRow, time: number, x: number, y: number): void {
    const { engine } = session;
    const { drawnWaits, tellOf } = session.hover;
    const waits = drawnWaits.get(key);
    const rect = waits ? rectAt(waits, time) : -1;
    tellOf(
        x,
        y,
        waits && rect >= 0
            ? async () => {
                  const marker = await engine.threadMarkerDetails(thread, waits.rects.marker[rect] ?? -1);
                  return { content: <WaitContent waits={waits} rect={rect} marker={marker} /> };
              }
            : null,
    );
}

function WaitContent({ waits, rect, marker }: { waits: Waits; rect: number; marker: MarkerDetails }): JSX.Element {
    const { fullRange } = useSession().store;
    const start = waits.rects.start[rect] ?? 0;
    const end = waits.rects.end[rect] ?? 0;
    const sum = waits.totals.reduce((total, part) => total + part, 0);
    return (
        <>
            <div class="sample-head">
                <strong>{formatDuration(end - start)}</strong>
                <span>{NAMES[stateOf(waits, rect)]}</span>
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

/** Tracks right below their threads. */
export const WAITS: TrackKind = {
    id: 'waits',
    name: 'wait',
    seeds: (info, threads) => {
        const known = new Set(info.threads.filter((thread) => thread.hasWaits).map((thread) => thread.index));
        return threads
            .filter((seed) => known.has(seed.thread))
            .map((seed) => ({
                ...seed,
                key: `w${seed.index}`,
                kind: 'waits',
                below: seed.key,
                title: 'Waits',
                detail: '',
                words: `waits\nblocked\n${seed.title}\n${seed.words}`,
                members: [],
                isLead: false,
                activity: 0,
                height: TRACK_HEIGHT,
            }));
    },
    Graph: WaitStrip,
    showTooltip: showWaitTooltip,
};
