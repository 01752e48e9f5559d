// Draws the page without a browser, on a canvas that stores the color of each pixel, and compares each pixel with the
// data at its middle.
import { readFileSync } from 'node:fs';
import { loadParts, random } from './page_modules.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';
import { writeHexColors } from '../../web/oklch.mjs';

const [rectDrawing, strip, rectStrip, counter, activity, markerChart, jumps, rectColors, colors] = await loadParts([
    'flame/draw_rects', 'timeline/draw_strip', 'timeline/draw_rect_strip', 'timeline/draw_counter', 'timeline/draw_activity', 'markers/draw_marker_chart',
    'source/jumps', 'base/rect_colors', 'base/colors',
]);

// ---- the canvas ----

/** Every character is so wide, px. */
const LETTER = 5;

/** What is drawn on it: colors by pixel as far as it is rectangles, else as lists. */
class Canvas {
    width = 0;
    height = 0;
    style = {};
    texts = [];
    strokes = [];
    pixels = new Map();
    fills = [];
    scaling = [1, 1];
    path = [];

    getContext() {
        return this;
    }
    setTransform(x, _b, _c, y) {
        this.scaling = [x, y];
    }
    scale(x, y) {
        this.scaling = [this.scaling[0] * x, this.scaling[1] * y];
    }
    clearRect() {
        this.pixels.clear();
    }
    createImageData(width, height) {
        return { width, height, data: new Uint8ClampedArray(width * height * 4) };
    }
    putImageData(image) {
        const data = image.data;
        for (let at = 0; at < data.length; at += 4)
            if (data[at + 3] === 255) this.pixels.set(at / 4, `#${[...data.subarray(at, at + 3)].map((part) => part.toString(16).padStart(2, '0')).join('')}`);
    }
    measureText(text) {
        return { width: [...text].length * LETTER };
    }
    fillText(text, x, y) {
        this.texts.push({ text, x, y });
    }
    strokeRect(...rectangle) {
        this.strokes.push({ rectangle, color: this.strokeStyle });
    }
    stroke(path) {
        this.strokes.push({ points: path?.points ?? this.path, color: this.strokeStyle, width: this.lineWidth });
    }
    save() {}
    restore() {}
    rect() {}
    clip() {}
    /** Pixels whose middle lies in the rectangle. */
    fillRect(x, y, width, height) {
        const [sx, sy] = this.scaling;
        const first = (from) => Math.ceil(from - 0.5);
        for (let row = Math.max(0, first(y * sy)); row < Math.min(this.height, first((y + height) * sy)); row++)
            for (let column = Math.max(0, first(x * sx)); column < Math.min(this.width, first((x + width) * sx)); column++)
                this.pixels.set(row * this.width + column, this.fillStyle);
    }
    beginPath() {
        this.path = [];
    }
    moveTo(x, y) {
        this.path.push(`${x} ${y}`);
    }
    lineTo(x, y) {
        this.path.push(`${x} ${y}`);
    }
    closePath() {}
    fill(path) {
        this.fills.push({ color: this.fillStyle, alpha: this.globalAlpha, points: new Set(path?.points ?? this.path) });
    }
    colorAt(column, row) {
        return this.pixels.get(row * this.width + column) ?? '';
    }
}

globalThis.Path2D = class {
    constructor(other) {
        this.points = [...(other?.points ?? [])];
    }
    moveTo(x, y) {
        this.points.push(`${x} ${y}`);
    }
    lineTo(x, y) {
        this.points.push(`${x} ${y}`);
    }
    closePath() {}
};

function useRatio(ratio) {
    globalThis.window = { devicePixelRatio: ratio };
}

// ---- rects of charts ----

const COLORS = {
    rects: Array.from({ length: 3 }, (_, category) =>
        Object.fromEntries(['fill', 'oddFill', 'hover', 'selected', 'faint', 'aggregate', 'selectedText', 'selectedNarrow'].map((use, at) => [use, `#0${category}0${at}ff`])),
    ),
    surface: '#ffffff',
    text: '#000000',
    quiet: '#808080',
    quietText: '#404040',
};

