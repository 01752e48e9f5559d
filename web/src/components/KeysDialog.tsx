/** All keys of the page. */
import type { JSX } from 'preact';
import { OFFERED } from '../state/transform_offers';
import { Dialog } from './Dialog';

const KEYS: { title: string; keys: [string[], string][] }[] = [
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
            [['↑', '↓', '←', '→'], 'callee, caller, box before, after'],
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
            [['z', 'Double click'], 'zoom into the box'],
            [['Backspace'], 'zoom out to the next wider caller'],
            [['Esc'], 'show all'],
        ],
    },
    {
        title: 'Stack chart',
        keys: [
            [['x', 'Double click'], 'choose the time of the box'],
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
            [['field:term'], 'in the search: only in this field; name, cat and type are fields, too'],
        ],
    },
    {
        title: 'Source and assembly',
        keys: [
            [['n', 'p'], 'next, previous hot line or instruction'],
            [['↑', '↓'], 'line, with its instructions; instruction, with its line'],
            [['Enter'], 'on a jump: go to where it leads'],
            [['r'], 'costs of all samples, or of the row it was opened for'],
            [['%'], 'percent or weight'],
            [['a'], 'show or hide the assembly'],
            [[',', '.'], 'previous, next symbol with code of the function'],
            [['f'], 'full screen'],
            [['Esc'], 'leave the full screen; close'],
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
        title: 'Transforms of the call tree',
        keys: [
            ...OFFERED.map((one): [string[], string] => [[one.key], one.meaning]),
            [['u'], 'undo the last one'],
        ],
    },
    {
        title: 'In the search',
        keys: [
            [[','], 'between terms that must all match'],
            [['-term'], 'leaves out samples with it'],
            [['"term"'], 'the whole name'],
            [['/term/'], 'a regular expression'],
            [['lib:term', 'file:term'], 'only in names of libraries, of files'],
        ],
    },
    {
        title: 'View',
        keys: [
            [['/'], 'search'],
            [['i'], 'invert the call stack'],
            [['s'], 'show or hide the sidebar'],
            [['?'], 'these keys'],
        ],
    },
    {
        title: 'Timeline',
        keys: [
            [['Drag'], 'choose a range'],
            [['Enter'], 'on the ruler: choose a range, then move its edges with ← →'],
            [['z'], 'zoom into the chosen range'],
            [['Z'], 'zoom out by one'],
            [['Ctrl+Wheel'], 'zoom around the mouse'],
            [['Shift+Wheel'], 'move along'],
            [['Esc'], 'forget the chosen range'],
            [['↑', '↓'], 'on a track: track before, after'],
            [['Click', 'Space'], 'show this thread'],
            [['Ctrl+Click', 'Ctrl+Space'], 'one thread more or less'],
            [['Shift+Click', 'Shift+Space'], 'all threads from the last one on'],
        ],
    },
];

export function KeysDialog(): JSX.Element {
    return (
        <Dialog name="keys" title="Keys">
            <div class="keys">
                {KEYS.map((group) => (
                    <section key={group.title}>
                        <h3>{group.title}</h3>
                        <dl>
                            {group.keys.map(([keys, meaning]) => (
                                <div key={meaning}>
                                    <dt>
                                        {keys.map((key) => (
                                            <kbd key={key}>{key}</kbd>
                                        ))}
                                    </dt>
                                    <dd>{meaning}</dd>
                                </div>
                            ))}
                        </dl>
                    </section>
                ))}
            </div>
        </Dialog>
    );
}
