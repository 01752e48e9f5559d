/** What can be done from anywhere on the page: by its key, and by its name in the command palette. */

import type { FunctionsPart } from '../calltree/functions';
import type { NodeMenuPart } from '../calltree/node_menu';
import { mergeMatchingLabel } from '../calltree/transform_offers';
import type { TreePart } from '../calltree/tree';
import type { TreeChangesPart } from '../calltree/tree_changes';
import type { TreeSearchPart } from '../calltree/tree_search';
import type { ComparisonPart } from '../compare/comparison';
import { isFollowing, toggleHold } from '../live/live';
import type { MarkerFilterPart } from '../markers/marker_filter';
import { EXPORT_FORMATS, type ExportsPart } from '../save/exports';
import type { ProfilePart } from '../save/profile';
import type { SharingPart } from '../save/sharing';
import type { FiltersPart } from '../session/filters';
import type { Given } from '../session/given';
import type { StorePart } from '../session/store';
import type { SourceFindPart } from '../source/source_find';
import type { SourcePanelPart } from '../source/source_panel';
import type { TrackActionsPart } from '../timeline/track_actions';
import { MARKER_TABS, NODE_TABS } from '../view/codec';
import { isCompact, toggleCompactRows, toggleSidebar, toggleTemplates } from '../window/settings';
import { theme, toggleTheme } from '../window/theme';
import {
    act,
    copyText,
    isPaletteOpen,
    isRenaming,
    isTrackListOpen,
    openDialog,
    showNotice,
    tooltip,
} from '../window/windows';
import { differenceOf } from './steps';

export interface Command {
    /** As a menu says it. */
    title: string;
    /** As KeyboardEvent.key says it, after "Ctrl+" (Cmd on a Mac) and "Shift+" for keys that are no characters; '' for none. */
    key: string;
    /** Whether it can be done now. */
    isOffered: () => boolean;
    run: () => void;
    /** It works in text fields, too. */
    isEverywhere?: boolean;
    /** It is not worth a line of the palette. */
    isHidden?: boolean;
}

const always = (): boolean => true;

/** The only key that means something where no profile could be loaded. */
export const OPEN_KEY = 'o';

/** A key as commands name it; null for those that mean nothing alone or belong to the browser. */
export function keyName(event: KeyboardEvent): string | null {
    if (event.altKey) return null;
    const isCharacter = event.key.length === 1;
    // With Ctrl, a capital is Shift and the letter, Caps Lock or not.
    if ((event.ctrlKey || event.metaKey) && isCharacter)
        return `Ctrl+${event.shiftKey ? event.key.toUpperCase() : event.key.toLowerCase()}`;
    if (event.ctrlKey || event.metaKey) return null;
    return event.shiftKey && !isCharacter ? `Shift+${event.key}` : event.key;
}

const KEY_TEXTS: Record<string, string> = { Escape: 'Esc', ArrowUp: '↑', ArrowDown: '↓' };

/** A command's key as a reader knows it: "Ctrl+Shift+Z". */
export function keyText(key: string): string {
    const ctrl = key.startsWith('Ctrl+') ? 'Ctrl+' : '';
    const rest = key.slice(ctrl.length);
    if (ctrl === '') return KEY_TEXTS[rest] ?? rest;
    return rest === rest.toLowerCase() ? ctrl + rest.toUpperCase() : `${ctrl}Shift+${rest}`;
}

