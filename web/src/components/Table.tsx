/**
 * A table of any number of rows, of which only those on the screen exist: columns at the left that stay where they are,
 * and a main one, names mostly, that takes the rest and scrolls sideways. Every list and tree of the page is one of these;
 * they say what is in the cells and what keys do beyond walking. Columns are sorted by a click on their title, and made
 * wider by their edge.
 */
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { SortOrder } from '../state/tables';
import { type MenuItem, menuItem, openMenu, tooltip } from '../state/windows';
import { Splitter } from './Splitter';
import { useLatest, useSelectionMenu, useSize } from './use';
import { columnWidth, isShown, setColumnWidth, setShown } from '../state/settings';
import { useSession } from './session_context';

/** px; the style sheet has the same. */
export const ROW_HEIGHT = 20;
const HEADER_HEIGHT = 24;
/** px: how much further right each level of a tree is. */
export const INDENT = 12;
const OVERSCAN = 6;
/** px of a table below which columns that can be spared are left out. */
const NARROW = 640;
const WIDTH_STEP = 8;
/** px: so much of a name is to be seen where it belongs. */
const LEAST_NAME = 80;
/** ms that the mouse rests on a name before it is shown in full. */
const TOOLTIP_DELAY = 350;

export interface Column<Row> {
    key: string;
    title: string;
    /** What it is, for those who rest the mouse on the title. */
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
    /** The number in words. */
    describe?(row: Row): string;
    /** For copies: as it is shown, and the number behind it. */
    text(row: Row): string;
    value?(row: Row): number;
    /** It can be left out; whether it usually is. */
    optional?: 'shown' | 'hidden';
    /** It is left out where there is little room. */
    spared?: boolean;
}

export interface TableProps<Row> {
    /** Its name in what is kept of it. */
    name: string;
    label: string;
    role: 'grid' | 'treegrid';
    rows: readonly Row[];
    columns: readonly Column<Row>[];
    main: Column<Row>;
    /** px: an estimate of the widest cell of the main column. */
    mainWidth?: number;
    sort: SortOrder;
    /** The column that it is usually sorted by. */
    usualSort: string;
    /** Position of the selected row; -1: none. */
    selectedAt: number;
    /** Counts the selections that are to be scrolled to. */
    reveal: number;
    /** px of the main column before what matters in the selected row. */
    indentOf?(row: Row): number;
    /** px: an estimate of what follows it. Where it is scrolled out of view, the row says its name elsewhere. */
    widthOf?(row: Row): number;
    rowKey?(row: Row, at: number): string | number;
    rowClass?(row: Row): string;
    /** Its level and whether it is open, for a tree. */
    rowState?(row: Row): { level: number; isOpen?: boolean };
    /** `scroll`: by the keyboard, which brings the row into view. */
    onSelect(row: Row, scroll: boolean): void;
    /** A key that does not walk; false if it has no meaning. */
    onKey(event: KeyboardEvent, row: Row | null): boolean;
    /** Enter and a double click. */
    onOpen(row: Row): void;
    /** A click on the triangle of a tree's row. */
    onToggle?(row: Row, all: boolean): void;
    onCopy(row: Row): void;
    /** Items of the row's menu; those of the second answer replace them when it comes. */
    menuOf(row: Row): { items: MenuItem[]; later?: Promise<MenuItem[]> };
    /** Items for the menu of the head, below those for columns. */
    headMenu?(): MenuItem[];
    /** What the tooltip of a name says; null: nothing that the row does not. `isCut`: not all of it is to be seen. */
    tooltipOf?(row: Row, isCut: boolean): ComponentChildren | null;
    /** The rows that are on the screen now, to get their names. */
    onVisible?(rows: readonly Row[]): void;
    error: string;
    /** Shown if there are no rows. */
    empty: JSX.Element | null;
}

export function shownColumns<Row>(table: string, columns: readonly Column<Row>[], width: number): Column<Row>[] {
    return columns.filter(
        ({ key, optional, spared }) =>
            !(spared && width > 0 && width < NARROW) && (!optional || isShown(table, key, optional === 'shown')),
    );
}

// ---- the head ----

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

