/**
 * The call tree: a grid of which only the rows on the screen exist. The numbers stay at the left while names scroll
 * sideways; the keyboard walks it as trees are walked everywhere.
 */
import { computed } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { fetchNames, funcName, namesVersion } from '../state/names';
import type { Recursion, TransformKind } from '../engine/api';
import { engine, info, inverted, search } from '../state/store';
import { OFFERED, offersFor, transformByKey } from '../state/transform_offers';
import {
    collapse,
    expand,
    expandAll,
    nodePath,
    reveal,
    rows,
    selected,
    selectNode,
    summary,
    type TreeNode,
    transform,
    treeError,
} from '../state/tree';
import { copyText, type MenuItem, menu, newMenuId, tooltip } from '../state/windows';
import { describeWeight, formatShare } from '../text/format';
import { termsExpression } from '../text/highlight';
import { ROW_LIMIT } from '../text/plain';
import { EmptyTree } from './EmptyTree';
import { NameTooltip } from './NameTooltip';
import { INDENT, ROW_HEIGHT, TreeRow } from './TreeRow';
import { useLatest, useSize } from './use';

const HEADER_HEIGHT = 24;
const OVERSCAN = 12;
/** Widths of what is at the left of the names, and of the average character, px; with CallTree's part of the style sheet. */
const NUMBERS_WIDTH = 316;
const CHARACTER_WIDTH = 7;
const LONGEST_STACK = 100_000;
/** The transforms before which the menu has a line. */
const GROUP_STARTS = new Set<TransformKind>(['focus-function', 'collapse-function-subtree', 'drop-function']);
const TRANSFORM_KEYS = new Set(OFFERED.map((one) => one.key));
/** ms that the mouse rests on a name before it is shown in full. */
const TOOLTIP_DELAY = 350;

/** What the numbers take in this window: narrow ones leave a column out. */
function numbersWidth(box: HTMLElement): number {
    return box.querySelector<HTMLElement>('.tree-numbers')?.offsetWidth ?? NUMBERS_WIDTH;
}

const expression = computed(() => termsExpression(search.value));

/** An estimate of the widest row, so that the horizontal scroll bar does not change while one scrolls down. */
const contentWidth = computed(() => {
    namesVersion.value;
    let widest = 0;
    for (const node of rows.value) {
        const name = funcName(node.func);
        const characters = name ? Math.min(name.name.length, ROW_LIMIT) + Math.min(name.lib.length, 80) + 4 : 24;
        widest = Math.max(widest, node.depth * INDENT + characters * CHARACTER_WIDTH);
    }
    return NUMBERS_WIDTH + 56 + widest;
});

async function copyStack(node: TreeNode): Promise<void> {
    // A path begins at the root, or at the leaf if the tree is inverted: copied stacks have the leaf first.
    const path = nodePath(node).slice(0, LONGEST_STACK);
    await fetchNames(path);
    const ordered = inverted.value ? path : path.reverse();
    const lines = ordered.map((func) => {
        const name = funcName(func);
        return name?.lib ? `${name.name} [${name.lib}]` : (name?.name ?? '');
    });
    await copyText(`${lines.join('\n')}\n`, 'Stack');
}

function copyName(node: TreeNode): void {
    void copyText(funcName(node.func)?.name ?? '', 'Name');
}

/** `recursion`: of the function; null while it is not known. */
function menuItems(node: TreeNode, recursion: Recursion | null): MenuItem[] {
    const offers = offersFor(node, recursion).map((offer) => ({
        label: offer.label,
        title: offer.obstacle || offer.explanation,
        keys: offer.key,
        enabled: offer.obstacle === '',
        startsGroup: GROUP_STARTS.has(offer.kind),
        action: () => void transform(offer.transform),
    }));
    const plain = (label: string, keys: string, enabled: boolean, action: () => void, startsGroup = false): MenuItem => ({
        label,
        title: '',
        keys,
        enabled,
        startsGroup,
        action,
    });
    return [
        ...offers,
        plain('Open everything below', '*', node.hasChildren, () => void expandAll(node), true),
        plain('Close', '←', node.expanded, () => collapse(node)),
        plain('Copy function name', 'Ctrl+C', true, () => copyName(node), true),
        plain('Copy stack', '', true, () => void copyStack(node)),
    ];
}

