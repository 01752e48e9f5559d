/** The summary of the view: the first rows of each list, heaviest first, with their links. */
import { computed, signal } from '@preact/signals';
import { formatCount, formatShare } from '../base/format';
import type { TreePart } from '../calltree/tree';
import type { ExtraSection, FuncRow } from '../engine/api';
import type { Center } from '../engine/butterfly';
import type { HotLine, HotLines } from '../engine/source';
import type { FiltersPart } from '../session/filters';
import type { NamesPart } from '../session/names';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import type { SourcePanelPart } from '../source/source_panel';
import { threadOnAllSides } from '../view/thread_sides';
import { act } from '../window/windows';
import { trustSectionOf } from './trust';

export interface SummaryLists {
    functions: FuncRow[];
    libraries: FuncRow[];
    categories: FuncRow[];
    threads: FuncRow[];
    /** The lines of all files with the most self time, or null if no sample has a line. */
    hot: HotLines | null;
    /** The functions with the most off-CPU time, or null if the file has no waits. */
    waits: FuncRow[] | null;
    /** The total off-CPU time, ms. */
    waited: number;
    functionCount: number;
}

/** Excludes functions that only call others. */
function hasTime(row: FuncRow): boolean {
    return row.self !== 0;
}

/** Describes the heaviest rows of a list and the rest: "39.8% Kernel, 31.9% Library, 20.0% User and 8.3% in 4 more". */
export function sharesText(rows: readonly FuncRow[], whole: number, name: (row: FuncRow) => string): string {
    const most = rows.length === MOST_IN_WORDS + 1 ? rows.length : MOST_IN_WORDS;
    const texts = rows.slice(0, most).map((row) => `${formatShare(row.self, whole)} ${name(row)}`);
    const rest = rows.slice(most);
    if (rest.length > 0) {
        const left = rest.reduce((sum, row) => sum + row.self, 0);
        texts.push(`${formatShare(left, whole)} in ${formatCount(rest.length)} more`);
    }
    const last = texts.pop() ?? '';
    return texts.length > 0 ? `${texts.join(', ')} and ${last}` : last;
}

const MOST_IN_WORDS = 3;
export const MOST_ROWS = 12;
const ALL = 1_000_000;

export function createSummaryView(
    session: SessionBase & {
        filters: FiltersPart;
        names: NamesPart;
        sourcePanel: SourcePanelPart;
        store: StorePart;
        tree: TreePart;
    },
) {
    const { engine, info } = session;
    const { effect } = session.lifetime;
    const { hasWeight } = session.filters;
    const { fetchNames } = session.names;
    const { openSource } = session.sourcePanel;
    const { changeView, view } = session.store;
    const { queryOf, summary } = session.tree;

    const request = new Request<SummaryLists>();
    const { value: summaryLists, error: summaryError } = request;

    const isOpen = computed(() => view.value.tab === 'summary');

    async function ask(): Promise<SummaryLists> {
        const query = queryOf();
        const [functions, libraries, categories, threads, waits, hot] = await Promise.all([
            engine.functions(query, ALL, 'self'),
            engine.groups(query, 'library'),
            engine.groups(query, 'category'),
            engine.groups(query, 'thread'),
            hasWeight('off-cpu-time') ? engine.functionsWeighed(query, 'off-cpu-time', ALL) : null,
            engine.hotLines(query, MOST_ROWS),
        ]);
        const top = functions.filter(hasTime).slice(0, MOST_ROWS);
        const waiting = waits?.filter((row) => row.self !== 0).slice(0, MOST_ROWS) ?? null;
        const { funcCount } = info.peek();
        await fetchNames([
            ...top.map((row) => row.func),
            ...(waiting ?? []).map((row) => row.func),
            ...hot.lines.map((row) => row.func),
            ...libraries.filter((row) => row.func >= 0).map((row) => funcCount + row.func),
        ]);
        return {
            functions: top,
            libraries: libraries.filter(hasTime).slice(0, MOST_ROWS),
            categories: categories.filter(hasTime),
            threads: threads.slice(0, MOST_ROWS),
            hot: hot.lines.length > 0 ? hot : null,
            waits: waiting,
            waited: (waits ?? []).reduce((sum, row) => sum + row.self, 0),
            functionCount: functions.length,
        };
    }

    /** Updates the summary with the tree's query while the page shows the summary. */
    function follow(): void {
        effect(() => {
            if (isOpen.value && summary.value) request.ask(ask);
        });
    }

    // ---- where entries lead ----

    function openCenter(center: Center): void {
        changeView({ tab: 'butterfly', center }, 'push');
    }

    function openThread(thread: number): void {
        const { comparison, threads } = info.value;
        const chosen = comparison ? threadOnAllSides(threads, thread) : [thread];
        changeView({ tab: 'calltree', threads: chosen, path: [] }, 'push');
    }

    function openLine({ func, line }: HotLine): void {
        act(openSource({ func, line }));
    }

    /** Shows the stacks after which threads waited for a function. */
    function openWait(func: number): void {
        changeView({ tab: 'calltree', inverted: true, weight: 'off-cpu-time', path: [func] }, 'push');
    }

    function chooseAllThreads(): void {
        changeView({ threads: info.value.threads.map((thread) => thread.index) }, 'push');
    }

    // ---- trust ----

    /** The recorder's section on data quality, else a section that the page makes. */
    const trustSection = computed<ExtraSection | undefined>(() => trustSectionOf(info.value));

    /** The share of time in functions without a symbol, undefined before the answer. */
    const unnamedShare = signal<number | undefined>(undefined);
    effect(() => {
        const { addressCount, isLive, resolvedCount } = info.value;
        const show = (share: number): void => {
            unnamedShare.value = share;
        };
        if (isLive || addressCount === 0) return;
        if (resolvedCount === addressCount) show(0);
        else act(engine.unnamedShare().then(show));
    });

    follow();
    return {
        unnamedShare,
        summaryLists,
        summaryError,
        openCenter,
        openThread,
        openLine,
        openWait,
        chooseAllThreads,
        trustSection,
    };
}

export type SummaryViewPart = ReturnType<typeof createSummaryView>;
