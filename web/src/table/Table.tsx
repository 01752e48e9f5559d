/**
 * A table of any number of rows, which renders only visible rows. Columns at the left are fixed. The main column,
 * usually with names, takes the remaining width and scrolls sideways. Every list and tree of the page uses this table;
 * its view provides the cells and further keys. A click on a title sorts by the column, and dragging the edge of a
 * title resizes the column.
 */
import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useSession } from '../session/context';
import type { ScrollPlace, SortOrder } from '../session/tables';
import { type RowWindow, rowOfKey, rowUnder, useRowWindow } from '../ui/row_window';
import { useFirstFocus, useSelectionMenu, useSize } from '../ui/use';
import { rowHeight } from '../window/settings';
import { type MenuItem, openMenu, tooltip } from '../window/windows';
import { TableRow } from './TableRow';
import { type Column, columnItems, shownColumns, TableHead, widthOfColumns } from './table_columns';

const HEADER_HEIGHT = 24;
/** The indentation of each level of a tree, px. */
export const INDENT = 12;
/** The minimum width of a name, px. */
const LEAST_NAME = 80;
/** ms for which the mouse rests on a name before the table shows the full name. */
const TOOLTIP_DELAY = 350;

export interface TableProps<Row> {
    /** The name of the table in stored settings. */
    name: string;
    label: string;
    role: 'grid' | 'treegrid';
    rows: readonly Row[];
    columns: readonly Column<Row>[];
    main: Column<Row>;
    /** An estimate of the widest cell of the main column, px. */
    mainWidth?: number;
    sort: SortOrder;
    /** The default sort column. */
    usualSort: string;
    /** The position of the selected row, or -1. */
    selectedAt: number;
    /** Increases when the table should scroll to the selected row. */
    reveal: number;
    /** The width before the important part of a row in the main column, px. */
    indentOf?(row: Row): number;
    /** An estimate of the width of this part, px. If it is scrolled out of view, the row repeats its name. */
    widthOf?(row: Row): number;
    rowKey?(row: Row, at: number): string | number;
    rowClass?(row: Row): string;
    /** The level of a row in a tree, and whether the row is open. */
    rowState?(row: Row): { level: number; isOpen?: boolean };
    /** `scroll` is true for selection by keyboard, after which the table scrolls to the row. */
    onSelect(row: Row, scroll: boolean): void;
    /** Handles keys that do not move the selection. Returns false if a key has no effect. */
    onKey(event: KeyboardEvent, row: Row | null): boolean;
    /** Called for Enter and a double click. */
    onOpen(row: Row): void;
    /** Called for a click on the triangle of a tree's row. */
    onToggle?(row: Row, all: boolean): void;
    onCopy(row: Row): void;
    /** Returns the items of the row's menu. When the items of `later` arrive, they replace the first items. */
    menuOf(row: Row): { items: MenuItem[]; later?: Promise<MenuItem[]> };
    /** Returns items for the menu of the head, below the items for columns. */
    headMenu?(): MenuItem[];
    /**
     * Returns the tooltip of a name, or null if the tooltip would only repeat the row. `isCut` says that the row shows
     * a part of the name.
     */
    tooltipOf?(row: Row, isCut: boolean): ComponentChildren | null;
    /** Called with the visible rows, so that the view fetches their names. */
    onVisible?(rows: readonly Row[]): void;
    error: string;
    /** Shown for a table without rows. */
    empty: JSX.Element | null;
}

function scrollToIndent(element: HTMLElement, indent: number, numbersWidth: number): void {
    const room = element.clientWidth - numbersWidth;
    if (indent < element.scrollLeft) element.scrollLeft = Math.max(0, indent - INDENT * 4);
    else if (indent > element.scrollLeft + room * 0.6) element.scrollLeft = indent - room * 0.4;
}

/** Returns the scroll position in px at which the selected row, or else the list, keeps its previous position. */
function topOfPlace({ top, selected }: ScrollPlace, selectedTop: number): number {
    return selected === null || selectedTop < 0 ? top : Math.max(0, selectedTop - selected);
}

/** A table and the layout of its rows. */
interface Layout {
    scroller: RefObject<HTMLDivElement | null>;
    /** The height below the head, px. */
    room: number;
    numbersWidth: number;
    scrollLeft: number;
}

