// The lanes of thread states and of CPUs in the timeline: pixels, tooltips, and the waits that a click selects.
//
//     node tests/e2e/page_lanes.mjs URL CPUS
import { askUntil, checkComplaints, closeBrowser, openPage, selectedRow, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';
import { LENGTH, LOCK, LONGEST } from './waits_profile.mjs';

const [url, cpus] = process.argv.slice(2);
/** The track of the selected thread is scrolled into view. */
const READER = `${url}?thread=2`;
const LANE = '[data-track="t2"] .state-lane';
const middle = (LONGEST.from + LONGEST.to) / 2 / LENGTH;

/** The color of a lane in the middle of its height; the range of the page is the whole profile. */
const colorAt = (page, part) =>
    page.$eval(
        LANE,
        (canvas, at) => {
            const { data } = canvas.getContext('2d').getImageData(Math.floor(at * canvas.width), canvas.height >> 1, 1, 1);
            return `#${[...data.slice(0, 3)].map((value) => value.toString(16).padStart(2, '0')).join('')}`;
        },
        part,
    );
const token = (page, name) =>
    page.evaluate((color) => getComputedStyle(document.documentElement).getPropertyValue(color).trim(), `--state-${name}`);
const tooltip = (page) => page.locator('.tooltip').innerText().catch(() => '');

async function placeAt(page, part) {
    const box = await page.locator(LANE).boundingBox();
    return [box.x + part * box.width, box.y + box.height / 2];
}

for (const theme of ['light', 'dark'])
    await check(`a lane has the color of the wait that a thread is in, ${theme}`, async () => {
        const page = await openPage(READER, LANE);
        await page.emulateMedia({ colorScheme: theme });
        await settle(page);
        const lock = await token(page, 'lock');
        assertEqual(await askUntil((color) => color === lock, () => colorAt(page, middle)), lock, 'the color of a lock');
        const text = await page.locator('.state-legend').innerText();
        assert(text.includes('Lock') && text.includes('Running'), `the legend is ${text}`);
        await page.close();
    });

await check('the tooltip of a lane has reason, object, length and start of the wait', async () => {
    const page = await openPage(READER, LANE);
    await settle(page);
    await page.mouse.move(...(await placeAt(page, middle)));
    const text = await askUntil((one) => one.includes(LOCK), () => tooltip(page));
    assert(/Cache::lookup[^]*serve/.test(text), `the function of the program is not first: ${text}`);
    for (const part of ['via pthread_mutex_lock', 'Lock', '170 ms', 'since 310', LOCK]) assert(text.includes(part), `the tooltip has no "${part}": ${text}`);
    await page.close();
});

for (const weight of ['off-cpu-time', 'time'])
    await check(`a click selects the stack of the wait, with the weight ${weight}`, async () => {
        const page = await openPage(`${READER}&weight=${weight}`, LANE);
        await settle(page);
        await page.mouse.click(...(await placeAt(page, middle)));
        await settle(page);
        const name = await askUntil((one) => one.includes(LOCK), () => selectedRow(page).then((row) => row?.name ?? ''));
        assert(name.includes(LOCK), `the selected row is ${name}`);
        await page.close();
    });

await check('in a pixel with two states, the height of the mouse chooses one', async () => {
    const page = await openPage(`${READER}&weight=time`, LANE);
    await settle(page);
    const [lock, running] = [await token(page, 'lock'), await token(page, 'running')];
    const column = await page.$eval(
        LANE,
        (canvas, [above, below]) => {
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            const color = (x, y) => `#${[...data.slice(4 * (y * canvas.width + x)).slice(0, 3)].map((value) => value.toString(16).padStart(2, '0')).join('')}`;
            const columns = Array.from({ length: canvas.width }, (_, x) => x);
            return columns.find((x) => color(x, 0) === above && color(x, canvas.height >> 1) === below) / canvas.width;
        },
        [lock, running],
    );
    assert(column > 0, 'no pixel has a short wait above the time that the thread runs');
    const box = await page.locator(LANE).boundingBox();
    const rowAt = async (height, isWanted) => {
        await page.mouse.click(box.x + column * box.width + 0.5, box.y + height);
        return await askUntil(isWanted, () => selectedRow(page).then((row) => row?.name ?? ''));
    };
    const above = await rowAt(0.5, (name) => name.includes(LOCK));
    assert(above.includes(LOCK), `the row of the wait is ${above}`);
    const below = await rowAt(box.height - 0.5, (name) => name !== '' && !name.includes(LOCK));
    assert(below !== '' && !below.includes(LOCK), `the row of the running time is ${below}`);
    await page.close();
});

await check('the keyboard reads a wait, as it reads samples', async () => {
    const page = await openPage(READER, LANE);
    await settle(page);
    await page.locator('[data-track="t2"] .track-label').focus();
    // The line begins in the middle of the range; Shift takes larger steps.
    for (let step = 0; step < 5; step++) await page.keyboard.press('Shift+ArrowLeft');
    const text = await askUntil((one) => one.includes(LOCK), () => tooltip(page));
    assert(text.includes(LOCK) && text.includes('Lock'), `the tooltip is ${text}`);
    await page.close();
});

await check('the stack chart shows running, waits, or both, by the weight, and hatches runnable time', async () => {
    const pictures = [];
    for (const weight of ['cpu-time', 'off-cpu-time', 'time']) {
        const page = await openPage(`${url}?thread=3&tab=stack-chart&range=280m200&weight=${weight}`, '.chart canvas');
        await settle(page);
        const picture = await page.$eval('.chart canvas', (canvas) => {
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            /** Colors of the middle line of the second row, from 300 to 306 ms and before. */
            const line = Math.round(27 * (window.devicePixelRatio || 1));
            const colors = (from, to) => {
                const found = new Set();
                for (let x = Math.floor(from * canvas.width); x < to * canvas.width; x++)
                    found.add(data.slice(4 * (line * canvas.width + x), 4 * (line * canvas.width + x) + 4).join());
                return found.size;
            };
            const start = 208 / canvas.clientWidth;
            const at = (ms) => start + ((ms - 280) / 200) * (1 - start - 16 / canvas.clientWidth);
            return { whole: data.join(), before: colors(at(290), at(298)), during: colors(at(301), at(304)) };
        });
        pictures.push(picture.whole);
        assertEqual(picture.before, 1, `colors while it runs, by ${weight}`);
        assert(picture.during > 1, `there is no hatch by ${weight}`);
        await page.close();
    }
    assertEqual(new Set(pictures).size, 3, 'different pictures');
});

await check('an open stack chart is drawn again when another weight is chosen', async () => {
    const page = await openPage(`${url}?thread=3&tab=stack-chart&range=280m200`, '.chart canvas');
    await settle(page);
    /** The color of the second row at 290 ms, where the thread runs. */
    const color = () =>
        page.$eval('.chart canvas', (canvas) => {
            const start = 208 / canvas.clientWidth;
            const x = (start + ((290 - 280) / 200) * (1 - start - 16 / canvas.clientWidth)) * canvas.width;
            return canvas.getContext('2d').getImageData(Math.floor(x), Math.round(27 * (window.devicePixelRatio || 1)), 1, 1).data.join();
        });
    const running = await color();
    await page.getByRole('radio', { name: 'Off-CPU' }).click();
    const empty = await askUntil((one) => one !== running, color);
    assert(empty !== running, 'the chart counts the former weight');
    await page.close();
});

const CPU = '[data-track="l1"] .cpu-lane';
const cpuPlace = async (page, part) => {
    const box = await page.locator(CPU).boundingBox();
    return [box.x + part * box.width, box.y + box.height / 2];
};

/** The lanes are below the first screen. */
async function openLanes() {
    const page = await openPage(`${cpus}?openTracks=z0`, CPU);
    await page.locator(CPU).scrollIntoViewIfNeeded();
    await settle(page);
    return page;
}

await check('the group of CPUs opens by keyboard, and the address has it; other profiles have no such group', async () => {
    const page = await openPage(cpus, '[data-track="z0"]');
    assertEqual(await page.locator('[data-track^="l"]').count(), 0, 'lanes at first');
    await page.locator('[data-track="z0"] .track-label').focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector(CPU);
    assert(page.url().includes('openTracks=z0'), `the address is ${page.url()}`);
    await page.goBack();
    assertEqual(await askUntil((count) => count === 0, () => page.locator('[data-track^="l"]').count()), 0, 'lanes after Back');
    await page.close();
    const other = await openPage(READER, LANE);
    assertEqual(await other.locator('[data-track="z0"]').count(), 0, 'groups of a profile without slices');
    await other.close();
});

await check('the lane of a CPU has a color for each thread, as high as its share, and gaps', async () => {
    const page = await openLanes();
    /** The pixels of a column below the top and above the bottom; "" without a color. */
    const pixels = (part) =>
        page.$eval(
            CPU,
            (canvas, at) =>
                [1, canvas.height - 2].map((y) => {
                    const { data } = canvas.getContext('2d').getImageData(Math.floor(at * canvas.width), y, 1, 1);
                    return data[3] === 0 ? '' : data.join();
                }),
            part,
        );
    const [top, owner] = await askUntil(([, bottom]) => bottom !== '', () => pixels(0.65));
    const [above, reader] = await pixels(0.45);
    assert(top === owner && owner !== '', `a thread that ran all the time has ${top} above ${owner}`);
    assert(above === '' && reader !== '' && reader !== owner, `a thread that ran half of the time has ${above} above ${reader}`);
    assertEqual((await pixels(0.9)).join(), ',', 'colors of a gap');
    await page.close();
});

await check('the tooltip of a CPU has thread, time and migration; a click selects the thread', async () => {
    const page = await openLanes();
    await page.mouse.move(...(await cpuPlace(page, 0.45)));
    const text = await askUntil((one) => one.includes('reader 1'), () => tooltip(page));
    for (const part of ['Ran for 50 ms', 'since 400', 'Off the CPU for 50 ms of these 100 ms', 'Migrated from CPU 0'])
        assert(text.includes(part), `the tooltip has no "${part}": ${text}`);
    await page.mouse.move(...(await cpuPlace(page, 0.55)));
    const gap = await askUntil((one) => one.includes('No recorded'), () => tooltip(page));
    assertEqual(gap, 'No recorded thread for 100 ms', 'the tooltip of a gap');
    await page.mouse.click(...(await cpuPlace(page, 0.65)));
    await page.waitForSelector('[data-track="t1"].selected');
    await page.close();
});

await checkComplaints();
await closeBrowser();
finish();
