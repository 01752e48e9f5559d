/** The columns of a table: which are shown, how wide, and their titles, by which the rows are sorted. */
import type { ComponentChildren, JSX } from 'preact';
import { useSession } from '../session/context';
import type { SortOrder } from '../session/tables';
import { Splitter } from '../ui/Splitter';
import { columnWidth, isShown, setColumnWidth, setShown } from '../window/settings';
import { type MenuItem, menuItem } from '../window/windows';

/** px of tables: below the first, names need the room of what repeats another column; below the second, of all but one number. */
export const NARROW = 640;
export const VERY_NARROW = 400;
const WIDTH_STEP = 8;

export interface Column<Row> {
    key: string;
    title: string;
    /** The tooltip of the title. */
    hint?: string;
    /** px, until it is dragged; the main column takes what is left. */
    width: number;
    isNumber: boolean;
    /** '' if it is not sorted by; else the name of the order, which several columns may share. */
    sortedBy: string;
    /** Down is from A to Z: the triangle of the title goes the other way. */
    isText?: boolean;
    class: string;
    /** Another class of a single cell. */
    classOf?(row: Row): string;
    cell(row: Row): ComponentChildren;
    /** How much of the cell is filled behind its text, from the left, 0 to 1. */
    bar?(row: Row): number;
    /** The number in words. */
    describe?(row: Row): string;
    /** For copies: as it is shown, and the number behind it. */
    text(row: Row): string;
    value?(row: Row): number;
    /** It can be left out; whether it usually is. */
    optional?: 'shown' | 'hidden';
    /** It is left out in tables that are narrower, px. */
    sparedBelow?: number;
}

type NumberDefaults = 'sortedBy' | 'class' | 'cell';
export type NumberColumn<Row> = Omit<Column<Row>, 'isNumber' | NumberDefaults> &
    Partial<Pick<Column<Row>, NumberDefaults>>;

/** A column of numbers. By default, it is sorted by its own key, and shows `text`. */
export function numberColumn<Row>(column: NumberColumn<Row>): Column<Row> {
    return { isNumber: true, sortedBy: column.key, class: 'number', cell: column.text, ...column };
}

export function shownColumns<Row>(table: string, columns: readonly Column<Row>[], width: number): Column<Row>[] {
    return columns.filter(
        ({ key, optional, sparedBelow = 0 }) =>
            !(width > 0 && width < sparedBelow) && (!optional || isShown(table, key, optional === 'shown')),
    );
}

/** px of the columns at the left. */
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

/** For the menu of the head. */
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
