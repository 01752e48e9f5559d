/**
 * The cells of the heat map. A column is a unit of time, such as a second. Its cells are consecutive parts of this time,
 * the first at the bottom. Cells have numbers in the order of time.
 */
import { tickStep } from '../base/tick_step';
import type { Range } from '../view/codec';

/** The number of cells of a column. */
export const ROWS = 50;
const MOST_COLUMNS = 240;
/** The least number of columns of a range of some length. Shorter columns than a second need a shorter range. */
const LEAST_COLUMNS = 10;
const SECOND = 1000;

/** The opacity of the least weight, so that its cell differs from a cell without weight. */
const FAINTEST = 0.12;

/**
 * Returns the opacity of a cell with this share (0 to 1) of the largest weight. The root shows the differences between
 * most cells, because few cells have more than half of the largest weight. The scale of the legend has the same colors.
 */
export function shadeOf(share: number): number {
    return share > 0 ? FAINTEST + (1 - FAINTEST) * Math.sqrt(share) : 0;
}

export interface Cells {
    /** ms: start of the first cell. */
    start: number;
    /** ms: length of a column. */
    column: number;
    columns: number;
}

/** Returns the cells that cover a range. Columns begin at multiples of their length after `zero`, and last a second if
 * the range permits it. */
export function cellsOf([from, to]: Range, zero: number): Cells {
    const length = (to - from) * (1 - 1e-9);
    const shortest = tickStep(length, MOST_COLUMNS, 1);
    const column = Math.max(
        shortest,
        to - from < LEAST_COLUMNS * SECOND ? tickStep(length, 2 * LEAST_COLUMNS, 1) : SECOND,
    );
    const start = zero + Math.floor((from - zero) / column + 1e-9) * column;
    return { start, column, columns: Math.max(1, Math.ceil((to - start) / column - 1e-9)) };
}

/** Returns the time from the start of one cell to the end of another, in either order. */
export function rangeOf({ column, start }: Cells, first: number, last = first): Range {
    const length = column / ROWS;
    return [start + Math.min(first, last) * length, start + (Math.max(first, last) + 1) * length];
}

/** Returns the cell to which an arrow, Home or End leads, or undefined for other keys and beyond the edges. */
export function cellAfterKey(key: string, cell: number, { columns }: Cells): number | undefined {
    const row = cell % ROWS;
    const steps: Record<string, number> = {
        ArrowUp: row < ROWS - 1 ? 1 : 0,
        ArrowDown: row > 0 ? -1 : 0,
        ArrowLeft: -ROWS,
        ArrowRight: ROWS,
        Home: -cell,
        End: columns * ROWS - 1 - cell,
    };
    const next = cell + (steps[key] ?? Number.NaN);
    return next >= 0 && next < columns * ROWS ? next : undefined;
}
