/** What the mouse, keys and menus do to the tracks: each changes the view, and never leaves it without a thread. */

import type { ExportsPart } from '../save/exports';
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
    isMember,
    layoutTracks,
    MOST_SHOWN_AT_FIRST,
    type TrackChoice,
    type TrackKey,
    type TrackRow,
} from '../view/tracks';
import { isTrackListOpen, type MenuItem, showNotice } from '../window/windows';
import { trackKind } from './tracks/kinds';

interface RowAction {
    label: string;
    title: string;
    /** As on the keyboard, while the row has the focus; '' for none. */
    key: string;
    startsGroup?: boolean;
    isOffered: (row: TrackRow) => boolean;
    action: (row: TrackRow) => void;
}

/** The key of a row's action as a reader knows it. */
export function rowKeyText(key: string): string {
    return key.replace('Delete', 'Del').replace('ArrowUp', '↑').replace('ArrowDown', '↓');
}

export function createTrackActions(session: SessionBase & { exports: ExportsPart; store: StorePart }) {
    const { info } = session;
    const { saveTimeline } = session.exports;
    const { changeView, trackSeeds, tracks, view } = session.store;

    /** Makes a choice the view's. Chosen threads that it hides are chosen no more; another takes their place if none is left. */
    function applyChoice(choice: TrackChoice): void {
        const chosen = view.value.threads;
        const shown = new Set(layoutTracks(trackSeeds.value, choice, []).shown);
        // Of many chosen ones only the busiest are on the screen; the others stay chosen unless they are hidden one by one.
        const hiddenKeys = new Set(choice.hidden);
        const hidden = new Set(
            trackSeeds.value
                .filter((seed) => seed.kind === 'thread' && (hiddenKeys.has(seed.key) || hiddenKeys.has(seed.below)))
                .map((seed) => seed.thread),
        );
        const isMany = choice.base === 'busy' && chosen.length > MOST_SHOWN_AT_FIRST;
        const left = chosen.filter((thread) => shown.has(thread) || (isMany && !hidden.has(thread)));
        const [first] = shown;
        if (left.length === 0 && first === undefined) {
            showNotice('At least one thread must stay visible');
            return;
        }
        const threads = left.length > 0 ? left : [first as number];
        changeView({ tracks: choice, ...(threads.join() === chosen.join() ? {} : { threads }) }, 'push');
    }

    /** Without the threads of groups that are there, too: those have rows where the group is open. */
    function withoutMembers(keys: readonly TrackKey[]): TrackKey[] {
        const all = new Set(keys);
        const members = new Set(
            trackSeeds.value.filter((seed) => isMember(seed) && all.has(seed.below)).map((seed) => seed.key),
        );
        return keys.filter((key) => !members.has(key));
    }

    function show(keys: readonly TrackKey[]): void {
        const { tracks: choice } = view.value;
        const asked = new Set(keys);
        const hidden = choice.hidden.filter((key) => !asked.has(key));
        applyChoice(showTracks({ ...choice, hidden }, withoutMembers(keys)));
    }

    /** Opens a group, or closes it. */
    function turnGroup(row: TrackRow): void {
        changeView({ tracks: turned(view.value.tracks, row.key) }, 'push');
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

    /** A row with what hangs on it: a heading is all of its process. */
    function keysOf(row: TrackRow): TrackKey[] {
        const seeds = trackSeeds.value;
        // The threads of a group follow it.
        if (row.kind === 'group') return [row.key];
        return row.kind === 'process' ? tracksOfProcess(seeds, row.process) : trackWithThoseBelow(seeds, row.key);
    }

    function hideRow(row: TrackRow): void {
        hide(keysOf(row));
    }

    function showOnlyRow(row: TrackRow): void {
        showOnly(keysOf(row));
    }

    function showOnlyProcess(row: TrackRow): void {
        showOnly(tracksOfProcess(trackSeeds.value, row.process));
    }

    function showProcess(row: TrackRow): void {
        show(tracksOfProcess(trackSeeds.value, row.process));
    }

    function hideProcess(row: TrackRow): void {
        hide(tracksOfProcess(trackSeeds.value, row.process));
    }

    function hideKind(row: TrackRow): void {
        hide(trackSeeds.value.filter((seed) => seed.kind === row.kind).map((seed) => seed.key));
    }

    /** To the place of another row of the same level; false if it cannot go there. */
    function moveTo(row: TrackRow, target: TrackKey): boolean {
        const choice = moveTrack(trackSeeds.value, tracks.value.rows, view.value.tracks, row.key, target);
        if (choice) changeView({ tracks: choice }, 'push');
        return choice !== null;
    }

    /** By one place up (-1) or down (1). */
    function moveBy(row: TrackRow, step: 1 | -1): void {
        const siblings = siblingsOf(tracks.value.rows, row);
        const target = siblings[siblings.findIndex((sibling) => sibling.key === row.key) + step];
        if (target) moveTo(row, target.key);
    }

    /** Chooses all threads of a process that are shown. */
    function chooseProcess(row: TrackRow): void {
        const threads = tracks.value.rows
            .filter((other) => other.process === row.process && other.thread >= 0)
            .map((other) => other.thread);
        if (threads.length > 0) changeView({ threads: [...new Set(threads)] }, 'push');
    }

    function chooseMembers(row: TrackRow): void {
        changeView({ threads: [...row.members] }, 'push');
    }

    function processSize(row: TrackRow): number {
        return trackSeeds.value.filter((seed) => seed.process === row.process).length;
    }

    /** In the order of the menu. */
    const rowActions: readonly RowAction[] = [
        {
            label: 'Open or close this group',
            title: 'Show its threads one by one',
            key: 'o',
            isOffered: (row) => row.isOpen !== null,
            action: turnGroup,
        },
        {
            label: 'Hide this track',
            title: '',
            key: 'Delete',
            isOffered: (row) => row.kind !== 'process',
            action: hideRow,
        },
        {
            label: 'Hide this process',
            title: 'With all its tracks',
            key: 'Shift+Delete',
            isOffered: (row) => row.kind === 'process' || processSize(row) > 1,
            action: hideProcess,
        },
        {
            label: 'Hide all tracks of this kind',
            title: '',
            key: '',
            isOffered: (row) => row.kind !== 'process' && row.kind !== 'thread',
            action: hideKind,
        },
        {
            label: 'Show only this track',
            title: '',
            key: 'x',
            startsGroup: true,
            isOffered: (row) => row.kind !== 'process',
            action: showOnlyRow,
        },
        {
            label: 'Show only this process',
            title: 'Hide the tracks of all other processes',
            key: 'X',
            isOffered: (row) => processSize(row) > 1,
            action: showOnlyProcess,
        },
        {
            label: 'Show all tracks of this process',
            title: 'Include less busy tracks',
            key: '*',
            isOffered: (row) => processSize(row) > 1,
            action: showProcess,
        },
        {
            label: 'Select all threads of this process',
            title: 'The views merge them',
            key: 'p',
            isOffered: (row) =>
                tracks.value.rows.filter((other) => other.process === row.process && other.thread >= 0).length > 1,
            action: chooseProcess,
        },
        {
            label: 'Move up',
            title: '',
            key: 'Alt+ArrowUp',
            startsGroup: true,
            isOffered: (row) => siblingsOf(tracks.value.rows, row).findIndex((sibling) => sibling.key === row.key) > 0,
            action: (row) => moveBy(row, -1),
        },
        {
            label: 'Move down',
            title: '',
            key: 'Alt+ArrowDown',
            isOffered: (row) => {
                const siblings = siblingsOf(tracks.value.rows, row);
                return siblings.length > 1 && siblings[siblings.length - 1]?.key !== row.key;
            },
            action: (row) => moveBy(row, 1),
        },
        { label: 'Show all tracks', title: '', key: 'A', startsGroup: true, isOffered: () => true, action: showAll },
        {
            label: 'Show the busiest tracks',
            title: 'Hide less busy tracks (the default)',
            key: 'B',
            isOffered: () => true,
            action: showBusy,
        },
        {
            label: 'Search tracks…',
            title: '',
            key: 'T',
            isOffered: () => info.value.threads.length > 1,
            action: () => {
                isTrackListOpen.value = true;
            },
        },
        {
            label: 'Save timeline as image',
            title: 'The visible part as a PNG file',
            key: '',
            startsGroup: true,
            isOffered: () => true,
            action: saveTimeline,
        },
    ];

    function rowMenu(row: TrackRow): MenuItem[] {
        return rowActions
            .filter((rowAction) => rowAction.isOffered(row))
            .map((rowAction) => ({
                label: rowAction.label.replace('this kind', `this kind (${trackKind(row.kind).name})`),
                title: rowAction.title,
                keys: rowKeyText(rowAction.key),
                enabled: true,
                startsGroup: rowAction.startsGroup ?? false,
                action: () => rowAction.action(row),
            }));
    }

    /** Does what a key means for the row that has the focus; false if it means nothing. */
    function doRowKey(event: KeyboardEvent, row: TrackRow): boolean {
        if (event.ctrlKey || event.metaKey) return false;
        const isLetter = event.key.length === 1;
        const name = `${event.altKey ? 'Alt+' : ''}${event.shiftKey && !isLetter ? 'Shift+' : ''}${event.key}`;
        const found = rowActions.find((rowAction) => rowAction.key === name && rowAction.isOffered(row));
        found?.action(row);
        return found !== undefined;
    }

    return {
        show,
        hide,
        showOnly,
        showAll,
        showBusy,
        hideRow,
        showProcess,
        moveTo,
        chooseProcess,
        chooseMembers,
        turnGroup,
        rowActions,
        rowMenu,
        doRowKey,
    };
}

export type TrackActionsPart = ReturnType<typeof createTrackActions>;
