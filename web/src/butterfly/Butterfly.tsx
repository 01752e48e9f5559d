/** A function, a library or a category between its callers and its callees. Enter on a row makes its function the focus. */
import { computed, type ReadonlySignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { categoryColor } from '../base/colors';
import { describeChange, describeWeight, formatShare } from '../base/format';
import { plainText } from '../base/plain';
import { FUNCTION_KEYS, NODE_KEYS } from '../calltree/node_menu';
import { changeClass, changeColumns, reachText, relativeText } from '../compare/change_columns';
import type { FuncRow } from '../engine/api';
import type { Center, CenterKind } from '../engine/butterfly';
import { useModel, useSession } from '../session/context';
import { copyPlainName, copyTableItems } from '../table/copies';
import { INDENT, Table } from '../table/Table';
import { type Column, shownColumns } from '../table/table_columns';
import { nodePath, type TreeNode } from '../table/tree_nodes';
import {
    estimateTreeWidth,
    estimateWidth,
    FuncText,
    foldItem,
    nameColumn,
    nameTooltip,
    rowClassOf,
    shortName,
    treeColumn,
    weightColumns,
} from '../table/weight_columns';
import { EmptyTree } from '../ui/EmptyTree';
import { Splitter } from '../ui/Splitter';
import { ProfileText } from '../ui/text';
import { isSideBySide, listWidth, setListWidth, toggleSides } from '../window/settings';
import { act, type MenuItem, menuItem } from '../window/windows';
import { LIST_ORDER, SIDE_ORDER, type Wing } from './butterfly_state';

const LISTS: [CenterKind, string][] = [
    ['function', 'Functions'],
    ['library', 'Libraries'],
    ['category', 'Categories'],
];
const LEAST_LIST = 200;
const MOST_LIST_SHARE = 0.45;

function focusOn(session: Session, func: number): void {
    const { setCenter } = session.butterfly;
    setCenter({ kind: 'function', index: func });
}

function doKey(session: Session, event: KeyboardEvent, func: number): boolean {
    const { transformFunctionByKey } = session.transformOffers;
    if (!FUNCTION_KEYS.has(event.key)) return false;
    act(transformFunctionByKey(event.key, func));
    return true;
}

function CategoryText({ category }: { category: number }): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { categoryName } = session.store;
    const known = info.value.categories[category];
    return (
        <span class="tree-text in-list">
            <span class="category-square" style={{ background: categoryColor(known) }} />
            <ProfileText text={categoryName(category)} />
        </span>
    );
}

function rowName(session: Session, row: FuncRow): string {
    const { centerName, listKind } = session.butterfly;
    return centerName({ kind: listKind.value, index: row.func });
}

function isCenter(session: Session, row: FuncRow, current: Center | null): boolean {
    const { listKind } = session.butterfly;
    return current?.kind === listKind.value && current.index === row.func;
}

/** Applies transforms by library or by category, if the list has libraries or categories. */
function onListKey(session: Session, event: KeyboardEvent, row: FuncRow | null): boolean {
    const { funcOfCenter, listKind } = session.butterfly;
    const { transformGroupByKey } = session.transformOffers;
    const kind = listKind.value;
    if (!row) return false;
    if (kind === 'function') return doKey(session, event, row.func);
    if (!NODE_KEYS.has(event.key)) return false;
    act(transformGroupByKey(event.key, kind, funcOfCenter({ kind, index: row.func })));
    return true;
}

