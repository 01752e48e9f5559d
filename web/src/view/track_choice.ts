/**
 * The user's choices about tracks: hide, show, show alone, move. Each function returns a new choice, which the address
 * stores.
 */
import { decodeIndexes, encodeIndexes } from '../base/indexes';
import { DEFAULT_TRACKS, groupTracks, type TrackChoice, type TrackKey, type TrackRow, type TrackSeed } from './tracks';

function letterOf(key: TrackKey): string {
    return key.charAt(0);
}

function numberOf(key: TrackKey): number {
    return Number(key.slice(1));
}

function sorted(keys: Iterable<TrackKey>): TrackKey[] {
    return [...new Set(keys)].sort((a, b) => letterOf(a).localeCompare(letterOf(b)) || numberOf(a) - numberOf(b));
}

function without(keys: readonly TrackKey[], gone: ReadonlySet<TrackKey>): TrackKey[] {
    return keys.filter((key) => !gone.has(key));
}

/** Opens or closes a group. */
export function turnGroup(choice: TrackChoice, key: TrackKey): TrackChoice {
    const isOpen = choice.opened.includes(key);
    const others = without(choice.opened, new Set([key]));
    return { ...choice, opened: isOpen ? others : sorted([...others, key]) };
}

export function showTracks(choice: TrackChoice, keys: readonly TrackKey[]): TrackChoice {
    const all = new Set(keys);
    const shown = choice.base === 'all' ? choice.shown : sorted([...choice.shown, ...keys]);
    return { ...choice, shown, hidden: without(choice.hidden, all) };
}

export function hideTracks(choice: TrackChoice, keys: readonly TrackKey[]): TrackChoice {
    const all = new Set(keys);
    return { ...choice, shown: without(choice.shown, all), hidden: sorted([...choice.hidden, ...keys]) };
}

/** Shows these tracks and no others. */
export function onlyTracks(choice: TrackChoice, keys: readonly TrackKey[]): TrackChoice {
    return { ...DEFAULT_TRACKS, opened: choice.opened, order: choice.order, base: 'none', shown: sorted(keys) };
}

export function allTracks(choice: TrackChoice): TrackChoice {
    return { ...DEFAULT_TRACKS, opened: choice.opened, order: choice.order, base: 'all' };
}

export function busyTracks(choice: TrackChoice): TrackChoice {
    return { ...DEFAULT_TRACKS, opened: choice.opened, order: choice.order };
}

/**
 * Returns the rows among which the user can move a row: processes, or the tracks of one process that are not below
 * another track.
 */
export function siblingsOf(rows: readonly TrackRow[], row: TrackRow): TrackRow[] {
    if (row.level === 0) return rows.filter((other) => other.level === 0);
    if (row.below !== '') return [];
    return rows.filter((other) => other.level === 1 && other.process === row.process && other.below === '');
}

/** Returns the key of a row in the order. A track that represents its process moves all tracks of the process. */
function orderKey(seeds: readonly TrackSeed[], row: TrackRow): TrackKey {
    if (row.level === 1) return row.key;
    return groupTracks(seeds, []).find((group) => group.process === row.process)?.key ?? row.key;
}

/** Moves a row to the position of a sibling, and shifts the rows between. Returns null if the rows are no siblings. */
export function moveTrack(
    seeds: readonly TrackSeed[],
    rows: readonly TrackRow[],
    choice: TrackChoice,
    moved: TrackKey,
    target: TrackKey,
): TrackChoice | null {
    const row = rows.find((other) => other.key === moved);
    const siblings = row ? siblingsOf(rows, row) : [];
    const from = siblings.findIndex((sibling) => sibling.key === moved);
    const to = siblings.findIndex((sibling) => sibling.key === target);
    const [movedRow] = siblings.splice(from, 1);
    if (!movedRow || from < 0 || to < 0 || from === to) return null;
    siblings.splice(to, 0, movedRow);
    const keys = siblings.map((sibling) => orderKey(seeds, sibling));
    return { ...choice, order: [...without(choice.order, new Set(keys)), ...keys] };
}

/** Returns all tracks of a process. */
export function tracksOfProcess(seeds: readonly TrackSeed[], process: string): TrackKey[] {
    return seeds.filter((seed) => seed.process === process).map((seed) => seed.key);
}

/** Returns the track and the tracks below it. */
export function trackWithThoseBelow(seeds: readonly TrackSeed[], key: TrackKey): TrackKey[] {
    return [key, ...seeds.filter((seed) => seed.below === key).map((seed) => seed.key)];
}

/**
 * Encodes a list of tracks for the address: each run of tracks of one kind as a letter and a list of indexes, with `~`
 * between runs.
 */
export function encodeTracks(keys: readonly TrackKey[]): string {
    const runs: string[] = [];
    for (let i = 0; i < keys.length; ) {
        const letter = letterOf(keys[i] ?? '');
        let end = i;
        while (end < keys.length && letterOf(keys[end] ?? '') === letter) end++;
        runs.push(letter + encodeIndexes(keys.slice(i, end).map(numberOf)));
        i = end;
    }
    return runs.join('~');
}

const MOST_RUNS = 10_000;

/** Decodes a list of tracks, and omits invalid parts. */
export function decodeTracks(text: string): TrackKey[] {
    const keys = text
        .split('~', MOST_RUNS)
        .filter((run) => /^[a-z]/.test(run))
        .flatMap((run) => decodeIndexes(run.slice(1)).map((index) => run.charAt(0) + index));
    return [...new Set(keys)];
}
