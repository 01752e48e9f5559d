/** The commands of the page, by key and by name in the command palette. */

import type { FunctionsPart } from '../calltree/functions';
import type { NodeMenuPart } from '../calltree/node_menu';
import type { TreePart } from '../calltree/tree';
import type { TreeChangesPart } from '../calltree/tree_changes';
import type { TreeSearchPart } from '../calltree/tree_search';
import type { ComparisonPart } from '../compare/comparison';
import type { CriticalPathPart } from '../critical_path/critical_path';
import { isFollowing, toggleHold } from '../live/live';
import type { MarkerFilterPart } from '../markers/marker_filter';
import type { NotesPart } from '../notes/notes';
import type { ExportsPart } from '../save/exports';
import type { ProfilePart } from '../save/profile';
import type { SharingPart } from '../save/sharing';
import type { FiltersPart } from '../session/filters';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import type { SourceFindPart } from '../source/source_find';
import type { SourcePanelPart } from '../source/source_panel';
import type { TrackActionsPart } from '../timeline/track_actions';
import { isCompact, toggleCompactRows, toggleSidebar } from '../window/settings';
import { theme, toggleTheme } from '../window/theme';
import { isTrackListOpen, openDialog } from '../window/windows';
import { type Command, command } from './command';
import { compareCommands } from './compare_commands';
import { exportCommands, fileCommands, imageCommands } from './file_commands';
import { rangeCommands } from './range_commands';
import { treeCommands } from './tree_commands';

export type CommandSession = SessionBase & {
    comparison: ComparisonPart;
    criticalPath: CriticalPathPart;
    exports: ExportsPart;
    filters: FiltersPart;
    functions: FunctionsPart;
    markerFilter: MarkerFilterPart;
    nodeMenu: NodeMenuPart;
    notes: NotesPart;
    profile: ProfilePart;
    sharing: SharingPart;
    sourceFind: SourceFindPart;
    sourcePanel: SourcePanelPart;
    store: StorePart;
    trackActions: TrackActionsPart;
    tree: TreePart;
    treeChanges: TreeChangesPart;
    treeSearch: TreeSearchPart;
};

function trackCommands({ store, trackActions }: CommandSession): Command[] {
    const { view } = store;
    const openTracks = (): void => {
        isTrackListOpen.value = true;
    };
    return [
        command('Search tracks', openTracks, { key: 'T' }),
        command('Show all tracks', trackActions.showAll, { isOffered: () => view.value.tracks.base !== 'all' }),
        command('Show the busiest tracks', trackActions.showBusy),
        command('Show or hide the sidebar', () => toggleSidebar(view.value.tab), { key: 's' }),
    ];
}

function sourceCommands({ sourceFind, sourcePanel, store }: CommandSession): Command[] {
    const isOffered = (): boolean => store.view.value.sourcePanel !== null;
    return [
        command('Show or hide the assembly', sourcePanel.toggleAssembly, { isOffered }),
        command('Find in the source or the assembly', sourceFind.openFind, {
            key: 'Ctrl+f',
            isOffered: () => isOffered() && sourceFind.canFind(),
            isEverywhere: true,
        }),
        command('Close source and assembly', sourcePanel.closeSourcePanel, { isOffered }),
    ];
}

function windowCommands(): Command[] {
    const showKeys = (): void => {
        openDialog.value = 'keys';
    };
    return [
        command('Freeze or follow the live view', toggleHold, { key: ' ', isOffered: () => isFollowing.value }),
        command('Compact rows', toggleCompactRows, { isOffered: () => !isCompact.value }),
        command('Default row height', toggleCompactRows, { isOffered: () => isCompact.value }),
        command('Light theme', toggleTheme, { isOffered: () => theme.value === 'dark' }),
        command('Dark theme', toggleTheme, { isOffered: () => theme.value === 'light' }),
        command('Keys', showKeys, { key: '?' }),
    ];
}

export function createCommands(session: CommandSession) {
    const commands: readonly Command[] = [
        treeCommands,
        rangeCommands,
        trackCommands,
        imageCommands,
        sourceCommands,
        fileCommands,
        compareCommands,
        windowCommands,
        exportCommands,
    ].flatMap((group) => group(session));
    return { commands };
}

export type CommandsPart = ReturnType<typeof createCommands>;
