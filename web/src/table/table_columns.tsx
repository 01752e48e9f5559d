/** The columns of a table: their visibility, their widths, and their titles, by which the user sorts the rows. */
import type { ComponentChildren, JSX } from 'preact';
import { useSession } from '../session/context';
import type { SortOrder } from '../session/tables';
import { Splitter } from '../ui/Splitter';
import { columnWidth, isShown, setColumnWidth, setShown } from '../window/settings';
import { type MenuItem, menuItem } from '../window/windows';

/**
 * Widths of tables in px. Below the first, columns that repeat another column disappear; below the second, all columns
 * except for one number.
 */
export const NARROW = 640;
export const VERY_NARROW = 400;
const WIDTH_STEP = 8;

export interface Column<Row> {
    key: string;
    title: string;
    /** The tooltip of the title. */
    hint?: string;
    /** The width in px until the user drags the edge. The main column takes the remaining width. */
    width: number;
    isNumber: boolean;
    /** The name of the order, which several columns may share, or '' if the table cannot be sorted by this column. */
    sortedBy: string;
    /** Whether the default order is from A to Z, which reverses the triangle in the title. */
    isText?: boolean;
    class: string;
    /** Returns a further class of a cell. */
    classOf?(row: Row): string;
    cell(row: Row): ComponentChildren;
    /** Returns the filled part of the cell behind its text, from the left, 0 to 1. */
    bar?(row: Row): number;
    /** Returns the number in words. */
    describe?(row: Row): string;
    /** Returns the text of the cell, and its number, for copies. */
    text(row: Row): string;
    value?(row: Row): number;
    /** Whether an optional column is shown or hidden by default. */
    optional?: 'shown' | 'hidden';
    /** The table omits the column below this width, px. */
    sparedBelow?: number;
}

type NumberDefaults = 'sortedBy' | 'class' | 'cell';
export type NumberColumn<Row> = Omit<Column<Row>, 'isNumber' | NumberDefaults> &
    Partial<Pick<Column<Row>, NumberDefaults>>;

/** Makes a column of numbers. By default, the table sorts it by its own key, and shows `text`. */
export function numberColumn<Row>(column: NumberColumn<Row>): Column<Row> {
    return { isNumber: true, sortedBy: column.key, class: 'number', cell: column.text, ...column };
}

export function shownColumns<Row>(table: string, columns: readonly Column<Row>[], width: number): Column<Row>[] {
    return columns.filter(
        ({ key, optional, sparedBelow = 0 }) =>
            !(width > 0 && width < sparedBelow) && (!optional || isShown(table, key, optional === 'shown')),
    );
}

/** Returns the width of the columns at the left, px. */
export function widthOfColumns<Row>(table: string, columns: readonly Column<Row>[]): number {
    return columns.reduce((sum, column) => sum + columnWidth(table, column.key, column.width), 0) + 1;
}

interface TitleProps<Row> {
    table: string;
    column: Column<Row>;
    sort: SortOrder;
    usualSort: string;
    isMain: boolean;
}

function Title<Row>({ table, column, sort, usualSort, isMain }: TitleProps<Row>): JSX.Element {
    const { sortTable } = useSession().tables;
    const { key, title, hint, sortedBy, class: name } = column;
    const isSorted = sortedBy !== '' && sort.column === sortedBy;
    const isDown = sort.reversed === (column.isText === true);
    const width = columnWidth(table, key, column.width);
    return (
        <span
            role="columnheader"
            aria-label={title}
            class={name}
            style={isMain ? {} : { width: `${width}px` }}
            {...(isSorted ? { 'aria-sort': isDown ? 'descending' : 'ascending' } : {})}
        >
            {sortedBy === '' ? (
                <span title={hint}>{title}</span>
            ) : (
                <button type="button" class="sort" title={hint} onClick={() => sortTable(table, sortedBy, usualSort)}>
                    {title}
                    {isSorted && <span aria-hidden="true">{isDown ? ' ▾' : ' ▴'}</span>}
                </button>
            )}
            {!isMain && (
                <Splitter
                    label={`Width of ${title}`}
                    orientation="vertical"
                    step={WIDTH_STEP}
                    read={() => columnWidth(table, key, column.width)}
                    write={(size) => setColumnWidth(table, key, size)}
                    reset={() => setColumnWidth(table, key, null)}
                    grows={1}
                />
            )}
        </span>
    );
}

/** Returns items for the menu of the head. */
export function columnItems<Row>(table: string, columns: readonly Column<Row>[]): MenuItem[] {
    const optional = columns.filter((column) => column.optional);
    const choices = optional.map(({ key, title, hint, optional: usual }) => {
        const shown = isShown(table, key, usual === 'shown');
        return menuItem(`Column ${title}`, () => setShown(table, key, !shown, usual === 'shown'), {
            title: hint ?? '',
            checked: shown,
        });
    });
    const reset = menuItem(
        'Reset column widths',
        () => {
            for (const { key } of columns) setColumnWidth(table, key, null);
        },
        { startsGroup: choices.length > 0 },
    );
    return [...choices, reset];
}

interface HeadProps<Row> {
    table: string;
    columns: readonly Column<Row>[];
    main: Column<Row>;
    sort: SortOrder;
    usualSort: string;
    minWidth: string;
}

export function TableHead<Row>({ columns, main, minWidth, ...rest }: HeadProps<Row>): JSX.Element {
    return (
        <div class="tree-header" role="row" aria-rowindex={1} style={{ minWidth }}>
            <div class="tree-numbers">
                {columns.map((column) => (
                    <Title key={column.key} column={column} isMain={false} {...rest} />
                ))}
            </div>
            <Title column={main} isMain {...rest} />
        </div>
    );
}
