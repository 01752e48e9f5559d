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

await check('a name without room loses its arguments first, then namespaces, then its end', () => {
    const context = { measureText: () => ({ width: 10 }) };
    const fit = (text, room) => rectDrawing.fitName(context, text, room).join('');
    assertEqual(fit('std::sort', 90), 'std::sort', 'all of it');
    assertEqual(fit('a::Map::at(int const&)', 180), 'a::Map::at(int co…', 'a long list of parameters');
    assertEqual(fit('a::Map::at(int const&)', 105), 'a::Map::at', 'no parameters');
    assertEqual(fit('a::Map::at(int const&)', 80), '…Map::at', 'the class is cut last');
    assertEqual(fit('a::Map::at(int const&)', 40), '…at', 'no class');
    assertEqual(rectDrawing.fitName(context, 'a::at(b)', 80).join('|'), 'a::|at|(b)', 'what is around the own name');
    assertEqual(fit('(anonymous namespace)::work', 80), '…work', 'a namespace without a name');
    assertEqual(fit('execute_one_pass', 60), 'execu…', 'no namespace');
    assertEqual(fit('a::execute_one_pass', 60), 'execu…', 'not even the own name');
    for (let room = 0; room < 90; room++) assert(!fit('toplev::main', room).startsWith('……'), `only dots in ${room}`);
    assertEqual(fit('a<'.repeat(300), 40).length, 4, 'brackets that do not close');
});
