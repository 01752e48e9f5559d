/**
 * The heat map of a long recording: a column for each second, a cell for each part of the second, colored by the weight
 * in the cell. The user selects a range by its first and last cell. The page loads this file when the user opens the
 * view.
 */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { startDrag } from '../base/drag';
import { describeWeight, formatDuration, formatShare } from '../base/format';
import { useSession } from '../session/context';
import { EmptyTree } from '../ui/EmptyTree';
import { useFirstFocus, useRequest, useSize } from '../ui/use';
import type { Range } from '../view/codec';
import { theme } from '../window/theme';
import { hideTooltip, tooltip } from '../window/windows';
import { cellAt, drawHeatMap, type HeatFrame } from './draw_heat_map';
import { type Cells, cellAfterKey, cellsOf, ROWS, rangeOf } from './heat_cells';

/** The engine's place of the query, beside that of the call tree. */
const PLACE = 1;

interface Heat {
    cells: Cells;
    totals: Float64Array;
    /** The total of the whole range. */
    whole: number;
    most: number;
}

/** Requests the total of each cell, thread by thread, so that other questions do not wait for all threads. */
function useHeat() {
    const { engine, filters, info, store, tree } = useSession();
    const range = store.committedRange.value;
    const query = { ...tree.query.value, range, inverted: false };
    return useRequest<Heat>(async () => {
        const cells = cellsOf(range, info.value.rangeStart);
        const answer = await engine.query(query, undefined, PLACE);
        if (!answer) return null;
        const totals = new Float64Array(cells.columns * ROWS);
        for (const thread of query.threads) {
            const part = await engine.totalsOverTime(answer.id, thread, ...rangeOf(cells, 0), totals.length);
            part.forEach((total, cell) => {
                totals[cell] = (totals[cell] ?? 0) + total;
            });
        }
        const most = totals.reduce((largest, total) => Math.max(largest, Math.abs(total)), 0);
        return { cells, totals, most, whole: answer.rootTotal };
    }, [JSON.stringify(query), info.value, filters.weightUnit.value]);
}

/** Returns the cells of a range, first and last, or null. */
function cellsIn({ column, columns, start }: Cells, range: Range | null): Range | null {
    if (!range) return null;
    const length = column / ROWS;
    const first = Math.floor((range[0] - start) / length + 1e-6);
    const last = Math.ceil((range[1] - start) / length - 1e-6) - 1;
    return [Math.max(0, first), Math.min(columns * ROWS - 1, last)];
}

function Legend({ most, unit }: { most: number; unit: string }): JSX.Element {
    return (
        <p class="heat-legend">
            <span>0</span>
            <span class="heat-scale" role="presentation" />
            <span>{`${describeWeight(most, unit, 0)} per cell`}</span>
        </p>
    );
}

export function HeatMap(): JSX.Element {
    const { axisText, filters, store } = useSession();
    const { previewRange, setPreview } = store;
    const request = useHeat();
    const frameElement = useRef<HTMLDivElement>(null);
    const canvas = useRef<HTMLCanvasElement>(null);
    const size = useSize(frameElement);
    const [focused, setFocused] = useState(0);
    const [anchor, setAnchor] = useState<number | null>(null);
    const [hasFocus, setFocus] = useState(false);
    useFirstFocus(frameElement);
    const heat = request.value.value;
    const unit = filters.weightUnit.value;
    const own: Range | null = anchor === null ? null : [Math.min(anchor, focused), Math.max(anchor, focused)];
    const frame: HeatFrame | null = heat && {
        ...heat,
        chosen: own ?? cellsIn(heat.cells, previewRange.value),
        focused: hasFocus ? focused : -1,
        ...size,
        placeText: axisText.placeText,
    };
    theme.value; // the colors of the canvas
    useLayoutEffect(() => {
        if (canvas.current && frame && size.width > 0) drawHeatMap(canvas.current, frame);
    });

    const cellUnder = (event: MouseEvent, clamps = false): number => {
        const area = canvas.current?.getBoundingClientRect();
        return area && frame ? cellAt(frame, event.clientX - area.left, event.clientY - area.top, clamps) : -1;
    };
    const describe = ({ cells, totals, whole }: Heat, first: number, last: number): string => {
        const [from, to] = rangeOf(cells, first, last);
        let sum = 0;
        for (let cell = Math.min(first, last); cell <= Math.max(first, last); cell++) sum += totals[cell] ?? 0;
        const weight = `${describeWeight(sum, unit, 0)}, ${formatShare(sum, whole)} of the range`;
        return `${axisText.placeText(from)}, ${formatDuration(to - from)} long: ${weight}`;
    };
    const select = (first: number, last: number): void => {
        if (heat) setPreview(rangeOf(heat.cells, first, last), 'push');
        setAnchor(null);
    };

    function onPointerDown(event: PointerEvent): void {
        const first = cellUnder(event);
        if (event.button !== 0 || first < 0) return;
        let last = first;
        hideTooltip();
        setFocused(first);
        setAnchor(first);
        startDrag(event, {
            threshold: 2,
            onMove: (moved) => {
                last = cellUnder(moved, true);
                setFocused(last);
            },
            onDrop: () => select(first, last),
            onCancel: () => setAnchor(null),
        });
    }

    function onPointerMove(event: PointerEvent): void {
        const cell = cellUnder(event);
        if (event.buttons !== 0 || !heat || cell < 0) hideTooltip();
        else tooltip.value = { x: event.clientX, y: event.clientY, content: <p>{describe(heat, cell, cell)}</p> };
    }

    function onKeyDown(event: KeyboardEvent): void {
        if (!heat || event.ctrlKey || event.altKey || event.metaKey) return;
        const next = cellAfterKey(event.key, focused, heat.cells);
        if (event.key === 'Enter') select(anchor ?? focused, focused);
        else if (event.key === 'Escape' && (anchor !== null || previewRange.value)) {
            if (anchor === null) setPreview(null, 'push');
            setAnchor(null);
        } else if (next !== undefined) {
            setAnchor(event.shiftKey ? (anchor ?? focused) : null);
            setFocused(next);
        } else return;
        hideTooltip();
        event.preventDefault();
        event.stopPropagation();
    }

    if (heat && heat.most === 0) return <EmptyTree />;
    return (
        <div class="heat-map">
            <div
                ref={frameElement}
                class="heat-cells"
                role="application"
                aria-roledescription="heat map"
                aria-label="Heat map"
                aria-describedby="chart-selection"
                // biome-ignore lint/a11y/noNoninteractiveTabindex: an application is walked by keyboard
                tabIndex={0}
                onPointerDown={onPointerDown}
                onPointerMove={onPointerMove}
                onPointerLeave={hideTooltip}
                onKeyDown={onKeyDown}
                onFocus={() => setFocus(true)}
                onBlur={() => setFocus(false)}
            >
                <canvas ref={canvas} class="heat-canvas" />
                {request.error.value !== '' && (
                    <p class="empty" role="alert">
                        {request.error.value}
                    </p>
                )}
            </div>
            {heat && <Legend most={heat.most} unit={unit} />}
            <p id="chart-selection" class="offscreen" role="status">
                {heat && describe(heat, anchor ?? focused, focused)}
            </p>
        </div>
    );
}
