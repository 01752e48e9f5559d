// The source panel in the address.
import { loadParts, random } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [sourceCodec] = await loadParts(['view/source_codec']);

await check('the source panel in the address is the same when it is read back', () => {
    assertEqual(sourceCodec.decodeSourcePanel(new URLSearchParams('thread=0&assemblyView')), null, 'a panel without a function');
    for (let round = 0; round < 500; round++) {
        const panel = {
            func: [-1, 0, random(1000)][random(3)],
            path: Array.from({ length: random(5) }, () => random(2000)),
            inverted: false,
            source: random(4),
            isOfRow: random(2) === 0,
            assembly: random(2) === 0,
            symbol: -1,
            full: random(2) === 0,
        };
        panel.inverted = panel.path.length > 0 && random(2) === 0;
        if (panel.func >= 0 && random(3) === 0) panel.source = -1;
        if (panel.assembly && random(2) === 0) panel.symbol = random(3);
        const query = new URLSearchParams();
        sourceCodec.encodeSourcePanel(panel, query);
        const again = sourceCodec.decodeSourcePanel(new URLSearchParams(query.toString()));
        assertEqual(JSON.stringify(again), JSON.stringify(panel), 'the panel');
    }
    for (const bad of ['sourceFunc=x', 'sourceFunc=-1', 'sourceViewIndex=1e9', 'sourceFunc='])
        assertEqual(sourceCodec.decodeSourcePanel(new URLSearchParams(bad)), null, bad);
});
