/** Changes which tracks are shown and selected. The view always has a selected thread. */
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import {
    allTracks,
    busyTracks,
    hideTracks,
    moveTrack,
    onlyTracks,
    showTracks,
    siblingsOf,
    tracksOfProcess,
    trackWithThoseBelow,
    turnGroup as turned,
} from '../view/track_choice';
import {
    areAll,
    isMember,
    layoutTracks,
    MOST_SHOWN_AT_FIRST,
    type TrackChoice,
    type TrackKey,
    type TrackRow,
} from '../view/tracks';
import { showNotice } from '../window/windows';

function createVisibility({ store }: SessionBase & { store: StorePart }) {
    const { changeView, trackSeeds, view } = store;

    /**
     * Makes the choice a part of the view. Deselects hidden threads; if no thread is left, selects the first thread.
     */
    function applyChoice(choice: TrackChoice): void {
        const chosen = view.value.threads;
        const shown = new Set(layoutTracks(trackSeeds.value, choice, []).shown);
        // If many threads are selected, only the busiest have rows. The others stay selected unless the user hides
        // them.
        const hiddenKeys = new Set(choice.hidden);
        const hidden = new Set(
            trackSeeds.value
                .filter((seed) => seed.kind === 'thread' && (hiddenKeys.has(seed.key) || hiddenKeys.has(seed.below)))
                .map((seed) => seed.thread),
        );
        const isMany =
            choice.base === 'busy' &&
            (chosen.length > MOST_SHOWN_AT_FIRST || areAll(trackSeeds.value, choice, chosen.length));
        const left = chosen.filter((thread) => shown.has(thread) || (isMany && !hidden.has(thread)));
        const [first] = shown;
        if (left.length === 0 && first === undefined) {
            showNotice('At least one thread must stay visible');
            return;
        }
        const threads = left.length > 0 ? left : [first as number];
        changeView({ tracks: choice, ...(threads.join() === chosen.join() ? {} : { threads }) }, 'push');
    }

    /** Removes the threads of groups from the keys, because an open group shows rows for them. */
    function withoutMembers(keys: readonly TrackKey[]): TrackKey[] {
        const all = new Set(keys);
        const members = new Set(
            trackSeeds.value.filter((seed) => isMember(seed) && all.has(seed.below)).map((seed) => seed.key),
        );
        return keys.filter((key) => !members.has(key));
    }

    function show(keys: readonly TrackKey[]): void {
        const { tracks: choice } = view.value;
        const shown = new Set(keys);
        const hidden = choice.hidden.filter((key) => !shown.has(key));
        applyChoice(showTracks({ ...choice, hidden }, withoutMembers(keys)));
    }

    function hide(keys: readonly TrackKey[]): void {
        applyChoice(hideTracks(view.value.tracks, keys));
    }

    function showOnly(keys: readonly TrackKey[]): void {
        applyChoice(onlyTracks(view.value.tracks, withoutMembers(keys)));
    }

    function showAll(): void {
        changeView({ tracks: allTracks(view.value.tracks) }, 'push');
    }

    function showBusy(): void {
        applyChoice(busyTracks(view.value.tracks));
    }

    return { show, hide, showOnly, showAll, showBusy };
}

export function createTrackChanges(session: SessionBase & { store: StorePart }) {
    const { changeView, trackSeeds, tracks, view } = session.store;
    const visibility = createVisibility(session);
    const { hide, show, showOnly } = visibility;
    const keysOfProcess = (row: TrackRow): TrackKey[] => tracksOfProcess(trackSeeds.value, row.process);

    /** Returns the keys of a row and of the rows that depend on it. A heading has all rows of its process. */
    function keysOf(row: TrackRow): TrackKey[] {
        const seeds = trackSeeds.value;
        // The threads of a group follow the group.
        if (row.kind === 'group') return [row.key];
        return row.kind === 'process' ? keysOfProcess(row) : trackWithThoseBelow(seeds, row.key);
    }

    /** Moves a row to the position of another row of the same level. Returns false if the row cannot go there. */
    function moveTo(row: TrackRow, target: TrackKey): boolean {
        const choice = moveTrack(trackSeeds.value, tracks.value.rows, view.value.tracks, row.key, target);
        if (choice) changeView({ tracks: choice }, 'push');
        return choice !== null;
    }

    /** Moves a row by one position up (-1) or down (1). */
    function moveBy(row: TrackRow, step: 1 | -1): void {
        const siblings = siblingsOf(tracks.value.rows, row);
        const target = siblings[siblings.findIndex((sibling) => sibling.key === row.key) + step];
        if (target) moveTo(row, target.key);
    }

    /** Returns the shown threads of a process. */
    const threadsOf = (row: TrackRow): number[] =>
        tracks.value.rows
            .filter((other) => other.process === row.process && other.thread >= 0)
            .map((other) => other.thread);

    return {
        ...visibility,
        threadsOf,
        moveTo,
        moveBy,
        hideRow: (row: TrackRow): void => hide(keysOf(row)),
        showOnlyRow: (row: TrackRow): void => showOnly(keysOf(row)),
        showOnlyProcess: (row: TrackRow): void => showOnly(keysOfProcess(row)),
        showProcess: (row: TrackRow): void => show(keysOfProcess(row)),
        hideProcess: (row: TrackRow): void => hide(keysOfProcess(row)),
        hideKind: (row: TrackRow): void =>
            hide(trackSeeds.value.filter((seed) => seed.kind === row.kind).map((seed) => seed.key)),
        /** Shows or hides the threads of a group. */
        turnGroup: (row: TrackRow): void => changeView({ tracks: turned(view.value.tracks, row.key) }, 'push'),
        chooseProcess(row: TrackRow): void {
            const threads = threadsOf(row);
            if (threads.length > 0) changeView({ threads: [...new Set(threads)] }, 'push');
        },
        chooseMembers: (row: TrackRow): void => changeView({ threads: [...row.members] }, 'push'),
    };
}

export type TrackChanges = ReturnType<typeof createTrackChanges>;
