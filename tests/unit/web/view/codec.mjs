// The view in the address.
import { loadParts, random } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';

const [codec] = await loadParts(['view/codec']);

await check('views survive the address', () => {
    for (let i = 0; i < 200; i++) {
        const zero = random(1000) / 7;
        const range = () => {
            const start = zero + random(1e6) / 3;
            return codec.roundRange([start, start + (random(1e6) + 1) / 10 ** random(5)], zero);
        };
        const view = {
            threads: Array.from({ length: 1 + random(5) }, () => random(100)),
            ranges: Array.from({ length: random(3) }, range),
            preview: random(2) ? range() : null,
            transforms: Array.from({ length: random(4) }, () =>
                random(2)
                    ? { kind: ['merge-function', 'drop-category', 'collapse-resource'][random(3)], index: random(5000), path: [], inverted: false }
                    : { kind: 'focus-subtree', index: -1, path: Array.from({ length: 1 + random(50) }, () => random(100_000)), inverted: random(2) === 1 },
            ),
            search: ['', 'a,b', 'std::vector<int> & = +?', '🙂 %20'][random(4)],
            inverted: random(2) === 1,
            path: Array.from({ length: [0, 1, random(80)][random(3)] }, () => random(100_000)),
            tab: codec.TABS[random(codec.TABS.length)],
            zoom: Array.from({ length: random(5) }, () => random(100_000)),
            part: random(2) ? null : [random(1e6) / 1e9, (1e9 - random(1e6)) / 1e9],
            sameWidths: random(2) === 1,
            weight: ['recorded', 'cpu-time', 'off-cpu', 'sched:sched_switch'][random(4)],
            stackType: codec.STACK_TYPES[random(3)],
            hidesIdle: random(2) === 1,
            center: random(2) ? null : { kind: ['function', 'library', 'category'][random(3)], index: random(100_000) },
            sorts: [{}, { functions: 'total.r' }, { calltree: ['self', 'name.r'][random(2)], functions: 'total' }][random(3)],
            markerSearch: ['', 'name:"a b",-/c/', '~&=%20+'][random(3)],
            marker: random(3) - 1,
            tracks: {
                base: ['busy', 'all', 'none'][random(3)],
                shown: Array.from({ length: random(3) }, (_, i) => `t${i * 7 + random(7)}`),
                hidden: Array.from({ length: random(3) }, (_, i) => `c${i * 7 + random(7)}`),
                opened: Array.from({ length: random(3) }, (_, i) => `r${i * 7 + random(7)}`),
                order: Array.from({ length: random(3) }, (_, i) => `p${20 - i * 7 - random(7)}`),
            },
            profileName: ['', 'a & b = ünï+?#'][random(2)],
        };
        const whole = { ...codec.EMPTY_VIEW, ...view };
        const text = (some) => JSON.stringify(Object.entries(some).sort());
        assertEqual(text(codec.decodeView(codec.encodeView(whole, zero, 100_000), zero)), text(whole), 'the view read back');
    }
});

await check('parts of a flame graph and places of a range are read as they are written', () => {
    const part = (text) => JSON.stringify(codec.decodeView(`part=${text}`, 0).part);
    assertEqual(['0-1', '0.5-0.7', '0.25-0.5', '0.5-1'].map(part).join(), '[0,1],[0.5,0.7],[0.25,0.5],[0.5,1]', 'parts');
    assertEqual(['0.5-0.5', '0.7-0.5', '0.5-1.5', '2-3', '-', '0.5', '0.5-0.7-0.9'].map(part).join(), 'null,null,null,null,null,null,null', 'what is no part');
    const range = (text) => JSON.stringify(codec.decodeView(`preview=${text}`, 100).preview);
    assertEqual(['1200m350', '15250u4000', '-5n1000000'].map(range).join(), '[1300,1650],[115.25,119.25],[99.999995,100.999995]', 'ranges');
});

await check('an address that says nothing is the first view', () => {
    const entries = (view) => JSON.stringify(Object.entries(view).sort());
    for (const text of ['', '?', '?thread', '?range=&preview=x&tab=&weight=a%20b&marker=-5&part=1-0&sort=x&center=function-'])
        assertEqual(entries(codec.decodeView(text, 5)), entries(codec.EMPTY_VIEW), text);
});

await check('a range is rounded to much less than a pixel', () => {
    for (const duration of [0.00002, 0.5, 8, 900, 60_000, 7_200_000]) {
        const [start, end] = codec.roundRange([123.456789, 123.456789 + duration], 0);
        assert(Math.abs(start - 123.456789) <= duration / 5000 + 1e-6, `${duration} ms begins ${start - 123.456789} ms off`);
        assert(Math.abs(end - start - duration) <= duration / 5000 + 1e-6, `${duration} ms became ${end - start} ms`);
    }
});
