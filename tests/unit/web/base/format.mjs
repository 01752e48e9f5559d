// Numbers with their units.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [format] = await loadParts(['base/format']);

await check('what counters count is said in its unit, and so is its rate', () => {
    const amounts = [[2048, 'bytes', '2 KiB', '1.95 MiB/s'], [4e6, 'pWh', '4 µWh', '14.4 W'], [500, 'cpu-us', '500 µs', '50%'], [0.5, 'cpu-ms', '500 µs', '50%'], [0.5, 'percent', '50%', '50%'], [3, 'ops', '3 ops', '3,000 ops/s']];
    for (const [value, unit, amount, rate] of amounts) {
        assertEqual(format.formatAmount(value, unit), amount, `${value} ${unit}`);
        assertEqual(format.formatRate(value, unit), rate, `${value} ${unit} in a ms`);
    }
});

await check('shares and durations are short and never lie about zero', () => {
    assertEqual(format.formatShare(1, 3), '33.3%', 'a third');
    assertEqual(format.formatShare(1, 100_000), '<0.1%', 'next to nothing');
    assertEqual(format.formatShare(0, 5), '0%', 'nothing');
    assertEqual(format.formatShare(5, 0), '0%', 'a share of nothing');
    assertEqual(format.formatShare(1, 2000), '0.1%', 'the least that is not next to nothing');
    assertEqual(format.formatShare(-1, 4), '-25.0%', 'a share that is taken away');
    assertEqual([0, 999, 1234567.4, -1000].map(format.formatCount).join(' '), '0 999 1,234,567 -1,000', 'counts');
    const durations = [
        [0, '0 ms'], [1, '1 ms'], [12.345, '12.3 ms'], [340.4, '340 ms'], [-2.5, '-2.5 ms'], [0.0125, '12.5 µs'], [0.001, '1 µs'],
        [0.0009, '900 ns'], [1000, '1 s'], [1234.5, '1.23 s'], [119_999, '120 s'], [120_000, '2 min 00 s'], [125_000, '2 min 05 s'],
        [3_661_400, '61 min 01 s'],
    ];
    for (const [ms, text] of durations) assertEqual(format.formatDuration(ms), text, `${ms} ms`);
    const bytes = [[0, '0 B'], [1023, '1023 B'], [1024, '1 KiB'], [1536, '1.5 KiB'], [-(2 ** 20), '-1 MiB'], [100 * 2 ** 30, '100 GiB'], [2 ** 52, '4096 TiB']];
    for (const [count, text] of bytes) assertEqual(format.formatBytes(count), text, `${count} bytes`);
    const weights = [
        [1234567, 'samples', '1,234,567', '1,234,567 samples, about 41 min 09 s'],
        [1, 'samples', '1', '1 sample, about 2 ms'],
        [-1.25, 'samples', '-1.3', '-1.3 samples, about -2.5 ms'],
        [0, 'samples', '—', '0 samples'],
        [0, 'ms', '—', '0 ms'],
        [1234.56, 'ms', '1,234.6', '1.23 s'],
        [5, 'ms', '5.0', '5 ms'],
        [641.449999999, 'ms', '641.5', '641 ms'],
        [2048, 'bytes', '2 KiB', '2 KiB'],
        [12345, 'cache-misses', '12,345', '12,345 cache-misses'],
        [0, 'cache-misses', '—', '0 cache-misses'],
    ];
    for (const [weight, unit, text, words] of weights) {
        assertEqual(format.formatWeight(weight, unit), text, `${weight} ${unit}`);
        assertEqual(format.describeWeight(weight, unit, 2), words, `${weight} ${unit} in words`);
    }
    assertEqual(format.describeWeight(3, 'samples', 0), '3 samples', 'samples of no length');
    assertEqual(format.describeWeight(3, 'samples', 0.5), '3 samples, about 1.5 ms', 'samples of half a millisecond');
});
