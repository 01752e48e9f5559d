// What an undone step changed.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ differenceOf }, { EMPTY_VIEW }] = await loadParts(['commands/steps', 'view/codec']);

await check('a step is named by what it changed, two things at most', () => {
    const changed = (change) => differenceOf(EMPTY_VIEW, { ...EMPTY_VIEW, ...change });
    assertEqual(changed({}), '', 'nothing');
    assertEqual(changed({ path: [1, 2] }), '', 'the selected row alone');
    assertEqual(changed({ search: 'x', path: [1] }), 'search', 'a search');
    assertEqual(changed({ ranges: [[0, 1]], preview: [0, 1] }), 'zoom, selection', 'a zoom, in the order of the names');
    assertEqual(changed({ zoom: [1], part: [0, 0.5] }), 'flame graph zoom', 'both of a name');
    assertEqual(changed({ transforms: [{}], search: 'x', tab: 'waits' }), 'transform, search', 'three things');
    assertEqual(changed({ sorts: { calltree: 'self' } }), 'table sorting', 'the order of a table');
});
