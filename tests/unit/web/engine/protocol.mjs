// Messages between the page and the worker.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ ClosedError }] = await loadParts(['engine/protocol']);

await check('a closed query is an error of its own kind, with a message', () => {
    const error = new ClosedError('closed');
    assertEqual([error instanceof Error, error.message, new Error('other') instanceof ClosedError].join(), 'true,closed,false', 'the error');
});