/** Returns the visible rows. Scrolls to the selected row, and keeps it in view when the table changes. */
function useTableScroll<Row>(props: TableProps<Row>, { scroller, room, numbersWidth, scrollLeft }: Layout): RowWindow {
    const { name, rows, selectedAt, reveal } = props;
    const { forgetNextPlace, nextPlace, places } = useSession().tables;
    const revealed = useRef(0);
    const height = rowHeight.value;
    const nextScroll = rows.length > 0 && room > 0 ? nextPlace(name) : undefined;
    const isRevealing = !nextScroll && reveal !== revealed.current && reveal > 0 && selectedAt >= 0 && room > 0;
    const rowWindow = useRowWindow(scroller, {
        count: rows.length,
        rowHeight: height,
        room,
        revealed: isRevealing ? { at: selectedAt, how: reveal > 1 ? 'nearest' : 'around' } : null,
        scrolledTo: nextScroll ? topOfPlace(nextScroll, selectedAt * height) : null,
    });
    useLayoutEffect(() => {
        if (!nextScroll) return;
        forgetNextPlace(name);
        revealed.current = reveal;
        if (scroller.current) scroller.current.scrollLeft = nextScroll.left;
    });
    useLayoutEffect(() => {
        const selected = selectedAt * height - rowWindow.top;
        const isSeen = selectedAt >= 0 && selected > -height && selected < room;
        places.set(name, { top: rowWindow.top, left: scrollLeft, selected: isSeen ? selected : null });
    });
    useLayoutEffect(() => () => void places.delete(name), []);
    useLayoutEffect(() => {
        const row = rows[selectedAt];
        if (!isRevealing || row === undefined) return;
        revealed.current = reveal;
        if (scroller.current && props.indentOf) scrollToIndent(scroller.current, props.indentOf(row), numbersWidth);
    });

    // Keeps the selected row in view if the table or its rows become lower, for example when the source panel opens.
    const lastSize = useRef({ room: 0, height });
    useLayoutEffect(() => {
        const before = lastSize.current;
        const rowTop = selectedAt * before.height - rowWindow.top;
        if (rowTop >= 0 && rowTop + before.height <= before.room) rowWindow.reveal(selectedAt, 'nearest');
        lastSize.current = { room, height };
    }, [room, height]);
    return rowWindow;
}

/** Shows the tooltip of the name under the mouse. */
function useTableTooltip<Row>({ rows, tooltipOf }: TableProps<Row>, { scroller, numbersWidth }: Layout) {
    const pause = useRef(0);
    const hideTooltip = (): void => {
        window.clearTimeout(pause.current);
        if (tooltip.value) tooltip.value = null;
    };
    // With other rows, another row is under the mouse.
    useLayoutEffect(() => hideTooltip, [rows]);
    const onPointerMove = (event: PointerEvent): void => {
        hideTooltip();
        const row = rows[rowUnder(event)];
        const cell = event.target instanceof Element ? event.target.closest<HTMLElement>('.tree-name') : null;
        const element = scroller.current;
        if (row === undefined || !cell || !element || !tooltipOf || event.buttons !== 0) return;
        const frame = element.getBoundingClientRect();
        const bounds = cell.querySelector('.tree-text')?.getBoundingClientRect();
        const isCut =
            bounds !== undefined &&
            (bounds.right > frame.left + element.clientWidth || bounds.left < frame.left + numbersWidth);
        const content = tooltipOf(row, isCut);
        if (content === null) return;
        const { clientX: x, clientY: y } = event;
        // The tooltip covers the rows below, so it appears only after the mouse has rested.
        pause.current = window.setTimeout(() => {
            tooltip.value = { x, y, content };
        }, TOOLTIP_DELAY);
    };
    return { hideTooltip, onPointerMove };
}

/** Opens the menus of the head and of rows. */
function useTableMenu<Row>(props: TableProps<Row>, { scroller, numbersWidth }: Layout, rowWindow: RowWindow) {
    const { name, rows, columns, selectedAt } = props;
    const headItems = (): MenuItem[] => [...columnItems(name, columns), ...(props.headMenu?.() ?? [])];
    const offerMenu = useSelectionMenu(() => {
        const row = rows[selectedAt];
        return [...(row === undefined ? [] : props.menuOf(row).items), ...headItems()];
    });
    const onContextMenu = (event: MouseEvent): void => {
        const element = scroller.current;
        if (!element) return;
        const isHead = event.target instanceof Element && event.target.closest('.tree-header') !== null;
        if (isHead) {
            event.preventDefault();
            openMenu({ x: event.clientX, y: event.clientY }, headItems(), element);
            return;
        }
        const under = rowUnder(event);
        const at = under >= 0 ? under : selectedAt;
        const row = rows[at];
        if (row === undefined) return;
        event.preventDefault();
        props.onSelect(row, false);
        // A menu that a key opened has no mouse position, and opens at the row.
        const frame = element.getBoundingClientRect();
        const y = frame.top + HEADER_HEIGHT + (at + 1) * rowHeight.value - rowWindow.top;
        const place = event.button === 2 ? { x: event.clientX, y: event.clientY } : { x: frame.left + numbersWidth, y };
        const { items, later } = props.menuOf(row);
        openMenu(place, items, element, later);
    };
    return { offerMenu, onContextMenu };
}

