/** The actions on tracks by keys and menus. */

import type { CriticalPathPart } from '../critical_path/critical_path';
import type { ExportsPart } from '../save/exports';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import { siblingsOf } from '../view/track_choice';
import type { TrackRow } from '../view/tracks';
import { isTrackListOpen, type MenuItem } from '../window/windows';
import { createTrackChanges, type TrackChanges } from './track_changes';
import { trackKind } from './tracks/kinds';

interface RowAction {
    label: string;
    title: string;
    /** The key of the action while the row has the focus, or ''. */
    key: string;
    startsGroup?: boolean;
    isOffered: (row: TrackRow) => boolean;
    action: (row: TrackRow) => void;
}

type TrackSession = SessionBase & { criticalPath: CriticalPathPart; exports: ExportsPart; store: StorePart };

const always = (): boolean => true;

function rowAction(
    label: string,
    key: string,
    action: (row: TrackRow) => void,
    more: Partial<Omit<RowAction, 'label' | 'key' | 'action'>> = {},
): RowAction {
    return { label, title: '', key, isOffered: always, action, ...more };
}

/** Returns the key of a row's action for the user. */
export function rowKeyText(key: string): string {
    return key.replace('Delete', 'Del').replace('ArrowUp', '↑').replace('ArrowDown', '↓');
}

/** Returns the actions in the order of the menu. */
function rowActionsOf({ criticalPath, exports, info, store }: TrackSession, changes: TrackChanges): RowAction[] {
    const { trackSeeds, tracks } = store;
    const isTrack = (row: TrackRow): boolean => row.kind !== 'process';
    const isOfSeveral = (row: TrackRow): boolean =>
        trackSeeds.value.filter((seed) => seed.process === row.process).length > 1;
    /** Returns the position of a row among its siblings, counted from the first and from the last. */
    const placeOf = (row: TrackRow): [fromFirst: number, fromLast: number] => {
        const siblings = siblingsOf(tracks.value.rows, row);
        const at = siblings.findIndex((sibling) => sibling.key === row.key);
        return [at, siblings.length - 1 - at];
    };
    const search = (): void => {
        isTrackListOpen.value = true;
    };
    return [
        rowAction('Open or close this group', 'o', changes.turnGroup, {
            title: 'Show the threads of this group one by one',
            isOffered: (row) => row.isOpen !== null,
        }),
        rowAction('Hide this track', 'Delete', changes.hideRow, { isOffered: isTrack }),
        rowAction('Hide this process', 'Shift+Delete', changes.hideProcess, {
            title: 'Hides all tracks of this process',
            isOffered: (row) => !isTrack(row) || isOfSeveral(row),
        }),
        rowAction('Hide all tracks of this kind', '', changes.hideKind, {
            isOffered: (row) => isTrack(row) && row.kind !== 'thread',
        }),
        rowAction('Show only this track', 'x', changes.showOnlyRow, { startsGroup: true, isOffered: isTrack }),
        rowAction('Show only this process', 'X', changes.showOnlyProcess, {
            title: 'Hide the tracks of all other processes',
            isOffered: isOfSeveral,
        }),
        rowAction('Show all tracks of this process', '*', changes.showProcess, {
            title: 'Include less busy tracks',
            isOffered: isOfSeveral,
        }),
        rowAction('Select all threads of this process', 'p', changes.chooseProcess, {
            title: 'Views show the sum of the selected threads',
            isOffered: (row) => changes.threadsOf(row).length > 1,
        }),
        rowAction('Critical path of the selected range', '', (row) => criticalPath.showPath(row.thread), {
            title: 'What this thread did or waited for, also in other threads',
            isOffered: (row) => row.kind === 'thread' && row.thread >= 0 && criticalPath.hasPaths(),
        }),
        rowAction('Move up', 'Alt+ArrowUp', (row) => changes.moveBy(row, -1), {
            startsGroup: true,
            isOffered: (row) => placeOf(row)[0] > 0,
        }),
        rowAction('Move down', 'Alt+ArrowDown', (row) => changes.moveBy(row, 1), {
            isOffered: (row) => placeOf(row)[1] > 0,
        }),
        rowAction('Show all tracks', 'A', changes.showAll, { startsGroup: true }),
        rowAction('Show the busiest tracks', 'B', changes.showBusy, { title: 'Hide less busy tracks (the default)' }),
        rowAction('Search tracks…', 'T', search, { isOffered: () => info.value.threads.length > 1 }),
        rowAction('Save timeline as image', '', exports.saveTimeline, {
            title: 'The visible part of the timeline',
            startsGroup: true,
        }),
    ];
}

export function createTrackActions(session: TrackSession) {
    const changes = createTrackChanges(session);
    const rowActions: readonly RowAction[] = rowActionsOf(session, changes);

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

    /** Runs the action of a key on the focused row. Returns false if the key has no action. */
    function doRowKey(event: KeyboardEvent, row: TrackRow): boolean {
        if (event.ctrlKey || event.metaKey) return false;
        const isLetter = event.key.length === 1;
        const name = `${event.altKey ? 'Alt+' : ''}${event.shiftKey && !isLetter ? 'Shift+' : ''}${event.key}`;
        const found = rowActions.find((rowAction) => rowAction.key === name && rowAction.isOffered(row));
        found?.action(row);
        return found !== undefined;
    }

    return { ...changes, rowActions, rowMenu, doRowKey };
}

export type TrackActionsPart = ReturnType<typeof createTrackActions>;
