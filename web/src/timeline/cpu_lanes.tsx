/** The lane of a CPU: the share of each thread in the time of each pixel, and the slice under the mouse. */
import type { JSX } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { Session } from '../app/session';
import { columnRatio, styleColor } from '../base/canvas';
import { NAME_COLORS } from '../base/colors';
import { formatDuration, formatShare } from '../base/format';
import { type CpuPlace, LANE_OTHERS, STATE_THERE, type ThreadInfo } from '../engine/api';
import { useSession } from '../session/context';
import type { Told } from '../session/hover';
import { GraphError } from '../ui/GraphError';
import { ProfileText } from '../ui/text';
import { useRequest, useSeen } from '../ui/use';
import type { TrackRow } from '../view/tracks';
import { graphWidth } from '../window/windows';
import { pixelColor } from './draw_states';
import { lanesOf } from './lane_answer';
import { useLaneDrawing } from './StateLane';

const MOST_THREADS = 5;

/** Returns names of colors by thread. The busiest threads get different colors. */
function threadColors(threads: readonly ThreadInfo[]): Map<number, string> {
    const sorted = [...threads].sort((a, b) => b.activity - a.activity);
    return new Map(sorted.map(({ index }, at) => [index, `category-${NAME_COLORS[at % NAME_COLORS.length]}`]));
}

export function CpuLane({ row, height }: { row: TrackRow; height: number }): JSX.Element {
    const { engine, info, store } = useSession();
    const canvas = useRef<HTMLCanvasElement>(null);
    const isSeen = useSeen(canvas);
    const [from, to] = store.committedRange.value;
    const pixels = Math.round(graphWidth.value * columnRatio());
    const colorOf = useMemo(() => threadColors(info.value.threads), [info.value.threads]);
    const { key, index } = row;
    const request = useRequest(
        isSeen && pixels > 0
            ? async () => {
                  const answer = await engine.cpuLanes([index], from, to, pixels);
                  return lanesOf([{ key, threads: [index] }], [from, to], answer, (thread) => thread).get(key);
              }
            : null,
        [index, isSeen, from, to, pixels, info.value], // a live profile grows within the range
    );
    useLaneDrawing(canvas, request.value.value, height, (thread) => {
        const color = pixelColor(styleColor(colorOf.get(thread) ?? 'state-other'));
        return { color, stripe: color };
    });
    return (
        <>
            <GraphError sentence={request.error.value} />
            <canvas ref={canvas} class="track-canvas cpu-lane" style={{ height: `${height}px` }} />
        </>
    );
}

// ---- the tooltip ----

function nameOf({ name, processName, tid }: ThreadInfo): string {
    return `${processName !== '' && processName !== name ? `${processName}: ` : ''}${name} (${tid})`;
}

function PlaceFacts({ cpu, place }: { cpu: number; place: CpuPlace }): JSX.Element {
    const { axisText, store } = useSession();
    const { start, end, offCpu, previousCpu, previousEnd, thread } = place;
    const length = end - start;
    const known = store.threadInfo(thread);
    if (!known)
        return (
            <p class="muted">{`No recorded thread${Number.isFinite(length) ? ` for ${formatDuration(length)}` : ''}`}</p>
        );
    return (
        <>
            <div class="sample-head">
                <ProfileText text={nameOf(known)} limit={60} />
                <strong>{`Ran for ${formatDuration(length - offCpu)}`}</strong>
                <span>{`since ${axisText.placeText(start)}`}</span>
            </div>
            {offCpu > 0 && (
                <p class="muted">{`Off the CPU for ${formatDuration(offCpu)} of these ${formatDuration(length)}`}</p>
            )}
            {previousCpu >= 0 && previousCpu !== cpu && (
                <p>{`Migrated from CPU ${previousCpu}, where it ran until ${axisText.placeText(previousEnd)}`}</p>
            )}
        </>
    );
}

interface PixelShare {
    thread: number;
    share: number;
}

function PixelShares({ shares, length }: { shares: readonly PixelShare[]; length: number }): JSX.Element {
    const { info, store } = useSession();
    const colorOf = threadColors(info.value.threads);
    return (
        <>
            <p class="muted">{`In the ${formatDuration(length)} of this pixel`}</p>
            <dl class="marker-fields wide state-shares">
                {shares.slice(0, MOST_THREADS).map(({ thread, share }) => {
                    const known = store.threadInfo(thread);
                    return (
                        <div key={thread}>
                            <dt>
                                <span
                                    class="category-square"
                                    style={{ background: `var(--${colorOf.get(thread) ?? 'state-other'})` }}
                                />{' '}
                                <ProfileText text={known ? nameOf(known) : 'Other threads'} limit={40} />
                            </dt>
                            <dd>{`${formatShare(share, 1)}, ${formatDuration(share * length)}`}</dd>
                        </div>
                    );
                })}
            </dl>
        </>
    );
}

/** Returns the tooltip of a CPU at a time: the running thread, and the threads of the pixel. */
export async function cpuTooltip({ engine, store }: Session, cpu: number, time: number): Promise<Told> {
    const [from, to] = store.committedRange.value;
    const pixel = (to - from) / Math.max(1, graphWidth.value);
    const left = from + Math.floor((time - from) / pixel) * pixel;
    const place = await engine.cpuAt(cpu, time);
    const { rows, shares } = await engine.cpuLanes([cpu], left, left + pixel, 1);
    const all = Array.from(shares, (share, at): PixelShare => ({ thread: rows[2 * at + 1] ?? LANE_OTHERS, share }));
    const ran = all.filter(({ thread }) => thread !== STATE_THERE);
    return {
        content: (
            <>
                <PlaceFacts cpu={cpu} place={place} />
                {ran.length > 1 && <PixelShares shares={ran} length={pixel} />}
            </>
        ),
    };
}
