// What distinguishes one call tree from another.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ shapeOf, textOfTransforms }] = await loadParts(['calltree/tree_shape']);
const DROP = { kind: 'drop-function', index: 3, path: [], inverted: false, text: '' };
const FILTER = { kind: 'filter-samples', index: -1, path: [], inverted: false, text: 'gc' };

await check('trees have the same shape by direction and transforms', () => {
    assertEqual(shapeOf([DROP], true), shapeOf([{ ...DROP }], true), 'the same shape');
    assert(shapeOf([DROP], true) !== shapeOf([DROP], false), 'the direction counts');
    assert(shapeOf([DROP], true) !== shapeOf([], true), 'transforms count');
});

await check('threads count only for filters by markers', () => {
    const text = (transforms, threads) => textOfTransforms({ transforms, threads });
    assertEqual(text([DROP], [1]), text([DROP], [2]), 'other transforms');
    assert(text([DROP, FILTER], [1]) !== text([DROP, FILTER], [2]), 'a filter by markers');
    assert(text([DROP], [1]) !== text([FILTER], [1]), 'the transforms');
});
