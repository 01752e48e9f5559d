/** A row of a table: its cells at the left, then the main cell, whose name stays visible while the column scrolls. */
import type { ComponentChildren, JSX } from 'preact';
import { columnWidth } from '../window/settings';
import type { Column } from './table_columns';

interface RowProps<Row> {
    table: string;
    row: Row;
    at: number;
    columns: readonly Column<Row>[];
    main: Column<Row>;
    isSelected: boolean;
    indent: number;
    /** px from the left of the table, where the row repeats its name if the name is scrolled out of view. */
    nameAt: number | null;
    class: string;
    /** The distance from the top of all rows, px. */
    top: number;
    state: { level: number; isOpen?: boolean } | undefined;
}

/** Dims the fraction of a number, or the whole number if it is below 1. */
function withQuietFraction(content: ComponentChildren): ComponentChildren {
    const [, whole, fraction] = (typeof content === 'string' && /^(|.*[1-9]\d*)((?:<?0)?\.\d.*)$/.exec(content)) || [];
    if (fraction === undefined) return content;
    return (
        <>
            {whole}
            <span class="fraction">{fraction}</span>
        </>
    );
}

function Cell<Row>({ table, row, column }: { table: string; row: Row; column: Column<Row> }): JSX.Element {
    const more = column.classOf?.(row) ?? '';
    const width = `${columnWidth(table, column.key, column.width)}px`;
    const bar = column.bar?.(row);
    return (
        <span
            role="gridcell"
            class={more === '' ? column.class : `${column.class} ${more}`}
            style={bar === undefined ? { width } : { width, backgroundSize: `${100 * bar}% calc(100% - 4px)` }}
            title={column.describe?.(row)}
        >
            {column.isNumber ? withQuietFraction(column.cell(row)) : column.cell(row)}
        </span>
    );
}

export function TableRow<Row>(props: RowProps<Row>): JSX.Element {
    const { table, row, at, columns, main, isSelected, indent, nameAt, state, top } = props;
    const level = state ? { 'aria-level': state.level } : {};
    const open = state?.isOpen === undefined ? {} : { 'aria-expanded': state.isOpen };
    return (
        <div
            id={`${table}-${at}`}
            data-row={at}
            class={`tree-row${isSelected ? ' selected' : ''}${at % 2 === 1 ? ' odd' : ''}${props.class}`}
            role="row"
            {...level}
            {...open}
            aria-rowindex={at + 2}
            aria-selected={isSelected}
            style={{ top: `${top}px` }}
        >
            <div class="tree-numbers">
                {columns.map((column) => (
                    <Cell key={column.key} table={table} row={row} column={column} />
                ))}
            </div>
            {nameAt === null ? (
                <div role="gridcell" class="tree-name" style={indent > 0 ? { paddingLeft: `${indent}px` } : {}}>
                    {main.cell(row)}
                </div>
            ) : (
                <div role="gridcell" class="tree-name">
                    <span class="tree-elsewhere" style={{ left: `${nameAt}px` }}>
                        <span class="tree-level">{state?.level}</span>
                        {main.cell(row)}
                    </span>
                </div>
            )}
        </div>
    );
}