function CenterList(): JSX.Element {
    const session = useSession();
    const { listColumns, listMain, listMenu } = useModel(createButterflyModel);
    const { listError, center, centerReveal, chooseList, funcOfCenter, listKind, listRows, listSort, setCenter } =
        session.butterfly;
    const { copyName } = session.copies;
    const { fetchMissingNames, namesVersion } = session.names;
    const { summary } = session.tree;
    const rows = listRows.value;
    const current = center.value;
    const kind = listKind.value;
    namesVersion.value;
    return (
        <div class="wing-list" style={{ width: `${listWidth.value}px` }}>
            <div class="wing-head" role="radiogroup" aria-label="List">
                {LISTS.map(([listedKind, title]) => (
                    <button
                        key={listedKind}
                        type="button"
                        role="radio"
                        class="wing-choice"
                        aria-checked={listedKind === kind}
                        onClick={() => chooseList(listedKind)}
                    >
                        {title}
                    </button>
                ))}
            </div>
            <div class="wing-body">
                <Table
                    name="centers"
                    label={LISTS.find(([listedKind]) => listedKind === kind)?.[1] ?? ''}
                    role="grid"
                    rows={rows}
                    columns={listColumns.value}
                    main={listMain.value}
                    sort={listSort.value}
                    usualSort={LIST_ORDER}
                    selectedAt={rows.findIndex((row) => isCenter(session, row, current))}
                    reveal={centerReveal.value}
                    rowKey={(row) => row.func}
                    rowClass={(row) => (kind === 'function' ? rowClassOf(session, row.func) : '')}
                    onSelect={(row, scroll) => setCenter({ kind, index: row.func }, scroll ? 'replace' : 'push')}
                    onKey={(event, row) => onListKey(session, event, row)}
                    onOpen={() => document.querySelector<HTMLElement>('.wing.callees .tree')?.focus()}
                    onCopy={(row) => {
                        if (kind === 'category') copyPlainName(rowName(session, row));
                        else act(copyName(funcOfCenter({ kind, index: row.func })));
                    }}
                    menuOf={listMenu}
                    headMenu={() => [foldItem()]}
                    tooltipOf={(row, isCut) =>
                        kind === 'category'
                            ? null
                            : nameTooltip(session, funcOfCenter({ kind, index: row.func }), isCut)
                    }
                    onVisible={(visible) => {
                        if (kind === 'function') fetchMissingNames(visible.map((row) => row.func));
                    }}
                    error={listError.value}
                    empty={summary.value?.rootTotal === 0 ? <EmptyTree /> : null}
                />
            </div>
        </div>
    );
}

function widest(session: Session, { tree }: Wing): ReadonlySignal<number> {
    const { namesVersion } = session.names;
    return computed(() => {
        namesVersion.value;
        return estimateTreeWidth(session, tree.rows.value);
    });
}

/** Creates the columns of the table, and the actions on its rows. */
function createButterflyModel(session: Session) {
    const { callees, callers, centerWeights, funcOfCenter, listKind, listRows } = session.butterfly;
    const { fetchNames } = session.names;
    const { functionMenu, groupMenu } = session.nodeMenu;
    const { isChange, summary } = session.tree;

    // ---- the list on the left side ----

    /** The list is narrow, so it shows shares, which have the same order as weights. */
    const listColumns = computed<Column<FuncRow>[]>(() => {
        if (isChange.value) return changeColumns<FuncRow>(session, { by: 'total', isNarrow: true });
        return weightColumns<FuncRow>(session, { whole: () => summary.value?.rootTotal ?? 0 }).map((column) => {
            if (column.key === 'share') return { ...column, sortedBy: 'total' };
            if (column.key === 'selfShare') return { ...column, sortedBy: 'self', sparedBelow: 0 };
            return { ...column, sortedBy: '', optional: 'hidden', sparedBelow: 0 };
        });
    });

    const listMain = computed<Column<FuncRow>>(() => {
        const kind = listKind.value;
        return nameColumn<FuncRow>({
            title: { function: 'Function', library: 'Library', category: 'Category' }[kind],
            cell: (row) =>
                kind === 'category' ? (
                    <CategoryText category={row.func} />
                ) : (
                    <FuncText func={funcOfCenter({ kind, index: row.func })} class=" in-list" />
                ),
            text: (row) => rowName(session, row),
        });
    });

    function listMenu(row: FuncRow): { items: MenuItem[]; later?: Promise<MenuItem[]> } {
        const copies = copyTableItems({
            rows: listRows.value,
            columns: [...shownColumns('centers', listColumns.value, 0), listMain.value],
            prepare: (rows) =>
                listKind.value === 'category'
                    ? Promise.resolve()
                    : fetchNames(rows.map((row) => funcOfCenter({ kind: listKind.value, index: row.func }))),
        });
        const kind = listKind.value;
        if (kind === 'function') return functionMenu(row.func, copies);
        return { items: groupMenu(kind, funcOfCenter({ kind, index: row.func }), rowName(session, row), copies) };
    }

    // ---- callers and callees ----

    const shareOptions = {
        whole: () => centerWeights.value?.total ?? 0,
        wholeTitle: 'Share',
        wholeHint: "Share of the focus function's total",
    };
    function wingColumns(left: ReadonlySet<string>): Column<TreeNode>[] {
        const columns = isChange.value
            ? changeColumns<TreeNode>(session, { by: 'total' })
            : weightColumns<TreeNode>(session, shareOptions);
        return columns.filter(({ key }) => !left.has(key));
    }

    const columnsOf = {
        callees: computed(() => wingColumns(new Set(['selfShare']))),
        callers: computed(() => wingColumns(new Set(['selfShare', 'self']))),
    };

    const mainOf = {
        callers: treeColumn(session, { title: 'Callers' }),
        callees: treeColumn(session, { title: 'Callees' }),
    };
    const widthOf = { callers: widest(session, callers), callees: widest(session, callees) };

    return { listColumns, listMain, columnsOf, mainOf, widthOf, listMenu };
}

