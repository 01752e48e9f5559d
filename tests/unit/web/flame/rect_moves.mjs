// Where rects were before an answer replaced another one.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [moves] = await loadParts(['flame/rect_moves']);

/** Rects as [func, parent, start, end]. */
function rectsOf(list) {
    const column = (Type, at) => Type.from(list, (one) => one[at]);
    return { func: column(Int32Array, 0), parent: column(Int32Array, 1), start: column(Float64Array, 2), end: column(Float64Array, 3) };
}

const former = (old, list, more = {}) => {
    const sides = moves.formerSides(rectsOf(old), rectsOf(list), { place: (share) => share, byFunc: false, least: 0.01, ...more });
    return sides && Array.from(sides.start, (start, at) => `${start}-${sides.end[at]}`).join(' ');
};

await check('a rect comes from where its path was, and a new one moves with its caller', () => {
    const old = [[1, -1, 0, 1], [2, 0, 0, 0.5], [3, 0, 0.5, 1], [9, 1, 0, 0.25]];
    assertEqual(former(old, [[1, -1, 0, 1], [3, 0, 0, 1], [9, 1, 0, 0.5]]), '0-1 0.5-1 0.5-0.75', 'one of two callees is left');
    assertEqual(former(old, [[1, -1, 0, 1], [2, 0, 0, 0.5]]), null, 'nothing moves');
    assertEqual(former(old, [[7, -1, 0, 1]]), null, 'a new root');
    assertEqual(former(old, [[1, -1, -1, 1], [2, 0, -1, 0]], { place: (share) => share * 4 }), '0-4 0-2', 'the picture before was of a part');
});

await check('where the graph is turned, a rect comes from the widest one of its function', () => {
    const old = [[1, -1, 0, 1], [2, 0, 0, 0.25], [2, 0, 0.25, 1], [-1, 2, 0.25, 1]];
    assertEqual(former(old, [[2, -1, 0, 1], [1, 0, 0, 1], [-1, 1, 0, 0.5]], { byFunc: true }), '0.25-1 0-1 0-0.5', 'the former places');
});

await check('rects move from the former to the final sides', () => {
    const rects = rectsOf([[1, -1, 0, 1]]);
    const between = (progress) => Object.values(moves.sidesBetween({ start: Float64Array.of(0.5), end: Float64Array.of(2) }, rects, progress)).map(([side]) => side).join();
    assertEqual([0, 0.5, 1].map(between).join(' '), '0.5,2 0.25,1.5 0,1', 'on the way');
});
