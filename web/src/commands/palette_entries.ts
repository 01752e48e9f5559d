/**
 * What the command palette finds: commands, views, threads, functions and markers in one list, the best first. All are measured
 * alike, by the engine (lib/tree/fuzzy.h).
 */
import { computed, signal, untracked } from '@preact/signals';
import { formatCount, formatShare, formatWeight } from '../base/format';
import { plainText } from '../base/plain';
import type { FunctionsPart } from '../calltree/functions';
import type { TreePart } from '../calltree/tree';
import type { TreeChangesPart } from '../calltree/tree_changes';
import { COMPARED_CHOICES, type ComparisonPart } from '../compare/comparison';
import type { FoundTexts } from '../engine/find';
import type { ColoringPart } from '../flame/coloring';
import type { FiltersPart } from '../session/filters';
import type { Given } from '../session/given';
import type { NamesPart } from '../session/names';
import { Request } from '../session/request';
import type { StorePart } from '../session/store';
import { offeredTabs, TAB_TITLES } from '../view/codec';
import { showTracks } from '../view/track_choice';
import type { MenuItem } from '../window/windows';
import { act, isPaletteOpen } from '../window/windows';
import type { CommandsPart } from './commands';
import { keyText } from './commands';

export interface PaletteEntry {
    id: string;
    group: string;
    title: string;
    /** Of a function, in the view: it has its place however long the name is. */
    share: string;
    detail: string;
    keys: string;
    score: number;
    /** Which characters of title and detail are to be marked. */
    titleMarks: (at: number) => boolean;
    detailMarks: (at: number) => boolean;
    run: (held: { ctrl: boolean }) => void;
}

/** What may be found; functions have their score already. */
type Unscored = Omit<PaletteEntry, 'score' | 'share' | 'titleMarks' | 'detailMarks'> & {
    score?: number;
    share?: string;
};

const MOST_FUNCTIONS = 100;
const MOST_MARKERS = 5000;
/** Where several are equally good. */
const GROUPS = ['View', 'Command', 'Selection', 'Thread', 'Function', 'Marker'];

/** What is shown of a title. */
const TITLE_LIMIT = 160;
const DETAIL_LIMIT = 80;

/** Other words for what titles say, as users of other programs know it. */
const SYNONYMS: readonly [RegExp, string][] = [
    [/ as an image$| as SVG$/, 'export download picture png screenshot svg'],
    [/^Save the profile$/, 'download export'],
    [/^Save a page/, 'download export html self-contained share'],
    [/^Save without/, 'anonymize download export sanitize share'],
    [/^Copy the address/, 'link share url'],
    [/^(Select f|F)ull range$|^Zoom/, 'range reset zoom'],
    [/^Compact rows$|^Usual row height$/, 'appearance density line small spacing'],
    [/ theme$/, 'appearance colors mode theme'],
    [/^Recording details$/, 'info metadata quality trust'],
    [/^Filter stacks/, 'find grep search'],
    [/^Invert call stack$/, 'bottom-up reverse'],
    [/^Keys$/, 'help keyboard shortcuts'],
    [/^Undo/, 'back revert'],
    [/^Open a file$/, 'import load'],
    [/^Compare /, 'diff difference'],
    [/^Count the /, 'compare diff side'],
    [/ new window$/, 'compare diff duplicate tab'],
    [/ assembly$/, 'disassembly instructions'],
    [/ tracks$/, 'processes threads'],
];

function synonymsOf(title: string): string {
    return SYNONYMS.flatMap(([pattern, list]) => (pattern.test(title) ? [list] : [])).join(' ');
}

const NOTHING_MARKED = (): boolean => false;

/** An entry as it is listed when nothing is typed. */
function unmarked(entry: Unscored): PaletteEntry {
    return {
        ...entry,
        ...shownTexts(entry),
        share: entry.share ?? '',
        score: 0,
        titleMarks: NOTHING_MARKED,
        detailMarks: NOTHING_MARKED,
    };
}

function shownTexts({ title, detail }: Unscored): { title: string; detail: string } {
    return { title: plainText(title, TITLE_LIMIT) || '(no name)', detail: plainText(detail, DETAIL_LIMIT) };
}

/** One of the texts that the engine has looked at. */
class FoundText {
    constructor(
        private readonly found: FoundTexts,
        private readonly index: number,
        private readonly start: number,
        readonly text: string,
    ) {}

    /** How good the place of a word is; -1: there is none. */
    score(word: number): number {
        return this.found.scores[this.index * this.found.words + word] ?? -1;
    }

    /** Whether a character is in the place of any of these words, a bit for each. */
    isMarked(at: number, words: number): boolean {
        return ((this.found.marks[this.start + at] ?? 0) & words) !== 0;
    }