/** Copies the stack from the focus function to a row. */
function copyWing(session: Session, { side }: Wing, node: TreeNode): void {
    const { center } = session.butterfly;
    const { copyStack } = session.copies;
    const focus = center.value?.kind === 'function' ? [center.value.index] : [];
    act(copyStack([...focus, ...nodePath(node)], side === 'callers'));
}

function WingTable({ wing }: { wing: Wing }): JSX.Element {
    const session = useSession();
    const { columnsOf, mainOf, widthOf } = useModel(createButterflyModel);
    const { centerWeights } = session.butterfly;
    const { copyName } = session.copies;
    const { fetchMissingNames, fetchNames, namesVersion } = session.names;
    const { functionMenu } = session.nodeMenu;
    const { side, tree } = wing;
    const rows = tree.rows.value;
    const selected = tree.selected.value;
    const columns = columnsOf[side].value;
    namesVersion.value;
    const weights = centerWeights.value;
    const copies = (): MenuItem[] =>
        copyTableItems({
            rows,
            columns: [...shownColumns(side, columns, 0), mainOf[side]],
            prepare: (copied) => fetchNames(copied.map((node) => node.func)),
        });
    const nothing =
        weights === null || weights.total === 0 ? null : (
            <p class="empty muted" role="status">
                {side === 'callers' ? 'No callers: stacks start here.' : 'No callees were sampled.'}
            </p>
        );
    return (
        <Table
            name={wing.name}
            label={side === 'callers' ? 'Callers' : 'Callees'}
            role="treegrid"
            rows={rows}
            columns={columns}
            main={mainOf[side]}
            mainWidth={widthOf[side].value}
            sort={tree.order.value}
            usualSort={SIDE_ORDER}
            selectedAt={selected ? rows.indexOf(selected) : -1}
            reveal={tree.reveal.value}
            indentOf={(node) => node.depth * INDENT}
            widthOf={(node) => estimateWidth(session, node.func)}
            rowClass={(node) => rowClassOf(session, node.func)}
            rowState={(node) => ({ level: node.depth + 1, ...(node.hasChildren ? { isOpen: node.expanded } : {}) })}
            onSelect={(node, scroll) => tree.select(node, scroll)}
            onKey={(event, node) => node !== null && (tree.onKey(event.key, node) || doKey(session, event, node.func))}
            onOpen={(node) => focusOn(session, node.func)}
            onToggle={(node, all) => tree.toggle(node, all)}
            onCopy={(node) => act(copyName(node.func))}
            menuOf={(node) =>
                functionMenu(node.func, [
                    menuItem('Copy stack', () => copyWing(session, wing, node)),
                    menuItem('Expand all descendants', () => act(tree.expandAll(node)), {
                        keys: '*',
                        enabled: node.hasChildren,
                        startsGroup: true,
                    }),
                    ...copies(),
                ])
            }
            headMenu={() => [foldItem(), ...copies()]}
            tooltipOf={(node, isCut) => nameTooltip(session, node.func, isCut)}
            onVisible={(visible) => fetchMissingNames(visible.map((node) => node.func))}
            error=""
            empty={nothing}
        />
    );
}

