/** The track of a counter: its graph, the dot of the sample under the mouse, and what the tooltip says of it. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { pixelRatio } from '../draw/canvas';
import { counterScale, counterY, drawCounter, graphColor } from '../draw/counter';
import type { CounterInfo, CounterTotals, CounterValue } from '../engine/markers';
import { theme } from '../state/theme';
import type { TrackRow } from '../state/tracks';
import { graphWidth } from '../state/windows';
import { formatAmount, formatDuration, formatRate } from '../text/format';
import { ProfileText } from '../components/text';
import { GraphError } from '../components/GraphError';
import { useRequest, useSeen } from '../components/use';
import type { TrackKind } from './kind';
import { useSession } from '../components/session_context';
import type { Session } from '../state/session';

/** px, with the line below. */
const TRACK_HEIGHT = 33;
const HEIGHT = TRACK_HEIGHT - 1;

function counterOf(session: Session, index: number): CounterInfo | undefined {
    const { info } = session;
    return info.value.counters.find((counter) => counter.index === index);
}

function CounterGraph({ row }: { row: TrackRow }): JSX.Element {
    const session = useSession();
    const { engine } = session;
    const { hoveredCounter } = session.hover;
    const { committedRange } = session.store;
    const canvas = useRef<HTMLCanvasElement>(null);
    const isSeen = useSeen(canvas);
    const [from, to] = committedRange.value;
    const width = graphWidth.value;
    const pixels = Math.round(width * pixelRatio());
    const colors = theme.value;
    const counter = counterOf(session, row.index);
    const request = useRequest(isSeen && pixels > 0 ? () => engine.counterGraph(row.index, [from, to], pixels) : null, [
        row.index,
        isSeen,
        from,
        to,
        pixels,
    ]);
    const values = request.value.value;
    const scale = values && counter ? counterScale(values, counter.isRate) : null;
    useEffect(() => {
        if (!canvas.current || !values || !counter || !scale) return;
        canvas.current.dataset.theme = colors;
        drawCounter(canvas.current, values, scale, graphColor(counter.color), width, HEIGHT);
    }, [values, width, colors]);
    const value = hoveredCounter.value?.counter === row.index ? hoveredCounter.value.value : null;
    const shown = value && counter ? (counter.isRate ? value.rate : value.accumulated) : null;
    const dot =
        value && shown !== null && scale && value.time >= from && value.time <= to
            ? { left: `${((value.time - from) / (to - from)) * width}px`, top: `${counterY(shown, scale, HEIGHT)}px` }
            : null;
    return (
        <div class="track-graph">
            <GraphError sentence={request.error.value} />
            <canvas ref={canvas} class="track-canvas" style={{ height: `${HEIGHT}px` }} />
            {dot && <span class="counter-dot" style={dot} />}
        </div>
    );
}

// ---- the tooltip ----

/** Tells what a counter has at a time. */
function tellCounter(session: Session, { index }: TrackRow, time: number, x: number, y: number): void {
    const { engine } = session;
    const { tellOf } = session.hover;
    const { committedRange, previewRange } = session.store;
    tellOf(x, y, async () => {
        const counter = counterOf(session, index);
        const preview = previewRange.value;
        const [value, view, chosen] = await Promise.all([
            engine.counterAt(index, time),
            engine.counterTotals(index, committedRange.value),
            preview && time >= preview[0] && time <= preview[1] ? engine.counterTotals(index, preview) : null,
        ]);
        if (!value || !counter) return null;
        const content = <CounterContent counter={counter} value={value} view={view} chosen={chosen} />;
        return { content, counter: { counter: index, value } };
    });
}

interface CounterContentProps {
    counter: CounterInfo;
    value: CounterValue;
    view: CounterTotals;
    chosen: CounterTotals | null;
}

function CounterContent({ counter, value, view, chosen }: CounterContentProps): JSX.Element {
    const { committedRange, fullRange, previewRange } = useSession().store;
    const { unit, isRate } = counter;
    const [from, to] = committedRange.value;
    const preview = previewRange.value;
    const signed = (amount: number): string => `${amount > 0 ? '+' : ''}${formatAmount(amount, unit)}`;
    const rows: [string, string][] = isRate
        ? [
              ['At the cursor', value.rate === null ? 'unknown' : formatRate(value.rate, unit)],
              ['Since the previous sample', formatAmount(value.change, unit)],
              [
                  'In view',
                  `${formatAmount(view.total, unit)}, on average ${formatRate(view.total / (to - from), unit)}`,
              ],
          ]
        : [
              // Sums begin somewhere: what counts is how far they are above the least.
              ['Above the minimum in view', formatAmount(value.accumulated - (view.low ?? 0), unit)],
              ['Since the previous sample', signed(value.change)],
              ['Range in view', formatAmount((view.high ?? 0) - (view.low ?? 0), unit)],
          ];
    if (chosen && preview)
        rows.push(
            isRate
                ? [
                      'In the selection',
                      `${formatAmount(chosen.total, unit)}, on average ${formatRate(chosen.total / (preview[1] - preview[0]), unit)}`,
                  ]
                : [
                      'In the selection',
                      `${signed(chosen.total)}, range ${formatAmount((chosen.high ?? 0) - (chosen.low ?? 0), unit)}`,
                  ],
        );
    return (
        <>
            <div class="sample-head">
                <strong>{formatDuration(value.time - fullRange.value[0])}</strong>
                <span>
                    <ProfileText text={counter.label} limit={100} />
                </span>
            </div>
            <dl class="marker-fields wide">
                {rows.map(([label, text]) => (
                    <div key={label}>
                        <dt>{label}</dt>
                        <dd>{text}</dd>
                    </div>
                ))}
            </dl>
            {counter.description !== '' && (
                <p class="muted">
                    <ProfileText text={counter.description} limit={300} />
                </p>
            )}
        </>
    );
}

/** Below what speaks for their process. */
export const COUNTERS: TrackKind = {
    id: 'counter',
    name: 'counter',
    seeds: ({ counters }, threads) => {
        const leads = new Map(threads.filter((seed) => seed.isLead).map((seed) => [seed.process, seed]));
        const byThread = new Map(threads.map((seed) => [seed.thread, seed]));
        return [...counters]
            .sort((a, b) => a.sortWeight - b.sortWeight || a.index - b.index)
            .map((counter) => {
                const thread = byThread.get(counter.thread);
                // Files write the PID of the thread in other ways, too.
                const process = thread?.process ?? counter.pid;
                const lead = leads.get(process);
                return {
                    key: `c${counter.index}`,
                    kind: 'counter',
                    index: counter.index,
                    process,
                    processName: thread?.processName ?? 'Process',
                    // Where the thread that it would stand below is hidden at first, it stands alone.
                    below: lead && !lead.isQuiet ? lead.key : '',
                    title: counter.label || 'Counter',
                    detail: '',
                    words: counter.description,
                    thread: -1,
                    members: [],
                    isLead: false,
                    activity: 0,
                    isQuiet: lead?.isQuiet ?? false,
                    height: TRACK_HEIGHT,
                };
            });
    },
    Graph: CounterGraph,
    tell: tellCounter,
};
