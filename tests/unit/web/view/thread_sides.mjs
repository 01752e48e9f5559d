// Threads of a comparison.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ sideOfThread, threadOnAllSides }] = await loadParts(['view/thread_sides']);

await check('a thread has a side, and a run where there are several', () => {
    const side = (comparison, thread) => sideOfThread(comparison, { run: 0, ...thread });
    const one = { baseRuns: 1, newRuns: 3 };
    assertEqual(side(undefined, { side: 0 }), '', 'no comparison');
    assertEqual([side(one, { side: 0 }), side(one, { side: 1 }), side(one, { side: 1, run: 2 })].join('|'), 'Base|New, run 1|New, run 3', 'the sides');
    assertEqual(side({ baseRuns: 2, newRuns: 1 }, { side: 0, run: 1 }), 'Base, run 2', 'the second base');
});

const thread = (index, side, name, more = {}) => ({ index, side, run: 0, name, processName: 'app', isMain: false, ...more });
const alike = (threads, index) => threadOnAllSides(threads, index).join();

await check('threads of other sides are the same by name and process, else by name, else as main threads', () => {
    const base = [thread(0, 0, 'main', { isMain: true }), thread(1, 0, 'worker'), thread(2, 0, 'worker', { processName: 'tool' })];
    const sides = [...base, thread(5, 1, 'worker', { processName: 'tool' }), thread(6, 1, 'worker'), thread(7, 1, 'new main', { isMain: true })];
    assertEqual(alike(sides, 1), '1,6', 'name and process');
    assertEqual(alike(sides, 2), '2,5', 'name and the other process');
    assertEqual(alike(sides, 0), '0,7', 'main threads');
    assertEqual(alike([...base, thread(5, 1, 'worker', { processName: 'renamed' })], 1), '1,5', 'the name alone');
    assertEqual(alike([...base, thread(5, 1, 'worker', { processName: 'renamed', isMain: true })], 1), '1', 'a main thread is no worker');
    assertEqual(alike([...base, thread(5, 1, 'other')], 1), '1', 'none');
});

await check('each run of each side has its threads', () => {
    const threads = [thread(0, 0, 'w'), thread(1, 0, 'w'), thread(2, 0, 'w', { run: 1 }), thread(3, 1, 'w'), thread(4, 1, 'w')];
    assertEqual(alike(threads, 0), '0,2,3,4', 'not the other thread of the same run');
    assertEqual(alike(threads, 9), '9', 'a thread that does not exist');
});
