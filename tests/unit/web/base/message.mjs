// Errors as sentences.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ messageOf }] = await loadParts(['base/message']);

await check('an error has its message; anything else that is thrown is its text', () => {
    assertEqual(messageOf(new RangeError('too far')), 'too far', 'an error');
    assertEqual([messageOf('text'), messageOf(undefined), messageOf(4)].join(), 'text,undefined,4', 'others');
});
