/** All keys of the page, grouped by place, for the dialog of keys. Commands, tracks and transforms add their keys. */

import { OFFERED } from '../calltree/transform_offers';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import type { TrackActionsPart } from '../timeline/track_actions';
import { rowKeyText } from '../timeline/track_actions';
import { type KeyLine, MARKER_SEARCH_HELP, STACK_SEARCH_HELP } from '../ui/search_help';
import { offeredTabs } from '../view/codec';
import { type Command, keyText } from './command';
import type { CommandsPart } from './commands';

export interface KeyGroup {
    title: string;
    keys: KeyLine[];
}

/** The title and the lines of each group. Commands, tracks and views add their lines. */
const GROUPS: readonly [title: string, keys: readonly KeyLine[]][] = [
    ['Everywhere', []],
    ['Views', [[['Tab', 'Shift+Tab'], 'next or previous part of the page']]],
    [
        'Command palette and search lists',
        [
            [['↑', '↓', 'Page Up', 'Page Down'], 'move through the list'],
            [['Enter'], 'run the command or go to the entry; show or hide the track'],
            [['Ctrl+Enter'], 'filter stacks by the function; add or remove the thread; show only this track'],
            [['Esc'], 'close'],
        ],
    ],
    [
        'Timeline',
        [
            [['Drag'], 'select a range'],
            [['Enter'], 'on the ruler: select a range, then move its edges with ← →'],
            [['Ctrl+Wheel', 'q', 'e', 'Ctrl+↑', 'Ctrl+↓'], 'zoom around the mouse'],
            [['Shift+Wheel', 'a', 'd'], 'move left or right'],
            [['w', 's'], 'scroll up or down'],
            [['← →', 'Shift+← →'], 'on an edge of the selection: move it (Shift: faster)'],
        ],
    ],
    [
        'Tracks',
        [
            [['↑', '↓'], 'previous or next track'],
            [['Click', 'Space'], 'select this thread; on a process, group or sum: all its threads'],
            [['Ctrl+Click', 'Ctrl+Space'], 'add or remove thread'],
            [['Shift+Click', 'Shift+Space'], 'extend selection'],
            [['←', '→', 'Shift+← →'], 'move the time cursor (Shift: faster); Space selects the sample'],
            [['[', ']'], 'start or end the selection at the time cursor'],
            [['Drag'], 'a track name: move the track'],
            [['Double click'], 'on a process: show all its tracks'],
            [['→', '←', 'Double click'], 'on a group: show or hide its threads'],
            [['Shift+F10', 'Right click'], 'track menu'],
        ],
    ],
    [
        'Tables',
        [
            [['Click'], 'on a column title: sort by it; again: reverse the order'],
            [['Drag'], 'the edge of a column title: resize the column'],
            [['Right click'], 'on a column title: columns, names, copying'],
        ],
    ],
    [
        'Call tree',
        [
            [['↑', '↓'], 'previous or next row'],
            [['→'], 'expand; again: first callee'],
            [['←'], 'collapse; again: caller'],
            [['Page Up', 'Page Down'], 'one page up or down'],
            [['Home', 'End'], 'first or last row'],
            [['Enter', 'Double click'], 'source and assembly'],
            [['*'], 'expand all descendants'],
            [['x'], 'show the calls of a folded chain as rows, or fold them again'],
            [['Ctrl+C'], 'copy the name'],
            [['Shift+F10'], 'row menu'],
        ],
    ],
    [
        'Functions',
        [
            [['Enter', 'Double click'], 'source and assembly'],
            [['w'], 'show callers in the inverted tree'],
            [['m', 'f', 'd', '…'], 'transforms, as in the call tree'],
        ],
    ],
    ['Butterfly', [[['Enter'], 'focus on the function of the row']]],
    [
        'Charts',
        [
            [['↑', '↓', '←', '→'], 'callee, caller, previous or next node'],
            [['Drag'], 'move the chart'],
            [['Ctrl+Wheel', 'q', 'e'], 'zoom in or out'],
            [['Shift+Wheel', 'h', 'l'], 'move left or right'],
            [['k', 'j'], 'scroll up or down'],
            [['w', 'a', 's', 'd'], 'move and scroll, in charts over time; there, Delete drops'],
            [['m', 'f', 'd', '…'], 'transforms, as in the call tree'],
        ],
    ],
    [
        'Flame graph',
        [
            [['z', 'Double click'], 'zoom into the node'],
            [['Backspace'], 'zoom out to the next wider caller'],
            [['Esc'], 'zoom out fully'],
        ],
    ],
    [
        'Stack chart',
        [
            [['x', 'Double click'], 'select the time range of the node'],
            [['Backspace', 'Esc'], 'clear selection'],
        ],
    ],
    [
        'Waits',
        [
            [['Enter', 'Double click'], 'show the longest wait in the stack chart'],
            [['w'], 'show in the call tree, by off-CPU time'],
            [['← →'], 'on the grouping: by reason, object, stack or thread'],
        ],
    ],
    [
        'Intervals',
        [
            [['Enter', 'Double click'], 'show only the slowest intervals'],
            [['c'], 'compare the slowest with the others'],
            [['u'], 'use as the base of a comparison'],
            [['d'], 'compare with the base'],
            [['l'], 'show the longest interval in the stack chart'],
        ],
    ],
    [
        'Processes',
        [
            [['Click'], 'select the threads of the process and of its descendants'],
            [['Enter', 'Double click'], 'show these threads in the call tree'],
            [['x'], 'select the lifetime of the process'],
            [['←', '→'], 'close or open the tree of the process'],
        ],
    ],
    [
        'Heat map',
        [
            [['Drag'], 'select the time from the first cell to the last'],
            [['↑', '↓', '←', '→'], 'next or previous cell; same cell of the next or previous column'],
            [['Home', 'End'], 'first or last cell'],
            [['Shift+Arrow'], 'extend the cells'],
            [['Enter'], 'select the time of the cells'],
            [['Esc'], 'clear selection'],
        ],
    ],
    [
        'Markers',
        [
            [['↑', '↓', '←', '→'], 'previous or next marker; row above or below'],
            [['Enter', 'Double click'], 'select the time range of the marker'],
            [['['], 'start the selection at its start'],
            [[']'], 'end the selection at its end'],
            [['Ctrl+C'], 'copy its description'],
            [['Shift+F10', 'Right click'], 'marker menu'],
        ],
    ],
    ['Transforms of the call tree', OFFERED.map(({ key, label }) => [[key], label])],
    [
        'Source and assembly',
        [
            [['n', 'p'], 'next or previous hot line or instruction'],
            [['↑', '↓'], 'previous or next line or instruction'],
            [['Enter', 'Double click'], 'on a jump or call: follow it'],
            [['Ctrl+C'], 'copy the selected line or instruction'],
            [['Enter', 'Shift+Enter'], 'in the find field: next or previous match'],
            [[':12'], 'in the find field: go to line 12 or its instructions'],
            [['r'], 'count all samples, or only the selected row'],
            [['%'], 'percent or absolute weight'],
            [['a'], 'show or hide the assembly'],
            [[',', '.'], 'previous or next symbol of the function'],
            [['f'], 'full screen'],
            [['Esc'], 'leave full screen; close'],
        ],
    ],
    ['Stack filter syntax', STACK_SEARCH_HELP.lines],
    ['Marker filter syntax', MARKER_SEARCH_HELP.lines],
];

/** The keys that work everywhere, with the title of their command. A command with two keys has one line. */
function commandLines(commands: readonly Command[]): KeyLine[] {
    const lines = new Map<string, string[]>();
    for (const { title, key } of commands)
        if (key !== '') lines.set(title, [...(lines.get(title) ?? []), keyText(key)]);
    return [...lines].map(([title, keys]) => [keys, title]);
}

type KeySession = Pick<SessionBase, 'info'> & {
    commands: CommandsPart;
    store: StorePart;
    trackActions: TrackActionsPart;
};

export function keyGroupsOf(session: KeySession): KeyGroup[] {
    const added: Record<string, KeyLine[]> = {
        Everywhere: commandLines(session.commands.commands),
        Views: [
            [
                ['1', '…', String(Math.min(offeredTabs(session.info.value, session.store.view.value).length, 10) % 10)],
                'switch to a view, in the order of the tabs',
            ],
        ],
        Tracks: session.trackActions.rowActions
            .filter((action) => action.key !== '')
            .map(({ key, label }) => [[rowKeyText(key)], label]),
    };
    return GROUPS.map(([title, keys]) => ({ title, keys: [...keys, ...(added[title] ?? [])] }));
}
