// Which lines and instructions are hot.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ heatOfLines, hotInstructionsOf, hotLinesOf }] = await loadParts(['source/source_heat']);

const line = (number, total, self) => ({ line: number, total, self });
const heat = (costs) => [...heatOfLines({ inlined: [], total: 0, self: 0, lines: [], ...costs })].map(([at, amount]) => `${at}:${amount}`).join();

await check('a line is as hot as its own time with the calls inlined into it', () => {
    const lines = [line(0, 50, 50), line(4, 30, 10), line(5, 20, 0), line(6, 9, 8)];
    assertEqual(heat({ self: 18, lines }), '4:10,5:0,6:8', 'own time');
    assertEqual(heat({ self: 18, lines, inlined: [{ line: 5, total: 6 }, { line: 5, total: 4 }, { line: 6, total: 3 }] }), '4:10,5:10,6:9', 'with inlined calls, at most the total');
    assertEqual(heat({ self: 0, lines: [line(1, 30, 0), line(5, 20, 0)] }), '1:30,5:20', 'the total where the file has no own time');
    assertEqual(heat({ self: 0, lines: [line(4, 30, 0), line(5, 20, 0)], inlined: [{ line: 5, total: 6 }] }), '4:0,5:6', 'inlined calls are own time');
    assertEqual(heat({ self: 1, lines: [line(4, -3, -3)] }), '4:0', 'never below 0');
    assertEqual([...heatOfLines(null)].length, 0, 'no costs');
});

await check('of a comparison a line is as hot as its change is large', () => {
    const sides = { base: [], new: [] };
    assertEqual(heat({ self: 1, sides, lines: [line(0, 9, 9), line(4, -30, -10), line(5, 20, 2)], inlined: [{ line: 5, total: -5 }] }), '4:10,5:3', 'own changes');
    assertEqual(heat({ self: 0, sides, lines: [line(1, -30, 0), line(5, 20, 0)] }), '1:30,5:20', 'changes of the total where none has own');
});

await check('hot is what has a tenth of the hottest', () => {
    assertEqual(hotLinesOf(new Map([[1, 100], [2, 10], [3, 9.9], [4, 0]]), 100).join(), '1,2', 'the lines');
    assertEqual(hotLinesOf(new Map([[1, 0]]), 0).join(), '', 'none');
    const costs = (...list) => new Map(list.map(([index, self, total]) => [index, { self, total }]));
    assertEqual(hotInstructionsOf(costs([7, 10, 0], [2, -100, 0], [3, 9, 50])).join(), '2,7', 'instructions by self time or its change, rising');
    assertEqual(hotInstructionsOf(costs([7, 0, 5], [2, 0, -5], [3, 0, 0])).join(), '2,7', 'by total time where none has self time');
});