function Middle({ of }: { of: Center }): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { centerName, centerWeights } = session.butterfly;
    const { weightUnit } = session.filters;
    const { isChange, summary } = session.tree;
    const weights = centerWeights.value;
    const unit = weightUnit.value;
    const { interval } = info.value;
    const known = of.kind === 'function' ? session.certainty.ofFunc(of.index, 'total') : undefined;
    const whole = summary.value?.rootTotal ?? 0;
    const name = centerName(of);
    const shown = of.kind === 'function' ? shortName(session.names.shownName(of.index)) : name;
    return (
        <div class="wing-head focus-head">
            <h2 title={plainText(name, 2000)}>
                <ProfileText text={shown} limit={300} />
            </h2>
            {weights && isChange.value && (
                <p class="muted" aria-live="polite">
                    {`${describeWeight(weights.sides.base.total, unit, 0)} → `}
                    {`${describeWeight(weights.sides.new.total, unit, 0)}: `}
                    <strong class={changeClass(weights.total)}>{describeChange(weights.total, unit)}</strong>
                    {` (${relativeText(weights, 'total')}) total, `}
                    {known && `${reachText(known, unit)}; `}
                    {`${describeChange(weights.self, unit)} self`}
                </p>
            )}
            {weights && !isChange.value && (
                <p class="muted" aria-live="polite">
                    <strong>{formatShare(weights.total, whole)}</strong> {describeWeight(weights.total, unit, interval)}{' '}
                    total, {formatShare(weights.self, whole)} self
                </p>
            )}
            <button
                type="button"
                class="button quiet"
                aria-pressed={isSideBySide.value}
                title="Show callers and callees side by side or stacked"
                onClick={toggleSides}
            >
                Side by side
            </button>
        </div>
    );
}

export function Butterfly(): JSX.Element {
    const { butterflyError, callees, callers, center, centerWeights, listRows } = useSession().butterfly;
    const of = center.value;
    const weights = centerWeights.value;
    const isGone = of !== null && weights?.total === 0 && listRows.value.length > 0;
    return (
        <div class="butterfly">
            <CenterList />
            <Splitter
                label="Width of the list"
                orientation="vertical"
                read={() => listWidth.value}
                write={(size) =>
                    setListWidth(Math.max(LEAST_LIST, Math.min(size, window.innerWidth * MOST_LIST_SHARE)))
                }
                reset={() => setListWidth(null)}
                grows={1}
            />
            <div class="wings">
                {of && <Middle of={of} />}
                {butterflyError.value !== '' && (
                    <p class="empty" role="alert">
                        {butterflyError.value}
                    </p>
                )}
                {isGone && (
                    <p class="empty" role="status">
                        No stack in this view contains it. Select another one on the left, or widen the range.
                    </p>
                )}
                {of && !isGone && (
                    <div class={isSideBySide.value ? 'wing-pair beside' : 'wing-pair'}>
                        <section class="wing callers" aria-label="Callers">
                            <WingTable wing={callers} />
                        </section>
                        <section class="wing callees" aria-label="Callees">
                            <WingTable wing={callees} />
                        </section>
                    </div>
                )}
            </div>
        </div>
    );
}
