// The headline of the summary.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [summaryView] = await loadParts(['summary/summary_view']);

await check('the categories of a headline sum up to the whole', () => {
    const say = (...selfs) => summaryView.sharesText(selfs.map((self, func) => ({ func, self, total: self })), 100, (row) => 'ABCDEF'[row.func]);
    assertEqual(say(100), '100.0% A', 'one');
    assertEqual(say(40, 30, 20, 10), '40.0% A, 30.0% B, 20.0% C and 10.0% D', 'four');
    assertEqual(say(40, 30, 20, 6, 4), '40.0% A, 30.0% B, 20.0% C and 10.0% in 2 more', 'five');
});
