// The cells of the heat map.
import { loadParts, random } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ cellAfterKey, cellsOf, rangeOf, ROWS, shadeOf }] = await loadParts(['heat_map/heat_cells']);

await check('cells cover the range, and a column is a second from ten seconds to four minutes', () => {
    for (let i = 0; i < 300; i++) {
        const zero = random(1000);
        const from = zero + random(1e6) / 13;
        const to = from + 10 ** (random(10) - 3);
        const cells = cellsOf([from, to], zero);
        const [start] = rangeOf(cells, 0);
        const [, end] = rangeOf(cells, cells.columns * ROWS - 1);
        assert(start <= from + 1e-3 && end >= to - 1e-3 && start > from - cells.column * 1.001, `${start} to ${end} of ${from} to ${to}`);
        assert(cells.columns <= 242, `${cells.columns} columns`);
    }
    for (const ms of [10_000, 240_000]) assertEqual(cellsOf([0, ms], 0).column, 1000, `the column of ${ms} ms`);
    assertEqual([2000, 600_000, 36_000_000].map((ms) => cellsOf([0, ms], 0).column).join(), '100,5000,200000', 'other columns');
});

await check('a range of cells is from the earlier one to the end of the later one', () => {
    const cells = cellsOf([0, 30_000], 0);
    assertEqual(rangeOf(cells, 60, 3).join(), '60,1220', 'the range');
});

await check('arrows stay in the map', () => {
    const cells = cellsOf([0, 30_000], 0);
    const after = (key, cell) => cellAfterKey(key, cell, cells);
    assertEqual([after('ArrowUp', 49), after('ArrowDown', 50), after('ArrowLeft', 7), after('ArrowRight', 7)].join(), '49,50,,57', 'steps');
    assertEqual([after('Home', 70), after('End', 70), after('x', 70)].join(), '0,1499,', 'other keys');
});

await check('shades grow with the root of the weight, as in the legend', () => {
    const shades = [0, 0.0625, 0.25, 0.5625, 1].map((share) => shadeOf(share).toFixed(2)).join();
    assertEqual(shades, '0.00,0.34,0.56,0.78,1.00', 'the shades');
    assert(shadeOf(1e-9) >= 0.12, 'the least weight looks like none');
});
