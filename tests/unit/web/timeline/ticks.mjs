// The ticks of the time ruler.
import { loadParts, random } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';

const [ticks, axisText, { tickStep }] = await loadParts(['timeline/ticks', 'session/axis_text', 'base/tick_step']);

await check('marks of the ruler are round, apart, and inside', () => {
    for (let i = 0; i < 300; i++) {
        const zero = random(1000);
        const from = zero + random(1e6) / 13;
        const to = from + 10 ** (random(10) - 4);
        const marks = ticks.ticks(from, to, zero, 1000, 88);
        assert(marks.length <= 12, `${marks.length} marks in 1000 pixels`);
        assert(marks.every((mark) => mark.time >= from - 1e-6 && mark.time <= to + 1e-6), 'a mark is outside');
        assertEqual(new Set(marks.map((mark) => mark.label)).size, marks.length, 'number of different labels');
        const step = tickStep(to - from, 1000, 88);
        const pixels = (one) => (one * 1000) / (to - from);
        const isRound = (one) => [1, 2, 5].some((digit) => Math.abs(one / (digit * 10 ** Math.floor(Math.log10(one * 1.0001))) - 1) < 1e-6);
        assert(isRound(step) && pixels(step) > 87.999, `the step is ${step}, ${pixels(step)} pixels`);
        assert([step / 2, step / 2.5].filter(isRound).every((smaller) => pixels(smaller) < 88.001), 'there is room for more marks');
        const count = (margin) => Math.floor((to - zero) / step + margin) - Math.ceil((from - zero) / step - margin) + 1;
        assert(marks.length >= count(-1e-3) && marks.length <= count(1e-3), `${marks.length} marks where there is room for ${count(0)}`);
        for (const { time, label } of marks) {
            const [number, unit] = label.split(' ');
            const said = Number(number) * { s: 1000, ms: 1, 'µs': 0.001 }[unit];
            assert(Math.abs(said - (time - zero)) < step / 100, `${label} is at ${time - zero} ms`);
            assertEqual(unit, to - zero >= 1000 && step >= 1 ? 's' : step >= 0.1 ? 'ms' : 'µs', 'the unit');
        }
    }
    const labels = (to, zero = 0) => ticks.ticks(zero, zero + to, zero, 200, 88).map((mark) => mark.label).join();
    assertEqual([10, 2, 0.2, 0.02].map((to) => labels(to)).join('|'), '0 ms,5 ms,10 ms|0 ms,1 ms,2 ms|0.0 ms,0.1 ms,0.2 ms|0 µs,10 µs,20 µs', 'labels of short times');
    assertEqual([2000, 200, 1000, 999].map((to) => labels(to, 7)).join('|'), '0 s,1 s,2 s|0 ms,100 ms,200 ms|0.0 s,0.5 s,1.0 s|0 ms,500 ms', 'labels of long times');
});

await check('an axis without times has whole samples, named once, and no time', () => {
    const labels = (from, to, width) => ticks.ticks(from, to, 0, width, 88, 'samples').map((mark) => mark.label).join();
    assertEqual(labels(0, 285, 400), '0 samples,100,200', 'labels of the full range');
    assertEqual(labels(0, 3, 10_000), '0 samples,1,2,3', 'labels where parts of a sample had room');
    assertEqual(labels(1_999_000, 2_001_000, 300), '1,999,000 samples,2,000,000,2,001,000', 'labels of many samples');
    const { axisUnitOf, formatLength, formatPlace, formatRange } = axisText;
    const unitOf = (timesAreOrder, unit) => axisUnitOf({ timesAreOrder, weights: [{ unit }] });
    assertEqual([unitOf(true, 'samples'), unitOf(true, 'bytes'), unitOf(true, 'ms'), unitOf(false, 'samples')].join(), 'samples,samples,ms,ms', 'the units');
    assertEqual([formatLength(1, 'samples'), formatLength(1285, 'samples'), formatLength(1285, 'ms')].join('|'), '1 sample|1,285 samples|1.28 s', 'lengths');
    assertEqual([formatPlace(0, 'samples'), formatPlace(120.9, 'samples'), formatPlace(12.5, 'ms')].join('|'), 'sample 1|sample 121|12.5 ms', 'places');
    const ranges = [[0, 285], [120, 340.2], [7, 8], [7.2, 7.4]].map((range) => formatRange(range, 'samples'));
    assertEqual(ranges.join('|'), 'samples 1–285|samples 121–341|sample 8|sample 8', 'ranges of samples');
    assertEqual(formatRange([120, 340], 'ms'), '220 ms', 'a range of time');
});
