/** The waits of the threads of the view in groups, their order, and the position of the longest wait of a group. */
import { computed, signal } from '@preact/signals';
import type { TreePart } from '../calltree/tree';
import type { ComparedWaits, WaitGroup, WaitGrouping, WaitGroups } from '../engine/waits';
import type { FiltersPart } from '../session/filters';
import type { NamesPart } from '../session/names';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import type { TablesPart } from '../session/tables';
import type { Range } from '../view/codec';
import { createWaitText, MOST_CALLERS } from './wait_text';

export const WAIT_TABLE = 'waits';
export const WAIT_ORDER = 'total';
export const OFF_CPU = 'off-cpu-time';
const CPU_TIME = 'cpu-time';
const BOTH = 'time';
const NONE: WaitGroup[] = [];
const SUMMARY_ROWS = 8;
/** The length of the range that shows the start of a wait, ms. */
const FIRST_SPAN_MS = 1;

export const WAIT_GROUPINGS: readonly { value: WaitGrouping; label: string; hint: string }[] = [
    { value: 'reason', label: 'Reason', hint: 'By reason: lock, sleep, disk, …' },
    { value: 'object', label: 'Object', hint: 'By object: a lock, a file, a socket, …' },
    { value: 'stack', label: 'Stack', hint: 'By the functions that entered the wait' },
    { value: 'thread', label: 'Thread', hint: 'By the thread that waited' },
    { value: 'waker', label: 'Waker', hint: 'By the thread that ended the wait, or the interrupt' },
    { value: 'object-waker', label: 'Holder', hint: 'By object and waker: who held a lock, or wrote to a pipe' },
];

/** The groupings for a comparison, which matches groups by name. Stacks have no name. */
export const COMPARED_GROUPINGS = WAIT_GROUPINGS.filter(({ value }) => value !== 'stack' && value !== 'object-waker');

type WaitSession = SessionBase & {
    filters: FiltersPart;
    names: NamesPart;
    store: StorePart;
    tables: TablesPart;
    tree: TreePart;
};

/** Fetches the names that groups show. */
function fetchNamesOf({ names }: WaitSession, groups: readonly WaitGroup[]): Promise<void> {
    return names.fetchNames(
        groups
            .flatMap((group) => [
                group.func,
                group.wakerFunc,
                ...group.path.slice(-MOST_CALLERS - group.runtimeCallers),
            ])
            .filter((func) => func >= 0),
    );
}

/** Returns the mean in ms, 0 if unknown. */
export function meanOf({ total, count }: WaitGroup): number {
    return count > 0 ? total / count : 0;
}

/** Returns the number of each column; NaN if unknown. */
export const WAIT_VALUES = {
    total: ({ total }) => total,
    count: ({ count }) => count,
    longest: ({ longest }) => longest,
    p99: ({ percentile99 }) => percentile99,
    mean: meanOf,
    threads: ({ threads }) => threads,
    first: ({ first }) => first,
    runnable: ({ runnable }) => runnable,
} satisfies Record<string, (group: WaitGroup) => number>;

/** Compares two groups by a column, largest first, or by name from A to Z. */
function compareWaits(
    column: string,
    { reasonOf, titleOf }: Pick<ReturnType<typeof createWaitText>, 'reasonOf' | 'titleOf'>,
    a: WaitGroup,
    b: WaitGroup,
): number {
    if (column === 'name') return titleOf(a).localeCompare(titleOf(b));
    if (column === 'kind') return reasonOf(a).localeCompare(reasonOf(b));
    const numberOf = WAIT_VALUES[column as keyof typeof WAIT_VALUES] ?? WAIT_VALUES.total;
    const known = (value: number): number => (Number.isNaN(value) ? -1 : value);
    return known(numberOf(b)) - known(numberOf(a));
}

/** Creates the longest waits by object for the summary. */
function createOverview(session: WaitSession) {
    const { engine } = session;
    const { queryOf } = session.tree;
    const overview = new Request<WaitGroups>();
    const { value: waitOverview } = overview;

    /** The groups with the longest totals, empty without recorded waits. */
    const topWaits = computed<WaitGroup[]>(
        () => waitOverview.value?.list.filter(({ func }) => func >= 0).slice(0, SUMMARY_ROWS) ?? NONE,
    );

    async function askOverview(): Promise<WaitGroups> {
        const answer = await engine.waitGroups(queryOf(), 'object');
        await fetchNamesOf(session, answer.list.slice(0, SUMMARY_ROWS));
        return answer;
    }

    session.lifetime.effect(() => {
        const { isChange, summary } = session.tree;
        const isShown = session.info.value.hasWaits && session.store.view.value.tab === 'summary';
        if (isShown && summary.value && !isChange.value) overview.ask(askOverview);
    });
    return { topWaits, waitOverview };
}

