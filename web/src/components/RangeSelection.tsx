/** The range that is being chosen: what lies outside is shaded, the edges can be moved, the label says how long it is. */
import type { JSX, RefObject } from 'preact';
import type { Range } from '../state/codec';
import { commitPreview, committedRange, fullRange, previewRange, setPreview } from '../state/store';
import { graphWidth } from '../state/windows';
import { formatDuration } from '../text/format';
import { ZoomIcon } from './icons';

const LABEL_ROOM = 120;

function toPixels(range: Range): [number, number] {
    const [from, to] = committedRange.value;
    const scale = graphWidth.value / (to - from);
    return [(range[0] - from) * scale, (range[1] - from) * scale];
}

export function RangeShade(): JSX.Element | null {
    const range = previewRange.value;
    if (!range) return null;
    const [left, right] = toPixels(range);
    return (
        <>
            <div class="shade" style={{ left: 0, width: `${Math.max(0, left)}px` }} />
            <div class="shade" style={{ left: `${right}px`, right: 0 }} />
        </>
    );
}

/** The range in the ruler. */
export function RangeBand(): JSX.Element | null {
    const range = previewRange.value;
    if (!range) return null;
    const [left, right] = toPixels(range);
    return <div class="range-band" style={{ left: `${left}px`, width: `${right - left}px` }} />;
}

/** How long the range is, and the button that zooms into it; in the ruler, so that it is there however far one scrolls. */
export function RangeLabel(): JSX.Element | null {
    const range = previewRange.value;
    if (!range) return null;
    const [left, right] = toPixels(range);
    const width = graphWidth.value;
    const middle = Math.min(
        Math.max((left + right) / 2, LABEL_ROOM / 2),
        Math.max(LABEL_ROOM / 2, width - LABEL_ROOM / 2),
    );
    return (
        <div class="range-label" style={{ left: `${middle}px` }}>
            <span>{formatDuration(range[1] - range[0])}</span>
            <button
                type="button"
                class="button primary square small"
                aria-label="Zoom into this range"
                title="Zoom into this range (z)"
                onClick={commitPreview}
            >
                <ZoomIcon />
            </button>
        </div>
    );
}

interface EdgeProps {
    side: 0 | 1;
    graph: RefObject<HTMLElement | null>;
}

function Edge({ side, graph }: EdgeProps): JSX.Element | null {
    const range = previewRange.value;
    if (!range) return null;
    const [from, to] = committedRange.value;
    const moveTo = (time: number): void => setPreview(side === 0 ? [time, range[1]] : [range[0], time]);
    const onPointerDown = (event: PointerEvent): void => {
        const box = graph.current?.getBoundingClientRect();
        if (event.button !== 0 || !box) return;
        const edge = event.currentTarget as HTMLElement;
        const other = range[1 - side] ?? from;
        edge.setPointerCapture(event.pointerId);
        const onMove = (move: PointerEvent): void => {
            const share = Math.min(1, Math.max(0, (move.clientX - box.left) / box.width));
            setPreview([from + share * (to - from), other]);
        };
        const onUp = (): void => {
            edge.removeEventListener('pointermove', onMove);
            edge.removeEventListener('pointerup', onUp);
            edge.removeEventListener('pointercancel', onUp);
        };
        edge.addEventListener('pointermove', onMove);
        edge.addEventListener('pointerup', onUp);
        edge.addEventListener('pointercancel', onUp);
        event.stopPropagation();
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        const direction = event.key === 'ArrowLeft' ? -1 : event.key === 'ArrowRight' ? 1 : 0;
        if (event.key === 'Enter') commitPreview();
        else if (direction !== 0) {
            const pixel = (to - from) / Math.max(1, graphWidth.value);
            moveTo(range[side] + direction * pixel * (event.shiftKey ? 20 : 2));
        } else return;
        event.preventDefault();
        event.stopPropagation();
    };
    const position = toPixels(range)[side];
    const time = range[side] - fullRange.value[0];
    return (
        <div
            class="range-edge"
            role="slider"
            tabIndex={0}
            aria-label={side === 0 ? 'Start of the chosen range' : 'End of the chosen range'}
            aria-valuemin={from - fullRange.value[0]}
            aria-valuemax={to - fullRange.value[0]}
            aria-valuenow={time}
            aria-valuetext={formatDuration(time)}
            style={{ left: `${position}px` }}
            onPointerDown={onPointerDown}
            onKeyDown={onKeyDown}
        />
    );
}

export function RangeEdges({ graph }: { graph: RefObject<HTMLElement | null> }): JSX.Element | null {
    if (!previewRange.value) return null;
    return (
        <>
            <Edge side={0} graph={graph} />
            <Edge side={1} graph={graph} />
        </>
    );
}
