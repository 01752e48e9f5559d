/** One row of the call tree. */
import type { JSX } from 'preact';
import { categoryColor } from '../draw/colors';
import type { FuncInfo } from '../engine/api';
import { info } from '../state/store';
import { collapse, expand, expandAll, selectNode, type TreeNode } from '../state/tree';
import { formatWeight, type WeightUnit } from '../text/format';
import { ChevronIcon, CutIcon } from './icons';
import { ProfileText } from './text';

/** px; the style sheet has the same. */
export const ROW_HEIGHT = 20;
export const INDENT = 12;

interface TreeRowProps {
    node: TreeNode;
    at: number;
    isSelected: boolean;
    /** node.expanded: nodes change in place, so what changes is a property of its own. */
    isExpanded: boolean;
    /** Total in percent, and as a part of 1. */
    share: string;
    part: number;
    /** Self in percent; empty for none, to keep the column calm. */
    selfShare: string;
    unit: WeightUnit;
    /** The numbers in words. */
    totalText: string;
    selfText: string;
    /** undefined while it is on its way. */
    name: FuncInfo | undefined;
    find: RegExp | null;
}

function toggle(event: MouseEvent, node: TreeNode): void {
    if (event.altKey) void expandAll(node);
    else if (node.expanded) collapse(node);
    else void expand(node);
}

export function TreeRow(props: TreeRowProps): JSX.Element {
    const { node, at, isSelected, name } = props;
    const isCut = name?.name === '(truncated)';
    const classes = `tree-row${isSelected ? ' selected' : ''}${at % 2 === 1 ? ' odd' : ''}${isCut ? ' cut' : ''}`;
    const expanded = node.hasChildren ? { 'aria-expanded': props.isExpanded } : {};
    const category = info.value.categories[node.category];
    return (
        <div
            id={`row-${at}`}
            data-row={at}
            class={classes}
            role="row"
            aria-level={node.depth + 1}
            aria-rowindex={at + 1}
            aria-selected={isSelected}
            {...expanded}
            style={{ top: `${at * ROW_HEIGHT}px` }}
            onMouseDown={(event) => {
                if (event.button === 0) selectNode(node, false);
            }}
            onClick={(event) => {
                if ((event.target as Element).closest('.twisty')) toggle(event, node);
            }}
            onDblClick={(event) => {
                if (!(event.target as Element).closest('.twisty')) toggle(event, node);
            }}
        >
            <div class="tree-numbers">
                <span role="gridcell" class="share">
                    <span class="share-bar" style={{ transform: `scaleX(${Math.min(1, props.part)})` }} />
                    <span>{props.share}</span>
                </span>
                <span role="gridcell" class="number" title={props.totalText}>
                    {formatWeight(node.total, props.unit)}
                </span>
                <span role="gridcell" class="self-share">
                    {props.selfShare}
                </span>
                <span
                    role="gridcell"
                    class={node.self === 0 ? 'number self none' : 'number self'}
                    title={props.selfText}
                >
                    {formatWeight(node.self, props.unit)}
                </span>
            </div>
            <div role="gridcell" class="tree-name" style={{ paddingLeft: `${node.depth * INDENT}px` }}>
                <span class={props.isExpanded && node.hasChildren ? 'twisty open' : 'twisty'}>
                    {node.hasChildren && <ChevronIcon />}
                </span>
                <span class="category-square" title={category?.name} style={{ background: categoryColor(category) }} />
                <span class="tree-text">
                    {isCut && <CutIcon />}
                    {name?.name === '' && <span class="tree-lib">(no name)</span>}
                    {name && <ProfileText text={name.name} find={props.find} />}
                    {name && name.lib !== '' && (
                        <span class="tree-lib">
                            <ProfileText text={name.lib} limit={80} find={props.find} />
                        </span>
                    )}
                </span>
            </div>
        </div>
    );
}