/** Returns whether a key has an effect. `page` is the number of visible rows. */
function pressKey<Row>(props: TableProps<Row>, event: KeyboardEvent, page: number): boolean {
    const { rows, selectedAt } = props;
    const row = rows[selectedAt];
    const target = rows[rowOfKey(event, selectedAt, rows.length, page) ?? -1];
    const isCopy = event.ctrlKey && event.key === 'c' && (window.getSelection()?.isCollapsed ?? true);
    if (target !== undefined) props.onSelect(target, true);
    else if (row !== undefined && isCopy) props.onCopy(row);
    else if (event.ctrlKey || event.altKey || event.metaKey) return false;
    else if (row !== undefined && event.key === 'Enter') props.onOpen(row);
    else return props.onKey(event, row ?? null);
    return true;
}

/** Returns the position in px from the left at which a row repeats a name that is scrolled out of view, or null. */
function placeOfName<Row>(
    { indentOf, widthOf }: TableProps<Row>,
    row: Row,
    nameRoom: number,
    { numbersWidth, scrollLeft }: Layout,
): number | null {
    const indent = (indentOf?.(row) ?? 0) - scrollLeft;
    if (!widthOf || nameRoom <= 0) return null;
    if (indent > nameRoom - LEAST_NAME) return numbersWidth + nameRoom / 2;
    if (indent >= 0) return null;
    // The user scrolls sideways to read a name that is too long for the table.
    const width = widthOf(row);
    return width < nameRoom || indent + width < LEAST_NAME ? numbersWidth : null;
}

export function Table<Row>(props: TableProps<Row>): JSX.Element {
    const { name, rows, columns, main, sort, usualSort, selectedAt } = props;
    const scroller = useRef<HTMLDivElement>(null);
    const size = useSize(scroller);
    const [scrollLeft, setScrollLeft] = useState(0);
    const shown = shownColumns(name, columns, size.width);
    const numbersWidth = widthOfColumns(name, shown);

    useFirstFocus(scroller);

    const layout = { scroller, room: Math.max(0, size.height - HEADER_HEIGHT), numbersWidth, scrollLeft };
    const rowWindow = useTableScroll(props, layout);
    const { first, last } = rowWindow;
    const visible = rows.slice(first, last);
    useLayoutEffect(() => {
        if (visible.length > 0) props.onVisible?.(visible);
    });

    const { hideTooltip, onPointerMove } = useTableTooltip(props, layout);
    const { offerMenu, onContextMenu } = useTableMenu(props, layout, rowWindow);
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
            {...(rowWindow.has(selectedAt) ? { 'aria-activedescendant': `${name}-${selectedAt}` } : {})}
            onScroll={(event) => {
                hideTooltip();
                setScrollLeft(event.currentTarget.scrollLeft);
                rowWindow.onScroll();
            }}
            onKeyDown={(event) => {
                const page = Math.max(1, Math.floor(layout.room / rowHeight.value) - 1);
                if (event.target === event.currentTarget && pressKey(props, event, page)) event.preventDefault();
            }}
            onFocus={offerMenu}
            onContextMenu={(event) => {
                hideTooltip();
                onContextMenu(event);
            }}
            onPointerMove={onPointerMove}
            onPointerLeave={hideTooltip}
            onMouseDown={(event) => {
                const row = rows[rowUnder(event)];
                if (row !== undefined && event.button === 0) props.onSelect(row, false);
            }}
            onClick={(event) => {
                const row = rows[rowUnder(event)];
                const isTwisty = event.target instanceof Element && event.target.closest('.twisty') !== null;
                if (row !== undefined && isTwisty) props.onToggle?.(row, event.altKey);
            }}
            onDblClick={(event) => {
                const row = rows[rowUnder(event)];
                const isTwisty = event.target instanceof Element && event.target.closest('.twisty') !== null;
                if (row !== undefined && !isTwisty) props.onOpen(row);
            }}
        >
            <TableHead table={name} columns={shown} main={main} sort={sort} usualSort={usualSort} minWidth={minWidth} />
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
            <div class="tree-rows" role="rowgroup" style={{ height: `${rowWindow.height}px`, minWidth }}>
                {visible.map((row, i) => (
                    <TableRow
                        key={props.rowKey?.(row, first + i) ?? first + i}
                        table={name}
                        row={row}
                        at={first + i}
                        top={rowWindow.topOf(first + i)}
                        columns={shown}
                        main={main}
                        isSelected={first + i === selectedAt}
                        indent={props.indentOf?.(row) ?? 0}
                        nameAt={placeOfName(props, row, size.width - numbersWidth, layout)}
                        class={props.rowClass?.(row) ?? ''}
                        state={props.rowState?.(row)}
                    />
                ))}
            </div>
        </div>
    );
}
