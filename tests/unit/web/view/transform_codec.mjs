// Transforms in the address.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';

const [transformCodec] = await loadParts(['view/transform_codec']);

await check('the slowest intervals have their share in the address', () => {
    const of = (slowest, more) => ({ kind: 'filter-samples', index: -1, path: [], inverted: false, text: 'name:"a-b"', slowest, ...more });
    const all = [of(0.05), of(0.001234567, { sides: 'split' })];
    const text = 'fs-s5-name:"a-b"~fs-c0.1234567-name:"a-b"';
    assertEqual(transformCodec.encodeTransforms(all, 50), text, 'the text');
    assertEqual(JSON.stringify(transformCodec.decodeTransforms(text)), JSON.stringify(all), 'the list');
    assertEqual(transformCodec.decodeTransforms('fs-s101-a~fs-s-a~fs-c-5-a').length, 0, 'wrong ones');
});

await check('transforms are written as the Firefox Profiler writes them', () => {
    const of = (kind, index, path = [], inverted = false) => ({ kind, index, path, inverted });
    const all = [
        of('merge-function', 12),
        of('merge-call-node', -1, [0, 1, 2, 3]),
        of('focus-function', 3),
        of('focus-subtree', -1, [7, 100]),
        of('focus-subtree', -1, [5], true),
        of('focus-self', 4),
        of('focus-category', 1),
        of('drop-function', 8),
        of('collapse-resource', 2),
        of('collapse-direct-recursion', 6),
        of('collapse-recursion', 6),
        of('collapse-function-subtree', 9),
        of('focus-resource', 1),
        of('drop-resource', 2),
        of('merge-resource', 3),
    ];
    const text = 'mf-12~mcn-combined-0w3~ff-3~f-combined-7z4~f-combined-5-i~ffs-combined-4~fg-1~df-8~cr-combined-2-52~drec-combined-6~rec-6~cfs-9~fl-1~dl-2~ml-3';
    assertEqual(transformCodec.encodeTransforms(all, 50), text, 'the text');
    assertEqual(JSON.stringify(transformCodec.decodeTransforms(text)), JSON.stringify(all), 'the list');
});

await check('a search for functions comes back from the address as it was', () => {
    for (const text of ['std::', '-name,a-b', '50%~7E', '/^std::/, -"std::sort"']) {
        const one = { kind: 'merge-matching', index: -1, path: [], inverted: false, text };
        const both = transformCodec.decodeTransforms(transformCodec.encodeTransforms([one, one], 7));
        assertEqual(JSON.stringify(both), JSON.stringify([one, one]), text);
    }
});

await check('a search for markers comes back from the address as it was', () => {
    for (const text of ['', 'load', '-name:a-b', '50%~7E', '%7E', '%257e', '~~', 'ä,"<b>"']) {
        const one = { kind: 'filter-samples', index: -1, path: [], inverted: false, text };
        const both = transformCodec.decodeTransforms(transformCodec.encodeTransforms([one, one], 7));
        assertEqual(JSON.stringify(both), JSON.stringify([one, one]), text);
    }
});

await check('transforms that cannot be read are left out', () => {
    for (const text of ['', '~', 'xx-1', 'mf', 'mf-', 'mf--1', 'mf-1e9', 'f-combined', 'f-combined-', 'cr-1', 'drec-2', 'toString-1', 'fs', 'fs-x-1', 'mm', 'mm-'])
        assertEqual(transformCodec.decodeTransforms(text).length, 0, `length of ${JSON.stringify(text)}`);
    assertEqual(transformCodec.decodeTransforms('nonsense~mf-1~fs-o-name').length, 1, 'length of a list with others');
    assert(transformCodec.decodeTransforms('mf-1~'.repeat(10_000)).length <= 200, 'a list has no bound');
});
