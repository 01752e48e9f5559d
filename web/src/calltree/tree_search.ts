/** The rows of the tree whose own names match the search: their number, and steps between them. */
import { computed, signal } from '@preact/signals';
import { nextAround } from '../base/around';
import { formatCount } from '../base/format';
import type { NodePath } from '../engine/api';
import type { NamesPart } from '../session/names';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import { nodePath } from '../table/tree_nodes';
import { showNotice } from '../window/windows';
import type { TreePart } from './tree';

/** Limit of the searched rows, the heaviest of each level first. */
const MOST_ROWS = 50_000;

interface Matches {
    /** The query of the rows, and the searched text. */
    query: number;
    search: string;
    /** The func of each row, in depth-first order. */
    func: ArrayLike<number>;
    parent: number[];
    /** Indexes of the matching rows, from the top. */
    found: number[];
    /** Whether the tree has more rows than the search covers. */
    isCut: boolean;
}

/** Returns the parent of each row of a depth-first list, or -1 for roots. */
function parentsOf(depths: ArrayLike<number>): number[] {
    const open: number[] = [];
    const first = depths[0] ?? 0;
    return Array.from(depths, (depth, at) => {
        open.length = depth - first;
        open.push(at);
        return open[open.length - 2] ?? -1;
    });
}

export function createTreeSearch(session: SessionBase & { names: NamesPart; store: StorePart; tree: TreePart }) {
    const { engine } = session;
    const { fetchNames, funcName } = session.names;
    const { search, searchExpression } = session.store;
    const { queryOf, selectPath, selected, settled, summary } = session.tree;

    /** The last search. */
    const searched = signal<Matches | null>(null);

    async function ask(query: number, text: string, expression: RegExp): Promise<Matches> {
        const { func, depth } = await engine.descendants(query, -1, MOST_ROWS);
        await fetchNames(func);
        const found: number[] = [];
        for (let at = 0; at < func.length; at++) {
            const name = funcName(func[at] ?? -1);
            if (name && [name.name, name.lib].some((part) => part.search(expression) >= 0)) found.push(at);
        }
        return { query, search: text, func, parent: parentsOf(depth), found, isCut: func.length >= MOST_ROWS };
    }

    function pathOf({ func, parent }: Matches, row: number): NodePath {
        const path: NodePath = [];
        for (let at = row; at >= 0; at = parent[at] ?? -1) path.push(func[at] ?? -1);
        return path.reverse();
    }

    /**
     * Returns the row at the end of a path, or of the longest part of the path that the search covers, or -1 for none.
     */
    function rowOf({ func, parent }: Matches, path: NodePath): number {
        let row = -1;
        let depth = 0;
        for (let at = 0; at < parent.length && depth < path.length; at++) {
            if (parent[at] !== row || func[at] !== path[depth]) continue;
            row = at;
            depth++;
        }
        return row;
    }

    /** The matches among the shown rows, or null before a search. */
    const matches = computed<Matches | null>(() => {
        const known = searched.value;
        return known?.query === summary.value?.id && known?.search === search.value ? (known ?? null) : null;
    });

    /** "3 of 17": the number of the selected match, or '' before the first step. */
    const matchPlace = computed<string>(() => {
        const { value: known } = matches;
        if (!known) return '';
        const at = known.found.indexOf(rowOf(known, nodePath(selected.value)));
        const count = `${formatCount(known.found.length)}${known.isCut ? '+' : ''}`;
        return at < 0 ? count : `${formatCount(at + 1)} of ${count}`;
    });

    /**
     * Selects the first, the next or the previous matching row, and expands the rows above it. After the last match,
     * continues with the first.
     */
    async function goToMatch(where: 'first' | 1 | -1): Promise<void> {
        await settled();
        const expression = searchExpression.value;
        if (!expression) return;
        const text = search.value;
        const known = matches.value ?? (await ask(queryOf(), text, expression));
        searched.value = known;
        const from = where === 'first' ? -1 : rowOf(known, nodePath(selected.value));
        const row = nextAround(known.found, from, where === 'first' ? 1 : where);
        if (row === undefined) showNotice('No row matches');
        else await selectPath(pathOf(known, row));
    }

    return { goToMatch, matchPlace };
}

export type TreeSearchPart = ReturnType<typeof createTreeSearch>;
