// Comparisons of ranges and of threads.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ compareCommands, rangesToCompare, sideName }] = await loadParts(['commands/compare_commands']);

await check('a range is compared with the range before it, as far as the profile reaches', () => {
    const ranges = (range, start = 100) => JSON.stringify(rangesToCompare(range, start));
    assertEqual(ranges([150, 170]), '[[30,50],[50,70]]', 'a range with room before it');
    assertEqual(ranges([110, 170]), '[[0,10],[10,70]]', 'a range with less room before it');
    assertEqual(ranges([150, 200]), '[[0,50],[50,100]]', 'a range with just that room');
    assertEqual(ranges([100, 170]), 'null', 'a range at the start');
});

await check('a side is named by its thread, or by the number of its threads', () => {
    assertEqual([sideName(['main']), sideName(['a', 'b']), sideName([])].join(), 'thread main,2 threads,0 threads', 'the names');
});

/** The titles of what is offered, and what the commands ask of the page. */
function commandsOf({ info, view, selected, made }) {
    const calls = [];
    const host = new Proxy({}, { get: (_, name) => (...args) => calls.push([name, ...args]) });
    const commands = compareCommands({ host, info: { value: info }, made: made ?? null, store: { selectedThreads: { value: selected }, view: { value: view } } });
    const offered = commands.filter((command) => command.isOffered());
    return { calls, titles: offered.map(({ title }) => title), run: (title) => offered.find((command) => command.title.includes(title)).run() };
}

const INFO = { threads: [{ name: 'a' }, { name: 'b' }, { name: 'c' }], rangeStart: 0 };
const VIEW = { preview: null, ranges: [[10, 20]] };

await check('the selected range and threads are compared with the rest', () => {
    const { calls, run } = commandsOf({ info: INFO, view: VIEW, selected: [1] });
    run('range before');
    run('with the others');
    assertEqual(JSON.stringify(calls), '[["compareRanges",[0,10],[10,20]],["compareThreads",[false,true,false],["2 threads","thread b"]]]', 'the calls');
    const { calls: others, run: runOther } = commandsOf({ info: INFO, view: { ...VIEW, preview: [14, 16] }, selected: [1] });
    runOther('range before');
    assertEqual(JSON.stringify(others), '[["compareRanges",[12,14],[14,16]]]', 'the selection goes before the zoom');
});

await check('only what makes sense is offered', () => {
    const count = (change) => commandsOf({ info: INFO, view: VIEW, selected: [1], ...change }).titles.length;
    assertEqual(count({}), 4, 'a profile');
    assertEqual(count({ selected: [0, 1, 2] }), 3, 'all threads are selected');
    assertEqual(count({ view: { preview: null, ranges: [] } }), 3, 'no range');
    assertEqual(count({ info: { ...INFO, isLive: true } }), 0, 'a recording that goes on');
    assertEqual(count({ info: { ...INFO, comparison: {} } }), 0, 'a comparison from a file');
    assertEqual(commandsOf({ info: { ...INFO, comparison: {} }, view: VIEW, selected: [1], made: { forgives: true } }).titles.join(), 'Match functions by full name', 'a comparison that forgives');
    assertEqual(count({ info: { ...INFO, comparison: {} }, made: { forgives: false } }), 1, 'a comparison by full names');
});
