// Comparisons in the address.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ decodeCompared, encodeCompared }] = await loadParts(['view/compared_codec']);
const part = (more) => ({ source: 'profile.json', name: 'a & b', range: null, kept: null, ...more });

await check('a comparison of parts of the served profile survives the address', () => {
    const sides = [part({}), part({ range: [1.5, 20] }), part({ kept: [true, false, true, true] }), part({ kept: [] })];
    for (const base of sides)
        for (const next of sides) {
            const source = { base, new: next, forgives: base === next };
            const again = decodeCompared(encodeCompared(source, 'profile.json'), 'profile.json');
            assertEqual(JSON.stringify(again), JSON.stringify(source), 'the comparison');
        }
    assertEqual(encodeCompared({ base: part({}), new: part({ source: {} }), forgives: false }, 'profile.json'), null, 'a side in a file');
});

await check('what is no comparison in an address is none', () => {
    for (const bad of ['', 'x', '[]', '[["a",null,null]]', '[["a",[1],null],["b",null,null]]', '[["a",null,[1e9,""]],["b",null,null]]', '[["a",null,[2,3]],["b",null,null]]'])
        assertEqual(decodeCompared(bad, 'profile.json'), null, bad);
});
