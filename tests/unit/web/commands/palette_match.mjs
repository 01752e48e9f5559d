// What the command palette finds, with the engine's scores.
import { loadEngine } from '../../../engine_loader.mjs';
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ matchingEntries, textsOf, unmarked }] = await loadParts(['commands/palette_match']);
const { openEngine, module } = await loadEngine();
const engine = await openEngine(module); // of no profile

const entry = (title, more) => ({ id: title, group: 'Command', title, detail: '', keys: '', run: () => undefined, ...more });
const ENTRIES = [
    entry('Invert call stack'),
    entry('Save this view as an image'),
    entry('Compact rows', { detail: 'image' }),
    entry('compact', { group: 'Function', detail: 'libc.so', score: 20 }),
    entry('Call Tree', { group: 'View' }),
];
const find = (typed, entries = ENTRIES) => matchingEntries(entries, engine.findTexts(typed, textsOf(entries)));
const titles = (typed, entries) => find(typed, entries).map(({ title }) => title).join();
/** A text with its marked characters in capitals. */
const marked = (text, marks) => [...text].map((letter, at) => (marks(at) ? letter.toUpperCase() : letter.toLowerCase())).join('');

await check('entries match by title, best first; all words have to match', () => {
    assertEqual(titles('invert'), 'Invert call stack', 'a word');
    assertEqual(titles('call tree'), 'Call Tree', 'two words');
    assertEqual(titles('call'), 'Call Tree,Invert call stack', 'the beginning of a title is better');
    assertEqual(titles('invert zzz'), '', 'a word that no text has');
    const [found] = find('inv sta');
    assertEqual(marked(found.title, found.titleMarks), 'INVert call STAck', 'the marks');
    assertEqual(found.score > 0, true, 'the score');
});

await check('another word for a command finds it, and is its detail; its own detail does not', () => {
    const [found, ...others] = find('screenshot');
    assertEqual(found.title, 'Save this view as an image', 'the entry');
    assertEqual([found.detail, marked(found.detail, found.detailMarks)].join(), 'screenshot,SCREENSHOT', 'the detail');
    assertEqual(others.length, 0, 'other entries');
    assertEqual(marked(find('dens')[0].detail, find('dens')[0].detailMarks), 'DENSity', 'the beginning of a word');
    const both = find('picture screenshot')[0];
    assertEqual(marked(both.detail, both.detailMarks), 'PICTURE SCREENSHOT', 'two other words');
    assertEqual(titles('creenshot'), '', 'the middle of a word');
    assertEqual(titles('image'), 'Save this view as an image', 'the detail of a command');
});

await check('a function keeps its score, and matches by its library, too', () => {
    const [found] = find('compact libc');
    assertEqual([found.title, found.score].join(), 'compact,20', 'the function');
    assertEqual(marked(found.detail, found.detailMarks), 'LIBC.so', 'the marks of the library');
    assertEqual(titles('compact zzz'), '', 'a word that neither has');
});

await check('of equally good entries commands go before functions, views before commands', () => {
    const equal = ['Marker', 'Function', 'Thread', 'Selection', 'Command', 'View'].map((group) => entry('same', { id: group, group }));
    assertEqual(find('same', equal).map(({ group }) => group).join(), 'View,Command,Selection,Thread,Function,Marker', 'the groups');
});

await check('without text nothing is marked; long and empty titles are readable', () => {
    const shown = unmarked(entry('x'.repeat(500), { detail: 'y'.repeat(500) }));
    assert(shown.title.length < 250 && shown.detail.length < 150, 'long texts are cut');
    assertEqual([shown.titleMarks(0), shown.detailMarks(0), shown.score, shown.share].join(), 'false,false,0,', 'the marks, the score and the share');
    assertEqual(unmarked(entry('')).title, '(no name)', 'an empty title');
    assertEqual(unmarked(entry('a', { share: '5%' })).share, '5%', 'a share');
});
