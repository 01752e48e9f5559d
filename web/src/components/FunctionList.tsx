/** The functions of the view, sorted by a column; only the rows on the screen exist. Enter shows who calls one. */
import { computed } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { FuncRow } from '../engine/api';
import {
    functionsError,
    isSortedDown,
    type SortColumn,
    selectedFunc,
    sortBy,
    sortColumn,
    sortedFunctions,
} from '../state/functions';
import { fetchNames, funcName, namesVersion } from '../state/names';
import { changeView, engine, info, search } from '../state/store';
import { OFFERED_FOR_FUNCTIONS, offersForFunction, transformFunctionByKey } from '../state/transform_offers';
import { summary, transform } from '../state/tree';
import { copyText, type MenuItem, menu, newMenuId } from '../state/windows';
import { describeWeight, formatShare, formatWeight } from '../text/format';
import { termsExpression } from '../text/highlight';
import { EmptyTree } from './EmptyTree';
import { ProfileText } from './text';
import { ROW_HEIGHT } from './TreeRow';
import { useSize } from './use';

const HEADER_HEIGHT = 24;
const OVERSCAN = 12;

const expression = computed(() => termsExpression(search.value));
const KEYS = new Set(OFFERED_FOR_FUNCTIONS.map((one) => one.key));

/** The inverted tree, at the row of the function: who calls it. */
function showCallers(func: number): void {
    changeView({ tab: 'calltree', inverted: true, path: [func] }, 'push');
}

function copyName(func: number): void {
    void copyText(funcName(func)?.name ?? '', 'Name');
}

async function openMenu(func: number, place: { x: number; y: number }, owner: HTMLElement): Promise<void> {
    const recursion = await engine.recursion(func);
    const item = (label: string, keys: string, startsGroup: boolean, action: () => void): MenuItem => ({
        label,
        title: '',
        keys,
        enabled: true,
        startsGroup,
        action,
    });
    const offers = offersForFunction(func, recursion).map((offer) => ({
        label: offer.label,
        title: offer.obstacle || offer.explanation,
        keys: offer.key,
        enabled: offer.obstacle === '',
        startsGroup: false,
        action: () => void transform(offer.transform),
    }));
    menu.value = {
        ...place,
        id: newMenuId(),
        owner,
        items: [
            item('Show callers', 'Enter', false, () => showCallers(func)),
            ...offers.map((offer, at) => ({ ...offer, startsGroup: at === 0 })),
            item('Copy function name', 'Ctrl+C', true, () => copyName(func)),
        ],
    };
}

const ARIA_SORT = { true: 'descending', false: 'ascending' } as const;

function SortHeader({ column, title, class: name }: { column: SortColumn; title: string; class: string }): JSX.Element {
    const isSorted = sortColumn.value === column;
    // Names go the other way: down is from A to Z.
    const isDown = isSortedDown.value !== (column === 'name');
    return (
        <span role="columnheader" class={name} {...(isSorted ? { 'aria-sort': ARIA_SORT[`${isDown}`] } : {})}>
            <button type="button" class="sort" onClick={() => sortBy(column)}>
                {title}
                <span aria-hidden="true">{isSorted ? (isDown ? ' ▾' : ' ▴') : ''}</span>
            </button>
        </span>
    );
}

function Row({ row, at }: { row: FuncRow; at: number }): JSX.Element {
    namesVersion.value;
    const name = funcName(row.func);
    const { weightUnit, interval } = info.value;
    const whole = summary.value?.rootTotal ?? 0;
    const isSelected = selectedFunc.value === row.func;
    const part = whole === 0 ? 0 : Math.min(1, Math.abs(row.total / whole));
    return (
        <div
            id={`function-${at}`}
            data-row={at}
            class={`tree-row${isSelected ? ' selected' : ''}${at % 2 === 1 ? ' odd' : ''}`}
            role="row"
            aria-rowindex={at + 2}
            aria-selected={isSelected}
            style={{ top: `${at * ROW_HEIGHT}px` }}
        >
            <div class="tree-numbers">
                <span role="gridcell" class="share">
                    <span class="share-bar" style={{ transform: `scaleX(${part})` }} />
                    <span>{formatShare(row.total, whole)}</span>
                </span>
                <span role="gridcell" class="number" title={describeWeight(row.total, weightUnit, interval)}>
                    {formatWeight(row.total, weightUnit)}
                </span>
                <span role="gridcell" class="self-share">
                    {row.self === 0 ? '' : formatShare(row.self, whole)}
                </span>
                <span
                    role="gridcell"
                    class={row.self === 0 ? 'number self none' : 'number self'}
                    title={describeWeight(row.self, weightUnit, interval)}
                >
                    {formatWeight(row.self, weightUnit)}
                </span>
            </div>
            <div role="gridcell" class="tree-name">
                <span class="tree-text in-list">
                    {name?.name === '' && <span class="tree-lib">(no name)</span>}
                    {name && <ProfileText text={name.name} find={expression.value} />}
                    {name && name.lib !== '' && (
                        <span class="tree-lib">
                            <ProfileText text={name.lib} limit={80} find={expression.value} />
                        </span>
                    )}
                </span>
            </div>
        </div>
    );
}

