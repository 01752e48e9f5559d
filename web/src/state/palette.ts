/**
 * What the command palette finds: commands, views, threads, functions and markers in one list, the best first. All are measured
 * alike (text/fuzzy.ts, and lib/tree/find_names.h for functions).
 */
import { computed, signal, untracked } from '@preact/signals';
import type { FoundFunction } from '../engine/find';
import { fuzzyScore, typedWords } from '../text/fuzzy';
import { formatCount, formatShare } from '../text/format';
import { plainText } from '../text/plain';
import { TAB_TITLES, TABS } from './codec';
import { keyText } from './commands';
import { showTracks } from './track_choice';
import type { MenuItem } from './windows';
import { act, isPaletteOpen } from './windows';
import { Request } from './request';
import type { CommandsPart } from './commands';
import type { FiltersPart } from './filters';
import type { FunctionsPart } from './functions';
import type { NamesPart } from './names';
import type { StorePart } from './store';
import type { TreePart } from './tree';
import type { TreeChangesPart } from './tree_changes';
import type { Given } from './given';

export interface PaletteEntry {
    id: string;
    group: string;
    title: string;
    detail: string;
    keys: string;
    score: number;
    run: (held: { ctrl: boolean }) => void;
}

const MOST_FUNCTIONS = 100;
const MOST_MARKERS = 5000;
/** Functions whose share is told: others have none worth the name. */
const MOST_SHARES = 20_000;
/** Where several are equally good. */
const GROUPS = ['View', 'Command', 'Selection', 'Thread', 'Function', 'Marker'];

/** What is shown of a title. */
export const TITLE_LIMIT = 160;

/** Other words for what titles say, as users of other programs know it. */
const SYNONYMS: readonly [RegExp, string][] = [
    [/ as an image$| as SVG$/, 'export download picture png screenshot svg'],
    [/^Save the profile$/, 'download export'],
    [/^Copy the address/, 'link share url'],
    [/^(Select f|F)ull range$|^Zoom/, 'range reset zoom'],
    [/ theme$/, 'appearance colors mode theme'],
    [/^Recording details$/, 'info metadata quality trust'],
    [/^Filter stacks/, 'find grep search'],
    [/^Invert call stack$/, 'bottom-up reverse'],
    [/^Keys$/, 'help keyboard shortcuts'],
    [/^Undo/, 'back revert'],
    [/^Open a file$/, 'import load'],
    [/ assembly$/, 'disassembly instructions'],
    [/ tracks$/, 'processes threads'],
];
const PREFIX_LETTER = 12;

function synonymOf(title: string, word: string): string | undefined {
    const words = SYNONYMS.flatMap(([pattern, list]) => (pattern.test(title) ? list.split(' ') : []));
    return words.find((one) => one.startsWith(word));
}

type Unscored = Omit<PaletteEntry, 'score'>;

/** How well an entry has what was typed, in its title or by another word for it, which it shows then. */
function scoredEntry(entry: Unscored, words: readonly string[]): PaletteEntry {
    let score = 0;
    const others: string[] = [];
    for (const word of words) {
        const inTitle = fuzzyScore(entry.title, word);
        const other = synonymOf(entry.title, word);
        if (inTitle < 0 && !other) return { ...entry, score: -1 };
        if (inTitle < 0 && other) others.push(other);
        score += Math.max(inTitle, other ? PREFIX_LETTER * word.length : 0);
    }
    return { ...entry, score, ...(others.length > 0 ? { detail: others.join(' ') } : {}) };
}

function scored(entries: readonly Unscored[], typed: string): PaletteEntry[] {
    const words = typedWords(typed);
    return entries.map((entry) => scoredEntry(entry, words)).filter((entry) => entry.score >= 0);
}

/** What was typed and is not in the title, but in what stands beside it. */
export function typedBesideTitle({ title }: PaletteEntry, typed: string): string {
    const shown = plainText(title, TITLE_LIMIT);
    return typedWords(typed)
        .filter((word) => fuzzyScore(shown, word) < 0)
        .join(' ');
}

