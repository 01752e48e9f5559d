// The activity of several threads as one.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ addActivity }] = await loadParts(['engine/activity_parts']);

const part = (categories, shares, strip, more) => ({ width: 2, categories, shares: Float32Array.from(shares), matching: null, strip: Uint8Array.from(strip), matchingStrip: null, ...more });

await check('shares of the same category add up; strips have the larger value', () => {
    const first = addActivity(null, part([2, 5], [1, 2, 10, 20], [0, 3]));
    assertEqual([first.categories, [...first.shares], [...first.strip]].join(' '), '2,5 1,2,10,20 0,3', 'one part');
    const both = addActivity(first, part([5, 1], [100, 200, 7, 8], [2, 1]));
    assertEqual(both.categories.join(), '1,2,5', 'the categories, rising');
    assertEqual([...both.shares].join(), '7,8,1,2,110,220', 'the shares');
    assertEqual([...both.strip].join(), '2,3', 'the strip');
    assertEqual([both.matching, both.matchingStrip, both.width].join(), ',,2', 'without a search');
});

await check('what matches a search adds up as well', () => {
    const matching = (shares, strip) => ({ matching: Float32Array.from(shares), matchingStrip: Uint8Array.from(strip) });
    const sum = [part([1], [4, 4], [1, 1], matching([1, 2], [1, 0])), part([1], [4, 4], [1, 1], matching([3, 0], [0, 2]))].reduce(addActivity, null);
    assertEqual([...sum.matching].join(), '4,2', 'the shares that match');
    assertEqual([...sum.matchingStrip].join(), '1,2', 'the strip that matches');
    assertEqual([...sum.shares].join(), '8,8', 'all shares');
});