/** What a key does; false if it has no meaning here. */
function onListKey(event: KeyboardEvent, page: number, box: HTMLElement): boolean {
    const all = sortedFunctions.value;
    const at = all.findIndex((row) => row.func === selectedFunc.value);
    const func = all[at]?.func;
    const go = (to: number): void => {
        const target = Math.max(0, Math.min(all.length - 1, to));
        selectedFunc.value = all[target]?.func ?? -1;
        const top = target * ROW_HEIGHT;
        const height = box.clientHeight - HEADER_HEIGHT;
        if (top < box.scrollTop) box.scrollTop = top;
        else if (top + ROW_HEIGHT > box.scrollTop + height) box.scrollTop = top + ROW_HEIGHT - height;
    };
    if (event.altKey || event.metaKey) return false;
    if (event.ctrlKey) {
        if (event.key !== 'c' || func === undefined || !(window.getSelection()?.isCollapsed ?? true)) return false;
        copyName(func);
        return true;
    }
    const steps: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page };
    const ends: Record<string, number> = { Home: 0, End: all.length - 1 };
    const target = steps[event.key] ?? ends[event.key];
    if (target !== undefined) go(target);
    else if (func !== undefined && event.key === 'Enter') showCallers(func);
    else if (func !== undefined && KEYS.has(event.key)) void transformFunctionByKey(event.key, func);
    else return false;
    return true;
}

export function FunctionList(): JSX.Element {
    const scroller = useRef<HTMLDivElement>(null);
    const size = useSize(scroller);
    const [scrollTop, setScrollTop] = useState(0);
    const all = sortedFunctions.value;
    useLayoutEffect(() => {
        if (document.activeElement === document.body) scroller.current?.focus({ preventScroll: true });
    }, []);

    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - OVERSCAN);
    const last = Math.min(all.length, Math.ceil((scrollTop + Math.max(size.height, 200)) / ROW_HEIGHT) + OVERSCAN);
    const visible = all.slice(first, last);
    const missing = visible.filter((row) => funcName(row.func) === undefined).map((row) => row.func);
    useLayoutEffect(() => {
        if (missing.length > 0) void fetchNames(missing);
    });

    const rowAt = (target: EventTarget | null): FuncRow | undefined => {
        const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null;
        return row ? all[Number(row.dataset.row)] : undefined;
    };
    const onContextMenu = (event: MouseEvent): void => {
        const box = scroller.current;
        const func = rowAt(event.target)?.func ?? selectedFunc.value;
        if (!box || func < 0) return;
        event.preventDefault();
        selectedFunc.value = func;
        const frame = box.getBoundingClientRect();
        const at = all.findIndex((row) => row.func === func);
        const byKeys = { x: frame.left + 320, y: frame.top + HEADER_HEIGHT + (at + 1) * ROW_HEIGHT - box.scrollTop };
        void openMenu(func, event.button === 2 ? { x: event.clientX, y: event.clientY } : byKeys, box);
    };
    const { weightUnit } = info.value;
    const selectedAt = all.findIndex((row) => row.func === selectedFunc.value);
    const message = functionsError.value;
    return (
        <div
            ref={scroller}
            class="tree"
            role="grid"
            aria-label="Functions"
            aria-rowcount={all.length + 1}
            aria-colcount={5}
            tabIndex={0}
            {...(selectedAt >= 0 ? { 'aria-activedescendant': `function-${selectedAt}` } : {})}
            onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
            onKeyDown={(event) => {
                if (event.target !== event.currentTarget) return;
                const page = Math.max(1, Math.floor((size.height - HEADER_HEIGHT) / ROW_HEIGHT) - 1);
                if (onListKey(event, page, event.currentTarget)) event.preventDefault();
            }}
            onMouseDown={(event) => {
                const row = rowAt(event.target);
                if (row && event.button === 0) selectedFunc.value = row.func;
            }}
            onDblClick={(event) => {
                const row = rowAt(event.target);
                if (row) showCallers(row.func);
            }}
            onContextMenu={onContextMenu}
        >
            <div class="tree-header" role="row">
                <div class="tree-numbers">
                    <span role="columnheader" class="share">
                        Total %
                    </span>
                    <SortHeader column="total" title={`Total (${weightUnit})`} class="number" />
                    <span role="columnheader" class="self-share">
                        Self %
                    </span>
                    <SortHeader column="self" title="Self" class="number self" />
                </div>
                <SortHeader column="name" title="Function" class="tree-name" />
            </div>
            {message !== '' && (
                <p class="empty" role="alert">
                    {message}
                </p>
            )}
            {message === '' && all.length === 0 && summary.value?.rootTotal === 0 && <EmptyTree />}
            <div class="tree-rows" role="rowgroup" style={{ height: `${all.length * ROW_HEIGHT}px` }}>
                {visible.map((row, i) => (
                    <Row key={row.func} row={row} at={first + i} />
                ))}
            </div>
        </div>
    );
}
