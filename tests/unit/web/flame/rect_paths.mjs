// Rects by the path of their node.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [rectPaths] = await loadParts(['flame/rect_paths']);

/** Rects of a chart: main with work and walk on it, leaf on work, and a aggregate on walk. */
const someRects = {
    func: Int32Array.of(0, 1, 3, 2, -1),
    parent: Int32Array.of(-1, 0, 0, 1, 2),
    depth: Int32Array.of(0, 1, 1, 2, 2),
};
await check('rects are found by the path of their node, and have it', () => {
    assertEqual(rectPaths.rectPath(someRects, 3).join(), '0,1,2', 'the path of leaf');
    assertEqual(rectPaths.rectsOfPath(someRects, [0, 1, 2]).join(), '0,0,0,1,0', 'the rects of leaf');
    assertEqual(rectPaths.rectsOfPath(someRects, [0, 3, 2]).join(), '0,0,0,0,0', 'the rects of a path that there is not');
    assertEqual(rectPaths.rectsOfPath(someRects, []).join(), '0,0,0,0,0', 'the rects of no path');
    assertEqual(rectPaths.rowCount(someRects), 3, 'rows');
    assertEqual(rectPaths.rowCount({ depth: [] }), 0, 'rows of no rects');
    assertEqual(rectPaths.rectsOfPath(someRects, [0]).join(), '1,0,0,0,0', 'the rect of main');
    assertEqual(rectPaths.rectsOfPath(someRects, [1]).join(), '0,0,0,0,0', 'rects of a path that begins further up');
    assertEqual(rectPaths.rectsOfPath(someRects, [0, 3, -1]).join(), '0,0,0,0,0', 'a aggregate has no path');
});
