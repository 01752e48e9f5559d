// Lists of indexes in the address.
import { loadParts, random } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';

const [indexes] = await loadParts(['base/indexes']);

await check('lists of indexes survive the address', () => {
    const lists = [[], [0], [31], [32], [0, 1], [0, 1, 2, 3], [5, 10, 11, 12, 13, 44], [7, 6, 5], [1, 1, 1], [4294967295]];
    for (let i = 0; i < 500; i++) lists.push(Array.from({ length: random(60) }, () => random(10 ** (1 + random(6)))));
    for (const list of lists)
        assertEqual(indexes.decodeIndexes(indexes.encodeIndexes(list)).join(), list.join(), 'the list read back');
});

await check('a run of indexes is written as its ends', () => {
    assertEqual(indexes.encodeIndexes([0, 1, 2, 3, 4, 5, 6, 7]), '0w7', 'the text');
    assertEqual(indexes.decodeIndexes('5awxc').join(), [5, ...Array.from({ length: 35 }, (_, i) => 10 + i)].join(), 'the list');
});

await check('a list of indexes ends where it cannot be read', () => {
    for (const [text, list] of [['12-34', '1,2'], ['1A', '1'], ['', ''], ['-1', ''], ['w7', '7'], ['3w', '3'], ['5w3', '5,3']])
        assertEqual(indexes.decodeIndexes(text).join(), list, `the list of ${text}`);
});

await check('nonsense in the address gives a list that is bounded', () => {
    for (const text of ['w', 'ww', '0w__________0', '-', '____', '%00', '0w', 'ÿ', '9'.repeat(1000)])
        assert(indexes.decodeIndexes(text).length <= 100_000, `${text} makes a huge list`);
});
