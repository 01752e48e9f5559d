// Scrolling lists that are longer than an element can be high.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';

const [rowScroll] = await loadParts(['base/row_scroll']);

const ROOM = 600;
const ROW = 20;
const extentOf = (rows, room = ROOM) => ({ all: rows * ROW, room });
const scrollTopOf = (place) => place.top - place.offset;
await check('a list that a browser can hold is scrolled as it is', () => {
    const extent = extentOf(100_000);
    assertEqual(rowScroll.elementHeight(extent), 2_000_000, 'height');
    for (const top of [0, 1, 777.5, 1_999_400]) {
        const place = rowScroll.placeScrolledTo(top, { top: 5000, offset: 0 }, extent);
        assertEqual(`${place.top} ${place.offset}`, `${top} 0`, `place at ${top}`);
    }
    assertEqual(rowScroll.placeAt(9e9, extent).top, 2_000_000 - ROOM, 'the end');
});

await check('every row of the longest list is reached by the scroll bar, and its end is the last row', () => {
    for (const rows of [400_001, 2_000_000, 50_000_000]) {
        const extent = extentOf(rows);
        const height = rowScroll.elementHeight(extent);
        assert(height <= 8_000_000, `an element of ${height} px`);
        let place = { top: 0, offset: 0 };
        let last = -1;
        for (let step = 0; step <= 100; step++) {
            const scrollTop = ((height - ROOM) * step) / 100;
            place = rowScroll.placeScrolledTo(scrollTop, place, extent);
            assert(place.top > last, `${rows} rows: no way on at ${scrollTop}`);
            assert(Math.abs(scrollTopOf(place) - scrollTop) < 0.01, 'the rows are not where the element is');
            last = place.top;
        }
        assertEqual(place.top, rows * ROW - ROOM, `the end of ${rows} rows`);
        assertEqual(rowScroll.placeScrolledTo(0, place, extent).top, 0, 'the beginning');
    }
});

await check('a wheel and keys move a very long list by as much as they say, through all of it and at its ends', () => {
    const extent = extentOf(2_000_000);
    for (const start of [0, 1000, 20_000_000, extent.all - ROOM - 1000, extent.all - ROOM]) {
        for (const by of [100, -100, 13]) {
            let place = rowScroll.placeAt(start, extent);
            for (let i = 0; i < 400; i++) {
                const before = place.top;
                const wanted = Math.max(0, Math.min(before + by, extent.all - ROOM));
                const limit = rowScroll.elementHeight(extent) - ROOM;
                const scrollTop = Math.max(0, Math.min(scrollTopOf(place) + by, limit));
                const isCut = scrollTop !== scrollTopOf(place) + by;
                place = rowScroll.placeScrolledTo(scrollTop, place, extent);
                if (!isCut) assertEqual(place.top, wanted, `from ${before} by ${by}`);
                assert(scrollTopOf(place) >= 0 && scrollTopOf(place) <= limit, 'the element is scrolled beyond its end');
                // Where the element ends and the list does not, there is a way on.
                if (place.top > 0) assert(scrollTopOf(place) > 0, `stuck at ${place.top}`);
                if (place.top < extent.all - ROOM) assert(scrollTopOf(place) < limit, `stuck at ${place.top}`);
            }
            if (start === 1000 && by < 0) assertEqual(place.top, 0, 'the beginning after many steps');
            if (start === extent.all - ROOM - 1000 && by > 0) assertEqual(place.top, start + 1000, 'the end after many steps');
        }
    }
});

await check('rows that come and go leave a long list where it is, as far as there are rows', () => {
    const place = rowScroll.placeAt(30_000_000, extentOf(2_000_000));
    assertEqual(rowScroll.placeAmong(place, extentOf(2_100_000)), place, 'the same place');
    assertEqual(rowScroll.placeAmong(place, extentOf(1_000_000)).top, 20_000_000 - ROOM, 'the end of fewer rows');
    const few = rowScroll.placeAmong(place, extentOf(100));
    assertEqual(`${few.top} ${few.offset}`, `${100 * ROW - ROOM} 0`, 'the end of few rows');
});

await check('a row is brought into view: a step by a row, a jump with what is around it', () => {
    const top = (at, from, how) => rowScroll.topWithRow(at * ROW, ROW, from, ROOM, how);
    assertEqual(top(10, 0, 'nearest'), 0, 'a row that is seen');
    assertEqual(top(30, 0, 'nearest'), ROW, 'the row below');
    assertEqual(top(9, 200, 'nearest'), 180, 'the row above');
    assertEqual(top(100_000, 0, 'nearest'), 100_000 * ROW - 360, 'a row far away');
    assertEqual(top(40, 0, 'around'), 440, 'a row that is jumped to');
});