/** Some rects side by side in each of `rows`; some are aggregates, some have no match. */
function randomRects(rows) {
    const list = [];
    for (let depth = 0; depth < rows; depth++)
        for (let at = random(20) / 64; at < 1.1; ) {
            const end = at + (1 + random(random(3) ? 30 : 3)) / 64;
            if (random(5)) list.push({ start: at, end, depth, func: random(6) - 1, category: random(3), matches: random(4) ? 1 : 0 });
            at = end;
        }
    const column = (Type, key) => Type.from(list, (one) => one[key]);
    return {
        start: column(Float64Array, 'start'),
        end: column(Float64Array, 'end'),
        depth: column(Int32Array, 'depth'),
        func: column(Int32Array, 'func'),
        category: column(Int32Array, 'category'),
        matches: column(Uint8Array, 'matches'),
        parent: Int32Array.from(list, ({ depth }) => (depth ? 0 : -1)), // no rect is a wait for a CPU, which has a hatch
    };
}

/** No side of a rect lies in the middle of a pixel: that could be drawn either way. */
function randomFrame() {
    const bands = [];
    let firstRow = 0;
    for (let count = 1 + random(3); count > 0; count--) {
        const rows = 1 + random(3);
        const of = randomRects(rows);
        const from = random(10) / 10;
        bands.push({ rects: of, span: [from, from + 1 + random(20) / 7], firstRow, rows, selected: of.depth.map(() => (random(6) ? 0 : 1)) });
        firstRow += rows;
    }
    const band = random(bands.length);
    const left = random(20) + 0.3;
    const width = 60 + random(80);
    const shown = random(10) / 9;
    return {
        bands: bands.map((one) => ({ ...one, selected: Uint8Array.from(one.selected) })),
        shown: [shown, shown + 0.2 + random(20) / 11],
        canvasWidth: Math.ceil(left) + width + random(10),
        height: 20 + random(150),
        left,
        width,
        origin: random(80) - 45 + 0.2,
        fromBottom: random(2) === 0,
        hovered: random(3) && bands[band].rects.depth.length > 0 ? { band, rect: random(bands[band].rects.depth.length) } : null,
        hasFocus: random(2) === 0,
        colors: COLORS,
        label: (func) => (func < 0 ? '' : 'abcdefghijklmno'.slice(0, 3 * func)),
    };
}

function rowAt(frame, y) {
    return Math.floor((frame.fromBottom ? frame.origin - y : y - frame.origin) / rectDrawing.ROW_HEIGHT);
}

/** What lies at a place: the part of each band that the place is, in the rects of that row. */
function slowPlace(frame, x, y) {
    if (x < frame.left || x >= frame.left + frame.width) return null;
    const value = frame.shown[0] + ((x - frame.left) / frame.width) * (frame.shown[1] - frame.shown[0]);
    for (const [band, { firstRow, span, rects: all }] of frame.bands.entries())
        for (let rect = 0; rect < all.depth.length; rect++) {
            const share = (value - span[0]) / (span[1] - span[0]);
            if (firstRow + all.depth[rect] === rowAt(frame, y) && share >= all.start[rect] && share < all.end[rect]) return { band, rect };
        }
    return null;
}

function slowColor(frame, { band, rect }, isNarrow) {
    const { rects: all, selected } = frame.bands[band];
    const colors = COLORS.rects[all.category[rect]];
    if (selected[rect]) return isNarrow ? colors.selectedNarrow : colors.selected;
    if (frame.hovered?.band === band && frame.hovered.rect === rect) return colors.hover;
    if (all.matches[rect] === 0) return colors.faint;
    if (all.func[rect] === -1) return colors.aggregate;
    return all.depth[rect] % 2 === 1 ? colors.oddFill : colors.fill;
}

const placeText = (place) => (place ? `${place.band} ${place.rect}` : '');

