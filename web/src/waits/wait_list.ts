/** What the threads of the view waited for: waits in groups, sorted by a column, and where the longest of a group is. */
import { computed, signal } from '@preact/signals';
import type { TreePart } from '../calltree/tree';
import type { WaitGroup, WaitGrouping, WaitGroups } from '../engine/waits';
import type { FiltersPart } from '../session/filters';
import type { NamesPart } from '../session/names';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import type { TablesPart } from '../session/tables';

export const WAIT_TABLE = 'waits';
export const WAIT_ORDER = 'total';
export const OFF_CPU = 'off-cpu-time';
const NONE: WaitGroup[] = [];
/** So many names of callers are shown of a group. */
const MOST_CALLERS = 12;
/** The threads that waited for all but this share of their time, and ran for less, are said to have waited. */
const MOSTLY_WAITING = 0.1;
const SUMMARY_ROWS = 8;

export const WAIT_GROUPINGS: readonly { value: WaitGrouping; label: string; hint: string }[] = [
    { value: 'reason', label: 'Reason', hint: 'By reason: lock, sleep, disk, …' },
    { value: 'object', label: 'Object', hint: 'By object: a lock, a file, a socket, …' },
    { value: 'stack', label: 'Stack', hint: 'By the functions that entered the wait' },
    { value: 'thread', label: 'Thread', hint: 'By the thread that waited' },
    { value: 'waker', label: 'Waker', hint: 'By the thread that ended the wait, or the interrupt' },
];

