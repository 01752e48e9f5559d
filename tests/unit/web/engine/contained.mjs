// Where the files of the page are.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

await check('a server has workers beside the page; a page that is one file has their addresses', async () => {
    const [served] = await loadParts(['engine/contained']);
    assertEqual(served.contained, null, 'what a served page contains');
    assertEqual(served.workerAddress('worker.js', 'http://localhost/token/engine.js'), 'http://localhost/token/worker.js', 'beside the base');
    globalThis.profContained = { workers: { 'worker.js': 'blob:1' } };
    const [saved] = await loadParts(['engine/contained']);
    delete globalThis.profContained;
    assertEqual(saved.workerAddress('worker.js', 'blob:0'), 'blob:1', 'a contained worker');
    assertEqual(saved.workerAddress('helper.js', 'http://localhost/a/engine.js'), 'http://localhost/a/helper.js', 'another file');
});
