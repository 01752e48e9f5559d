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

/** Rows that are searched, the heaviest of each level first. */
const MOST_ROWS = 50_000;

interface Matches {
    /** Which query has these rows, and what was searched for. */
    query: number;
    search: string;
    /** Of all rows, each before those below it. */
    func: ArrayLike<number>;
    parent: number[];
    /** Those that match, from the top. */
    found: number[];
    /** The tree has more rows than were searched. */
    isCut: boolean;
}

/** The parent of each row of a depth-first list; -1 for those at the top. */
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

    /** The row at the end of a path, or the last of it that was searched; -1: none of it. */
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

    /** Of the rows that are shown; null: they were not searched. */
    const matches = computed<Matches | null>(() => {
        const known = searched.value;
        return known?.query === summary.value?.id && known?.search === search.value ? (known ?? null) : null;
    });

    /** "3 of 17": which of the matching rows is selected; '' before a step was made. */
    const matchPlace = computed<string>(() => {
        const { value: known } = matches;
        if (!known) return '';
        const at = known.found.indexOf(rowOf(known, nodePath(selected.value)));
        const count = `${formatCount(known.found.length)}${known.isCut ? '+' : ''}`;
        return at < 0 ? count : `${formatCount(at + 1)} of ${count}`;
    });

    /** Selects the first row that matches, the next one or the previous one, around the end, and opens what is above it. */
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
