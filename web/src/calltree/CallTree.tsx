/** The call tree: a table whose rows the user expands. The keys are those of other trees. */
import { computed } from '@preact/signals';
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { changeColumns } from '../compare/change_columns';
import { useModel, useSession } from '../session/context';
import { copyTableItems } from '../table/copies';
import { INDENT, Table } from '../table/Table';
import { type Column, shownColumns } from '../table/table_columns';
import { rowAbove, type TreeNode } from '../table/tree_nodes';
import {
    estimateNodeWidth,
    estimateTreeWidth,
    foldItem,
    nameTooltip,
    rowClassOf,
    treeColumn,
    weightColumns,
} from '../table/weight_columns';
import { EmptyTree } from '../ui/EmptyTree';
import { isShown, setShown } from '../window/settings';
import { act, type MenuItem, menuItem } from '../window/windows';
import { NODE_KEYS } from './node_menu';
import { TREE_ORDER } from './tree_state';

const TABLE = 'calltree';
const OF_PARENT = 'ofParent';
const CHAIN_KEY = 'x';

/** Returns whether shares are relative to the parent row instead of the total. */
function isOfParent(): boolean {
    return isShown(TABLE, OF_PARENT, false);
}

function toggle(session: Session, node: TreeNode, all = false): void {
    const { collapse, expand, expandAll } = session.tree;
    if (all) act(expandAll(node));
    else if (node.expanded) collapse(node);
    else act(expand(node));
}

/** Handles a key on a row. Returns false for a key without a meaning. */
function onTreeKey(session: Session, event: KeyboardEvent, node: TreeNode | null): boolean {
    const { placeOfNode, transformByKey } = session.transformOffers;
    const { collapse, enter, expand, expandAll, rows, selectNode, toggleChain } = session.tree;
    if (!node) {
        const [first] = rows.value;
        if (!first || (event.key !== 'ArrowRight' && event.key !== 'ArrowLeft')) return false;
        selectNode(first);
        return true;
    }
    switch (event.key) {
        case 'ArrowRight':
            act(node.expanded ? enter(node) : expand(node));
            return true;
        case 'ArrowLeft':
            if (node.expanded && node.hasChildren) collapse(node);
            else selectNode(rowAbove(node) ?? node);
            return true;
        case CHAIN_KEY:
            toggleChain(node);
            return true;
        case '*':
            act(expandAll(node));
            return true;
        default:
            if (!NODE_KEYS.has(event.key)) return false;
            act(transformByKey(event.key, placeOfNode(node)));
            return true;
    }
}

/** Creates the columns of the table, and the actions on its rows. */
function createCallTreeModel(session: Session) {
    const { fetchNames, namesVersion } = session.names;
    const { inverted } = session.store;
    const { isChange, rows, summary } = session.tree;

    const contentWidth = computed(() => {
        namesVersion.value;
        return estimateTreeWidth(session, rows.value);
    });

    const columns = computed<Column<TreeNode>[]>(() => {
        if (isChange.value) return changeColumns(session, { by: 'total' });
        const all = summary.value?.rootTotal ?? 0;
        if (!isOfParent()) return weightColumns(session, { whole: () => all });
        const parent = inverted.value ? 'callee' : 'caller';
        return weightColumns(session, {
            whole: (node) => node.parent?.total ?? all,
            wholeTitle: `Of ${parent}`,
            wholeHint: `Share of its ${parent}'s total`,
        });
    });

    const main = treeColumn(session, { onChain: session.tree.toggleChain });

    function copyItems(): MenuItem[] {
        return copyTableItems({
            rows: rows.value,
            columns: [...shownColumns(TABLE, columns.value, 0), main],
            prepare: (copied) => fetchNames(copied.map((node) => node.func)),
        });
    }

    function headMenu(): MenuItem[] {
        if (isChange.value) return [foldItem(), ...copyItems()];
        const { changeView, view } = session.store;
        const { showsChains } = view.value;
        const chains = menuItem('Fold chains of calls', () => changeView({ showsChains: !showsChains }, 'push'), {
            title: 'Show calls without a branch in one row',
            checked: !showsChains,
        });
        const shares = menuItem('Percent of parent', () => setShown(TABLE, OF_PARENT, !isOfParent(), false), {
            title: 'Show each percentage relative to the caller instead of the total',
            checked: isOfParent(),
        });
        return [foldItem(), chains, shares, ...copyItems()];
    }

    return { contentWidth, columns, main, copyItems, headMenu };
}

export function CallTree(): JSX.Element {
    const session = useSession();
    const { columns, contentWidth, copyItems, headMenu, main } = useModel(createCallTreeModel);
    const { copyName } = session.copies;
    const { fetchMissingNames, namesVersion } = session.names;
    const { nodeMenu } = session.nodeMenu;
    const { openSource } = session.sourcePanel;
    const { inverted } = session.store;
    const { placeOfNode } = session.transformOffers;
    const { reveal, rows, selectNode, selected, summary, treeError, treeSort } = session.tree;
    const all = rows.value;
    const current = selected.value;
    namesVersion.value;
    return (
        <Table
            name={TABLE}
            label="Call tree"
            role="treegrid"
            rows={all}
            columns={columns.value}
            main={main}
            mainWidth={contentWidth.value}
            sort={treeSort.value}
            usualSort={TREE_ORDER}
            selectedAt={current ? all.indexOf(current) : -1}
            reveal={reveal.value}
            indentOf={(node) => node.level * INDENT}
            widthOf={(node) => estimateNodeWidth(session, node)}
            rowClass={(node) => rowClassOf(session, node.func) + (node.isEntry && !inverted.value ? ' entry' : '')}
            rowState={(node) => ({ level: node.level + 1, ...(node.hasChildren ? { isOpen: node.expanded } : {}) })}
            onSelect={selectNode}
            onKey={(event, node) => onTreeKey(session, event, node)}
            onOpen={(node) => act(openSource(placeOfNode(node)))}
            onToggle={(node, all) => toggle(session, node, all)}
            onCopy={(node) => act(copyName(node.func))}
            menuOf={(node) => nodeMenu(node, copyItems())}
            headMenu={headMenu}
            tooltipOf={(node, isCut) => nameTooltip(session, node.func, isCut)}
            onVisible={(visible) =>
                fetchMissingNames(visible.flatMap((node) => [...node.chain, node].map(({ func }) => func)))
            }
            error={treeError.value}
            empty={summary.value === null ? null : <EmptyTree />}
        />
    );
}
