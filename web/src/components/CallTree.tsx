/** The call tree: a table whose rows open. The keyboard walks it as trees are walked everywhere. */
import { computed } from '@preact/signals';
import type { JSX } from 'preact';
import { copyName, copyTableItems } from '../state/copies';
import { fetchMissingNames, fetchNames, namesVersion } from '../state/names';
import { NODE_KEYS, nodeMenu } from '../state/node_menu';
import { openSource } from '../state/source_panel';
import { inverted } from '../state/store';
import { isShown, setShown } from '../state/tables';
import { placeOfNode, transformByKey } from '../state/transform_offers';
import {
    collapse,
    expand,
    expandAll,
    reveal,
    rows,
    selected,
    selectNode,
    summary,
    TREE_ORDER,
    type TreeNode,
    treeError,
    treeSort,
} from '../state/tree';
import { type MenuItem, menuItem } from '../state/windows';
import { EmptyTree } from './EmptyTree';
import { type Column, INDENT, shownColumns, Table } from './Table';
import { estimateTreeWidth, estimateWidth, foldItem, nameTooltip, rowClassOf, treeColumn, weightColumns } from './weight_columns';

const TABLE = 'calltree';
const OF_PARENT = 'ofParent';

const contentWidth = computed(() => {
    namesVersion.value;
    return estimateTreeWidth(rows.value);
});

/** Whether shares are those of the row above instead of everything. */
function isOfParent(): boolean {
    return isShown(TABLE, OF_PARENT, false);
}

const columns = computed<Column<TreeNode>[]>(() => {
    const all = summary.value?.rootTotal ?? 0;
    if (!isOfParent()) return weightColumns({ whole: () => all });
    const parent = inverted.value ? 'callee' : 'caller';
    return weightColumns({
        whole: (node) => node.parent?.total ?? all,
        wholeTitle: `Of ${parent}`,
        wholeHint: `Share of its ${parent}'s total`,
    });
});

const main = treeColumn();

function toggle(node: TreeNode, all = false): void {
    if (all) void expandAll(node);
    else if (node.expanded) collapse(node);
    else void expand(node);
}

/** What a key does to a row; false if it has no meaning here. */
function onTreeKey(event: KeyboardEvent, node: TreeNode | null): boolean {
    const all = rows.value;
    const [first] = all;
    if (!node) {
        if (first && (event.key === 'ArrowRight' || event.key === 'ArrowLeft')) selectNode(first);
        return first !== undefined;
    }
    switch (event.key) {
        case 'ArrowRight': {
            const below = all[all.indexOf(node) + 1];
            if (!node.expanded) void expand(node);
            else if (below?.parent === node) selectNode(below);
            return true;
        }
        case 'ArrowLeft':
            if (node.expanded && node.hasChildren) collapse(node);
            else if (node.parent) selectNode(node.parent);
            return true;
        case '*':
            void expandAll(node);
            return true;
        default:
            if (!NODE_KEYS.has(event.key)) return false;
            void transformByKey(event.key, placeOfNode(node));
            return true;
    }
}

function copyItems(): MenuItem[] {
    return copyTableItems({
        rows: rows.value,
        columns: [...shownColumns(TABLE, columns.value, 0), main],
        prepare: (copied) => fetchNames(copied.map((node) => node.func)),
    });
}

function headMenu(): MenuItem[] {
    const shares = menuItem('Percent of parent', () => setShown(TABLE, OF_PARENT, !isOfParent(), false), {
        title: 'Show each percentage relative to the caller instead of the total',
        checked: isOfParent(),
    });
    return [foldItem(), shares, ...copyItems()];
}

export function CallTree(): JSX.Element {
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
            indentOf={(node) => node.depth * INDENT}
            widthOf={(node) => estimateWidth(node.func)}
            rowClass={(node) => rowClassOf(node.func)}
            rowState={(node) => ({ level: node.depth + 1, ...(node.hasChildren ? { isOpen: node.expanded } : {}) })}
            onSelect={selectNode}
            onKey={onTreeKey}
            onOpen={(node) => void openSource(placeOfNode(node))}
            onToggle={toggle}
            onCopy={(node) => copyName(node.func)}
            menuOf={(node) => nodeMenu(node, copyItems())}
            headMenu={headMenu}
            tooltipOf={(node, isCut) => nameTooltip(node.func, isCut)}
            onVisible={(visible) => fetchMissingNames(visible.map((node) => node.func))}
            error={treeError.value}
            empty={summary.value === null ? null : <EmptyTree />}
        />
    );
}
