// What ends with a session.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

// Of one build: an effect follows the signals of its own copy of the library.
const [{ Lifetime }, { Request }] = await loadParts(['base/lifetime', 'session/request']);

await check('the end runs what was registered, the last first, and once', () => {
    const lifetime = new Lifetime();
    const ended = [];
    lifetime.onEnd(() => ended.push(`first ${lifetime.isOver}`));
    lifetime.onEnd(() => ended.push('second'));
    assertEqual(lifetime.isOver, false, 'whether it is over before');
    lifetime.end();
    lifetime.end();
    assertEqual(ended.join(), 'second,first true', 'the ends');
    assertEqual(lifetime.isOver, true, 'whether it is over');
});

await check('an effect runs at once, then as its signals change, and no more after the end', () => {
    const lifetime = new Lifetime();
    const { value } = new Request();
    const seen = [];
    lifetime.effect(() => {
        seen.push(value.value);
    });
    value.value = 1;
    lifetime.end();
    value.value = 2;
    assertEqual(JSON.stringify(seen), '[null,1]', 'the values');
});
