// Selecting threads as items of a list.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ chosenThreads }] = await loadParts(['view/thread_choice']);
const ORDER = [4, 2, 7, 1, 9];
const click = (chosen, thread, mode, clicked = [thread]) => chosenThreads(chosen, { thread, clicked, mode, order: ORDER }).join();

await check('a click selects a thread, and in a comparison that of each side', () => {
    assertEqual(click([1, 2], 7, 'only'), '7', 'a thread');
    assertEqual(click([1, 2], 7, 'only', [7, 30]), '7,30', 'a thread and that of the other side');
});

await check('with Ctrl a thread is added or removed', () => {
    assertEqual([click([1, 2], 7, 'toggle', [7, 30]), click([1, 7, 2], 7, 'toggle'), click([7], 7, 'toggle')].join('|'), '1,2,7|1,2|', 'the threads');
});

await check('with Shift all from the last selected thread are selected, the clicked one last', () => {
    assertEqual(click([9, 2], 1, 'extend'), '2,7,1', 'downwards');
    assertEqual(click([9, 1], 4, 'extend'), '1,7,2,4', 'upwards');
    assertEqual(click([9, 4], 7, 'extend'), '4,2,7', 'from the first thread');
    assertEqual(click([2], 2, 'extend'), '2', 'the same thread');
    assertEqual(click([], 7, 'extend'), '7', 'none is selected');
    assertEqual([click([30], 7, 'extend'), click([4], 30, 'extend', [30, 31])].join('|'), '7|30,31', 'threads that are not shown');
});