/** Opens waits in the stack chart and in the call tree. */
function createWaitSteps({ filters, store }: WaitSession) {
    const { changeView, setPreview, view } = store;

    /** Selects a thread and a range in the stack chart. By CPU time, the chart has no waits. */
    function showInChart(thread: number, range: Range): void {
        const weight = filters.weight.value.id === CPU_TIME ? BOTH : view.value.weight;
        changeView({ threads: [thread], tab: 'stack-chart', weight }, 'push');
        setPreview(range);
    }

    /** Shows the longest wait of a group, from its start to its end. */
    function goToLongest({ range, thread }: WaitGroup): void {
        if (range) showInChart(thread, range);
    }

    /** Shows the start of the first wait of a group. */
    function goToFirst({ first, firstThread }: WaitGroup): void {
        if (!Number.isNaN(first)) showInChart(firstThread, [first, first + FIRST_SPAN_MS]);
    }

    /** Shows the call tree by off-CPU time, inverted from the object of the waits, or from the callers. */
    function showInTree(group: WaitGroup): void {
        const isStack = view.value.waitsBy === 'stack';
        const threads = view.value.waitsBy === 'thread' ? { threads: [group.thread] } : {};
        const path = isStack ? group.path : group.func < 0 ? [] : [group.func];
        changeView({ ...threads, tab: 'calltree', inverted: !isStack, weight: OFF_CPU, path }, 'push');
    }

    return { goToFirst, goToLongest, showInChart, showInTree };
}

export function createWaitList(session: WaitSession) {
    const { engine } = session;
    const { namesVersion } = session.names;
    const { changeView, view } = session.store;
    const { isChange, queryOf, summary } = session.tree;
    const texts = createWaitText(session);

    const request = new Request<WaitGroups>();
    const { value: waitGroups, error: waitError } = request;
    const comparison = new Request<ComparedWaits>();
    /** The key of the selected group. If no group has the key, the first row is selected. */
    const selectedWait = signal<string | null>(null);
    const waitReveal = signal(0);
    const waitSort = session.tables.sortOf(WAIT_TABLE, WAIT_ORDER);

    const isOpen = computed(() => view.value.tab === 'waits');
    const comparedBy = computed<WaitGrouping>(() =>
        COMPARED_GROUPINGS.some(({ value }) => value === view.value.waitsBy) ? view.value.waitsBy : 'object',
    );

    async function ask(): Promise<WaitGroups> {
        const answer = await engine.waitGroups(queryOf(), view.peek().waitsBy);
        await fetchNamesOf(session, answer.list);
        return answer;
    }

    const sortedWaits = computed<WaitGroup[]>(() => {
        const { column, reversed } = waitSort.value;
        if (column === 'name') namesVersion.value;
        const sorted = [...(waitGroups.value?.list ?? NONE)].sort(
            (a, b) => compareWaits(column, texts, a, b) || b.total - a.total,
        );
        return reversed ? sorted.reverse() : sorted;
    });

    function selectWait({ key }: WaitGroup, scroll: boolean): void {
        selectedWait.value = key;
        if (scroll) waitReveal.value++;
    }

    function compare(by: WaitGrouping): void {
        comparison.ask(() => engine.comparedWaits(queryOf(), by));
    }

    /** Shows the waits of these threads for an object. */
    function goToGroup(key: string, threads: number[], waitsBy: WaitGrouping): void {
        selectedWait.value = key;
        waitReveal.value++;
        changeView({ tab: 'waits', waitsBy, threads }, 'push');
    }

    function setGrouping(waitsBy: WaitGrouping): void {
        selectedWait.value = null;
        if (waitsBy !== view.value.waitsBy) changeView({ waitsBy }, 'push');
    }

    session.lifetime.effect(() => {
        const by = comparedBy.value;
        view.value.waitsBy;
        if (!summary.value) return;
        if (isChange.value && view.value.tab === 'summary') compare('object');
        else if (isChange.value && isOpen.value) compare(by);
        else if (isOpen.value) request.ask(ask);
    });

    return {
        ...texts,
        ...createOverview(session),
        ...createWaitSteps(session),
        waitGroups,
        waitError,
        comparedBy,
        comparedWaits: comparison.value,
        comparedError: comparison.error,
        selectedWait,
        waitReveal,
        waitSort,
        sortedWaits,
        selectWait,
        goToGroup,
        setGrouping,
    };
}

export type WaitListPart = ReturnType<typeof createWaitList>;
