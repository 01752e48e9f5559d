/** The track of a counter: its graph, the dot of the sample under the mouse, and the tooltip. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Session } from '../../app/session';
import { pixelRatio } from '../../base/canvas';
import { formatAmount, formatRate } from '../../base/format';
import type { CounterInfo, CounterTotals, CounterValue } from '../../engine/markers';
import { useSession } from '../../session/context';
import { GraphError } from '../../ui/GraphError';
import { ProfileText } from '../../ui/text';
import { useRequest, useSeen } from '../../ui/use';
import { TRACK_SCALE, type TrackRow, type TrackSeed } from '../../view/tracks';
import { theme } from '../../window/theme';
import { graphWidth } from '../../window/windows';
import { counterScale, counterY, drawCounter, graphColor } from '../draw_counter';
import type { TrackKind } from './kind';

/** The height in px, including the line below. */
const HEIGHT = 32 * TRACK_SCALE;
const TRACK_HEIGHT = HEIGHT + 1;

function counterOf(session: Session, index: number): CounterInfo | undefined {
    const { info } = session;
    return info.value.counters.find((counter) => counter.index === index);
}

/** Formats the value at a position of the graph. */
function amountText(value: number, { isRate, unit }: CounterInfo): string {
    return isRate ? formatRate(value, unit) : formatAmount(value, unit);
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
    const scale = values && counter ? counterScale(values, counter.isRate || counter.startsAtZero) : null;
    useLayoutEffect(() => {
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
            {scale && counter && (
                <span class="counter-axis" aria-hidden="true">
                    <span>{amountText(scale.high, counter)}</span>
                    <span>{amountText(scale.low, counter)}</span>
                </span>
            )}
            {dot && <span class="counter-dot" style={dot} />}
            {dot && counter && shown !== null && (
                <span class="counter-value" style={{ left: dot.left }}>
                    {amountText(shown, counter)}
                </span>
            )}
        </div>
    );
}

// ---- the tooltip ----

/** Shows the tooltip of a counter at a time. */
function showCounterTooltip(session: Session, { index }: TrackRow, time: number, x: number, y: number): void {
    const { engine } = session;
    const { tellOf } = session.hover;
    const { committedRange, previewRange } = session.store;
    tellOf(x, y, async () => {
        const counter = counterOf(session, index);
        const preview = previewRange.value;
        const [found, view, chosen] = await Promise.all([
            engine.counterAt(index, time),
            engine.counterTotals(index, committedRange.value),
            preview && time >= preview[0] && time <= preview[1] ? engine.counterTotals(index, preview) : null,
        ]);
        if (!found || !counter) return null;
        // A value holds until the next sample, so the tooltip shows the time of the cursor.
        const value = { ...found, time };
        const content = <CounterContent counter={counter} value={value} view={view} chosen={chosen} />;
        return { content, counter: { counter: index, value } };
    });
}

/** The totals of a range, and the length of the range in ms. */
interface RangeTotals {
    totals: CounterTotals;
    length: number;
}

/** A label and its text. */
type Row = [string, string];

function signed(amount: number, unit: string): string {
    return `${amount > 0 ? '+' : ''}${formatAmount(amount, unit)}`;
}

function totalText({ totals, length }: RangeTotals, unit: string): string {
    return `${formatAmount(totals.total, unit)}, on average ${formatRate(totals.total / length, unit)}`;
}

function rateRows(value: CounterValue, view: RangeTotals, chosen: RangeTotals | null, unit: string): Row[] {
    const rows: Row[] = [
        ['At the cursor', value.rate === null ? 'unknown' : formatRate(value.rate, unit)],
        ['Since the previous sample', formatAmount(value.change, unit)],
        ['In view', totalText(view, unit)],
    ];
    return chosen ? [...rows, ['In the selection', totalText(chosen, unit)]] : rows;
}

/** Formats the range from the smallest to the largest sum. */
function rangeText({ totals: { low, high } }: RangeTotals, unit: string): string {
    const [least, most] = [formatAmount(low ?? 0, unit), formatAmount(high ?? 0, unit)];
    return least === most ? most : `${least} to ${most}`;
}

/** Returns rows for a counter that starts at zero, whose sum is an amount. */
function levelRows(value: CounterValue, view: RangeTotals, chosen: RangeTotals | null, unit: string): Row[] {
    const rows: Row[] = [
        ['At the cursor', formatAmount(value.accumulated, unit)],
        ...(value.change === 0 ? [] : ([['Since the previous change', signed(value.change, unit)]] as Row[])),
        ['In view', rangeText(view, unit)],
    ];
    if (!chosen) return rows;
    return [...rows, ['In the selection', `${rangeText(chosen, unit)}, ${signed(chosen.totals.total, unit)}`]];
}

function spread({ totals: { low, high } }: RangeTotals, unit: string): string {
    return formatAmount((high ?? 0) - (low ?? 0), unit);
}

/** Returns rows for other counters, whose sum only has a meaning relative to the smallest sum. */
function sumRows(value: CounterValue, view: RangeTotals, chosen: RangeTotals | null, unit: string): Row[] {
    const rows: Row[] = [
        ['Above the minimum in view', formatAmount(value.accumulated - (view.totals.low ?? 0), unit)],
        ['Since the previous sample', signed(value.change, unit)],
        ['Range in view', spread(view, unit)],
    ];
    if (!chosen) return rows;
    return [...rows, ['In the selection', `${signed(chosen.totals.total, unit)}, range ${spread(chosen, unit)}`]];
}

interface CounterContentProps {
    counter: CounterInfo;
    value: CounterValue;
    view: CounterTotals;
    chosen: CounterTotals | null;
}

function CounterContent({ counter, value, view, chosen }: CounterContentProps): JSX.Element {
    const session = useSession();
    const { committedRange, previewRange } = session.store;
    const { unit } = counter;
    const [from, to] = committedRange.value;
    const preview = previewRange.value;
    const whole = { totals: view, length: to - from };
    const part = chosen && preview ? { totals: chosen, length: preview[1] - preview[0] } : null;
    const rows = counter.isRate
        ? rateRows(value, whole, part, unit)
        : counter.startsAtZero
          ? levelRows(value, whole, part, unit)
          : sumRows(value, whole, part, unit);
    return (
        <>
            <div class="sample-head">
                <strong>{session.axisText.placeText(value.time)}</strong>
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

/** By default, this number of the busiest processes shows tracks of counters. */
const MOST_PROCESSES_AT_FIRST = 3;

function busiest(leads: readonly TrackSeed[]): Set<string> {
    const sorted = [...leads].sort((a, b) => b.activity - a.activity);
    return new Set(sorted.slice(0, MOST_PROCESSES_AT_FIRST).map((lead) => lead.process));
}

/** A counter is below the first track of its process. Counters of the machine are separate. */
export const COUNTERS: TrackKind = {
    id: 'counter',
    name: 'counter',
    seeds: ({ counters }, threads) => {
        const leads = new Map(threads.filter((seed) => seed.isLead).map((seed) => [seed.process, seed]));
        const byThread = new Map(threads.map((seed) => [seed.thread, seed]));
        const shown = busiest([...leads.values()]);
        return [...counters]
            .sort((a, b) => a.sortWeight - b.sortWeight || a.index - b.index)
            .map((counter) => {
                const thread = byThread.get(counter.thread);
                // Files write the PID of the thread in other ways, too.
                const process = counter.isOfSystem ? '' : (thread?.process ?? counter.pid);
                const lead = leads.get(process);
                const isNative = counter.startsAtZero || counter.isHiddenAtFirst;
                return {
                    key: `c${counter.index}`,
                    kind: 'counter',
                    index: counter.index,
                    process,
                    processName: counter.isOfSystem ? 'System' : (thread?.processName ?? 'Process'),
                    // If the first track of the process is hidden by default, the counter is separate.
                    below: lead && !lead.isQuiet ? lead.key : '',
                    title: counter.label || 'Counter',
                    detail: '',
                    words: counter.description,
                    thread: -1,
                    members: [],
                    isLead: false,
                    activity: 0,
                    isQuiet: counter.isHiddenAtFirst || (lead?.isQuiet ?? false) || (isNative && !shown.has(process)),
                    isDetail: isNative,
                    height: TRACK_HEIGHT,
                };
            });
    },
    Graph: CounterGraph,
    showTooltip: showCounterTooltip,
};
