// The data quality of a profile in a few words.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';

const [trust] = await loadParts(['summary/trust']);

await check('a recording without most names is not called good, and says what to do', () => {
    const section = (resolved) => ({
        label: 'Trust',
        entries: [
            { label: 'Samples lost', value: '0' },
            { label: 'Stacks complete', value: '4771 (100 %)' },
            { label: 'Stacks completed from the live process', value: '0' },
            { label: 'Addresses resolved', value: resolved },
        ],
    });
    const bad = trust.trustSummary(section('1932 (36.0 %)'), 4771);
    assertEqual([bad.isGood, bad.text].join(': '), 'false: 36.0% of addresses resolved, 100% complete stacks, 0 lost', 'a third of the names');
    assert(bad.fix.includes('prof symbolicate'), `the fix is ${bad.fix}`);
    const good = trust.trustSummary(section('5300 (98.7 %)'), 4771);
    assertEqual([good.isGood, good.text, good.fix].join(': '), 'true: 100% complete stacks, 0 lost: ', 'most names');
});

await check('a recording without many Python frames is not called good', () => {
    const section = (share, label = 'Python samples with their Python frames') => ({
        label: 'Data quality',
        entries: [
            { label: 'Stacks complete', value: '477 (100 %)' },
            { label, value: share },
        ],
    });
    const bad = trust.trustSummary(section('190 (39.83 %)'), 477);
    assertEqual([bad.isGood, bad.text].join(': '), 'false: Python frames in 39.8% of Python samples, 100% complete stacks', 'a third');
    const older = trust.trustSummary(section('190 (39.83 %)', 'Samples in Python with their Python frames'), 477);
    assertEqual(older.text, bad.text, 'the label of an older version');
    const good = trust.trustSummary(section('470 (98.53 %)'), 477);
    assertEqual([good.isGood, good.text].join(': '), 'true: 100% complete stacks', 'nearly all');
});

await check('the section about data quality is found by its name and by that of older versions', () => {
    const all = { addressCount: 1, resolvedCount: 1, symbolicated: true };
    for (const label of ['Data quality', 'Trust', ' trust '])
        assertEqual(trust.trustSectionOf({ ...all, extra: [{ label: 'Recording', entries: [] }, { label, entries: [] }] })?.label, label, label);
    const others = ['Data quality, by thread', 'Trust, by thread', 'Untrusted'].map((label) => ({ label, entries: [] }));
    assertEqual(trust.trustSectionOf({ ...all, extra: others }), undefined, 'sections with similar names');
});

await check('of a profile that says nothing of itself it is said that names are missing', () => {
    const of = (resolvedCount, addressCount, symbolicated = true) => trust.trustSectionOf({ extra: [], resolvedCount, addressCount, symbolicated });
    const { isGood, text, fix } = trust.trustSummary(of(3, 27), 12);
    assertEqual([isGood, text].join(': '), 'false: 11.1% of addresses resolved', 'one name of nine');
    assert(fix.includes('prof symbolicate'), `the fix is ${fix}`);
    assertEqual([of(26, 27), of(0, 0), of(3, 27, false)].join(), ',,', 'most names, no addresses, and a profile without names');
});

await check('the figures of a recording are grouped, and cut before what explains them', () => {
    assertEqual(trust.trustFigure('7674 (99.84 %)'), '7,674 (99.84 %)', 'a count and a share');
    assertEqual(trust.trustFigure('12345 (3 in JIT code; 12342 deeper than what was copied)'), '12,345', 'a count with reasons');
    assertEqual(trust.trustFigure('0.026 s, 75.1 µs a sample'), '0.026 s, 75.1 µs a sample', 'a time');
});

await check('each figure has a limit, at which it is still good', () => {
    const of = (label, value, samples = 1000) => trust.trustSummary({ label: 'Data quality', entries: [{ label, value }] }, samples);
    const limits = [
        ['Addresses resolved', '80 (80.00 %)', '79 (79.99 %)', '80.0% of addresses resolved'],
        ['CPU time covered by samples', '90.00 % (9 of 10 s)', '89.60 % (8.96 of 10 s)', '90% of CPU time sampled'],
        ['Python samples with their Python frames', '95 (95.00 %)', '94 (94.94 %)', 'Python frames in 94.9% of Python samples'],
        ['Stacks complete', '95 (95.00 %)', '94 (94.94 %)', '94.9% complete stacks'],
        ['Samples lost', '10', '11', '11 lost'],
    ];
    for (const [label, good, bad, text] of limits) {
        assertEqual([of(label, good).isGood, of(label, bad).isGood].join(), 'true,false', label);
        assertEqual(of(label, bad).text, text, label);
    }
    assertEqual(of('Addresses resolved', '80 (80.00 %)').text, 'Data quality', 'the text of a good share of names');
    assertEqual(of('CPU time covered by samples', '90.00 %').text, 'Data quality', 'the text of a good share of CPU time');
    assertEqual([of('Samples lost', '1,100', 100_000).isGood, of('Samples lost', 'some', 0).isGood].join(), 'false,true', 'a grouped number, and a text');
    assertEqual(of('Samples lost', 'x'.repeat(99)).text.length < 99, true, 'a long text is cut');
    assertEqual(trust.trustSectionOf({ extra: [], resolvedCount: 4, addressCount: 5, symbolicated: true }), undefined, 'four names of five');
    assertEqual(trust.trustSectionOf({ extra: [], resolvedCount: 1, addressCount: 3, symbolicated: true }).entries[0].value, '1 of 3 (33.3 %)', 'one name of three');
});

await check('missing names are counted by time where that is known', () => {
    const section = { label: 'Data quality', entries: [{ label: 'Addresses resolved', value: '1932 (36.0 %)' }] };
    assertEqual(trust.trustSummary(section, 4771, 0.318).text, '31.8% of the time without function names', 'a third of the time');
    const good = trust.trustSummary(section, 4771, 0.05);
    assertEqual([good.isGood, good.fix].join(': '), 'true: ', 'little time in many addresses');
});