/** Whether the entry shows why it was found. */
function canBeMarked(entry: PaletteEntry, typed: string): boolean {
    return fuzzyScore(entry.detail, typedBesideTitle(entry, typed)) >= 0;
}

export function createPalette(
    session: Given & {
        commands: CommandsPart;
        filters: FiltersPart;
        functions: FunctionsPart;
        names: NamesPart;
        store: StorePart;
        tree: TreePart;
        treeChanges: TreeChangesPart;
    },
) {
    const { engine } = session;
    const { effect } = session.lifetime;
    const { commands } = session.commands;
    const { setWeight, stackChoices, weights } = session.filters;
    const { selectFunction } = session.functions;
    const { fetchNames, funcName } = session.names;
    const { changeView, chooseThread, fullRange, selectedThreads, trackSeeds, tracks, view } = session.store;
    const { queryOf, summary } = session.tree;
    const { setStackType } = session.treeChanges;

    const paletteText = signal('');

    function viewEntries(): Unscored[] {
        return TABS.map((tab, at) => ({
            id: `view-${tab}`,
            group: 'View',
            title: TAB_TITLES[tab],
            detail: '',
            keys: String(at + 1),
            run: () => {
                if (view.value.tab !== tab) changeView({ tab }, 'push');
            },
        }));
    }

    function commandEntries(): Unscored[] {
        return commands
            .filter((one) => one.isHidden !== true && one.isOffered())
            .map((one) => ({
                id: `command-${one.title}`,
                group: 'Command',
                title: one.title,
                detail: '',
                keys: one.key === '' ? '' : keyText(one.key),
                run: one.run,
            }));
    }

    /** What a sample counts, and which frames are shown, where there is a choice. */
    function filterEntries(): Unscored[] {
        const choices = weights.value.length > 1 ? weights.value : [];
        return [
            ...choices.map((one) => ({
                id: `weight-${one.id}`,
                group: 'Command',
                title: `Count: ${one.label}`,
                detail: one.hint,
                keys: '',
                run: () => setWeight(one.id),
            })),
            ...stackChoices.value.map((one) => ({
                id: `frames-${one.value}`,
                group: 'Command',
                title: `Show: ${one.label}`,
                detail: one.hint,
                keys: '',
                run: () => act(setStackType(one.value)),
            })),
        ];
    }

    /** The menus of what is selected, and of the table that it is in, where the focus is or was last. */
    const selectionMenu = signal<(() => MenuItem[]) | null>(null);

    /** Asked for once for each opened palette: a menu may ask the engine. */
    const menuItems = computed<MenuItem[]>(() =>
        isPaletteOpen.value ? untracked(() => selectionMenu.value?.() ?? []).filter((item) => item.enabled) : [],
    );

    function menuEntries(): Unscored[] {
        const titles = new Set(commands.map((one) => one.title));
        return menuItems.value
            .filter(({ label }) => !titles.has(label) && titles.add(label))
            .map((item) => ({
                id: `menu-${item.label}`,
                group: 'Selection',
                title: item.label,
                detail: item.title,
                keys: item.keys,
                run: item.action,
            }));
    }

    function chooseHiddenThread(thread: number, isMore: boolean): void {
        const seed = trackSeeds.value.find((one) => one.kind === 'thread' && one.thread === thread);
        if (seed && !tracks.value.shown.includes(thread))
            changeView({ tracks: showTracks(view.value.tracks, [seed.key]) }, 'replace');
        chooseThread(thread, isMore ? 'toggle' : 'only');
    }

    function threadEntries(): Unscored[] {
        return trackSeeds.value
            .filter((seed) => seed.kind === 'thread')
            .map((seed) => ({
                id: `thread-${seed.thread}`,
                group: 'Thread',
                title: seed.title,
                detail: seed.isLead ? seed.detail : `${seed.detail} of ${seed.processName}`,
                keys: '',
                run: (held) => chooseHiddenThread(seed.thread, held.ctrl),
            }));
    }

    const foundRequest = new Request<FoundFunction[]>();
    const { value: found } = foundRequest;
    const totalsRequest = new Request<ReadonlyMap<number, number>>();

    /** What the functions have of the current view. */
    async function askTotals(): Promise<ReadonlyMap<number, number>> {
        const rows = await engine.functions(queryOf(), MOST_SHARES, 'total');
        return new Map(rows.map(({ func, total }) => [func, total]));
    }

    function functionDetail(func: number): string {
        const total = totalsRequest.value.value?.get(func) ?? 0;
        const share = total === 0 ? '' : formatShare(total, summary.value?.rootTotal ?? 0);
        return [share, funcName(func)?.lib ?? ''].filter((part) => part !== '').join(' · ');
    }

    /** Shows a function where all are listed; or only the samples with it. */
    function openFunction(func: number, isFilter: boolean): void {
        const name = funcName(func)?.name ?? '';
        if (isFilter) changeView({ search: `"${name}"` }, 'push');
        else {
            if (view.value.tab !== 'functions') changeView({ tab: 'functions' }, 'push');
            selectFunction(func, true);
        }
    }

    const markersRequest = new Request<{ name: string; count: number }[]>();

    /** The names of the markers that the chosen threads have. */
    async function askMarkers(): Promise<{ name: string; count: number }[]> {
        const query = { threads: selectedThreads.peek(), range: fullRange.peek(), search: '', place: 'table' as const };
        const rows = await engine.markerChart(query);
        const counts = new Map<string, number>();
        for (const row of rows) counts.set(row.name, (counts.get(row.name) ?? 0) + row.count);
        return [...counts].map(([name, count]) => ({ name, count })).slice(0, MOST_MARKERS);
    }

    function markerEntries(): Unscored[] {
        return (markersRequest.value.value ?? []).map(({ name, count }) => ({
            id: `marker-${name}`,
            group: 'Marker',
            title: name,
            detail: formatCount(count),
            keys: '',
            run: () => changeView({ tab: 'marker-table', markerSearch: `name:"${name}"` }, 'push'),
        }));
    }

    const functionEntries = computed<PaletteEntry[]>(() =>
        (found.value ?? []).map(({ func, score }) => ({
            id: `function-${func}`,
            group: 'Function',
            title: funcName(func)?.name ?? '',
            detail: functionDetail(func),
            keys: '',
            score,
            run: (held) => openFunction(func, held.ctrl),
        })),
    );

    /** Nothing typed: what can be done, with its key. Else the best of everything. */
    const paletteEntries = computed<PaletteEntry[]>(() => {
        if (!isPaletteOpen.value) return [];
        const typed = paletteText.value;
        const plain = [commandEntries, filterEntries, menuEntries, viewEntries].flatMap((source) => source());
        if (typedWords(typed).length === 0) return scored(plain, '');
        const all = [
            ...scored(plain, typed),
            ...scored(threadEntries(), typed),
            ...scored(markerEntries(), typed),
            ...functionEntries.value,
        ].filter((entry) => canBeMarked(entry, typed));
        return all.sort((a, b) => b.score - a.score || GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group));
    });

    async function askFunctions(typed: string): Promise<FoundFunction[] | null> {
        const answer = await engine.findFunctions(queryOf(), typed, MOST_FUNCTIONS);
        if (answer) await fetchNames(answer.map((one) => one.func));
        return answer;
    }

    /** Keeps the functions in step with what is typed. */
    function follow(): void {
        effect(() => {
            if (isPaletteOpen.value) {
                totalsRequest.ask(askTotals);
                markersRequest.ask(askMarkers);
            } else {
                paletteText.value = '';
                foundRequest.clear();
            }
        });
        effect(() => {
            const typed = paletteText.value;
            if (!isPaletteOpen.value) return;
            if (typedWords(typed).length > 0) foundRequest.ask(() => askFunctions(typed));
            else foundRequest.clear();
        });
    }

    const paletteError = computed(() => foundRequest.error.value || markersRequest.error.value);

    follow();
    return {
        paletteText,
        selectionMenu,
        paletteEntries,
        paletteError,
    };
}

export type PalettePart = ReturnType<typeof createPalette>;
