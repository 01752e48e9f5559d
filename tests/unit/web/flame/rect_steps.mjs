// Steps from rect to rect of a chart.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ firstPlace, neighbor, samePlace, scrollToRow, selectedPlace }] = await loadParts(['flame/rect_steps']);

/** main with work and walk on it; on work leaf, a wider leaf and an aggregate. */
const RECTS = {
    depth: [0, 1, 1, 2, 2, 2],
    parent: [-1, 0, 0, 1, 1, 1],
    start: [0, 0, 0.6, 0, 0.1, 0.4],
    end: [1, 0.6, 1, 0.1, 0.3, 0.6],
    func: [0, 1, 2, 3, 4, -1],
};
const band = (selected = [], more = {}) => ({ rects: RECTS, span: [0, 1], firstRow: 0, rows: 3, selected: Uint8Array.from(RECTS.depth, (_, at) => (selected.includes(at) ? 1 : 0)), ...more });
const frame = (bands, more = {}) => ({ bands, shown: [0, 1], canvasWidth: 100, left: 0, width: 100, height: 60, origin: 0, fromBottom: false, ...more });
const step = (rect, key, more) => neighbor(frame([band()], more), { band: 0, rect }, key)?.rect ?? null;

await check('up and down go to the caller and the widest callee', () => {
    assertEqual([step(0, 'ArrowDown'), step(1, 'ArrowDown'), step(2, 'ArrowDown')].join(), '1,4,', 'down');
    const even = { ...RECTS, end: [1, 0.5, 1, 0, 0, 0], start: [0, 0, 0.5, 0, 0, 0] };
    assertEqual(neighbor(frame([band([], { rects: even })]), { band: 0, rect: 0 }, 'ArrowDown').rect, 1, 'the first of two that are equally wide');
    assertEqual([step(4, 'ArrowUp'), step(1, 'ArrowUp'), step(0, 'ArrowUp')].join(), '1,0,', 'up');
    const grown = { fromBottom: true };
    assertEqual([step(0, 'ArrowUp', grown), step(4, 'ArrowDown', grown)].join(), '1,1', 'in a graph that grows from the bottom');
});

await check('left and right go to the next rect of the row that is in sight and no aggregate', () => {
    assertEqual([step(1, 'ArrowRight'), step(2, 'ArrowLeft'), step(1, 'ArrowLeft'), step(2, 'ArrowRight')].join(), '2,1,,', 'a row of two');
    assertEqual([step(3, 'ArrowRight'), step(4, 'ArrowRight'), step(4, 'ArrowLeft')].join(), '4,,3', 'a row with an aggregate');
    assertEqual(step(4, 'ArrowLeft', { shown: [0.1, 1] }), null, 'a rect out of sight');
    assertEqual(neighbor(frame([]), { band: 0, rect: 0 }, 'ArrowUp'), null, 'no band');
});

await check('the selected rect that is nearest to a place is found in all bands', () => {
    const place = (bands, x) => JSON.stringify(selectedPlace(frame(bands), x));
    assertEqual(place([band([1, 2])], 20), '{"band":0,"rect":1}', 'at the left');
    assertEqual(place([band([1, 2])], 50), '{"band":0,"rect":1}', 'between both, by their middles');
    assertEqual(place([band([0])], 90), '{"band":0,"rect":0}', 'the first rect');
    assertEqual(place([band([1, 2])], 90), '{"band":0,"rect":2}', 'at the right');
    assertEqual(place([band(), band([3], { firstRow: 3 })], 90), '{"band":1,"rect":3}', 'in the second band');
    assertEqual(place([band([1]), band([1], { firstRow: 3 })], 30), '{"band":0,"rect":1}', 'the first of two that are equally near');
    assertEqual(place([band()], 0), 'null', 'none');
});

await check('the first rect is that of the first band with rects', () => {
    const empty = band([], { rects: { ...RECTS, depth: [] } });
    const one = band([], { rects: { ...RECTS, depth: [0] } });
    assertEqual(firstPlace(frame([empty, one])).band, 1, 'a band with one rect');
    assertEqual(JSON.stringify([firstPlace(frame([empty, band()])), firstPlace(frame([empty])), firstPlace(frame([]))]), '[{"band":1,"rect":0},null,null]', 'the places');
});

await check('places are the same by band and rect', () => {
    const at = (one, rect) => ({ band: one, rect });
    assertEqual([samePlace(at(0, 1), at(0, 1)), samePlace(at(0, 1), at(1, 1)), samePlace(at(0, 1), at(0, 2)), samePlace(null, at(0, 0)), samePlace(null, null)].join(), 'true,false,false,false,true', 'whether they are the same');
});

await check('a row is scrolled to with a row around it, if it is out of sight', () => {
    const chart = { contentHeight: 900, fromBottom: false, height: 90, scrollTop: 180 };
    const to = (row, more) => scrollToRow(row, { ...chart, ...more });
    assertEqual([to(10), to(12), to(14)].join(), '180,180,180', 'rows in sight');
    assertEqual([to(9), to(15)].join(), '144,216', 'rows just out of sight');
    assertEqual([to(39, { fromBottom: true }), to(40, { fromBottom: true }), to(30, { fromBottom: true })].join(), '180,144,288', 'row 0 is at the bottom');
});
