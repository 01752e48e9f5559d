// The step of ticks.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ tickStep }] = await loadParts(['base/tick_step']);

await check('a step is 1, 2 or 5 times a power of ten, and at least as long as the gap', () => {
    const steps = [1, 1.01, 2, 2.01, 5, 5.01, 10].map((gap) => tickStep(1000, 1000, gap));
    assertEqual(steps.join(), '1,2,2,5,5,10,10', 'steps');
    assertEqual([tickStep(0.3, 100, 10), tickStep(7e6, 1000, 88)].join(), '0.05,1000000', 'steps of short and long ranges');
    assertEqual([tickStep(0, 100, 10), tickStep(Number.NaN, 100, 10), tickStep(100, 0, 1)].join(), '1,1,100', 'the step of what has no length or room');
});
