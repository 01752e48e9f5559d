/**
 * What the command palette finds: commands, views, threads and functions in one list, the best first. All are measured
 * alike (text/fuzzy.ts, and lib/tree/find_names.h for functions). Other things join by a source of their own.
 */
import { computed, effect, signal } from '@preact/signals';
import type { FoundFunction } from '../engine/find';
import { fuzzyScore, typedWords } from '../text/fuzzy';
import { COMMANDS, keyText } from './commands';
import { selectFunction } from './functions';
import { fetchNames, funcName } from './names';
import { changeView, chooseThread, engine, isPaletteOpen, trackSeeds, tracks, view } from './store';
import { showTracks } from './track_choice';
import { keyOf } from './tracks';

export interface PaletteEntry {
    id: string;
    group: string;
    title: string;
    detail: string;
    keys: string;
    score: number;
    run: (held: { ctrl: boolean }) => void;
}

export const paletteText = signal('');

const MOST_FUNCTIONS = 100;
/** Where several are equally good. */
const GROUPS = ['View', 'Command', 'Transform', 'Thread', 'Function', 'Marker'];

type Unscored = Omit<PaletteEntry, 'score'>;

/** Further lists to choose from, which do not need the engine; each is asked when the palette is open. */
export const paletteSources: (() => Unscored[])[] = [];

function commandEntries(): Unscored[] {
    return COMMANDS.filter((one) => one.isHidden !== true && one.isOffered()).map((one) => ({
        id: `command-${one.title}`,
        group: 'Command',
        title: one.title,
        detail: '',
        keys: one.key === '' ? '' : keyText(one.key),
        run: one.run,
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

function scored(entries: readonly Unscored[], typed: string): PaletteEntry[] {
    return entries
        .map((entry) => ({ ...entry, score: fuzzyScore(entry.title, typed) }))
        .filter((entry) => entry.score >= 0);
}

/** Nothing typed: what can be done, with its key. Else the best of everything. */
export const paletteEntries = computed<PaletteEntry[]>(() => {
    if (!isPaletteOpen.value) return [];
    const typed = paletteText.value;
    const plain = [commandEntries, ...paletteSources].flatMap((source) => source());
    if (typedWords(typed).length === 0) return scored(plain, '');
    const all = [...scored(plain, typed), ...scored(threadEntries(), typed), ...functionEntries.value];
    return all.sort((a, b) => b.score - a.score || GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group));
});

async function findFunctions(typed: string): Promise<void> {
    const answer = await engine.findFunctions(typed, MOST_FUNCTIONS).catch(() => []);
    if (answer === null || typed !== paletteText.value) return;
    await fetchNames(answer.map((one) => one.func));
    if (typed === paletteText.value) found.value = answer;
}

/** Keeps the functions in step with what is typed. */
export function followPalette(): void {
    effect(() => {
        if (isPaletteOpen.value) void engine.beginFind().catch(() => undefined);
        else {
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