    /** Of blank-separated words, the one that a typed word begins; where it is. */
    begun(word: number): [start: number, end: number] | null {
        if (this.score(word) < 0) return null;
        const bit = 1 << word;
        const marked = [...this.text].map((_, at) => this.isMarked(at, bit));
        const start = marked.indexOf(true);
        const isRun = !marked.slice(start, marked.lastIndexOf(true)).includes(false);
        const end = this.text.indexOf(' ', start);
        return isRun && (start === 0 || this.text[start - 1] === ' ')
            ? [start, end < 0 ? this.text.length : end]
            : null;
    }
}

/** How well an entry has what was typed, in its title or by another word for it, which it shows then; null: not at all. */
function scoredEntry(entry: Unscored, words: number, [title, detail, others]: FoundText[]): PaletteEntry | null {
    if (!title || !detail || !others) return null;
    const shown = { ...entry, title: title.text, share: entry.share ?? '', detail: detail.text };
    const beside: number[] = [];
    const begun: { start: number; end: number; words: number }[] = [];
    let score = entry.score ?? 0;
    for (let word = 0; word < words; word++) {
        const inTitle = title.score(word);
        const other = others.begun(word);
        if (inTitle < 0) beside.push(word);
        if (inTitle < 0 && other) begun.push({ start: other[0], end: other[1], words: 1 << word });
        else if (inTitle < 0 && (entry.score === undefined || detail.score(word) < 0)) return null;
        if (entry.score === undefined) score += Math.max(inTitle, other ? others.score(word) : -1);
    }
    const mask = beside.reduce((bits, word) => bits | (1 << word), 0);
    const titleMarks = (at: number): boolean => title.isMarked(at, ~0);
    if (begun.length === 0) return { ...shown, score, titleMarks, detailMarks: (at) => detail.isMarked(at, mask) };
    const marks = begun.flatMap((place, at) => [
        ...(at > 0 ? [false] : []),
        ...Array.from({ length: place.end - place.start }, (_, i) => others.isMarked(place.start + i, place.words)),
    ]);
    const said = begun.map(({ start, end }) => others.text.slice(start, end)).join(' ');
    return { ...shown, detail: said, score, titleMarks, detailMarks: (at) => marks[at] === true };
}