await check('each pixel of a chart has the color of the rect that lies there', () => {
    for (let round = 0; round < 30; round++) {
        const ratio = [1, 1.5, 2, 3][random(4)];
        const gap = Math.max(1, Math.round(ratio * 0.8));
        const frame = randomFrame();
        const canvas = new Canvas();
        useRatio(ratio);
        rectDrawing.drawRects(canvas, frame);
        assertEqual(canvas.width, Math.round(frame.canvasWidth * ratio), 'the width');
        assertEqual(canvas.height, Math.round(frame.height * ratio), 'the height');
        /** Columns of each rect that is seen. */
        const columns = new Map();
        for (let row = 0; row < canvas.height; row++) {
            const y = (row + 0.5) / ratio;
            const places = Array.from({ length: canvas.width }, (_, column) => slowPlace(frame, (column + 0.5) / ratio, y));
            const isGap = rowAt(frame, y) !== rowAt(frame, (row + gap + 0.5) / ratio);
            const sides = new Map();
            for (const place of places) sides.set(placeText(place), (sides.get(placeText(place)) ?? 0) + 1);
            for (let column = canvas.width - 1, passed = 0; column >= 0; column--) {
                const [x, place] = [(column + 0.5) / ratio, places[column]];
                passed = placeText(place) === placeText(places[column + 1] ?? null) ? passed + 1 : 0;
                const width = sides.get(placeText(place));
                const hasGap = width > 2 * gap;
                assertEqual(placeText(rectDrawing.rectAt(frame, x, y)), placeText(place), `what is at ${x}, ${y}`);
                if (place && !isGap) columns.set(placeText(place), { place, first: column, width: hasGap ? width - gap : width });
                const isDrawn = place && !isGap && !(hasGap && passed < gap);
                assertEqual(canvas.colorAt(column, row), isDrawn ? slowColor(frame, place, (hasGap ? width - gap : width) <= 6 * ratio) : '', `the color at ${x}, ${y}`);
            }
        }
        const wide = [...columns.values()].filter(({ width }) => width > rectDrawing.TEXT_ROOM * ratio);
        const named = wide.filter(({ place: { band, rect } }) => frame.bands[band].rects.func[rect] > 0);
        assertEqual(canvas.texts.length, named.length, 'number of names');
        for (const { text, x, y } of canvas.texts) {
            const place = slowPlace(frame, x, y) ?? slowPlace(frame, x, y < 0 ? 0.1 : frame.height - 0.1);
            const { rects: all } = frame.bands[place.band];
            const name = frame.label(all.func[place.rect]);
            assert(text === name || (text.endsWith('…') && name.startsWith(text.slice(0, -1))), `${text} is drawn for ${name}`);
            const { width } = columns.get(placeText(place));
            assert(text.length * LETTER <= width / ratio - 2 * rectDrawing.TEXT_MARGIN, `${text} is wider than its rect`);
        }
        const framed = [...columns.values()].filter(({ place, width }) => frame.bands[place.band].selected[place.rect] && width > 6 * ratio);
        assertEqual(canvas.strokes.length, framed.length, 'number of frames');
        for (const { rectangle: [left, top, wide, high], color } of canvas.strokes) {
            assertEqual(color, frame.hasFocus ? COLORS.text : COLORS.quiet, 'the color of a frame');
            const line = Math.round(ratio);
            const sides = framed.filter(({ first, width }) => left === first + line / 2 && wide === width - line);
            const first = top - line / 2;
            const end = Math.min(canvas.height, first + Math.round(rectDrawing.ROW_HEIGHT * ratio) - gap);
            assert(sides.length > 0 && first + high + line === end, 'a frame is not around its rect');
            assertEqual(rowAt(frame, (top + 1) / ratio), rowAt(frame, (top + high - 1) / ratio), 'the row of a frame');
        }
    }
});

// ---- markers ----

await check('a marker is found where its rect is, or near it', () => {
    for (let round = 0; round < 300; round++) {
        const lines = [];
        for (let top = 0, row = 0; row < 4; row++) {
            if (random(3) === 0) {
                lines.push({ kind: 'heading', top, height: 20, row });
                top += 20;
            }
            lines.push({ kind: 'row', top, height: 16, row });
            top += 16;
        }
        const list = Array.from({ length: random(12) }, () => ({ row: random(4), start: random(80), length: random(8) * random(3) })).sort((a, b) => a.start - b.start);
        const frame = {
            lines,
            rects: { row: list.map((one) => one.row), start: list.map((one) => one.start), end: list.map((one) => one.start + one.length) },
            shown: [10, 70],
            left: 30,
            width: 120,
            scrollTop: random(30),
        };
        for (let tries = 0; tries < 100; tries++) {
            const [x, y] = [random(170), random(100)];
            const line = lines.find((one) => y + frame.scrollTop >= one.top && y + frame.scrollTop < one.top + one.height);
            assertEqual(markerChart.lineAt(lines, y + frame.scrollTop), line, 'the line');
            let expected = -1;
            let least = 3;
            list.forEach(({ row, start, length }, rect) => {
                const left = 30 + (start - 10) * 2;
                const away = Math.max(0, left - x, x - left - Math.max(2, length * 2));
                if (line?.kind !== 'row' || row !== line.row || x < 30 || away > least || (away === least && away > 0)) return;
                [expected, least] = [rect, away];
            });
            assertEqual(markerChart.markerRectAt(frame, x, y), expected, `the rect at ${x}, ${y}`);
        }
    }
});