function Header({ minWidth }: { minWidth: string }): JSX.Element {
    const { weightUnit, interval } = info.value;
    const title = weightUnit === 'samples' ? `A sample stands for about ${interval} ms` : '';
    return (
        <div class="tree-header" role="row" style={{ minWidth }}>
            <div class="tree-numbers">
                <span role="columnheader" class="share">
                    Total %
                </span>
                <span role="columnheader" class="number" title={title}>
                    Total ({weightUnit})
                </span>
                <span role="columnheader" class="self-share">
                    Self %
                </span>
                <span role="columnheader" class="number self" title={title}>
                    Self
                </span>
            </div>
            <span role="columnheader" class="tree-name">
                Function
            </span>
        </div>
    );
}

/** What a key does to the tree; false if it has no meaning here. */
function onTreeKey(event: KeyboardEvent, page: number): boolean {
    const all = rows.value;
    const node = selected.value;
    const at = node ? all.indexOf(node) : -1;
    const go = (to: number): void => {
        const target = all[Math.max(0, Math.min(all.length - 1, to))];
        if (target) selectNode(target);
    };
    if (event.altKey || event.metaKey) return false;
    if (event.ctrlKey) {
        if (event.key === 'c' && node && (window.getSelection()?.isCollapsed ?? true)) copyName(node);
        else if (event.key === 'ArrowUp') go(0);
        else if (event.key === 'ArrowDown') go(all.length - 1);
        else return false;
        return true;
    }
    switch (event.key) {
        case 'ArrowDown':
            go(at + 1);
            break;
        case 'ArrowUp':
            go(at < 0 ? 0 : at - 1);
            break;
        case 'PageDown':
            go(at + page);
            break;
        case 'PageUp':
            go(at - page);
            break;
        case 'Home':
            go(0);
            break;
        case 'End':
            go(all.length - 1);
            break;
        case 'ArrowRight':
            if (!node) go(0);
            else if (!node.expanded) void expand(node);
            else if (node.children?.[0]) selectNode(node.children[0]);
            break;
        case 'ArrowLeft':
            if (!node) go(0);
            else if (node.expanded && node.hasChildren) collapse(node);
            else if (node.parent) selectNode(node.parent);
            break;
        case 'Enter':
            if (node?.expanded) collapse(node);
            else if (node) void expand(node);
            break;
        case '*':
            if (node) void expandAll(node);
            break;
        default:
            if (!node || !TRANSFORM_KEYS.has(event.key)) return false;
            void transformByKey(event.key, node);
    }
    return true;
}

