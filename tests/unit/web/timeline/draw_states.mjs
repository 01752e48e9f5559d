// The pixels of a lane of thread states.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [drawStates] = await loadParts(['timeline/draw_states']);
const RUN = { color: 1, stripe: 1 };
const LOCK = { color: 2, stripe: 2 };
const UNSEEN = { color: 3, stripe: 4 };

/** Two threads: one runs and waits, the other one is there in the second pixel only. */
const lane = {
    width: 3,
    range: [0, 3],
    threads: 2,
    there: Float32Array.of(1, 2, 0),
    states: [
        { state: 0, shares: Float32Array.of(0.5, 1, 0) },
        { state: 2, shares: Float32Array.of(0.5, 0.5, 0) },
    ],
};

await check('a column has the shares of its states, one thread as high as its part of the threads', () => {
    const pixels = new Uint32Array(3 * 8);
    drawStates.paintLane(pixels, lane, 8, [RUN, LOCK]);
    const column = (x) => Array.from({ length: 8 }, (_, row) => pixels[row * 3 + x]).join('');
    assertEqual(column(0), '00002211', 'half of a thread runs, half waits, one thread is not there');
    assertEqual(column(1), '00221111', 'time of which nothing is known stays empty');
    assertEqual(column(2), '00000000', 'nobody is there');
    const one = new Uint32Array(8);
    drawStates.paintLane(one, { ...lane, width: 1, threads: 1, states: [{ state: 0, shares: Float32Array.of(0.3) }, { state: 2, shares: Float32Array.of(0.15) }] }, 8, [RUN, LOCK]);
    assertEqual(one.join(''), '00002211', 'heights of 2.4 and 3.6 pixels');
});

await check('states that have more time than there is are reduced together', () => {
    const crowded = { ...lane, states: [{ state: 0, shares: Float32Array.of(1.5, 0, 0) }, { state: 2, shares: Float32Array.of(0.5, 0, 0) }] };
    assertEqual(drawStates.heightsAt(crowded, 0).join(), '0.375,0.125', 'heights');
});

await check('the state at a height is the one that is drawn there', () => {
    const at = [0.1, 0.3, 0.6].map((height) => drawStates.stateAtHeight(lane, 0, height));
    assertEqual(at.join(), '0,2,-1', 'from the bottom');
});

await check('short waits of unknown reason are striped', () => {
    const pixels = new Uint32Array(3 * 8);
    drawStates.paintLane(pixels, { ...lane, threads: 1, states: [lane.states[0]] }, 8, [UNSEEN]);
    assertEqual([...new Set(pixels)].sort().join(), '0,3,4', 'colors');
});

await check('a color of the style sheets is a pixel of an image', () => {
    assertEqual(drawStates.pixelColor('#12997a').toString(16), 'ff7a9912', 'alpha, blue, green, red');
});
