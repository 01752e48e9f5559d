// The names, colors and order of thread states.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';

const [states] = await loadParts(['session/states']);
const REASONS = ['Other', 'Lock', 'Sleep', 'Disk', 'Runnable', 'Not seen', 'Mutex', 'Condition variable', 'Idle thread'];
const info = { value: { categories: [{ subcategories: REASONS }], idleCategory: 0, runnableReason: 4 } };
const all = states.createStates({ info }).threadStates.value;
const named = (name) => all.find((known) => known.name === name);

await check('each state has its number, and the last one is of short waits of unknown reason', () => {
    assertEqual(all.map(({ state }) => state).join(), Array.from({ length: REASONS.length + 2 }, (_, at) => at).join(), 'numbers');
    assert(all.at(-1).isUnseen && named('Running').state === 0, 'the first and the last state');
});

await check('a mutex has the color of locks, and other reasons have further colors', () => {
    assertEqual(named('Mutex').color, 'state-lock', 'the color of a mutex');
    assertEqual(named('Lock').color, 'state-lock', 'the color of a lock');
    assert(named('Condition variable').color.startsWith('state-further-'), named('Condition variable').color);
});

await check('from the bottom: running, runnable, locks, other reasons, then what is quiet', () => {
    const order = [...all].sort((a, b) => a.rank - b.rank).map(({ name }) => name);
    assertEqual([...new Set(order)].join(), 'Running,Runnable,Lock,Mutex,Disk,Condition variable,Sleep,Idle thread,Other waits,Short waits, cause not seen', 'the order');
});
