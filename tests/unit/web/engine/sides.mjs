// Both sides of one row of a comparison.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ sidesAt }] = await loadParts(['engine/sides']);

await check('a row has total and self of both sides; beyond the columns all are 0', () => {
    const columns = { baseTotal: [1, 2], baseSelf: [3, 4], newTotal: [5, 6], newSelf: [7, 8] };
    assertEqual(JSON.stringify(sidesAt(columns, 1)), '{"base":{"total":2,"self":4},"new":{"total":6,"self":8}}', 'the second row');
    assertEqual(JSON.stringify(sidesAt(columns, 2)), '{"base":{"total":0,"self":0},"new":{"total":0,"self":0}}', 'no row');
});