export function CallTree(): JSX.Element {
    const scroller = useRef<HTMLDivElement>(null);
    const size = useSize(scroller);
    const [scrollTop, setScrollTop] = useState(0);
    const all = rows.value;
    const latestRows = useLatest(all);
    const reveals = reveal.value;
    namesVersion.value;

    // The keyboard walks the tree from the start.
    useLayoutEffect(() => {
        if (document.activeElement === document.body) scroller.current?.focus({ preventScroll: true });
    }, []);

    // Brings the selected row, and the beginning of its name, into view.
    useLayoutEffect(() => {
        const box = scroller.current;
        const node = selected.peek();
        if (!box || !node || reveals === 0) return;
        const at = latestRows.current?.indexOf(node) ?? -1;
        if (at < 0) return;
        const top = at * ROW_HEIGHT;
        const height = box.clientHeight - HEADER_HEIGHT;
        const isNear = top >= box.scrollTop - height && top <= box.scrollTop + 2 * height && reveals > 1;
        if (top < box.scrollTop || top + ROW_HEIGHT > box.scrollTop + height) {
            // A step scrolls by a row; a jump shows what is around its end.
            if (!isNear) box.scrollTop = Math.round((top - height * 0.6) / ROW_HEIGHT) * ROW_HEIGHT;
            else if (top < box.scrollTop) box.scrollTop = top;
            else box.scrollTop = top + ROW_HEIGHT - height;
        }
        const indent = node.depth * INDENT;
        const room = box.clientWidth - numbersWidth(box);
        if (indent < box.scrollLeft) box.scrollLeft = Math.max(0, indent - INDENT * 4);
        else if (indent > box.scrollLeft + room * 0.6) box.scrollLeft = indent - room * 0.4;
    }, [reveals, latestRows]);

    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - OVERSCAN);
    const last = Math.min(all.length, Math.ceil((scrollTop + Math.max(size.height, 200)) / ROW_HEIGHT) + OVERSCAN);
    const visible = all.slice(first, last);
    const missing = visible.filter((node) => funcName(node.func) === undefined).map((node) => node.func);
    useLayoutEffect(() => {
        if (missing.length > 0) void fetchNames(missing);
    });

    const nodeAt = (target: EventTarget | null): TreeNode | undefined => {
        const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]') : null;
        return row ? all[Number(row.dataset.row)] : undefined;
    };
    const pause = useRef(0);
    const hideTooltip = (): void => {
        window.clearTimeout(pause.current);
        if (tooltip.value) tooltip.value = null;
    };
    const openMenu = (event: MouseEvent): void => {
        const box = scroller.current;
        const node = nodeAt(event.target) ?? selected.value;
        if (!node || !box) return;
        event.preventDefault();
        hideTooltip();
        selectNode(node, false);
        // From the keyboard there is no place of the mouse: the menu opens at the row.
        const fromKeys = event.button !== 2;
        const frame = box.getBoundingClientRect();
        const rowY = frame.top + HEADER_HEIGHT + (all.indexOf(node) + 1) * ROW_HEIGHT - box.scrollTop;
        const place = fromKeys ? { x: frame.left + numbersWidth(box), y: rowY } : { x: event.clientX, y: event.clientY };
        const opened = { ...place, id: newMenuId(), items: menuItems(node, null), owner: box };
        menu.value = opened;
        void engine.recursion(node.func).then((recursion) => {
            if (menu.value?.id === opened.id) menu.value = { ...opened, items: menuItems(node, recursion) };
        });
    };
    const onPointerMove = (event: PointerEvent): void => {
        hideTooltip();
        const node = nodeAt(event.target);
        const name = event.target instanceof Element ? event.target.closest<HTMLElement>('.tree-name') : null;
        const box = scroller.current;
        if (!node || !name || !box || event.buttons !== 0) return;
        const text = name.querySelector('.tree-text');
        const frame = box.getBoundingClientRect();
        const bounds = text?.getBoundingClientRect();
        const info = funcName(node.func);
        const isCut =
            bounds && (bounds.right > frame.left + box.clientWidth || bounds.left < frame.left + numbersWidth(box));
        const isLong = (info?.name.length ?? 0) > ROW_LIMIT;
        const isOdd = info?.name === '(truncated)';
        if (!info || !(isCut || isLong || isOdd)) return;
        const { clientX: x, clientY: y } = event;
        // It covers the rows below: a mouse that only passes by is not to be followed by it.
        pause.current = window.setTimeout(() => {
            tooltip.value = { x, y, content: <NameTooltip name={info} /> };
        }, TOOLTIP_DELAY);
    };

    const answer = summary.value;
    const current = selected.value;
    const minWidth = `max(100%, ${contentWidth.value}px)`;
    const isEmpty = answer !== null && all.length === 0;
    const message = treeError.value;
    return (
        <div
            ref={scroller}
            class="tree"
            role="treegrid"
            aria-label="Call tree"
            aria-rowcount={all.length}
            aria-colcount={5}
            tabIndex={0}
            {...(current && all.includes(current) ? { 'aria-activedescendant': `row-${all.indexOf(current)}` } : {})}
            onScroll={(event) => {
                hideTooltip();
                setScrollTop(event.currentTarget.scrollTop);
            }}
            onKeyDown={(event) => {
                const page = Math.max(1, Math.floor((size.height - HEADER_HEIGHT) / ROW_HEIGHT) - 1);
                if (onTreeKey(event, page)) event.preventDefault();
            }}
            onContextMenu={openMenu}
            onPointerMove={onPointerMove}
            onPointerLeave={hideTooltip}
        >
            <Header minWidth={minWidth} />
            {message !== '' && (
                <p class="empty" role="alert">
                    {message}
                </p>
            )}
            {isEmpty && message === '' && <EmptyTree />}
            <div class="tree-rows" role="rowgroup" style={{ height: `${all.length * ROW_HEIGHT}px`, minWidth }}>
                {visible.map((node, i) => (
                    <TreeRow
                        key={first + i}
                        node={node}
                        at={first + i}
                        isSelected={node === current}
                        isExpanded={node.expanded}
                        share={formatShare(node.total, answer?.rootTotal ?? 0)}
                        selfShare={node.self === 0 ? '' : formatShare(node.self, answer?.rootTotal ?? 0)}
                        part={answer && answer.rootTotal !== 0 ? Math.abs(node.total / answer.rootTotal) : 0}
                        unit={info.value.weightUnit}
                        totalText={describeWeight(node.total, info.value.weightUnit, info.value.interval)}
                        selfText={describeWeight(node.self, info.value.weightUnit, info.value.interval)}
                        name={funcName(node.func)}
                        find={expression.value}
                    />
                ))}
            </div>
        </div>
    );
}
