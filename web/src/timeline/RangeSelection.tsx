/** The range during its selection: a shade outside, movable edges, and a label with its length. */
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { startDrag } from '../base/drag';
import { useSession } from '../session/context';
import { NoteIcon, ZoomIcon } from '../ui/icons';
import type { Range } from '../view/codec';
import { graphWidth } from '../window/windows';

const LABEL_ROOM = 120;

function toPixels(session: Session, range: Range): [number, number] {
    const { committedRange } = session.store;
    const [from, to] = committedRange.value;
    const scale = graphWidth.value / (to - from);
    return [(range[0] - from) * scale, (range[1] - from) * scale];
}

export function RangeShade(): JSX.Element | null {
    const session = useSession();
    const { previewRange } = session.store;
    const range = previewRange.value;
    if (!range) return null;
    const [left, right] = toPixels(session, range);
    return (
        <>
            <div class="shade" style={{ left: 0, width: `${Math.max(0, left)}px` }} />
            <div class="shade" style={{ left: `${right}px`, right: 0 }} />
        </>
    );
}

/** Calls `onMove` with the milliseconds by which the pointer has moved, until the user releases it. */
function followDrag(session: Session, event: PointerEvent, onMove: (moved: number) => void): void {
    const { committedRange } = session.store;
    if (event.button !== 0) return;
    const [from, to] = committedRange.value;
    const scale = (to - from) / Math.max(1, graphWidth.value);
    startDrag(event, { onMove: (next) => onMove((next.clientX - event.clientX) * scale) });
    event.stopPropagation();
}

/** The range in the ruler, which the user can move as a whole. */
export function RangeBand(): JSX.Element | null {
    const session = useSession();
    const { committedRange, previewRange, setPreview } = session.store;
    const range = previewRange.value;
    if (!range) return null;
    const [left, right] = toPixels(session, range);
    const onPointerDown = (event: PointerEvent): void => {
        const [from, to] = committedRange.value;
        const [start, end] = range;
        followDrag(session, event, (moved) => {
            const shift = Math.min(Math.max(moved, from - start), to - end);
            setPreview([start + shift, end + shift]);
        });
    };
    return (
        <div
            class="range-band"
            role="presentation"
            style={{ left: `${left}px`, width: `${right - left}px` }}
            onPointerDown={onPointerDown}
        />
    );
}

/**
 * The length of the range, and the button that zooms into it. Both are in the ruler, which stays visible while the
 * tracks scroll.
 */
export function RangeLabel(): JSX.Element | null {
    const session = useSession();
    const { commitPreview, previewRange } = session.store;
    const range = previewRange.value;
    if (!range) return null;
    const [left, right] = toPixels(session, range);
    const width = graphWidth.value;
    const middle = Math.min(
        Math.max((left + right) / 2, LABEL_ROOM / 2),
        Math.max(LABEL_ROOM / 2, width - LABEL_ROOM / 2),
    );
    return (
        <div class="range-label" style={{ left: `${middle}px` }}>
            <span>{session.axisText.rangeText(range)}</span>
            <button
                type="button"
                class="button primary square small"
                aria-label="Zoom into this range"
                title="Zoom into this range (z)"
                onClick={commitPreview}
            >
                <ZoomIcon />
            </button>
            <button
                type="button"
                class="button quiet square small"
                aria-label="Add a note to this range"
                title="Add a note to this range (P)"
                onClick={session.notes.addRange}
            >
                <NoteIcon />
            </button>
        </div>
    );
}

function Edge({ side }: { side: 0 | 1 }): JSX.Element | null {
    const session = useSession();
    const { commitPreview, committedRange, fullRange, previewRange, setPreview } = session.store;
    const range = previewRange.value;
    if (!range) return null;
    const [from, to] = committedRange.value;
    const moveTo = (time: number): void => setPreview(side === 0 ? [time, range[1]] : [range[0], time]);
    const onPointerDown = (event: PointerEvent): void => {
        const [start, end] = range;
        followDrag(session, event, (moved) => setPreview(side === 0 ? [start + moved, end] : [start, end + moved]));
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
    const position = toPixels(session, range)[side];
    const time = range[side] - fullRange.value[0];
    return (
        <div
            class="range-edge"
            role="slider"
            tabIndex={0}
            aria-label={side === 0 ? 'Start of the selection' : 'End of the selection'}
            aria-valuemin={from - fullRange.value[0]}
            aria-valuemax={to - fullRange.value[0]}
            aria-valuenow={time}
            aria-valuetext={session.axisText.placeText(range[side])}
            style={{ left: `${position}px` }}
            onPointerDown={onPointerDown}
            onKeyDown={onKeyDown}
        />
    );
}

export function RangeEdges(): JSX.Element | null {
    const { previewRange } = useSession().store;
    if (!previewRange.value) return null;
    return (
        <>
            <Edge side={0} />
            <Edge side={1} />
        </>
    );
}
