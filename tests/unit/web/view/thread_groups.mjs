// Groups of threads.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ activityOf, groupsByName, groupsOfOthers, LEAST_IN_GROUP, partsOf }] = await loadParts(['view/thread_groups']);

const thread = (index, name, activity = 1, more = {}) => ({ index, name, activity, pid: '1', isMain: false, ...more });
const many = (name, count = LEAST_IN_GROUP, more = {}) => Array.from({ length: count }, (_, at) => thread(at + 10, name(at), 2, more));
const written = (groups) => groups.map(({ index, title, threads, activity }) => `${index} ${title} ${threads.length} ${activity}`).join('|');

await check('threads of a process whose names differ in digits are a group, if there are enough', () => {
    assertEqual(LEAST_IN_GROUP, 8, 'the least');
    assertEqual(written(groupsByName(many((at) => `io-${at}-w${at * 7}`))), '10 io-*-w* 8 16', 'a group');
    assertEqual(written(groupsByName(many((at) => `io-${at}`, LEAST_IN_GROUP - 1))), '', 'too few');
    assertEqual(written(groupsByName([...many((at) => `io-${at}`, 4), ...many((at) => `io-${at}`, 4, { pid: '2' })])), '', 'of two processes');
    assertEqual(written(groupsByName(many(() => ''))), '', 'without a name');
    assertEqual(written(groupsByName(many(() => 'same', LEAST_IN_GROUP, { isMain: true }))), '', 'main threads');
});

await check('quiet threads that hold at least half of a process are a group', () => {
    const quiet = many((at) => `q${'abcdefgh'[at]}`);
    const group = (others) => written(groupsOfOthers([...quiet, ...others], quiet));
    assertEqual(group([thread(0, 'main', 16, { isMain: true })]), '10 Other threads 8 16', 'half');
    assertEqual(group([thread(0, 'main', 17, { isMain: true })]), '', 'less than half');
    assertEqual(group([thread(0, 'main', 99, { isMain: true, pid: '2' })]), '10 Other threads 8 16', 'another process does not count');
    assertEqual(written(groupsOfOthers(quiet, quiet.slice(1))), '', 'too few');
    const little = quiet.map((one) => ({ ...one, activity: 0.1 }));
    assertEqual(groupsOfOthers(little, little).length, 1, 'threads that did little');
    const idle = quiet.map((one) => ({ ...one, activity: 0 }));
    assertEqual(written(groupsOfOthers(idle, idle)), '', 'threads that did nothing');
    const main = quiet.map((one) => ({ ...one, isMain: true }));
    assertEqual(written(groupsOfOthers(main, main)), '', 'main threads');
});

await check('threads are divided by a name, those without are left out', () => {
    const parts = partsOf([thread(0, 'a'), thread(1, ''), thread(2, 'b'), thread(3, 'a', 5)], ({ name }) => name);
    assertEqual([...parts].map(([name, list]) => `${name}:${list.map(({ index }) => index)}`).join('|'), 'a:0,3|b:2', 'the parts');
    assertEqual(activityOf(parts.get('a')), 6, 'the activity of a part');
});