function columnItems<Row>(table: string, columns: readonly Column<Row>[]): MenuItem[] {
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

// ---- a row ----

interface RowProps<Row> {
    table: string;
    row: Row;
    at: number;
    columns: readonly Column<Row>[];
    main: Column<Row>;
    isSelected: boolean;
    indent: number;
    /** px from the left of the table: where its name is shown when that is scrolled out of view. */
    nameAt: number | null;
    class: string;
    state: { level: number; isOpen?: boolean } | undefined;
}

function Cell<Row>({ table, row, column }: { table: string; row: Row; column: Column<Row> }): JSX.Element {
    const more = column.classOf?.(row) ?? '';
    return (
        <span
            role="gridcell"
            class={more === '' ? column.class : `${column.class} ${more}`}
            style={{ width: `${columnWidth(table, column.key, column.width)}px` }}
            title={column.describe?.(row)}
        >
            {column.cell(row)}
        </span>
    );
}

function TableRow<Row>(props: RowProps<Row>): JSX.Element {
    const { table, row, at, columns, main, isSelected, indent, nameAt, state } = props;
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
            style={{ top: `${at * ROW_HEIGHT}px` }}
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

// ---- the table ----

/** What a key that walks leads to; undefined if it does not. */
function stepOf(event: KeyboardEvent, at: number, count: number, page: number): number | undefined {
    if (event.altKey || event.metaKey) return undefined;
    if (event.ctrlKey) return { ArrowUp: 0, ArrowDown: count - 1 }[event.key];
    return {
        ArrowDown: at + 1,
        ArrowUp: at < 0 ? 0 : at - 1,
        PageDown: at + page,
        PageUp: at - page,
        Home: 0,
        End: count - 1,
    }[event.key];
}

/**
 * Where a table that is scrolled to `top` is to be scrolled so that a row can be seen: a step scrolls by a row, a jump shows
 * what is around its end. `height`: px of rows on the screen.
 */
function topWithRow(at: number, top: number, height: number, isStep: boolean): number {
    const rowTop = at * ROW_HEIGHT;
    if (rowTop >= top && rowTop + ROW_HEIGHT <= top + height) return top;
    const isNear = isStep && rowTop >= top - height && rowTop <= top + 2 * height;
    if (!isNear) return Math.round((rowTop - height * 0.6) / ROW_HEIGHT) * ROW_HEIGHT;
    return rowTop < top ? rowTop : rowTop + ROW_HEIGHT - height;
}

function scrollToIndent(element: HTMLElement, indent: number, numbersWidth: number): void {
    const room = element.clientWidth - numbersWidth;
    if (indent < element.scrollLeft) element.scrollLeft = Math.max(0, indent - INDENT * 4);
    else if (indent > element.scrollLeft + room * 0.6) element.scrollLeft = indent - room * 0.4;
}

export function Table<Row>(props: TableProps<Row>): JSX.Element {
    const { name, rows, columns, main, sort, usualSort, selectedAt, reveal } = props;
    const scroller = useRef<HTMLDivElement>(null);
    const size = useSize(scroller);
    // Where the rows that exist belong; being scrolled elsewhere than here makes others.
    const madeFor = useRef(0);
    const [, makeAgain] = useState(0);
    const [scrollLeft, setScrollLeft] = useState(0);
    const shown = shownColumns(name, columns, size.width);
    const numbersWidth = shown.reduce((sum, column) => sum + columnWidth(name, column.key, column.width), 0) + 1;
    const latest = useLatest({ ...props, numbersWidth });

    // The keyboard walks the table from the start.
    useLayoutEffect(() => {
        if (document.activeElement === document.body) scroller.current?.focus({ preventScroll: true });
    }, []);

    // Brings the selected row, and the beginning of its name, into view. Where that is, is known before the rows are made:
    // those of the place that is left are not made first.
    const revealed = useRef(0);
    const isRevealing = reveal !== revealed.current && reveal > 0 && selectedAt >= 0 && size.height > 0;
    const height = size.height - HEADER_HEIGHT;
    const wantedTop = isRevealing ? topWithRow(selectedAt, madeFor.current, height, reveal > 1) : madeFor.current;
    const top = Math.max(0, Math.min(wantedTop, rows.length * ROW_HEIGHT - height));
    useLayoutEffect(() => {
        const element = scroller.current;
        const row = rows[selectedAt];
        if (!isRevealing || !element || row === undefined) return;
        revealed.current = reveal;
        madeFor.current = top;
        if (element.scrollTop !== top) element.scrollTop = top;
        if (props.indentOf) scrollToIndent(element, props.indentOf(row), numbersWidth);
    });

    // Where the table becomes lower, as when the source opens below it, the selected row stays in view.
    const lastHeight = useRef(0);
    useLayoutEffect(() => {
        const element = scroller.current;
        const rowTop = (latest.current?.selectedAt ?? -1) * ROW_HEIGHT;
        const lastRoom = lastHeight.current - HEADER_HEIGHT;
        lastHeight.current = size.height;
        if (!element || rowTop < element.scrollTop || rowTop + ROW_HEIGHT > element.scrollTop + lastRoom) return;
        element.scrollTop = Math.max(element.scrollTop, rowTop + ROW_HEIGHT + HEADER_HEIGHT - element.clientHeight);
    }, [size.height, latest]);

    const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - OVERSCAN);
    const last = Math.min(rows.length, Math.ceil((top + Math.max(size.height, 200)) / ROW_HEIGHT) + OVERSCAN);
    const visible = rows.slice(first, last);
    const room = size.width - numbersWidth;
    const nameAt = (row: Row): number | null => {
        const indent = (props.indentOf?.(row) ?? 0) - scrollLeft;
        if (!props.widthOf || room <= 0) return null;
        if (indent > room - LEAST_NAME) return numbersWidth + room / 2;
        if (indent >= 0) return null;
        // A name that is too long for the table can be read by scrolling.
        const width = props.widthOf(row);
        return width < room || indent + width < LEAST_NAME ? numbersWidth : null;
    };
    useLayoutEffect(() => {
        if (visible.length > 0) latest.current?.onVisible?.(visible);
    });

    const pause = useRef(0);
    const hideTooltip = (): void => {
        window.clearTimeout(pause.current);
        if (tooltip.value) tooltip.value = null;
    };
    useLayoutEffect(() => () => window.clearTimeout(pause.current), []);

    const atOf = (target: EventTarget | null): number => {
        const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null;
        return row ? Number(row.dataset.row) : -1;
    };
    const headItems = (): MenuItem[] => [...columnItems(name, columns), ...(props.headMenu?.() ?? [])];
    const offerMenu = useSelectionMenu(() => {
        const row = rows[selectedAt];
        return [...(row === undefined ? [] : props.menuOf(row).items), ...headItems()];
    });
    const onContextMenu = (event: MouseEvent): void => {
        const element = scroller.current;
        if (!element) return;
        hideTooltip();
        const isHead = event.target instanceof Element && event.target.closest('.tree-header') !== null;
        if (isHead) {
            event.preventDefault();
            openMenu({ x: event.clientX, y: event.clientY }, headItems(), element);
            return;
        }
        const under = atOf(event.target);
        const at = under >= 0 ? under : selectedAt;
        const row = rows[at];
        if (row === undefined) return;
        event.preventDefault();
        props.onSelect(row, false);
        // From the keyboard there is no place of the mouse: the menu opens at the row.
        const frame = element.getBoundingClientRect();
        const y = frame.top + HEADER_HEIGHT + (at + 1) * ROW_HEIGHT - element.scrollTop;
        const place = event.button === 2 ? { x: event.clientX, y: event.clientY } : { x: frame.left + numbersWidth, y };
        const { items, later } = props.menuOf(row);
        openMenu(place, items, element, later);
    };
    const onPointerMove = (event: PointerEvent): void => {
        hideTooltip();
        const row = rows[atOf(event.target)];
        const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('.tree-name') : null;
        const element = scroller.current;
        if (row === undefined || !cell || !element || !props.tooltipOf || event.buttons !== 0) return;
        const frame = element.getBoundingClientRect();
        const bounds = cell.querySelector('.tree-text')?.getBoundingClientRect();
        const isCut =
            bounds !== undefined &&
            (bounds.right > frame.left + element.clientWidth || bounds.left < frame.left + numbersWidth);
        const content = props.tooltipOf(row, isCut);
        if (content === null) return;
        const { clientX: x, clientY: y } = event;
        // It covers the rows below: a mouse that only passes by is not to be followed by it.
        pause.current = window.setTimeout(() => {
            tooltip.value = { x, y, content };
        }, TOOLTIP_DELAY);
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        if (event.target !== event.currentTarget) return;
        const page = Math.max(1, Math.floor((size.height - HEADER_HEIGHT) / ROW_HEIGHT) - 1);
        const row = rows[selectedAt];
        const step = stepOf(event, selectedAt, rows.length, page);
        const target = step === undefined ? undefined : rows[Math.max(0, Math.min(rows.length - 1, step))];
        const isCopy = event.ctrlKey && event.key === 'c' && (window.getSelection()?.isCollapsed ?? true);
        if (target !== undefined) props.onSelect(target, true);
        else if (row !== undefined && isCopy) props.onCopy(row);
        else if (event.ctrlKey || event.altKey || event.metaKey) return;
        else if (row !== undefined && event.key === 'Enter') props.onOpen(row);
        else if (!props.onKey(event, row ?? null)) return;
        event.preventDefault();
    };
    const minWidth = props.mainWidth === undefined ? '100%' : `max(100%, ${numbersWidth + props.mainWidth}px)`;
    return (
        // biome-ignore lint/a11y/noStaticElementInteractions: its role is one of two
        // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both have a label
        <div
            ref={scroller}
            class="tree"
            role={props.role}
            aria-label={props.label}
            aria-rowcount={rows.length + 1}
            aria-colcount={shown.length + 1}
            tabIndex={0}
            style={{ '--numbers-width': `${numbersWidth}px` }}
            {...(selectedAt >= 0 ? { 'aria-activedescendant': `${name}-${selectedAt}` } : {})}
            onScroll={(event) => {
                hideTooltip();
                const { scrollTop, scrollLeft: left } = event.currentTarget;
                setScrollLeft(left);
                if (scrollTop === madeFor.current) return;
                madeFor.current = scrollTop;
                makeAgain((times) => times + 1);
            }}
            onKeyDown={onKeyDown}
            onFocus={offerMenu}
            onContextMenu={onContextMenu}
            onPointerMove={onPointerMove}
            onPointerLeave={hideTooltip}
            onMouseDown={(event) => {
                const row = rows[atOf(event.target)];
                if (row !== undefined && event.button === 0) props.onSelect(row, false);
            }}
            onClick={(event) => {
                const row = rows[atOf(event.target)];
                const isTwisty = event.target instanceof Element && event.target.closest('.twisty') !== null;
                if (row !== undefined && isTwisty) props.onToggle?.(row, event.altKey);
            }}
            onDblClick={(event) => {
                const row = rows[atOf(event.target)];
                const isTwisty = event.target instanceof Element && event.target.closest('.twisty') !== null;
                if (row !== undefined && !isTwisty) props.onOpen(row);
            }}
        >
            <div class="tree-header" role="row" aria-rowindex={1} style={{ minWidth }}>
                <div class="tree-numbers">
                    {shown.map((column) => (
                        <Title
                            key={column.key}
                            table={name}
                            column={column}
                            sort={sort}
                            usualSort={usualSort}
                            isMain={false}
                        />
                    ))}
                </div>
                <Title table={name} column={main} sort={sort} usualSort={usualSort} isMain />
            </div>
            {rows.length === 0 && (
                <div role="row">
                    <div role="gridcell">{props.error === '' ? props.empty : null}</div>
                </div>
            )}
            {props.error !== '' && (
                <div role="row">
                    <div role="gridcell">
                        <p class="empty" role="alert">
                            {props.error}
                        </p>
                    </div>
                </div>
            )}
            <div class="tree-rows" role="rowgroup" style={{ height: `${rows.length * ROW_HEIGHT}px`, minWidth }}>
                {visible.map((row, i) => (
                    <TableRow
                        key={props.rowKey?.(row, first + i) ?? first + i}
                        table={name}
                        row={row}
                        at={first + i}
                        columns={shown}
                        main={main}
                        isSelected={first + i === selectedAt}
                        indent={props.indentOf?.(row) ?? 0}
                        nameAt={nameAt(row)}
                        class={props.rowClass?.(row) ?? ''}
                        state={props.rowState?.(row)}
                    />
                ))}
            </div>
        </div>
    );
}