await check('the marker chart has each marker in its row, the last one on top', () => {
    for (let round = 0; round < 30; round++) {
        const ratio = [1, 2][random(2)];
        const rows = Array.from({ length: 4 }, (_, at) => ({ category: at >> 1, isOfInstants: at === 0, rowOfName: at % 2 }));
        const lines = [];
        const lineOfRow = rows.map((row, at) => {
            const top = (lines.at(-1)?.top ?? 0) + (lines.at(-1)?.height ?? 0);
            if (at % 2 === 0) lines.push({ kind: 'heading', top, height: 20, row: at });
            return lines.push({ kind: 'row', top: top + (at % 2 === 0 ? 20 : 0), height: 16, row: at }) - 1;
        });
        const list = Array.from({ length: random(16) }, () => ({ row: random(4), start: random(80), length: random(10) * random(4) })).sort((a, b) => a.start - b.start);
        const frame = {
            rows, lines, lineOfRow,
            rects: { row: list.map((one) => one.row), start: list.map((one) => one.start), end: list.map((one) => one.start + one.length), marker: list.map((_, rect) => rect + 100), count: list.map(() => 1 + (random(4) === 0)) },
            shown: [10.2, 70.2], canvasWidth: 160, height: 60 + random(40), left: 30, width: 120, scrollTop: random(30),
            hovered: random(6) - 1, selected: 99 + random(6), hasFocus: random(2) === 0, colors: { ...COLORS, line: 'line', accent: 'accent' },
            categoryName: (category) => `category ${category}`, label: (marker) => `m${marker}`, rowName: (row) => `r${row}`,
        };
        const canvas = new Canvas();
        useRatio(ratio);
        markerChart.drawMarkerChart(canvas, frame);
        for (let at = 0; at < canvas.width * canvas.height; at++) {
            const [x, y] = [((at % canvas.width) + 0.5) / ratio, (Math.floor(at / canvas.width) + 0.5) / ratio];
            const line = lines.find((one) => y + frame.scrollTop >= one.top && y + frame.scrollTop < one.top + one.height);
            const inLine = y + frame.scrollTop - (line?.top ?? 0);
            const colors = COLORS.rects[rows[line?.row ?? 0].category];
            let color = '';
            if (line?.kind === 'heading' && inLine < 19) color = x < 3 ? colors.selected : colors.aggregate;
            if (line?.kind === 'row' && inLine >= 15) color = 'line';
            if (x >= 29 && x < 30) color = 'line';
            list.forEach(({ row, start, length }, rect) => {
                const left = 30 + (start - 10.2) * 2;
                const [from, to] = [Math.max(30, left), Math.min(150, left + Math.max(2, length * 2))];
                const gap = to - from > 3 ? 1 : 0;
                if (line?.kind !== 'row' || line.row !== row || rows[row].isOfInstants || start > 70.2 || start + length < 10.2) return;
                if (inLine < 1 || inLine >= 15 || x < from || x >= to - gap) return;
                const isPlain = frame.selected !== rect + 100 && to - from > 2 && frame.rects.count[rect] === 1;
                color = !isPlain ? colors.selected : frame.hovered === rect ? colors.hover : colors.fill;
            });
            assertEqual(canvas.colorAt(at % canvas.width, Math.floor(at / canvas.width)), color, `the color at ${x}, ${y}`);
        }
        const isSeen = (row) => lines[lineOfRow[row]].top - frame.scrollTop < frame.height && lines[lineOfRow[row]].top + 16 > frame.scrollTop;
        const instants = list.filter((one) => one.row === 0 && isSeen(0) && one.start <= 70.2 && one.start + one.length >= 10.2);
        assertEqual(canvas.fills.length, instants.length, 'number of diamonds');
        instants.forEach(({ start }, at) => {
            const [x, y] = [30 + ((start - 10.2) / 60) * 120, lines[lineOfRow[0]].top - frame.scrollTop + 8];
            const points = [...canvas.fills[at].points].map((point) => point.split(' ').map(Number));
            const corners = [[x, y - 4], [x + 4, y], [x, y + 4], [x - 4, y]];
            assert(points.every((point, corner) => Math.hypot(point[0] - corners[corner][0], point[1] - corners[corner][1]) < 1e-6), 'a diamond is elsewhere');
        });
        const names = canvas.texts.map(({ text }) => text);
        assertEqual(rows.filter((_, at) => at % 2 === 0 && isSeen(at)).length, names.filter((name) => /^(r\d|…|)$/.test(name)).length, 'number of names');
        const headings = lines.filter((one) => one.kind === 'heading' && one.top + 20 > frame.scrollTop && one.top - frame.scrollTop < frame.height);
        assertEqual(names.filter((name) => /^category/.test(name)).join(), headings.map((one) => `category ${rows[one.row].category}`).join(), 'the headings');
        for (const { text, x, y } of canvas.texts.filter((one) => /^m\d\d\d$/.test(one.text))) {
            const rect = Number(text.slice(1)) - 100;
            const { row, start, length } = list[rect];
            const left = Math.max(30, 30 + (start - 10.2) * 2);
            assert(frame.rects.count[rect] === 1 && Math.abs(x - left - 4) < 1e-6, `the label of rect ${rect} is at ${x}`);
            assert(x + text.length * LETTER <= Math.min(150, 30 + (start + length - 10.2) * 2), 'a label is wider than its rect');
            assertEqual(y, lines[lineOfRow[row]].top + 8 - frame.scrollTop, 'the height of a label');
        }
    }
});

