// Groups of markers as the sides of a comparison.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [groups, codec] = await loadParts(['view/marker_groups', 'view/transform_codec']);
const filter = (text, more = {}) => ({ kind: 'filter-samples', index: -1, path: [], inverted: false, text, ...more });
const address = (base, next) => codec.encodeTransforms(groups.comparedGroups(base, next), 0);

await check('the groups are those of the transforms that filter samples', () => {
    const all = [filter('a'), { kind: 'drop-function', index: 1, path: [], inverted: false }, filter('b', { slowest: 0.05 }), filter('c', { sides: 'base' })];
    assertEqual(JSON.stringify(groups.markerGroups(all)), '[{"text":"a"},{"text":"b","slowest":0.05}]', 'the groups');
});

await check('two groups have means per marker, one group has sums', () => {
    assertEqual(address([{ text: 'a' }], [{ text: 'b' }]), 'fs-s100b-a~fs-s100n-b', 'two');
    assertEqual(address([{ text: 'a' }], []), 'fs-mb-a', 'one');
    assertEqual(address([{ text: 'a' }, { text: 'b' }], [{ text: 'c', slowest: 0.05 }, { text: 'd' }]), 'fs-mb-a~fs-s100b-b~fs-s5n-c~fs-mn-d', 'several');
});

await check('the address has the sides', () => {
    const all = groups.comparedGroups([{ text: 'name:"a-b"' }], [{ text: '' }]);
    assertEqual(JSON.stringify(codec.decodeTransforms(codec.encodeTransforms(all, 0))), JSON.stringify(all.map(({ sides, slowest, ...rest }) => ({ ...rest, slowest, sides }))), 'read back');
    assertEqual(codec.decodeTransforms('fs-c5b-a~fs-mx-a~fs-bm-a').length, 0, 'wrong ones');
});

await check('names are short', () => {
    assertEqual(groups.nameOfGroups([{ text: 'name:"a b"', slowest: 0.05 }, { text: 'c' }]), 'slowest 5% of a b, c', 'the name');
});
