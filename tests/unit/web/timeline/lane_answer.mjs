// The lanes in an answer of the engine.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';

const [laneAnswer, api] = await loadParts(['timeline/lane_answer', 'engine/api']);
const asked = [
    { key: 'process', threads: [0, 1] },
    { key: 'thread', threads: [1] },
];

await check('each lane has the rows of its states, sorted by their rank, and the time in which its threads exist', () => {
    const answer = {
        width: 2,
        rows: Int32Array.of(0, 5, 0, api.STATE_THERE, 0, 3, 1, 5),
        shares: Float32Array.of(0.1, 0.2, 2, 1, 0.3, 0.4, 0.5, 0.6),
    };
    const lanes = laneAnswer.lanesOf(asked, [10, 20], answer, (state) => state);
    const texts = [...lanes].map(([key, { there, states }]) =>
        [key, [...there].join(), ...states.map(({ state, shares }) => `${state}:${[...shares].map((share) => share.toFixed(1)).join()}`)].join(' '),
    );
    assertEqual(texts.join(' | '), 'process 2,1 3:0.3,0.4 5:0.1,0.2 | thread 0,0 5:0.5,0.6', 'lanes');
    assertEqual(lanes.get('process').threads, 2, 'threads of the process');
    assert(lanes.get('thread').range.join() === '10,20', 'the range');
});

await check('rows of a lane that nobody asked for are left out', () => {
    const answer = { width: 1, rows: Int32Array.of(7, 5), shares: Float32Array.of(1) };
    const lanes = laneAnswer.lanesOf(asked, [0, 1], answer, (state) => state);
    assertEqual([...lanes.values()].flatMap(({ states }) => states).length, 0, 'states');
});