await check('rects of a strip are as wide as their time, and always visible', () => {
    for (let round = 0; round < 200; round++) {
        const ratio = [1, 2][random(2)];
        const leastWidth = 1 + random(3);
        const list = Array.from({ length: random(10) }, () => ({ start: random(60) - 10, length: random(30) })).sort((a, b) => a.start - b.start);
        const canvas = new Canvas();
        useRatio(ratio);
        rectStrip.drawRectStrip(canvas, {
            rects: { row: list.map(() => 0), start: list.map((one) => one.start), end: list.map((one) => one.start + one.length) },
            range: [0.1, 40.1],
            width: 80,
            height: 12,
            leastWidth,
            look: (rect) => ({ color: `rect ${rect}`, top: 2 + (rect % 3), bottom: 10 - (rect % 2) }),
        });
        for (let row = 0; row < canvas.height; row++)
            for (let column = 0; column < canvas.width; column++) {
                const [x, y] = [(column + 0.5) / ratio, (row + 0.5) / ratio];
                const at = list.findLastIndex(({ start, length }, rect) => {
                    const left = (start - 0.1) * 2;
                    return x >= left && x < left + Math.max(leastWidth, length * 2) && y >= 2 + (rect % 3) && y < 10 - (rect % 2);
                });
                assertEqual(canvas.colorAt(column, row), at < 0 ? '' : `rect ${at}`, `the color at ${x}, ${y}`);
            }
    }
});

// ---- the timeline ----

await check('each column of the sample strip shows whether it has a sample, and whether a sample matches', () => {
    const colors = { idle: 'idle', sample: 'sample', matching: 'matching' };
    for (let round = 0; round < 200; round++) {
        const columns = 1 + random(40);
        const of = () => Uint8Array.from({ length: columns }, () => random(3));
        const [all, matching] = [of(), random(2) ? of() : null];
        const canvas = new Canvas();
        const ratio = 1 + random(2);
        useRatio(ratio);
        strip.drawStrip(canvas, all, matching, colors, columns, 8);
        for (let x = 0; x < columns; x++) {
            const color = matching?.[x] === 2 ? 'matching' : all[x] === 2 && !matching ? 'sample' : all[x] ? 'idle' : '';
            assertEqual(canvas.colorAt(x * ratio, 8 * ratio - 1), color, `the color at the bottom of column ${x}`);
            assertEqual(canvas.colorAt((x + 1) * ratio - 1, 0), color === 'idle' ? '' : color, `the color at the top of column ${x}`);
        }
    }
});

