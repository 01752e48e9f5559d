// A map that keeps its newest entries.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ NewestMap }] = await loadParts(['base/newest_map']);

await check('an entry beyond the limit drops the entry that was set first', () => {
    const map = new NewestMap(3);
    for (const key of ['a', 'b', 'c']) map.set(key, key.toUpperCase());
    assertEqual([...map.keys()].join(), 'a,b,c', 'three of three');
    map.set('d', 'D');
    assertEqual([...map].join(' '), 'b,B c,C d,D', 'the newest three');
});

await check('an entry that is set again is the newest, and drops no other', () => {
    const map = new NewestMap(2);
    map.set('a', 1).set('b', 2).set('a', 3);
    assertEqual([...map].join(' '), 'b,2 a,3', 'both');
    map.set('c', 4);
    assertEqual([...map].join(' '), 'a,3 c,4', 'after one more');
});

await check('reading an entry does not make it newer', () => {
    const map = new NewestMap(2);
    map.set('a', 1).set('b', 2);
    assertEqual(map.get('a'), 1, 'the entry');
    map.set('c', 3);
    assertEqual(map.has('a'), false, 'the oldest');
});
