// The notes in the address.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [codec, notes] = await loadParts(['view/codec', 'view/note_codec']);
const read = (query) => codec.decodeView(query, 0).notes;
const write = (list) => codec.encodeView({ ...codec.EMPTY_VIEW, notes: list }, 0, 100);

await check('notes survive the address, also an empty list', () => {
    const lists = [
        null,
        [],
        [
            { range: [1200, 1550], func: -1, name: 'start & = ünï+?#', library: '', comment: '' },
            { range: null, func: 12, name: 'std::map<int>', library: 'libc.so.6', comment: '<b>~%0A' },
            { range: null, func: -1, name: 'gone', library: '', comment: '' },
        ],
    ];
    for (const list of lists) assertEqual(JSON.stringify(read(write(list))), JSON.stringify(list), 'the notes read back');
});

await check('hostile notes are dropped, shortened, or made one line', () => {
    assertEqual(JSON.stringify(read('note=x&note=function--1&note=function-1e9&note=1m0&note=function-3')), '[{"range":null,"func":3,"name":"","library":"","comment":""}]', 'notes of no place');
    const [{ name, comment }] = read(new URLSearchParams({ note: `0m9\n${'n'.repeat(9999)}\n a\0\u001b[2J\nb\u2028` }).toString());
    assertEqual(name.length, notes.NAME_LENGTH, 'the length of the name');
    assertEqual(comment, 'a [2J b', 'the comment');
    assertEqual(read('note=function-1&'.repeat(5000)).length, notes.MOST_NOTES, 'the number of notes');
});

await check('notes of a profile are read, and become values again', () => {
    const own = [
        { from: 1, to: 2.5, func: -1, name: 'a', library: '', comment: 'b' },
        { from: null, to: null, func: 7, name: 'c', library: 'd', comment: '' },
        { from: null, to: null, func: -1, name: ' ', library: 'd', comment: 'of no place' },
    ];
    const read = notes.notesOf(own);
    assertEqual(read.map(({ range, func }) => `${range} ${func}`).join('|'), '1,2.5 -1|null 7', 'the places');
    assertEqual(JSON.stringify(notes.noteValues(read)), '[[1,2.5,"a","b"],["c","d",""]]', 'the values');
});
