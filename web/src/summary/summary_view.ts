/** The summary of the view: a few rows of each list, heaviest first, with their links. */
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
    /** Of all files, by self; null: no sample ends in a line that is known. */
    hot: HotLines | null;
    /** By time off the CPU; null: the file does not say. */
    waits: FuncRow[] | null;
    /** All of that time, ms. */
    waited: number;
    functionCount: number;
}

/** Those that only call others answer nothing here. */
function hasTime(row: FuncRow): boolean {
    return row.self !== 0;
}

/** The heaviest of a list in words, and what is left: "39.8% Kernel, 31.9% Library, 20.0% User and 8.3% in 4 more". */
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

    /** Keeps it in step with the tree's query, while it is shown. */
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

    /** The stacks after which a function was waited for. */
    function openWait(func: number): void {
        changeView({ tab: 'calltree', inverted: true, weight: 'off-cpu-time', path: [func] }, 'push');
    }

    function chooseAllThreads(): void {
        changeView({ threads: info.value.threads.map((thread) => thread.index) }, 'push');
    }

    // ---- trust ----

    /** What the recorder says about how far its figures can be trusted, else what can be seen of it. */
    const trustSection = computed<ExtraSection | undefined>(() => trustSectionOf(info.value));

    /** The share of all time in functions without a symbol; undefined until it is known. */
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
