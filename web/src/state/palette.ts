/**
 * What the command palette finds: commands, views, threads, functions and markers in one list, the best first. All are measured
 * alike (text/fuzzy.ts, and lib/tree/find_names.h for functions).
 */
import { computed, signal, untracked } from '@preact/signals';
import type { FoundFunction } from '../engine/find';
import { fuzzyScore, typedWords } from '../text/fuzzy';
import { formatCount } from '../text/format';
import { TAB_TITLES, TABS } from './codec';
import { keyText } from './commands';
import { showTracks } from './track_choice';
import { keyOf } from './tracks';
import type { MenuItem } from './windows';
import { isPaletteOpen } from './windows';
import type { CommandsPart } from './commands';
import type { FiltersPart } from './filters';
import type { FunctionsPart } from './functions';
import type { NamesPart } from './names';
import type { StorePart } from './store';
import type { TreePart } from './tree';
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
/** Where several are equally good. */
const GROUPS = ['View', 'Command', 'Selection', 'Thread', 'Function', 'Marker'];

type Unscored = Omit<PaletteEntry, 'score'>;

function scored(entries: readonly Unscored[], typed: string): PaletteEntry[] {
    return entries
        .map((entry) => ({ ...entry, score: fuzzyScore(entry.title, typed) }))
        .filter((entry) => entry.score >= 0);
}

export function createPalette(
    session: Given & {
        commands: CommandsPart;
        filters: FiltersPart;
        functions: FunctionsPart;
        names: NamesPart;
        store: StorePart;
        tree: TreePart;
    },
) {
    const { engine } = session;
    const { effect } = session.lifetime;
    const { commands } = session.commands;
    const { setWeight, stackChoices, weightChoices } = session.filters;
    const { selectFunction } = session.functions;
    const { fetchNames, funcName } = session.names;
    const { changeView, chooseThread, fullRange, selectedThreads, trackSeeds, tracks, view } = session.store;
    const { setStackType } = session.tree;

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
        const weights = weightChoices.value.length > 1 ? weightChoices.value : [];
        return [
            ...weights.map((one) => ({
                id: `weight-${one.value}`,
                group: 'Command',
                title: `Count: ${one.label}`,
                detail: one.hint,
                keys: '',
                run: () => setWeight(one.value),
            })),
            ...stackChoices.value.map((one) => ({
                id: `frames-${one.value}`,
                group: 'Command',
                title: `Show: ${one.label}`,
                detail: one.hint,
                keys: '',
                run: () => void setStackType(one.value),
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
            changeView({ tracks: showTracks(view.value.tracks, [keyOf(seed)]) }, 'replace');
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

    const found = signal<FoundFunction[]>([]);

    /** Shows a function where all are listed; or only the samples with it. */
    function openFunction(func: number, isFilter: boolean): void {
        const name = funcName(func)?.name ?? '';
        if (isFilter) changeView({ search: `"${name}"` }, 'push');
        else {
            if (view.value.tab !== 'functions') changeView({ tab: 'functions' }, 'push');
            selectFunction(func, true);
        }
    }

    const markerNames = signal<{ name: string; count: number }[]>([]);

    /** The names of the markers that the chosen threads have. */
    async function findMarkers(): Promise<void> {
        const query = { threads: selectedThreads.peek(), range: fullRange.peek(), search: '', place: 'table' as const };
        const rows = await engine.markerChart(query).catch(() => []);
        const counts = new Map<string, number>();
        for (const row of rows) counts.set(row.name, (counts.get(row.name) ?? 0) + row.count);
        markerNames.value = [...counts].map(([name, count]) => ({ name, count })).slice(0, MOST_MARKERS);
    }

    function markerEntries(): Unscored[] {
        return markerNames.value.map(({ name, count }) => ({
            id: `marker-${name}`,
            group: 'Marker',
            title: name,
            detail: formatCount(count),
            keys: '',
            run: () => changeView({ tab: 'marker-table', markerSearch: `name:"${name}"` }, 'push'),
        }));
    }

    const functionEntries = computed<PaletteEntry[]>(() =>
        found.value.map(({ func, score }) => ({
            id: `function-${func}`,
            group: 'Function',
            title: funcName(func)?.name ?? '',
            detail: funcName(func)?.lib ?? '',
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
        ];
        return all.sort((a, b) => b.score - a.score || GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group));
    });

    async function findFunctions(typed: string): Promise<void> {
        const answer = await engine.findFunctions(typed, MOST_FUNCTIONS).catch(() => []);
        if (answer === null || typed !== paletteText.value) return;
        await fetchNames(answer.map((one) => one.func));
        if (typed === paletteText.value) found.value = answer;
    }

    /** Keeps the functions in step with what is typed. */
    function follow(): void {
        effect(() => {
            if (isPaletteOpen.value) {
                void engine.beginFind().catch(() => undefined);
                void findMarkers();
            } else {
                paletteText.value = '';
                found.value = [];
            }
        });
        effect(() => {
            const typed = paletteText.value;
            if (!isPaletteOpen.value) return;
            if (typedWords(typed).length > 0) void findFunctions(typed);
            else found.value = [];
        });
    }

    follow();
    return {
        paletteText,
        selectionMenu,
        paletteEntries,
    };
}

export type PalettePart = ReturnType<typeof createPalette>;
