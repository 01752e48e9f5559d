/** The columns of weights that trees and lists of functions share, and the column of names. */
import type { ComponentChildren, JSX } from 'preact';
import type { Session } from '../app/session';
import { categoryColor } from '../base/colors';
import { foldParameters, foldTemplates, nameParts } from '../base/fold';
import { describeWeight, formatShare, formatWeight } from '../base/format';
import { plainText, ROW_LIMIT } from '../base/plain';
import type { FuncInfo } from '../engine/api';
import { useSession } from '../session/context';
import { ChevronIcon, CutIcon } from '../ui/icons';
import { NameTooltip } from '../ui/NameTooltip';
import { NameText, ProfileText } from '../ui/text';
import { foldsTemplates, toggleTemplates } from '../window/settings';
import { type MenuItem, menuItem } from '../window/windows';
import { INDENT } from './Table';
import { type Column, NARROW, numberColumn, VERY_NARROW } from './table_columns';
import type { TreeNode } from './tree_nodes';

/** The limit of folded names, because nobody reads longer names in a row. */
const FOLD_LIMIT = 8000;
/** The limit of names that are shown with their parameters. */
const WHOLE_LIMIT = 48;
const LIB_LIMIT = 80;
const OWN_NAME_LIMIT = 40;
/** The average width of a character, and the width around a name, px. */
const CHARACTER_WIDTH = 7;
const NAME_MARGIN = 56;

/** Shortens a name for rows. */
export function shortName(name: string): string {
    return foldsTemplates.value ? foldParameters(foldTemplates(name.slice(0, FOLD_LIMIT)), WHOLE_LIMIT) : name;
}

/** Estimates the width of a function's name in a row, px. */
export function estimateWidth(session: Session, func: number): number {
    const { funcName } = session.names;
    const name = funcName(func);
    const characters = name
        ? Math.min(shortName(name.name).length, ROW_LIMIT) +
          Math.min(name.lib.length, LIB_LIMIT) +
          (name.inlined === 'no' ? 4 : 8)
        : 24;
    return NAME_MARGIN + characters * CHARACTER_WIDTH;
}

export interface Weighed {
    total: number;
    self: number;
}

interface WeightOptions<Row> {
    /** Returns the whole of the shares. */
    whole: (row: Row) => number;
    wholeTitle?: string;
    wholeHint?: string;
}

/** Makes columns for total and self, with a column of the share for each. */
export function weightColumns<Row extends Weighed>(
    session: Session,
    { whole, wholeTitle, wholeHint }: WeightOptions<Row>,
): Column<Row>[] {
    const { info } = session;
    const { weightUnit } = session.filters;
    const unit = weightUnit.value;
    const { interval } = info.value;
    const hint = unit === 'samples' && interval > 0 ? `Each sample stands for about ${interval} ms` : '';
    return [
        numberColumn({
            key: 'share',
            title: wholeTitle ?? 'Total %',
            hint: wholeHint ?? 'Share of all samples, including callees',
            width: 72,
            sortedBy: '',
            class: 'share',
            bar: (row) => (whole(row) === 0 ? 0 : Math.min(1, Math.abs(row.total / whole(row)))),
            text: (row) => formatShare(row.total, whole(row)),
            value: (row) => (whole(row) === 0 ? 0 : row.total / whole(row)),
        }),
        numberColumn({
            key: 'total',
            title: `Total (${unit})`,
            hint,
            width: 120,
            describe: (row) => describeWeight(row.total, unit, interval),
            text: (row) => formatWeight(row.total, unit),
            value: (row) => row.total,
        }),
        numberColumn({
            key: 'selfShare',
            title: 'Self %',
            hint: 'Share of all samples, excluding callees',
            width: 72,
            sortedBy: '',
            class: 'self-share',
            optional: 'shown',
            sparedBelow: NARROW,
            // The cell shows 0 as nothing, so that the column is calm.
            text: (row) => (row.self === 0 ? '' : formatShare(row.self, whole(row))),
            value: (row) => (whole(row) === 0 ? 0 : row.self / whole(row)),
        }),
        numberColumn({
            key: 'self',
            title: 'Self',
            hint,
            sparedBelow: VERY_NARROW,
            width: 79,
            class: 'number self',
            classOf: (row) => (row.self === 0 ? 'none' : ''),
            describe: (row) => describeWeight(row.self, unit, interval),
            text: (row) => formatWeight(row.self, unit),
            value: (row) => row.self,
        }),
    ];
}

// ---- names ----

type NameColumn<Row> = Pick<Column<Row>, 'cell' | 'text'> & { title?: string };

/** Makes the main column of a table. */
export function nameColumn<Row>({ title = 'Function', cell, text }: NameColumn<Row>): Column<Row> {
    return {
        key: 'name',
        title,
        width: 0,
        isNumber: false,
        isText: true,
        sortedBy: 'name',
        class: 'tree-name',
        cell,
        text,
    };
}

/** Returns the menu item that shows or hides template arguments. */
export function foldItem(): MenuItem {
    return menuItem('Fold template arguments', toggleTemplates, {
        title: 'std::vector<int> is shown as std::vector<…>',
        checked: foldsTemplates.value,
        startsGroup: true,
    });
}

/** Returns the text of a function for copies. */
export function copiedName(session: Session, func: number): string {
    const { funcName } = session.names;
    const name = funcName(func);
    return `${name?.name ?? ''}${name?.lib ? ` [${name.lib}]` : ''}`;
}

