// Checks every view and dialog of the page with axe-core, in both themes and at all supported sizes.
//
//     node tests/e2e/page_access.mjs URL PROFILE COMPARED_URL
//
// URL serves a recorded profile, COMPARED_URL compares it with itself; PROFILE, of many threads, is opened in the page for
// the rest.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { closeBrowser, complaints, openPage, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, file, compared] = process.argv.slice(2);
const packages = createRequire(new URL('../../web/package.json', import.meta.url));
const axe = readFileSync(packages.resolve('axe-core/axe.min.js'), 'utf8');
const page = await openPage(url);
const tabs = await page.$$eval('[role="tab"]', (elements) => elements.map((element) => element.id.replace('tab-', '')));

/** What axe finds against the rules of WCAG 2.1 AA and of ARIA: "rule: element, element". */
async function violations(at) {
    // Evaluated by the driver: the page itself may not load scripts from elsewhere.
    await at.evaluate(axe);
    return at.evaluate(async () => {
        const { violations: found } = await window.axe.run(document, {
            runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'],
            // A page of panes has no main text to skip to.
            rules: { region: { enabled: false } },
        });
        return found.map((one) => `${one.id}: ${one.nodes.slice(0, 4).map((node) => `${node.target.join(' ')} (${node.any.concat(node.all).map((what) => what.message).join(' ').slice(0, 160)})`).join(', ')}`);
    });
}

async function assertNoViolations(where, at = page) {
    await settle(at);
    const found = await violations(at);
    assert(found.length === 0, `${where}: ${found.join('; ')}`);
}

async function show(tab) {
    await page.click(`#tab-${tab}`);
    await settle(page);
}

/** Elements that reach out of the window at the right or below and cannot be scrolled to. */
function cutOff() {
    return page.evaluate(() => {
        const scrolls = (element) => {
            for (let at = element; at; at = at.parentElement) {
                const { overflowX, overflowY } = getComputedStyle(at);
                if (/auto|scroll/.test(overflowX + overflowY)) return true;
            }
            return false;
        };
        return [...document.querySelectorAll('button, input, [role="tab"]')]
            .filter((element) => {
                const bounds = element.getBoundingClientRect();
                const isShown = bounds.width > 0 && getComputedStyle(element).visibility === 'visible' && element.closest('.offscreen') === null;
                return isShown && (bounds.right > innerWidth + 1 || bounds.bottom > innerHeight + 1 || bounds.left < -1) && !scrolls(element);
            })
            .map((element) => element.getAttribute('aria-label') || element.textContent || element.className);
    });
}

/** Controls side by side that cover each other: "name over name". */
function overlapping() {
    return page.evaluate(() => {
        const name = (element) => element.getAttribute('aria-label') || element.textContent || element.className;
        const overlaps = [];
        for (const bar of document.querySelectorAll('.header, .tabs, .filter-bar, .source-header, .find')) {
            const shown = [...bar.querySelectorAll('button, select, .search, label, .stepper > span')].filter((one) => one.checkVisibility() && !one.closest('.absent'));
            for (const [at, one] of shown.entries())
                for (const other of shown.slice(at + 1)) {
                    if (one.contains(other) || other.contains(one)) continue;
                    const [a, b] = [one.getBoundingClientRect(), other.getBoundingClientRect()];
                    const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                    const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                    // Rounded, and borders that neighbors share.
                    if (width > 2 && height > 2) overlaps.push(`${name(one)} over ${name(other)}`);
                }
        }
        return overlaps;
    });
}

/** Source and assembly of the function that took most itself, with a text to find. */
async function openSourcePanel() {
    await show('functions');
    await page.locator('[role="grid"] .tree-row').first().click();
    await page.keyboard.press('Enter');
    await page.waitForSelector('.source-panel');
    if ((await page.locator('.code-pane').count()) === 0) await page.getByRole('button', { name: 'Assembly' }).click();
    // There is code, or a sentence on why there is none.
    await page.waitForSelector('.code-pane .code-row, .code-pane .empty');
    await settle(page);
    const canFind = await page.getByRole('button', { name: 'Find', exact: true }).isEnabled();
    if (canFind) {
        await page.getByRole('button', { name: 'Find', exact: true }).click();
        await page.keyboard.type('mov');
        await settle(page);
    }
}