export function createPalette(
    session: Given & {
        coloring: ColoringPart;
        comparison: ComparisonPart;
        commands: CommandsPart;
        filters: FiltersPart;
        functions: FunctionsPart;
        names: NamesPart;
        store: StorePart;
        tree: TreePart;
        treeChanges: TreeChangesPart;
    },
) {
    const { engine, info } = session;
    const { effect } = session.lifetime;
    const { colorChoices, setColorBy } = session.coloring;
    const { compared, scaledByChoices, setCompared, setScaledBy } = session.comparison;
    const { commands } = session.commands;
    const { setWeight, stackChoices, weights, weightUnit } = session.filters;
    const { selectFunction } = session.functions;
    const { fetchNames, funcName } = session.names;
    const { changeView, chooseThread, fullRange, selectedThreads, trackSeeds, tracks, view } = session.store;
    const { isChange, queryOf, summary } = session.tree;
    const { setStackType } = session.treeChanges;

    const paletteText = signal('');

    function viewEntries(): Unscored[] {
        return offeredTabs(info.value).map((tab, at) => ({
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
            .filter((command) => command.isHidden !== true && command.isOffered())
            .map((command) => ({
                id: `command-${command.title}`,
                group: 'Command',
                title: command.title,
                detail: '',
                keys: command.key === '' ? '' : keyText(command.key),
                run: command.run,
            }));
    }

    /** What a sample counts, which frames are shown, where there is a choice, and what colors mean. */
    function filterEntries(): Unscored[] {
        const choices = weights.value.length > 1 ? weights.value : [];
        return [
            ...choices.map((choice) => ({
                id: `weight-${choice.id}`,
                group: 'Command',
                title: `Count: ${choice.label}`,
                detail: choice.hint,
                keys: '',
                run: () => setWeight(choice.id),
            })),
            ...stackChoices.value.map((choice) => ({
                id: `frames-${choice.value}`,
                group: 'Command',
                title: `Show: ${choice.label}`,
                detail: choice.hint,
                keys: '',
                run: () => act(setStackType(choice.value)),
            })),
            ...COMPARED_CHOICES.filter(() => compared.value !== null).map((choice) => ({
                id: `compared-${choice.value}`,
                group: 'Command',
                title: `Count the ${choice.value === 'new' ? 'new side' : choice.value}`,
                detail: choice.hint,
                keys: '',
                run: () => setCompared(choice.value),
            })),
            ...scaledByChoices.value
                .filter(() => compared.value !== null)
                .map((choice) => ({
                    id: `scaled-by-${choice.value}`,
                    group: 'Command',
                    title: `Normalize: ${choice.label}`,
                    detail: choice.hint,
                    keys: '',
                    run: () => setScaledBy(choice.value),
                })),
            ...colorChoices.value.map((choice) => ({
                id: `color-${choice.value}`,
                group: 'Command',
                title: choice.label,
                detail: choice.hint,
                keys: '',
                run: () => setColorBy(choice.value),
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
        const titles = new Set(commands.map((command) => command.title));
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
        const seed = trackSeeds.value.find((candidate) => candidate.kind === 'thread' && candidate.thread === thread);
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

    async function functionEntries(typed: string): Promise<Unscored[] | null> {
        const found = await engine.findFunctions(queryOf(), typed, MOST_FUNCTIONS);
        if (!found) return null;
        await fetchNames(found.map(({ func }) => func));
        return found.map(({ func, score, weight }) => ({
            id: `function-${func}`,
            group: 'Function',
            title: funcName(func)?.name ?? '',
            // The finder weighs names by how much has changed, of whichever sign.
            share: isChange.value
                ? `±${formatWeight(weight, weightUnit.value)}`
                : weight === 0
                  ? ''
                  : formatShare(weight, summary.value?.rootTotal ?? 0),
            detail: funcName(func)?.lib ?? '',
            keys: '',
            score,
            run: (held) => openFunction(func, held.ctrl),
        }));
    }

    /** What can be done, with its key. */
    function plainEntries(): Unscored[] {
        return [commandEntries, filterEntries, menuEntries, viewEntries].flatMap((source) => source());
    }

    /** The entries that have what was typed, with why, best first. */
    async function scored(entries: readonly Unscored[], typed: string): Promise<PaletteEntry[]> {
        const texts = entries.flatMap((entry) => {
            const { title, detail } = shownTexts(entry);
            return [title, detail, entry.score === undefined ? synonymsOf(title) : ''];
        });
        const found = await engine.findTexts(typed, texts);
        let start = 0;
        const looked = texts.map((text, index) => {
            const foundText = new FoundText(found, index, start, text);
            start += text.length;
            return foundText;
        });
        return entries
            .flatMap((entry, at) => scoredEntry(entry, found.words, looked.slice(3 * at, 3 * at + 3)) ?? [])
            .sort((a, b) => b.score - a.score || GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group));
    }

    interface Found {
        typed: string;
        entries: PaletteEntry[];
    }

    const foundRequest = new Request<Found>();

    async function ask(typed: string): Promise<Found | null> {
        const others = [...plainEntries(), ...threadEntries(), ...markerEntries()];
        const functions = await functionEntries(typed);
        return functions && { typed, entries: await scored([...others, ...functions], typed) };
    }

    const isTyped = computed(() => paletteText.value.trim() !== '');
    /** The entries are those of what was typed before. */
    const isPaletteBehind = computed(() => isTyped.value && foundRequest.value.value?.typed !== paletteText.value);

    /** Nothing typed: what can be done. Else the best of everything, of what was typed before while the engine is asked. */
    const paletteEntries = computed<PaletteEntry[]>(() => {
        if (!isPaletteOpen.value) return [];
        return (isTyped.value ? foundRequest.value.value?.entries : null) ?? plainEntries().map(unmarked);
    });

    /**
     * Which entry is meant: while the engine is asked about what was typed, the first of the list stands for the best
     * that it will find. null: the list is empty.
     */
    function chosen(entry: PaletteEntry | null): Promise<PaletteEntry | null> {
        const isFirst = entry === null || paletteEntries.peek()[0] === entry;
        return isFirst && isTyped.peek() ? bestOf(paletteText.peek()) : Promise.resolve(entry);
    }

    async function bestOf(typed: string): Promise<PaletteEntry | null> {
        const last = foundRequest.value.peek();
        const found = last?.typed === typed ? last : await ask(typed);
        return found?.entries[0] ?? null;
    }

    /** Keeps what was found in step with what is typed, and with what there is to find. */
    function follow(): void {
        effect(() => {
            if (isPaletteOpen.value) markersRequest.ask(askMarkers);
            else {
                paletteText.value = '';
                foundRequest.clear();
            }
        });
        effect(() => {
            const typed = paletteText.value;
            markersRequest.value.value;
            summary.value;
            if (!isPaletteOpen.value) return;
            if (isTyped.value) foundRequest.ask(() => ask(typed));
            else foundRequest.clear();
        });
    }

    const paletteError = computed(() => foundRequest.error.value || markersRequest.error.value);

    follow();
    return {
        paletteText,
        selectionMenu,
        paletteEntries,
        chosen,
        isPaletteBehind,
        paletteError,
    };
}

export type PalettePart = ReturnType<typeof createPalette>;