const INLINED_TITLES = {
    yes: 'Inlined into its callers in all samples',
    some: 'Inlined into its callers in some samples; the sidebar shows this row',
};

/** Marks a function with inlined calls. */
function InlinedBadge({ inlined }: { inlined: FuncInfo['inlined'] }): JSX.Element | null {
    if (inlined === 'no') return null;
    return (
        <span class={inlined === 'yes' ? 'inlined' : 'inlined some'} title={INLINED_TITLES[inlined]}>
            inl
        </span>
    );
}

interface FuncTextProps {
    func: number;
    class?: string;
}

/** Shows the names of a function and its library. */
export function FuncText({ func, class: more = '' }: FuncTextProps): JSX.Element {
    const session = useSession();
    const { funcName, namesVersion, shownName } = session.names;
    const { searchExpression } = session.store;
    namesVersion.value;
    const find = searchExpression.value;
    const name = funcName(func);
    return (
        <span class={`tree-text${more}`}>
            {name?.name === '(truncated)' && <CutIcon />}
            {!name?.name && <span class="tree-lib">{shownName(func)}</span>}
            {name && <NameText text={shortName(name.name)} find={find} />}
            {name && <InlinedBadge inlined={name.inlined} />}
            {name && name.lib !== '' && <ProfileText class="tree-lib" text={name.lib} limit={LIB_LIMIT} find={find} />}
        </span>
    );
}

interface TreeLabelProps {
    hasChildren: boolean;
    isOpen: boolean;
    category: number;
    children: ComponentChildren;
}

/** Shows the start of a row of a tree. */
function TreeLabel({ hasChildren, isOpen, category, children }: TreeLabelProps): JSX.Element {
    const session = useSession();
    const { info } = session;
    const known = info.value.categories[category];
    return (
        <>
            <span class={isOpen && hasChildren ? 'twisty open' : 'twisty'}>{hasChildren && <ChevronIcon />}</span>
            <span
                class="category-square"
                title={plainText(known?.name ?? '', 200)}
                style={{ background: categoryColor(known) }}
            />
            {children}
        </>
    );
}

/**
 * Describes the chain of a row: the first function, without namespaces and parameters, and the number of further
 * functions.
 */
function chainText(session: Session, { chain }: TreeNode): { first: string; more: string } {
    const [first] = chain;
    const name = shortName(first ? (session.names.funcName(first.func)?.name ?? '') : '');
    return { first: nameParts(name)[1].slice(0, OWN_NAME_LIMIT), more: chain.length > 1 ? `+${chain.length - 1}` : '' };
}

/** Estimates the width of a row of a tree, px. */
export function estimateNodeWidth(session: Session, node: TreeNode): number {
    if (node.chain.length === 0) return estimateWidth(session, node.func);
    const { first, more } = chainText(session, node);
    return estimateWidth(session, node.func) + (first.length + more.length + 6) * CHARACTER_WIDTH;
}

/** Shows the functions that share the row with their callee. A click gives each function a row. */
function ChainText({ node, onOpen }: { node: TreeNode; onOpen: (node: TreeNode) => void }): JSX.Element {
    const session = useSession();
    session.names.namesVersion.value;
    const { first, more } = chainText(session, node);
    const names = node.chain.map(({ func }) => plainText(copiedName(session, func), ROW_LIMIT));
    return (
        // biome-ignore lint/a11y/noStaticElementInteractions: a key of the row does the same
        <span class="tree-chain" title={`${names.join('\n')}\n\nClick or x: show as rows`} onClick={() => onOpen(node)}>
            <ProfileText text={first} />
            {more && <span class="tree-more">{more}</span>}›
        </span>
    );
}

interface TreeColumn {
    title?: string;
    /** Gives each call of a chain a row. */
    onChain?: (node: TreeNode) => void;
}

/** Makes the main column of a tree of functions. */
export function treeColumn(session: Session, { title = 'Function', onChain }: TreeColumn = {}): Column<TreeNode> {
    return nameColumn<TreeNode>({
        title,
        cell: (node) => (
            <TreeLabel hasChildren={node.hasChildren} isOpen={node.expanded} category={node.category}>
                {onChain && node.chain.length > 0 && <ChainText node={node} onOpen={onChain} />}
                <FuncText func={node.func} />
            </TreeLabel>
        ),
        text: (node) =>
            '  '.repeat(node.level) + [...node.chain, node].map(({ func }) => copiedName(session, func)).join(' > '),
    });
}

/**
 * Estimates the widest row of a tree in px, so that the horizontal scroll bar stays the same while the user scrolls
 * down.
 */
export function estimateTreeWidth(session: Session, rows: readonly TreeNode[]): number {
    return rows.reduce((widest, node) => Math.max(widest, node.level * INDENT + estimateNodeWidth(session, node)), 0);
}

export function rowClassOf(session: Session, func: number): string {
    const { funcName } = session.names;
    return funcName(func)?.name === '(truncated)' ? ' truncated' : '';
}

/** Returns the full name of a function if the row shows a part, or there are further details. */
export function nameTooltip(session: Session, func: number, isCut: boolean): JSX.Element | null {
    const { funcName } = session.names;
    const name: FuncInfo | undefined = funcName(func);
    if (!name) return null;
    const isLong = name.name.length > ROW_LIMIT || shortName(name.name) !== name.name;
    return isCut || isLong || name.name === '(truncated)' || name.name === '(not sampled)' ? (
        <NameTooltip name={name} />
    ) : null;
}
