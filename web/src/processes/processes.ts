/** The order of the rows of a tree of processes, and the threads of its processes. */
import type { ProcessRow, ProcessTree } from '../engine/processes';
import type { SortOrder } from '../session/tables';
import type { Range } from '../view/codec';

/** Returns the number of each column, by which the table sorts. */
export const PROCESS_VALUES = {
    start: ({ from_ms }) => from_ms,
    wall: ({ from_ms, to_ms }) => to_ms - from_ms,
    cpu: ({ cpu_ms }) => cpu_ms,
    tree: ({ tree_cpu_ms }) => tree_cpu_ms,
    path: ({ path_ms }) => path_ms,
} satisfies Record<string, (row: ProcessRow) => number>;

export interface ShownProcess {
    row: ProcessRow;
    /** The index in ProcessTree.processes. */
    index: number;
    level: number;
    /** Whether the row is open, undefined without children or in a list. */
    isOpen?: boolean;
}

/** Sort keys of the tree, in which children follow their parent. */
const TREE_ORDERS = new Set(['start', 'tree']);

export const nameOf = ({ argument, name }: ProcessRow): string => (argument === '' ? name : `${name} ${argument}`);

function comparator({ column, reversed }: SortOrder): (a: ProcessRow, b: ProcessRow) => number {
    const numberOf = PROCESS_VALUES[column as keyof typeof PROCESS_VALUES];
    const compare = (a: ProcessRow, b: ProcessRow): number => {
        if (!numberOf) return nameOf(a).localeCompare(nameOf(b));
        return column === 'start' ? numberOf(a) - numberOf(b) : numberOf(b) - numberOf(a);
    };
    return reversed ? (a, b) => compare(b, a) : compare;
}

/** Returns the visible rows: a tree if sorted by start or by CPU time with children, else a list. `closed` has PIDs. */
export function orderedProcesses(
    processes: readonly ProcessRow[],
    sort: SortOrder,
    closed: ReadonlySet<string>,
): ShownProcess[] {
    const compare = comparator(sort);
    const all = processes.map((row, index) => ({ row, index }));
    const sorted = all.sort((a, b) => compare(a.row, b.row));
    if (!TREE_ORDERS.has(sort.column)) return sorted.map((shown) => ({ ...shown, level: 1 }));
    const children: (typeof sorted)[] = processes.map(() => []);
    const waiting: typeof sorted = [];
    for (const shown of sorted) (children[shown.row.parent ?? -1] ?? waiting).push(shown);
    waiting.reverse();
    const rows: ShownProcess[] = [];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
        const own = children[next.index] ?? [];
        const isOpen = own.length === 0 ? undefined : !closed.has(next.row.pid);
        rows.push({ ...next, level: next.row.depth + 1, ...(isOpen === undefined ? {} : { isOpen }) });
        if (isOpen) for (const child of own.reverse()) waiting.push(child);
    }
    return rows;
}

/** Returns the threads of a process and of its descendants. */
export function threadsOf(processes: readonly ProcessRow[], index: number): number[] {
    const descendants = processes[index]?.descendants ?? 0;
    return processes.slice(index, index + descendants + 1).flatMap(({ threads }) => threads);
}

/** Returns the steps of the critical path by process index. */
export function pathOf(path: ProcessTree['path']): Map<number, Range[]> {
    const steps = new Map<number, Range[]>();
    for (const { process, from_ms, to_ms } of path) {
        const own = steps.get(process) ?? [];
        own.push([from_ms, to_ms]);
        steps.set(process, own);
    }
    return steps;
}