export function createWaitList(
    session: SessionBase & {
        filters: FiltersPart;
        names: NamesPart;
        store: StorePart;
        tables: TablesPart;
        tree: TreePart;
    },
) {
    const { engine, info } = session;
    const { effect } = session.lifetime;
    const { setWeight, weight } = session.filters;
    const { fetchNames, nameOf, namesVersion } = session.names;
    const { changeView, setPreview, threadInfo, view } = session.store;
    const { sortOf } = session.tables;
    const { queryOf, summary } = session.tree;

    const request = new Request<WaitGroups>();
    const { value: waitGroups, error: waitError } = request;
    const selectedWait = signal<number | null>(null);
    const waitReveal = signal(0);
    const waitSort = sortOf(WAIT_TABLE, WAIT_ORDER);

    const isOpen = computed(() => view.value.tab === 'waits');

    function namesOf(groups: readonly WaitGroup[]): Promise<void> {
        return fetchNames(
            groups.flatMap((group) => [group.func, ...group.path.slice(-MOST_CALLERS)]).filter((func) => func >= 0),
        );
    }

    async function ask(): Promise<WaitGroups> {
        const answer = await engine.waitGroups(queryOf(), view.peek().waitsBy);
        await namesOf(answer.list);
        const [first] = answer.list;
        if (!answer.list.some(({ key }) => key === selectedWait.peek())) selectedWait.value = first?.key ?? null;
        return answer;
    }

    // ---- in words ----

    /** "Lock"; of waits that were too short to be recorded one by one, that. */
    function reasonOf({ reason }: WaitGroup): string {
        const category = info.value.categories[info.value.idleCategory];
        const name = category?.subcategories[reason] ?? '';
        return reason < 0 ? 'Not recorded' : name === 'Other' || name === '' ? 'Unknown' : name;
    }

    function objectOf({ func }: WaitGroup): string {
        return func < 0 ? '(not running)' : nameOf(func) || '(no name)';
    }

    /** The functions that called into it, innermost first. */
    function callersOf({ path }: WaitGroup, by: WaitGrouping): string[] {
        const callers = by === 'stack' ? path : path.slice(0, -1);
        return callers
            .slice(-MOST_CALLERS)
            .reverse()
            .map((func) => nameOf(func) || '(no name)');
    }

    function threadName(group: WaitGroup): string {
        const thread = threadInfo(group.thread);
        return thread ? thread.name || `TID ${thread.tid}` : '';
    }

    /** What the waits of a group have in common. */
    function titleOf(group: WaitGroup): string {
        const by = view.value.waitsBy;
        if (by === 'reason') return reasonOf(group);
        if (by === 'object') return objectOf(group);
        if (by === 'thread') return threadName(group);
        if (by === 'waker') return group.waker || '(unknown)';
        return callersOf(group, by)[0] ?? '(no callers)';
    }

    // ---- order ----

    function compare(column: string, a: WaitGroup, b: WaitGroup): number {
        if (column === 'name') return titleOf(a).localeCompare(titleOf(b));
        if (column === 'count') return b.count - a.count;
        if (column === 'longest') return b.longest - a.longest;
        if (column === 'preempted') return b.preempted - a.preempted;
        return b.total - a.total;
    }

    const sortedWaits = computed<WaitGroup[]>(() => {
        const { column, reversed } = waitSort.value;
        if (column === 'name') namesVersion.value;
        const sorted = [...(waitGroups.value?.list ?? NONE)].sort((a, b) => compare(column, a, b) || b.total - a.total);
        return reversed ? sorted.reverse() : sorted;
    });

    // ---- what is done with them ----

    function selectWait(group: WaitGroup, scroll: boolean): void {
        selectedWait.value = group.key;
        if (scroll) waitReveal.value++;
    }

    function setGrouping(waitsBy: WaitGrouping): void {
        selectedWait.value = null;
        if (waitsBy !== view.value.waitsBy) changeView({ waitsBy }, 'push');
    }

    /** Selects the longest wait of a group: its thread, and the range from its start to its end. */
    function goToLongest({ range, thread }: WaitGroup): void {
        if (!range) return;
        changeView({ threads: [thread], tab: 'stack-chart' }, 'push');
        setPreview(range);
    }

    /** The call tree by off-CPU time, inverted at what they waited for, or at the callers. */
    function showInTree(group: WaitGroup): void {
        const isStack = view.value.waitsBy === 'stack';
        const threads = view.value.waitsBy === 'thread' ? { threads: [group.thread] } : {};
        const path = isStack ? group.path : group.func < 0 ? [] : [group.func];
        changeView({ ...threads, tab: 'calltree', inverted: !isStack, weight: OFF_CPU, path }, 'push');
    }

    // ---- for views with little CPU time, and for the summary ----

    const overview = new Request<WaitGroups>();
    const { value: waitOverview } = overview;

    /** How long the threads were there, and how long they ran; null: they did run, or nobody knows. */
    const mostlyWaiting = computed<{ there: number; ran: number } | null>(() => {
        if (!waitOverview.value || weight.value.id !== 'cpu-time') return null;
        const { there, waited, ran } = waitOverview.value;
        return waited > (1 - MOSTLY_WAITING) * there && ran < MOSTLY_WAITING * there ? { there, ran } : null;
    });

    /** What was waited for most; empty without recorded waits. */
    const topWaits = computed<WaitGroup[]>(
        () => waitOverview.value?.list.filter(({ func }) => func >= 0).slice(0, SUMMARY_ROWS) ?? NONE,
    );

    async function askOverview(): Promise<WaitGroups> {
        const answer = await engine.waitGroups(queryOf(), 'object');
        await namesOf(answer.list.slice(0, SUMMARY_ROWS));
        return answer;
    }

    function showOffCpu(): void {
        setWeight(OFF_CPU);
    }

    /** Keeps them in step with the tree's query. */
    function follow(): void {
        effect(() => {
            view.value.waitsBy;
            if (isOpen.value && summary.value) request.ask(ask);
        });
        effect(() => {
            if (info.value.hasWaits && summary.value) overview.ask(askOverview);
        });
    }

    follow();
    return {
        waitGroups,
        waitError,
        selectedWait,
        waitReveal,
        waitSort,
        sortedWaits,
        reasonOf,
        objectOf,
        callersOf,
        threadName,
        titleOf,
        selectWait,
        setGrouping,
        goToLongest,
        showInTree,
        mostlyWaiting,
        topWaits,
        waitOverview,
        showOffCpu,
    };
}

export type WaitListPart = ReturnType<typeof createWaitList>;
