/** The entries of the command palette: commands, views, filters, menus, threads, functions and markers. */
import { describeWeight, formatCount, formatShare } from '../base/format';
import type { FunctionsPart } from '../calltree/functions';
import type { TreePart } from '../calltree/tree';
import type { TreeChangesPart } from '../calltree/tree_changes';
import { COMPARED_CHOICES, type ComparisonPart } from '../compare/comparison';
import type { ColoringPart } from '../flame/coloring';
import type { FiltersPart } from '../session/filters';
import type { NamesPart } from '../session/names';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import { offeredTabs, TAB_TITLES } from '../view/codec';
import { showTracks } from '../view/track_choice';
import { act, type MenuItem } from '../window/windows';
import { keyText } from './command';
import type { CommandsPart } from './commands';
import type { Unscored } from './palette_match';

const MOST_FUNCTIONS = 100;
const MOST_MARKERS = 5000;

export type PaletteSession = SessionBase & {
    coloring: ColoringPart;
    comparison: ComparisonPart;
    commands: CommandsPart;
    filters: FiltersPart;
    functions: FunctionsPart;
    names: NamesPart;
    store: StorePart;
    tree: TreePart;
    treeChanges: TreeChangesPart;
};

/** Creates an entry that runs an action, and has no key. */
function choice(id: string, title: string, detail: string, run: () => void): Unscored {
    return { id, group: 'Command', title, detail, keys: '', run };
}

export function commandEntries({ commands }: PaletteSession): Unscored[] {
    return commands.commands
        .filter((command) => command.isHidden !== true && command.isOffered())
        .map(({ title, key, run }) => ({
            ...choice(`command-${title}`, title, '', run),
            keys: key === '' ? '' : keyText(key),
        }));
}

/** Entries for the weight of samples, the shown frames, and the colors, if the profile has a choice. */
export function filterEntries({ coloring, comparison, filters, treeChanges }: PaletteSession): Unscored[] {
    const weights = filters.weights.value.length > 1 ? filters.weights.value : [];
    const isCompared = comparison.compared.value !== null;
    return [
        ...weights.map(({ id, label, hint }) =>
            choice(`weight-${id}`, `Count: ${label}`, hint, () => filters.setWeight(id)),
        ),
        ...filters.stackChoices.value.map(({ value, label, hint }) =>
            choice(`frames-${value}`, `Show: ${label}`, hint, () => act(treeChanges.setStackType(value))),
        ),
        ...(isCompared ? COMPARED_CHOICES : []).map(({ value, hint }) =>
            choice(`compared-${value}`, `Count the ${value === 'new' ? 'new side' : value}`, hint, () =>
                comparison.setCompared(value),
            ),
        ),
        ...(isCompared ? comparison.scaledByChoices.value : []).map(({ value, label, hint }) =>
            choice(`scaled-by-${value}`, `Normalize: ${label}`, hint, () => comparison.setScaledBy(value)),
        ),
        ...coloring.colorChoices.value.map(({ value, label, hint }) =>
            choice(`color-${value}`, label, hint, () => coloring.setColorBy(value)),
        ),
    ];
}

/** The items of menus that are not commands. */
export function menuEntries({ commands }: PaletteSession, items: readonly MenuItem[]): Unscored[] {
    const titles = new Set(commands.commands.map((command) => command.title));
    return items
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

export function viewEntries({ info, store }: PaletteSession): Unscored[] {
    return offeredTabs(info.value, store.view.value).map((tab, at) => ({
        id: `view-${tab}`,
        group: 'View',
        title: TAB_TITLES[tab],
        detail: '',
        keys: at < 10 ? String((at + 1) % 10) : '',
        run: () => {
            if (store.view.value.tab !== tab) store.changeView({ tab }, 'push');
        },
    }));
}

export function threadEntries({ store }: PaletteSession): Unscored[] {
    const { changeView, chooseThread, trackSeeds, tracks, view } = store;

    function select(thread: number, key: string, adds: boolean): void {
        if (!tracks.value.shown.includes(thread))
            changeView({ tracks: showTracks(view.value.tracks, [key]) }, 'replace');
        chooseThread(thread, adds ? 'toggle' : 'only');
    }

    return trackSeeds.value
        .filter((seed) => seed.kind === 'thread')
        .map((seed) => ({
            id: `thread-${seed.thread}`,
            group: 'Thread',
            title: seed.title,
            detail: seed.isLead ? seed.detail : `${seed.detail} of ${seed.processName}`,
            keys: '',
            run: (held) => select(seed.thread, seed.key, held.ctrl),
        }));
}

export interface NamedCount {
    name: string;
    count: number;
}

/** Requests the names of the markers in the selected threads. */
export async function requestMarkers({ engine, store }: PaletteSession): Promise<NamedCount[]> {
    const { fullRange, selectedThreads } = store;
    const rows = await engine.markerChart({
        threads: selectedThreads.peek(),
        range: fullRange.peek(),
        search: '',
        place: 'table',
    });
    const counts = new Map<string, number>();
    for (const row of rows) counts.set(row.name, (counts.get(row.name) ?? 0) + row.count);
    return [...counts].map(([name, count]) => ({ name, count })).slice(0, MOST_MARKERS);
}

export function markerEntries({ store }: PaletteSession, markers: readonly NamedCount[]): Unscored[] {
    return markers.map(({ name, count }) => ({
        id: `marker-${name}`,
        group: 'Marker',
        title: name,
        detail: formatCount(count),
        keys: '',
        run: () => store.changeView({ tab: 'marker-table', markerSearch: `name:"${name}"` }, 'push'),
    }));
}

/** Returns null if a newer query has replaced the query. */
export async function functionEntries(session: PaletteSession, typed: string): Promise<Unscored[] | null> {
    const { engine, filters, functions, store, tree } = session;
    const { fetchNames, funcName } = session.names;
    const { changeView, view } = store;

    /** Selects a function in the list of functions, or shows only the samples with the function. */
    function openFunction(func: number, isFilter: boolean): void {
        if (isFilter) {
            changeView({ search: `"${funcName(func)?.name ?? ''}"` }, 'push');
            return;
        }
        if (view.value.tab !== 'functions') changeView({ tab: 'functions' }, 'push');
        functions.selectFunction(func, true);
    }

    function shareText(weight: number): string {
        // The engine orders functions by the size of their change, without its sign.
        if (tree.isChange.value) return `±${describeWeight(weight, filters.weightUnit.value, 0)}`;
        return weight === 0 ? '' : formatShare(weight, tree.summary.value?.rootTotal ?? 0);
    }

    const found = await engine.findFunctions(tree.queryOf(), typed, MOST_FUNCTIONS);
    if (!found) return null;
    await fetchNames(found.map(({ func }) => func));
    return found.map(({ func, score, weight }) => ({
        id: `function-${func}`,
        group: 'Function',
        title: funcName(func)?.name ?? '',
        share: shareText(weight),
        detail: funcName(func)?.lib ?? '',
        keys: '',
        score,
        run: (held) => openFunction(func, held.ctrl),
    }));
}