export function createCommands(
    session: Given & {
        comparison: ComparisonPart;
        exports: ExportsPart;
        filters: FiltersPart;
        functions: FunctionsPart;
        markerFilter: MarkerFilterPart;
        nodeMenu: NodeMenuPart;
        profile: ProfilePart;
        sharing: SharingPart;
        sourceFind: SourceFindPart;
        sourcePanel: SourcePanelPart;
        store: StorePart;
        trackActions: TrackActionsPart;
        tree: TreePart;
        treeChanges: TreeChangesPart;
        treeSearch: TreeSearchPart;
    },
) {
    const { host, info, made } = session;
    const { saveAs, saveFlameSvg, saveTimeline, saveView } = session.exports;
    const { nextWeight } = session.filters;
    const { selectedFunc } = session.functions;
    const { isMarkerSearchShown, keepSamplesInsideFound } = session.markerFilter;
    const { showButterfly } = session.nodeMenu;
    const { saveProfile } = session.profile;
    const { openSharing, savePage } = session.sharing;
    const { canFind, openFind } = session.sourceFind;
    const { closeSourcePanel, leaveSourcePanel, toggleAssembly } = session.sourcePanel;
    const { commitPreview, fullRange, popRanges, search, selectedThreads, setPreview, view } = session.store;
    const { showAll, showBusy } = session.trackActions;
    const { selected } = session.tree;
    const { invert, mergeMatching, undoTransforms } = session.treeChanges;

    const { goToMatch } = session.treeSearch;

    const isTreeSearched = (): boolean => search.value.trim() !== '' && NODE_TABS.has(view.value.tab);
    const isSourcePanelOpen = (): boolean => view.value.sourcePanel !== null;

    /** The function that is selected in the view that is open. */
    function functionInView(): number {
        return view.value.tab === 'functions' ? selectedFunc.value : (selected.value?.func ?? -1);
    }

    /** Says what a step was about, once the browser has gone there. */
    function sayStep(verb: string): void {
        const before = view.value;
        window.addEventListener(
            'popstate',
            () => showNotice(`${verb}: ${differenceOf(before, view.value) || 'selection'}`),
            {
                once: true,
            },
        );
    }

    function undo(): void {
        if (host.undo()) sayStep('Undone');
        else showNotice('Nothing to undo');
    }

    function redo(): void {
        if (host.redo()) sayStep('Redone');
        else showNotice('Nothing to redo');
    }

    /** A comparison is of two profiles, not of three; what still grows is none yet. */
    function canBeCompared(): boolean {
        return !info.value.comparison && !info.value.isLive;
    }

    /** The range right before the selected one, as long as that or as there is, and that; null: nothing is before it. */
    function rangesToCompare(): [base: [number, number], next: [number, number]] | null {
        const range = view.value.preview ?? view.value.ranges[view.value.ranges.length - 1];
        if (!range) return null;
        const [from, to] = range.map((time) => time - info.value.rangeStart) as [number, number];
        const start = Math.max(0, 2 * from - to);
        return from > start
            ? [
                  [start, from],
                  [from, to],
              ]
            : null;
    }

    /** The selected threads against the others. */
    function compareThreads(): void {
        const { threads } = info.value;
        const isNew = threads.map((_, at) => selectedThreads.value.includes(at));
        const nameOf = (isChosen: boolean): string => {
            const chosen = threads.filter((_, at) => isNew[at] === isChosen);
            return chosen.length === 1 ? `thread ${chosen[0]?.name ?? ''}` : `${chosen.length} threads`;
        };
        host.compareThreads(isNew, [nameOf(false), nameOf(true)]);
    }

    const commands: readonly Command[] = [
        {
            title: 'Command palette',
            key: 'Ctrl+k',
            isOffered: always,
            run: () => {
                isPaletteOpen.value = true;
            },
            isEverywhere: true,
            isHidden: true,
        },
        {
            title: 'Filter stacks or markers',
            key: '/',
            isOffered: always,
            run: () => document.querySelector<HTMLInputElement>('.filter-bar .search input')?.focus(),
        },
        { title: 'Next row that matches', key: 'n', isOffered: isTreeSearched, run: () => act(goToMatch(1)) },
        { title: 'Previous row that matches', key: 'N', isOffered: isTreeSearched, run: () => act(goToMatch(-1)) },
        {
            get title() {
                return mergeMatchingLabel(search.value);
            },
            key: '',
            isOffered: () => search.value.trim() !== '' && !MARKER_TABS.has(view.value.tab),
            run: () => act(mergeMatching()),
        },
        {
            title: 'On-CPU, off-CPU or both',
            key: 'O',
            isOffered: () => info.value.hasWaits,
            run: nextWeight,
        },
        {
            title: 'Change, base or new side of the comparison',
            key: 'y',
            isOffered: () => session.comparison.compared.value !== null,
            run: session.comparison.nextCompared,
        },
        { title: 'Invert call stack', key: 'i', isOffered: always, run: () => act(invert()) },
        {
            title: 'Callers and callees of the selected function',
            key: 'b',
            isOffered: () => view.value.tab !== 'butterfly' && functionInView() >= 0,
            run: () => showButterfly(functionInView()),
        },
        { title: 'Fold or show template arguments', key: 't', isOffered: always, run: toggleTemplates },
        {
            title: 'Drop samples outside matching markers',
            key: '',
            isOffered: isMarkerSearchShown,
            run: keepSamplesInsideFound,
        },
        { title: 'Undo', key: 'Ctrl+z', isOffered: always, run: undo },
        { title: 'Redo', key: 'Ctrl+Z', isOffered: always, run: redo },
        { title: 'Redo', key: 'Ctrl+y', isOffered: always, run: redo, isHidden: true },
        {
            title: 'Undo the last transform',
            key: 'u',
            isOffered: () => view.value.transforms.length > 0,
            run: () => undoTransforms(view.value.transforms.length - 1),
        },
        {
            title: 'Undo all transforms',
            key: '',
            isOffered: () => view.value.transforms.length > 1,
            run: () => undoTransforms(0),
        },
        {
            title: 'Zoom into the selection',
            key: 'z',
            isOffered: always,
            run: () => {
                if (view.value.preview) commitPreview();
                else showNotice('Select a range first: drag in the timeline');
            },
        },
        {
            title: 'Zoom out one level',
            key: 'Z',
            isOffered: () => view.value.ranges.length > 0,
            run: () => popRanges(view.value.ranges.length - 1),
        },
        {
            title: 'Zoom out to the full range',
            key: '',
            isOffered: () => view.value.ranges.length > 1,
            run: () => popRanges(0),
        },
        {
            title: 'Select full range',
            key: '',
            isOffered: () => view.value.preview === null && view.value.ranges.length === 0,
            run: () => setPreview(fullRange.value),
            isHidden: true,
        },
        {
            title: 'Clear selection',
            key: 'Escape',
            isOffered: always,
            run: () => {
                tooltip.value = null;
                if (view.value.preview) setPreview(null);
                else leaveSourcePanel();
            },
            isHidden: true,
        },
        {
            title: 'Search tracks',
            key: 'T',
            isOffered: always,
            run: () => {
                isTrackListOpen.value = true;
            },
        },
        { title: 'Show all tracks', key: '', isOffered: () => view.value.tracks.base !== 'all', run: showAll },
        { title: 'Show the busiest tracks', key: '', isOffered: always, run: showBusy },
        { title: 'Show or hide the sidebar', key: 's', isOffered: always, run: () => toggleSidebar(view.value.tab) },
        { title: 'Save this view as an image', key: '', isOffered: always, run: saveView },
        { title: 'Save the timeline as an image', key: '', isOffered: always, run: saveTimeline },
        { title: 'Save the flame graph as SVG', key: '', isOffered: always, run: saveFlameSvg },
        { title: 'Show or hide the assembly', key: '', isOffered: isSourcePanelOpen, run: toggleAssembly },
        {
            title: 'Find in the source or the assembly',
            key: 'Ctrl+f',
            isOffered: () => isSourcePanelOpen() && canFind(),
            run: openFind,
            isEverywhere: true,
        },
        { title: 'Close source and assembly', key: '', isOffered: isSourcePanelOpen, run: closeSourcePanel },
        {
            title: 'Copy the address of this view',
            key: '',
            isOffered: always,
            run: () => act(copyText(window.location.href, 'Address')),
        },
        {
            title: 'Recording details',
            key: '',
            isOffered: always,
            run: () => {
                openDialog.value = 'info';
            },
        },
        { title: 'Open a file', key: OPEN_KEY, isOffered: always, run: host.chooseFile },
        {
            title: 'Open this view in a new window',
            key: '',
            isOffered: always,
            run: () => {
                window.open(window.location.href, '_blank', 'noopener');
            },
        },
        {
            title: 'Save the profile',
            key: 'Ctrl+s',
            isOffered: always,
            run: () => act(saveProfile()),
            isEverywhere: true,
        },
        { title: 'Save a page of this view', key: '', isOffered: always, run: () => act(savePage()) },
        { title: 'Save without personal data', key: '', isOffered: always, run: openSharing },
        {
            title: 'Rename the profile',
            key: '',
            isOffered: always,
            run: () => {
                isRenaming.value = true;
            },
        },
        {
            title: 'Compare with a profile (the base)',
            key: '',
            isOffered: () => canBeCompared(),
            run: host.compareWith,
        },
        {
            title: 'Compare the selected range with the one before',
            key: '',
            isOffered: () => canBeCompared() && rangesToCompare() !== null,
            run: () => {
                const ranges = rangesToCompare();
                if (ranges) host.compareRanges(...ranges);
            },
        },
        {
            title: 'Compare the selected threads with the others',
            key: '',
            isOffered: () => canBeCompared() && selectedThreads.value.length < info.value.threads.length,
            run: compareThreads,
        },
        {
            title: 'Match functions without template arguments and compiler suffixes',
            key: '',
            isOffered: () => made !== null && !made.forgives,
            run: () => host.matchFunctions(true),
        },
        {
            title: 'Match functions by their whole names',
            key: '',
            isOffered: () => made?.forgives === true,
            run: () => host.matchFunctions(false),
        },
        { title: 'Hold the live view, or go on', key: ' ', isOffered: () => isFollowing.value, run: toggleHold },
        { title: 'Compact rows', key: '', isOffered: () => !isCompact.value, run: toggleCompactRows },
        { title: 'Usual row height', key: '', isOffered: () => isCompact.value, run: toggleCompactRows },
        { title: 'Light theme', key: '', isOffered: () => theme.value === 'dark', run: toggleTheme },
        { title: 'Dark theme', key: '', isOffered: () => theme.value === 'light', run: toggleTheme },
        {
            title: 'Keys',
            key: '?',
            isOffered: always,
            run: () => {
                openDialog.value = 'keys';
            },
        },
        ...EXPORT_FORMATS.filter(({ format }) => format !== 'svg').map((format) => ({
            title: `Save as ${format.label}`,
            key: '',
            isOffered: always,
            run: () => act(saveAs(format)),
        })),
    ];

    return {
        commands,
    };
}

export type CommandsPart = ReturnType<typeof createCommands>;
