/** All keys of the page, by where they work: for the dialog of keys. What commands, tracks and transforms do, they say themselves. */
import { TABS } from './codec';
import { COMMANDS, keyText } from './commands';
import { ROW_ACTIONS, rowKeyText } from './track_actions';
import { MARKER_SEARCH_HELP, STACK_SEARCH_HELP } from './search_help';
import { OFFERED } from './transform_offers';

/** A line: its keys, or what the mouse does, and what they mean. */
export type KeyLine = [keys: string[], meaning: string];

export interface KeyGroup {
    title: string;
    keys: KeyLine[];
}

/** Keys that work everywhere, in the words of the command palette. Those with two keys are one line. */
function commandLines(): KeyLine[] {
    const lines = new Map<string, string[]>();
    for (const { title, key } of COMMANDS)
        if (key !== '') lines.set(title, [...(lines.get(title) ?? []), keyText(key)]);
    return [...lines].map(([title, keys]) => [keys, title]);
}

function trackLines(): KeyLine[] {
    return ROW_ACTIONS.filter((action) => action.key !== '').map(({ key, label }) => [[rowKeyText(key)], label]);
}

export const KEY_GROUPS: readonly KeyGroup[] = [
    { title: 'Everywhere', keys: commandLines() },
    {
        title: 'Views',
        keys: [
            [['1', '…', String(TABS.length)], 'the view with this number, from the left'],
            [['Tab', 'Shift+Tab'], 'to the next, the previous part of the page'],
        ],
    },
    {
        title: 'Command palette, lists to search',
        keys: [
            [['↑', '↓', 'Page Up', 'Page Down'], 'walk the list'],
            [['Enter'], 'do it, go there; show or hide the track'],
            [['Ctrl+Enter'], 'filter stacks by the function; one thread more or less; show only this track'],
            [['Esc'], 'close'],
        ],
    },
    {
        title: 'Timeline',
        keys: [
            [['Drag'], 'choose a range'],
            [['Enter'], 'on the ruler: choose a range, then move its edges with ← →'],
            [['Ctrl+Wheel', 'q', 'e', 'Ctrl+↑', 'Ctrl+↓'], 'zoom around the mouse'],
            [['Shift+Wheel', 'a', 'd'], 'move along'],
            [['w', 's'], 'scroll up, down'],
            [['← →', 'Shift+← →'], 'on an edge of the chosen range: move it, by more'],
        ],
    },
    {
        title: 'Tracks',
        keys: [
            [['↑', '↓'], 'track before, after'],
            [['Click', 'Space'], 'show this thread'],
            [['Ctrl+Click', 'Ctrl+Space'], 'one thread more or less'],
            [['Shift+Click', 'Shift+Space'], 'all threads from the last one on'],
            [['←', '→', 'Shift+← →'], 'what the track has at a time: before, after, by more; Space chooses its sample'],
            [['[', ']'], 'there: begin, end the chosen range at this time'],
            [['Drag'], 'the name of a track: move it'],
            [['Double click'], 'on a process: show all of its tracks'],
            [['Shift+F10', 'Right click'], 'menu of the track'],
            ...trackLines(),
        ],
    },
    {
        title: 'Tables',
        keys: [
            [['Click'], 'on a title: sort by it; again: the other way round'],
            [['Drag'], 'the edge of a title: make the column wider'],
            [['Right click'], 'on a title: columns, names, copying'],
        ],
    },
    {
        title: 'Call tree',
        keys: [
            [['↑', '↓'], 'row before, after'],
            [['→'], 'open; again: first callee'],
            [['←'], 'close; again: caller'],
            [['Page Up', 'Page Down'], 'a screen up, down'],
            [['Home', 'End'], 'first, last row'],
            [['Enter', 'Double click'], 'source and assembly'],
            [['*'], 'open everything below'],
            [['Ctrl+C'], 'copy the name'],
            [['Shift+F10'], 'menu of the row'],
        ],
    },
    {
        title: 'Functions',
        keys: [
            [['Enter', 'Double click'], 'source and assembly'],
            [['w'], 'show who calls the function'],
            [['m', 'f', 'd', '…'], 'transforms, as in the call tree'],
        ],
    },
    {
        title: 'Butterfly',
        keys: [
            [['b'], 'in other views: callers and callees of the selected function'],
            [['Enter'], 'puts the function of the row in the middle'],
        ],
    },
    {
        title: 'Charts',
        keys: [
            [['↑', '↓', '←', '→'], 'callee, caller, previous or next node'],
            [['Drag'], 'move the chart'],
            [['Ctrl+Wheel', 'q', 'e'], 'zoom in, out'],
            [['Shift+Wheel', 'h', 'l'], 'move along'],
            [['k', 'j'], 'scroll up, down'],
            [['w', 'a', 's', 'd'], 'the same in charts over time, where Delete drops'],
            [['m', 'f', 'd', '…'], 'transforms, as in the call tree'],
        ],
    },
    {
        title: 'Flame graph',
        keys: [
            [['z', 'Double click'], 'zoom into the node'],
            [['Backspace'], 'zoom out to the next wider caller'],
            [['Esc'], 'show all'],
        ],
    },
    {
        title: 'Stack chart',
        keys: [
            [['x', 'Double click'], 'select the time range of the node'],
            [['Backspace', 'Esc'], 'forget the chosen range'],
        ],
    },
    {
        title: 'Markers',
        keys: [
            [['↑', '↓', '←', '→'], 'marker before, after; in the row above, below'],
            [['Enter', 'Double click'], 'select the range of the marker'],
            [['['], 'begin the selection with its start'],
            [[']'], 'end the selection with its end'],
            [['Ctrl+C'], 'copy its description'],
            [['Shift+F10', 'Right click'], 'menu of the marker'],
        ],
    },
    {
        title: 'Transforms of the call tree',
        keys: [
            ...OFFERED.map((one): [string[], string] => [[one.key], one.meaning]),
        ],
    },
    {
        title: 'Source and assembly',
        keys: [
            [['n', 'p'], 'next, previous hot line or instruction'],
            [['↑', '↓'], 'line, with its instructions; instruction, with its line'],
            [['Enter', 'Double click'], 'on a jump or a call: go to where it leads'],
            [['Ctrl+C'], 'copy the chosen line or instruction'],
            [['Enter', 'Shift+Enter'], 'in the text to find: go to the next, the previous place'],
            [[':12'], 'as the text to find: line 12, or its instructions'],
            [['r'], 'costs of all samples, or of the row it was opened for'],
            [['%'], 'percent or weight'],
            [['a'], 'show or hide the assembly'],
            [[',', '.'], 'previous, next symbol with code of the function'],
            [['f'], 'full screen'],
            [['Esc'], 'leave the full screen; close'],
        ],
    },
    {
        title: 'In the search for stacks',
        keys: [...STACK_SEARCH_HELP.lines],
    },
    {
        title: 'In the search for markers',
        keys: [...MARKER_SEARCH_HELP.lines],
    },
];
