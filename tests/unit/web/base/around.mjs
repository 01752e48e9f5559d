// Steps through rising numbers, around the end.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ nextAround }] = await loadParts(['base/around']);

await check('a step goes to the next number or the previous one, and around the end', () => {
    const numbers = [2, 5, 9];
    const next = (at) => nextAround(numbers, at, 1);
    const previous = (at) => nextAround(numbers, at, -1);
    assertEqual([next(0), next(2), next(4), next(5), next(9), next(10)].join(), '2,5,5,9,2,2', 'next');
    assertEqual([previous(10), previous(9), previous(6), previous(5), previous(2), previous(0)].join(), '9,5,5,2,9,9', 'previous');
    assertEqual(numbers.join(), '2,5,9', 'the numbers afterwards');
    assertEqual([nextAround([], 3, 1), nextAround([], 3, -1)].join(), ',', 'a step through nothing');
});