await check('areas of categories are stacked; the height is one CPU, or the maximum of several threads', () => {
    for (let round = 0; round < 200; round++) {
        const width = 1 + random(12);
        const categories = [4, 7, 9];
        const shares = () => Float32Array.from({ length: 3 * width }, () => (random(3) ? random(8) / 16 : 0));
        const one = { width, categories, shares: shares(), matching: random(2) ? shares() : null };
        const order = [[0, 1, 2], [2, 0, 1]][random(2)];
        const colors = ['a', random(4) ? 'b' : null, 'c'];
        const canvas = new Canvas();
        const ratio = 1 + random(2);
        useRatio(ratio);
        const faintColors = random(2) ? ['A', colors[1] && 'B', 'C'] : null;
        activity.drawActivity(canvas, one, { order, colors, faintColors }, width, 35);
        const used = (x) => one.shares.filter((_, at) => at % width === x).reduce((sum, share) => sum + share, 0);
        const room = (32 * ratio) / Math.max(1, ...Array.from({ length: width }, (_, x) => used(x)));
        const y = (share) => 35 * ratio - share * room;
        assertEqual(canvas.scaling[0], canvas.width / width, 'the width of a column');
        const expected = [];
        const behind = faintColors ? [one.shares, 1, faintColors] : [one.shares, 'faint', colors];
        for (const [of, alpha, colorOf] of one.matching ? [behind, [one.matching, 1, colors]] : [[one.shares, 1, colors]]) {
            const base = new Array(width).fill(0);
            for (const at of order) {
                const points = [];
                const low = [...base];
                for (let x = 0; colors[at] && x < width; x++) base[x] = low[x] + of[at * width + x];
                const isThere = (x) => base[x] > low[x];
                for (let x = 0; x < width; x++) {
                    if (!isThere(x)) continue;
                    points.push(`${x + 0.5} ${y(base[x])}`, `${x + 0.5} ${y(low[x])}`);
                    if (!isThere(x - 1)) points.push(`${x} ${y(low[x])}`);
                    if (!isThere(x + 1)) points.push(`${x + 1} ${y(base[x])}`, `${x + 1} ${y(low[x])}`);
                }
                if (points.length > 0) expected.push({ color: colorOf[at], alpha, points });
            }
        }
        const drawn = canvas.fills.filter((fill) => fill.points.size > 0);
        assertEqual(drawn.map((fill) => `${fill.color} ${fill.alpha < 1 ? 'faint' : 1}`).join(), expected.map((fill) => `${fill.color} ${fill.alpha}`).join(), 'the areas');
        drawn.forEach((fill, at) => {
            assertEqual([...fill.points].sort().join(), [...new Set(expected[at].points)].sort().join(), 'the outline');
        });
        const amounts = categories.map((category, at) => [category, one.shares.slice(at * width, (at + 1) * width).reduce((sum, share) => sum + share, 0)]);
        assertEqual(JSON.stringify([...activity.categoryAmounts(one)]), JSON.stringify(amounts.filter(([, sum]) => sum > 0)), 'the amounts');
    }
});

await check('a counter is drawn from its least to its largest value, a rate from nothing', () => {
    const scale = (values, isRate) => Object.values(counter.counterScale(Float32Array.from(values), isRate)).join();
    assertEqual(scale([3, NaN, 7, 5], false), '3,7', 'the scale of a sum');
    assertEqual(scale([3, 7], true), '0,7', 'the scale of a rate');
    assertEqual(scale([-3, 7], true), '-3,7', 'the scale of a rate that falls');
    assertEqual(scale([4, 4], false), '3,5', 'the scale of what stays the same');
    assertEqual(scale([0, 0], true), '0,1', 'the scale of a rate of nothing');
    assertEqual(scale([NaN], false), '0,1', 'the scale of no values');
    assertEqual(counter.counterY(3, { low: 3, high: 7 }, 44), 42, 'the lowest');
    assertEqual(counter.counterY(7, { low: 3, high: 7 }, 44), 2, 'the highest');
    assertEqual(counter.counterY(4, { low: 3, high: 7 }, 44), 32, 'a quarter');
    assertEqual(counter.counterY(9, { low: 3, high: 7 }, 44), 2, 'what is beyond');
    assertEqual(counter.counterY(-9, { low: 3, high: 7 }, 44), 42, 'what is below');
});

await check('the line of a counter goes through the middle of its columns, and stops where there is no value', () => {
    const canvas = new Canvas();
    useRatio(2);
    counter.drawCounter(canvas, Float32Array.of(NaN, 3, 7, NaN, NaN, 5), { low: 3, high: 7 }, 'red', 12, 44);
    assertEqual([canvas.width, canvas.height].join(), '24,88', 'the size');
    assertEqual(canvas.strokes.map(({ points, width }) => `${width}: ${points.join(', ')}`).join('; '), '2: 4 84, 6 84, 10 4, 12 4; 2: 20 44, 22 44, 24 44', 'the lines');
    assertEqual(canvas.fills.map(({ points, alpha }) => `${alpha < 1}: ${[...points].join(', ')}`).join('; '), 'true: 4 84, 6 84, 10 4, 12 4, 12 88, 4 88; true: 20 44, 22 44, 24 44, 24 88, 20 88', 'the areas');
});

