/** What the mouse is over in a track: time, category, CPU share and the stack, its leaf first. */
import type { JSX } from 'preact';
import { categoryColor } from '../draw/colors';
import type { SampleAt } from '../engine/api';
import { fetchNames } from '../state/names';
import { engine, fullRange, info } from '../state/store';
import { hoverTime, tooltip } from '../state/windows';
import { formatDuration } from '../text/format';
import { absence } from './LifeShade';
import { FrameList } from './FrameList';
import { ProfileText } from './text';

const MOST_FRAMES = 14;
const NAME_LIMIT = 120;

interface HoverRequest {
    thread: number;
    time: number;
    x: number;
    y: number;
}

let request: HoverRequest | null = null;
let isAsking = false;

/** Shows the sample at a place; while the engine looks for one, only the newest place is remembered. */
export function showSample(thread: number, time: number, x: number, y: number): void {
    request = { thread, time, x, y };
    if (tooltip.value) tooltip.value = { ...tooltip.value, x, y };
    void ask();
}

export function hideSample(): void {
    request = null;
    hoverTime.value = null;
    tooltip.value = null;
}

async function ask(): Promise<void> {
    if (isAsking) return;
    isAsking = true;
    try {
        for (let sent: HoverRequest | null = null; request !== null && request !== sent; ) {
            sent = request;
            const sample = await engine.sampleAt(sent.thread, sent.time);
            if (sample) await fetchNames(leafFirst(sample).slice(0, MOST_FRAMES));
            if (request === null) break;
            const why = absence(sent.thread, sent.time);
            const content = sample ? <SampleContent sample={sample} /> : why !== '' ? <p class="muted">{why}</p> : null;
            tooltip.value = content && { x: request.x, y: request.y, content };
        }
    } catch {
        tooltip.value = null;
    } finally {
        isAsking = false;
    }
}

function leafFirst(sample: SampleAt): number[] {
    return [...sample.path].reverse();
}

function SampleContent({ sample }: { sample: SampleAt }): JSX.Element {
    const frames = leafFirst(sample);
    const category = info.value.categories[sample.category];
    return (
        <>
            <div class="sample-head">
                <strong>{formatDuration(sample.time - fullRange.value[0])}</strong>
                {category && frames.length > 0 && (
                    <span>
                        <span class="category-square" style={{ background: categoryColor(category) }} />
                        <ProfileText text={category.name} limit={40} />
                    </span>
                )}
                {sample.cpu !== null && <span>{Math.round(sample.cpu)}% CPU</span>}
            </div>
            {frames.length === 0 && (
                <p class="muted">
                    {sample.dropped ? 'Call tree transforms drop this sample.' : 'No stack was recorded here.'}
                </p>
            )}
            <FrameList frames={frames} most={MOST_FRAMES} nameLimit={NAME_LIMIT} />
        </>
    );
}
