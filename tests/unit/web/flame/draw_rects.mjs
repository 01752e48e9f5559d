// Names on rects.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';

const [rectDrawing] = await loadParts(['flame/draw_rects']);

await check('names are cut so that they fit, with dots, between characters', () => {
    // Each code point is 10 wide, whatever it is.
    const context = { measureText: () => ({ width: 10 }) };
    const fit = (text, room) => rectDrawing.fitText(context, text, room);
    assertEqual(fit('main', 40), 'main', 'what just fits');
    assertEqual(fit('main', 39), 'ma…', 'what just does not');
    assertEqual(fit('main', 10), '', 'what has no room for a character and dots');
    assertEqual(fit('🙂🙂🙂', 25), '🙂…', 'a pair of surrogates');
    assertEqual(fit('', 0), '', 'nothing');
});

await check('a name without room loses the namespaces first, then its end', () => {
    const context = { measureText: () => ({ width: 10 }) };
    const fit = (text, room) => rectDrawing.fitName(context, text, room);
    assertEqual(fit('std::sort', 90), 'std::sort', 'all of it');
    assertEqual(fit('std::map<std::string, int>::at(a::b const&)', 120), '…at(a::b co…', 'a method');
    assertEqual(fit('(anonymous namespace)::work', 80), '…work', 'a namespace without a name');
    assertEqual(fit('execute_one_pass', 60), 'execu…', 'no namespace');
    for (let room = 0; room < 90; room++) assert(!fit('toplev::main', room).startsWith('……'), `only dots in ${room}`);
    assertEqual(fit('a<'.repeat(300), 40).length, 4, 'brackets that do not close');
});