// ---- the assembly ----

await check('jumps are drawn from row to row in their lanes, those of the chosen instruction on top', () => {
    const canvas = new Canvas();
    useRatio(1);
    const picture = { rowHeight: 20, top: 10, width: 60, height: 100, color: 'plain', chosen: 2, chosenColor: 'chosen' };
    const list = [{ from: 2, to: 0, lane: 0 }, { from: 1, to: 4, lane: 1 }, { from: 3, to: 2, lane: 2 }, { from: 9, to: 12, lane: 0 }];
    jumps.drawJumps(canvas, { ...picture, jumps: list });
    const drawn = canvas.strokes.map(({ points, color, width }) => `${color} ${width}: ${points.join(', ')}`);
    assertEqual(drawn.join('; '), ['plain 1: 58.5 20.5, 43.5 20.5, 43.5 80.5, 55.5 80.5', 'chosen 1.5: 58.5 40.5, 49.5 40.5, 49.5 0.5, 55.5 0.5', 'chosen 1.5: 58.5 60.5, 37.5 60.5, 37.5 40.5, 55.5 40.5'].join('; '), 'the lines');
    assertEqual(canvas.fills.map(({ color, points }) => `${color}: ${[...points].join(', ')}`)[0], 'plain: 58.5 80.5, 53.5 77.5, 53.5 83.5', 'the tip');
});

// ---- colors ----

const channels = (color) => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

for (const theme of ['light', 'dark'])
    await check(`text is readable on rects of every color, and the selection is visible without glare (${theme})`, () => {
        const sheet = writeHexColors(readFileSync(new URL('../../web/src/style/colors.css', import.meta.url), 'utf8'));
        const blocks = sheet.split(':root[data-theme="dark"]');
        const values = new Map([...(theme === 'dark' ? blocks.join() : blocks[0]).matchAll(/(--[\w-]+): (#\w{6}|var.*);/g)].map(([, key, value]) => [key, value]));
        for (const [key, value] of values) if (value.startsWith('var')) values.set(key, values.get(value.slice(4, -1)));
        globalThis.document = { documentElement: {} };
        globalThis.getComputedStyle = () => ({ getPropertyValue: (key) => values.get(key) ?? '' });
        const names = [...values.keys()].filter((key) => key.startsWith('--category-')).map((key) => ({ name: key, color: key.slice('--category-'.length) }));
        const chart = rectColors.chartColors(names, theme);
        const contrast = (a, b) => rectColors.contrast(channels(a), channels(b));
        assertEqual(chart.names.length, colors.NAME_SLOTS, 'colors of names');
        assertEqual(new Set(chart.names.map((one) => one.fill)).size, colors.NAME_SLOTS, 'different ones');
        for (const one of [...chart.rects, ...chart.names]) {
            for (const fill of [one.fill, one.oddFill])
                assert(contrast(chart.quietText, fill) >= 4.5, `${chart.quietText} on ${fill} has a contrast of ${contrast(chart.quietText, fill)}`);
            for (const fill of [one.fill, one.oddFill, one.hover, one.aggregate])
                assert(contrast(chart.text, fill) >= 4.5, `${chart.text} on ${fill} has a contrast of ${contrast(chart.text, fill)}`);
            assert(contrast(one.selectedText, one.selected) >= 4.5, `${one.selectedText} on the selected ${one.selected}`);
            assert(contrast(one.selected, one.fill) >= 1.2, `${one.selected} beside ${one.fill}`);
            assert(contrast(one.selectedNarrow, one.fill) >= 1.5, `${one.selectedNarrow}, without a frame, beside ${one.fill}`);
            if (theme === 'dark') assert(contrast(one.selected, chart.surface) <= 8, `${one.selected} glares`);
        }
        const own = [...names.map(({ color }) => values.get(`--category-${color}`)), null];
        const faint = rectColors.faintColors(own, theme);
        if (theme === 'light') assertEqual(faint, null, 'colors of what stands behind');
        else assertEqual(faint.join(), [...chart.rects.slice(0, names.length).map(({ fill }) => fill), ''].join(), 'they are those of charts');
    });

finish();