for (const scheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const tab of tabs)
        await check(`${tab} has roles, names and contrast (${scheme})`, async () => {
            await show(tab);
            await assertNoViolations(tab);
        });
    await show('calltree');
    const open = {
        'the list of keys': () => page.keyboard.press('?'),
        'the recording': () => page.getByRole('button', { name: 'Recording' }).click(),
        'the palette': async () => {
            await page.keyboard.press('Control+k');
            await page.locator('.palette input').fill('m');
        },
        'the list of tracks': () => page.locator('.track-count').click(),
        'the critical path': async () => {
            await page.keyboard.press('Control+k');
            await page.locator('.palette input').fill('Critical path of the selected range');
            await page.keyboard.press('Enter');
            await page.waitForSelector('.path');
        },
    };
    for (const [name, act] of Object.entries(open))
        await check(`${name} has roles, names and contrast (${scheme})`, async () => {
            await act();
            await page.waitForSelector('dialog[open]');
            await assertNoViolations(name);
            await page.keyboard.press('Escape');
            await page.waitForSelector('dialog[open]', { state: 'detached' }).catch(() => undefined);
        });
    await check(`source and assembly have roles, names and contrast (${scheme})`, async () => {
        await openSourcePanel();
        await assertNoViolations('source and assembly');
        await page.getByRole('button', { name: 'Close', exact: true }).click();
        await page.waitForSelector('.source-panel', { state: 'detached' });
    });
    for (const tab of ['flame-graph', 'stack-chart', 'functions', 'butterfly'])
        await check(`the menu of ${tab} has roles, names and contrast (${scheme})`, async () => {
            await show(tab);
            const part = page.locator('#view .chart, #view .tree').first();
            await part.focus();
            await page.keyboard.press('Home');
            await page.keyboard.press('ArrowDown');
            await settle(page);
            await page.keyboard.press('Shift+F10');
            await page.waitForSelector('.menu');
            await assertNoViolations(`the menu of ${tab}`);
            await page.keyboard.press('Escape');
            await page.waitForSelector('.menu', { state: 'detached' });
        });
    await check(`the menus of a column and of a track have roles, names and contrast (${scheme})`, async () => {
        await show('calltree');
        for (const owner of ['[role="columnheader"]', '.track-label']) {
            await page.locator(owner).first().click({ button: 'right' });
            await page.waitForSelector('.menu');
            await assertNoViolations(`the menu of ${owner}`);
            await page.keyboard.press('Escape');
            await page.waitForSelector('.menu', { state: 'detached' });
        }
    });
    await check(`a menu, a chosen range and a search have roles, names and contrast (${scheme})`, async () => {
        await page.getByRole('textbox', { name: 'Filter stacks' }).fill('no such function');
        await page.keyboard.press('Enter');
        await assertNoViolations('a search that finds nothing');
        await page.getByRole('textbox', { name: 'Filter stacks' }).fill('');
        await page.keyboard.press('Enter');
        await page.focus('.ruler');
        await page.keyboard.press('Enter');
        await assertNoViolations('a chosen range');
        await page.focus('[role="treegrid"]');
        await page.keyboard.press('Shift+F10');
        await page.waitForSelector('.menu');
        await assertNoViolations('a menu');
        await page.keyboard.press('Escape');
        await page.keyboard.press('Escape');
    });
}
await page.emulateMedia({ colorScheme: 'light' });

const sizes = [
    [1024, 768],
    [1280, 800],
    [1920, 1080],
    [3840, 2160],
    /* 200 % zoom of 1280 by 800: half as many pixels of the page. */
    [640, 400],
];
for (const [width, height] of sizes)
    await check(`nothing is cut off at ${width} by ${height}`, async () => {
        await page.setViewportSize({ width, height });
        for (const tab of tabs) {
            await show(tab);
            assertEqual((await cutOff()).join(), '', `what is cut off in ${tab}`);
            assertEqual((await overlapping()).join(), '', `what is covered in ${tab}`);
            assertEqual(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `whether ${tab} fits`);
        }
    });
for (const [width, height] of sizes)
    await check(`source and assembly fit at ${width} by ${height}`, async () => {
        await page.setViewportSize({ width, height });
        await openSourcePanel();
        assertEqual((await cutOff()).join(), '', 'what is cut off');
        assertEqual((await overlapping()).join(), '', 'what is covered');
        await page.getByRole('button', { name: 'Close', exact: true }).click();
        await page.waitForSelector('.source-panel', { state: 'detached' });
    });
await page.setViewportSize({ width: 1280, height: 800 });

await check('at 200 % zoom all can be scrolled by keys', async () => {
    await page.setViewportSize({ width: 640, height: 400 });
    for (const tab of tabs) {
        await show(tab);
        await assertNoViolations(tab);
    }
    await openSourcePanel();
    await assertNoViolations('source and assembly');
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await page.waitForSelector('.source-panel', { state: 'detached' });
});

