// Steps from rect to rect of the marker chart.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ neighbor }] = await loadParts(['markers/marker_steps']);

/** Two rects in row 0, none in row 1, three in row 2. */
const rects = { row: Uint32Array.from([0, 0, 2, 2, 2]), start: [0, 60, 5, 40, 70], end: [10, 80, 8, 55, 100], marker: [0, 1, 2, 3, 4], count: [1, 1, 1, 1, 1] };
const frame = { rects, rows: [{}, {}, {}], shown: [0, 100] };
const step = (from, key, more) => neighbor({ ...frame, ...more }, from, key);

await check('left and right go along the row', () => {
    assertEqual([step(0, 'ArrowRight'), step(1, 'ArrowLeft'), step(1, 'ArrowRight'), step(0, 'ArrowLeft'), step(2, 'ArrowLeft'), step(4, 'ArrowRight')].join(), '1,0,-1,-1,-1,-1', 'the rects');
});

await check('up and down go to the nearest rect of the next row that has one in sight', () => {
    assertEqual([step(0, 'ArrowDown'), step(1, 'ArrowDown'), step(3, 'ArrowUp'), step(2, 'ArrowUp')].join(), '2,4,1,0', 'over an empty row');
    assertEqual([step(0, 'ArrowUp'), step(4, 'ArrowDown')].join(), '-1,-1', 'at the ends');
    const close = { rects: { row: Uint32Array.from([0, 1, 1, 2]), start: [10, 0, 10, 10], end: [12, 10.5, 12, 12], marker: [0, 1, 2, 3], count: [1, 1, 1, 1] } };
    assertEqual([step(0, 'ArrowDown', close), step(3, 'ArrowUp', close)].join(), '2,2', 'the very next row, a rect at the same time before one close to it');
    const even = { rects: { ...close.rects, start: [10, 0, 15, 10], end: [12, 7, 20, 12] } };
    assertEqual(step(0, 'ArrowDown', even), 1, 'the first of two that are equally near');
    assertEqual(step(1, 'ArrowDown', { shown: [0, 70] }), 4, 'a rect that begins at the end of the shown range');
    assertEqual(step(1, 'ArrowDown', { shown: [0, 60] }), 3, 'the nearest in sight');
    assertEqual(step(0, 'ArrowDown', { shown: [56, 69] }), -1, 'none in sight');
});

await check('without a selection the first rect in sight is selected', () => {
    assertEqual([step(-1, 'ArrowDown'), step(-1, 'ArrowDown', { shown: [10, 100] }), step(-1, 'ArrowDown', { shown: [11, 100] }), step(-1, 'ArrowDown', { shown: [101, 102] })].join(), '0,0,1,-1', 'the rects');
    assertEqual(step(0, 'ArrowDown', { rects: null }), -1, 'no rects');
});
