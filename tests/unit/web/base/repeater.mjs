// An action that runs once at a time.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ Repeater }] = await loadParts(['base/repeater']);

/** A repeater whose runs end one by one. */
function controlled() {
    const runs = [];
    const repeater = new Repeater(() => new Promise((resolve, reject) => runs.push({ resolve, reject })));
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    return { repeater, runs, turn };
}

await check('requests during a run lead to one more run', async () => {
    const { repeater, runs, turn } = controlled();
    assertEqual(repeater.isRunning, false, 'whether it runs at first');
    repeater.request();
    repeater.request();
    assertEqual(runs.length, 0, 'runs within the event');
    assertEqual(repeater.isRunning, true, 'whether it runs');
    await turn();
    assertEqual(runs.length, 1, 'runs after two requests of one event');
    repeater.request();
    repeater.request();
    await turn();
    assertEqual(runs.length, 1, 'runs while the first lasts');
    runs[0].resolve();
    await turn();
    assertEqual(runs.length, 2, 'runs after the first');
    runs[1].resolve();
    await repeater.settled();
    assertEqual([runs.length, repeater.isRunning].join(), '2,false', 'runs in all, and whether it runs');
});

await check('a request after a run begins another; settled() waits for it', async () => {
    const { repeater, runs, turn } = controlled();
    repeater.request();
    await turn();
    runs[0].resolve();
    await repeater.settled();
    repeater.request();
    let isSettled = false;
    const settled = repeater.settled().then(() => {
        isSettled = true;
    });
    await turn();
    assertEqual([runs.length, isSettled].join(), '2,false', 'runs, and whether it is settled');
    runs[1].resolve();
    await settled;
});

await check('a cancelled request leads to no run', async () => {
    const { repeater, runs, turn } = controlled();
    repeater.request();
    await turn();
    repeater.request();
    repeater.cancel();
    runs[0].resolve();
    await repeater.settled();
    assertEqual(runs.length, 1, 'runs');
});