await check('in a narrow window names have the width, until one asks for the sidebar', async () => {
    await page.evaluate(() => localStorage.clear());
    await page.setViewportSize({ width: 640, height: 400 });
    const sidebars = async () => {
        await page.reload();
        await page.waitForSelector('.tree-row.selected');
        return page.locator('.sidebar').count();
    };
    assertEqual(await sidebars(), 0, 'sidebars');
    await page.keyboard.press('s');
    await page.waitForSelector('.sidebar');
    assertEqual(await sidebars(), 1, 'sidebars after it was asked for');
    await assertNoViolations('a narrow window with a sidebar');
    const names = () => page.$$eval('.tree-header > [role="columnheader"]', (heads) => heads.map((head) => Math.round(innerWidth - head.getBoundingClientRect().left)));
    await show('butterfly');
    const rooms = await names();
    assert(rooms.length === 3 && rooms.every((room) => room > 120), `names of the butterfly have ${rooms.join()} px`);
    await show('calltree');
    await page.evaluate(() => localStorage.clear());
    await page.setViewportSize({ width: 1280, height: 800 });
    assertEqual(await sidebars(), 1, 'sidebars of a wide window');
});

await check('nothing moves for users who prefer reduced motion', async () => {
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const moving = await page.evaluate(() =>
        [...document.querySelectorAll('*')]
            .filter((element) => {
                const { transitionDuration, animationName, animationDuration, scrollBehavior } = getComputedStyle(element);
                const isLong = (durations) => durations.split(',').some((duration) => Number.parseFloat(duration) > 0);
                return isLong(transitionDuration) || (animationName !== 'none' && isLong(animationDuration)) || scrollBehavior === 'smooth';
            })
            .map((element) => element.className),
    );
    assertEqual(moving.join(), '', 'what moves');
    await page.emulateMedia({ reducedMotion: null });
});

await check('Tab goes through the page and every place shows that it has the focus', async () => {
    await show('calltree');
    await page.evaluate(() => document.activeElement?.blur());
    const seen = new Set();
    for (let i = 0; i < 60; i++) {
        await page.keyboard.press('Tab');
        const place = await page.evaluate(() => {
            const element = document.activeElement;
            if (!element || element === document.body) return null;
            const style = getComputedStyle(element);
            const parent = getComputedStyle(element.parentElement);
            const isMarked = style.outlineStyle !== 'none' || style.boxShadow !== 'none' || parent.boxShadow !== 'none';
            return { name: element.getAttribute('aria-label') || element.textContent.slice(0, 30) || element.className, isMarked, isTree: element.matches('.tree') };
        });
        if (!place) break;
        // In a table the selected row shows it.
        assert(place.isMarked || place.isTree, `${place.name} does not show that it has the focus`);
        if (seen.has(place.name)) continue;
        seen.add(place.name);
    }
    assert(seen.size > 8, `only ${[...seen].join()} can be reached`);
});

await check('the views are one place for Tab, and arrows go through them', async () => {
    await page.focus('#tab-calltree');
    const chosen = () => page.evaluate(() => `${document.activeElement.id} ${document.querySelector('[role="tab"][aria-selected="true"]').id}`);
    const ids = tabs.map((tab) => `tab-${tab}`);
    const at = ids.indexOf('tab-calltree');
    const keys = { ArrowRight: ids[at + 1], ArrowLeft: ids[at], End: ids[ids.length - 1], Home: ids[0] };
    for (const [key, id] of Object.entries(keys)) {
        await page.keyboard.press(key);
        await settle(page);
        assertEqual(await chosen(), `${id} ${id}`, `the place with the focus and the view after ${key}`);
    }
    await page.keyboard.press('Tab');
    assert(!(await chosen()).startsWith('tab-'), 'Tab goes to another view');
    await show('calltree');
});

await check('a comparison has roles, names and contrast', async () => {
    const both = await openPage(compared);
    for (const scheme of ['light', 'dark']) {
        await both.emulateMedia({ colorScheme: scheme });
        for (const tab of ['summary', 'calltree', 'waits']) {
            await both.click(`#tab-${tab}`);
            await settle(both);
            await assertNoViolations(`${tab} of a comparison (${scheme})`, both);
        }
    }
    await both.close();
});

await check('many threads have roles, names and contrast', async () => {
    const transfer = await page.evaluateHandle((text) => {
        const data = new DataTransfer();
        data.items.add(new File([text], 'many.json'));
        return data;
    }, readFileSync(file, 'utf8'));
    await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
    await page.waitForFunction(() => document.querySelector('.product')?.textContent === 'many threads');
    await page.waitForSelector('.tree-row.selected');
    await assertNoViolations('many threads');
});

await check('nothing went wrong meanwhile', async () => {
    assertEqual(complaints.join('\n'), '', 'what pages complained of');
});

await closeBrowser();
finish();
