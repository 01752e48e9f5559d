// The tables of the page: order, widths, columns, folded names, and copied text.
//
//     node tests/e2e/page_tables.mjs URL PROF PROFILE DEEP_URL LONG_URL
import { execFileSync } from 'node:child_process';
import { askUntil, closeBrowser, complaints, numberOf, openPage, readRows, selectedRow, settle, walkLongTable } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, prof, file, deepUrl, longUrl] = process.argv.slice(2);
const report = JSON.parse(execFileSync(prof, ['report', '--json', '--functions', file], { encoding: 'utf8' }));

const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());
const sortInAddress = (page) => new URL(page.url()).searchParams.get('sort');
const head = (page, title) => page.getByRole('columnheader', { name: title, exact: true });

async function openAll(page) {
    await page.locator('[role="treegrid"]').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('*');
    await settle(page);
}

/** Rows as a tree of names, so that orders of siblings can be compared. */
function siblingsOf(rows) {
    const groups = new Map();
    const path = [];
    for (const row of rows) {
        path.length = row.level - 1;
        const parent = path.join(' > ');
        groups.set(parent, [...(groups.get(parent) ?? []), row]);
        path.push(row.name);
    }
    return [...groups.values()];
}

await check('each column sorts siblings of the tree in both directions, and the address has the order', async () => {
    const page = await openPage(url);
    await openAll(page);
    const orders = [
        ['Self', 'calltree.self', (a, b) => numberOf(b.self) - numberOf(a.self)],
        ['Self', 'calltree.self.r', (a, b) => numberOf(a.self) - numberOf(b.self)],
        ['Function', 'calltree.name', (a, b) => a.name.localeCompare(b.name, 'en')],
        ['Function', 'calltree.name.r', (a, b) => b.name.localeCompare(a.name, 'en')],
        ['Total (samples)', null, (a, b) => numberOf(b.total) - numberOf(a.total)],
        ['Total (samples)', 'calltree.total.r', (a, b) => numberOf(a.total) - numberOf(b.total)],
    ];
    const count = (await readRows(page)).length;
    let groups = 0;
    for (const [title, code, compare] of orders) {
        await page.getByRole('button', { name: title, exact: true }).click();
        await settle(page);
        assertEqual(sortInAddress(page), code, `order in the address after ${title}`);
        const rows = await readRows(page);
        assertEqual(rows.length, count, 'number of rows');
        for (const siblings of siblingsOf(rows)) {
            const sorted = [...siblings].sort(compare);
            siblings.forEach((row, at) => assert(compare(row, sorted[at]) === 0, `${row.name} is not sorted by ${code}`));
            groups += siblings.length > 1 ? 1 : 0;
        }
        assertEqual(
            await head(page, title).getAttribute('aria-sort'),
            (code ?? '').endsWith('.r') !== (title === 'Function') ? 'ascending' : 'descending',
            `aria-sort of ${title}`,
        );
    }
    assert(groups > 0, 'no row has two children');
    const again = await openPage(page.url());
    assertEqual(await head(again, 'Total (samples)').getAttribute('aria-sort'), 'ascending', 'order of the pasted address');
    await again.close();
    await page.close();
});

await check('a sorted tree is walked in the order in which it is shown', async () => {
    const page = await openPage(`${url}?thread=0&sort=calltree.name.r`);
    await openAll(page);
    const rows = await readRows(page);
    for (let at = rows.findIndex((row) => row.selected) + 1; at < rows.length; at++) {
        await page.keyboard.press(rows[at].level > rows[at - 1].level ? 'ArrowRight' : 'ArrowDown');
        await settle(page);
        assertEqual((await selectedRow(page)).name, rows[at].name, `row ${at}`);
    }
    await page.close();
});

await check('after a click on a tab the keys are those of its view; by keyboard the tab keeps the focus', async () => {
    const page = await openPage(url);
    await page.getByRole('tab', { name: 'Functions' }).click();
    await page.waitForSelector('[role="grid"] .tree-row');
    await settle(page);
    await page.keyboard.press('End');
    await settle(page);
    assertEqual(await page.locator('.tree-row').last().getAttribute('aria-selected'), 'true', 'the last row is selected');
    const tab = page.getByRole('tab', { name: 'Call Tree' });
    await tab.focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role="treegrid"] .tree-row.selected');
    assert(await tab.evaluate((one) => one === document.activeElement), 'the tab has lost the focus');
    await page.close();
});

await check('hints about searching stand below the input while it is empty', async () => {
    const page = await openPage(url);
    const help = page.locator('.search-help');
    const helpAfter = async (key) => {
        await page.keyboard.press(key);
        await settle(page);
        return (await help.count()) === 0 ? '' : help.innerText();
    };
    const text = await helpAfter('/');
    for (const part of ['-term', '"term"', '/term/', 'lib:term']) assert(text.includes(part), `${part} is not in: ${text}`);
    const described = await page.getByRole('textbox', { name: 'Filter stacks' }).getAttribute('aria-describedby');
    assertEqual(described, await help.getAttribute('id'), 'what the input is described by');
    assertEqual(await helpAfter('w'), '', 'help after a letter');
    assert((await helpAfter('Backspace')).includes('-term'), 'it does not come back');
    assertEqual(await helpAfter('Escape'), '', 'help after Escape');
    await page.getByRole('tab', { name: 'Marker Table' }).click();
    await settle(page);
    assert((await helpAfter('/')).includes('field:term'), 'markers have no help of their own');
    await page.close();
});

await check('the edge of a column is dragged and moved by keys; the width outlives a reload; a double click resets it', async () => {
    const page = await openPage(url);
    const edge = page.getByRole('separator', { name: 'Width of Total (samples)' });
    const width = async () => (await head(page, 'Total (samples)').boundingBox()).width;
    const usual = await width();
    const bounds = await edge.boundingBox();
    await page.mouse.move(bounds.x, bounds.y + 8);
    await page.mouse.down();
    await page.mouse.move(bounds.x + 60, bounds.y + 8, { steps: 4 });
    await page.mouse.up();
    assert(Math.abs((await width()) - usual - 60) <= 1, `it went from ${usual} to ${await width()}`);
    const cell = await page.locator('.tree-row .number').first().boundingBox();
    assertEqual(cell.width, await width(), 'width of a cell');
    await edge.focus();
    await page.keyboard.press('ArrowLeft');
    const moved = await width();
    assert(Math.abs(moved - usual - 52) <= 1, `it is ${moved} after a key`);
    await page.reload();
    await page.waitForSelector('.tree-row.selected');
    assertEqual(await width(), moved, 'width after a reload');
    await page.getByRole('separator', { name: 'Width of Total (samples)' }).dblclick();
    assertEqual(await width(), usual, 'width after a double click');
    assertEqual(sortInAddress(page), null, 'order after a double click on the edge');
    await page.close();
});

async function chooseInHead(page, item) {
    await head(page, 'Total %').click({ button: 'right' });
    await page.getByRole('menuitemcheckbox', { name: item }).click();
    await settle(page);
}

await check('a column is left out and comes back', async () => {
    const page = await openPage(url);
    await chooseInHead(page, 'Column Self %');
    assertEqual(await page.locator('.tree-row .self-share').count(), 0, 'cells of the column');
    await page.reload();
    await page.waitForSelector('.tree-row.selected');
    assertEqual(await page.locator('.tree-row .self-share').count(), 0, 'cells of the column after a reload');
    await chooseInHead(page, 'Column Self %');
    assert((await page.locator('.tree-row .self-share').count()) > 0, 'the column does not come back');
    await page.close();
});

await check("shares of the caller are shown on request", async () => {
    const page = await openPage(url);
    await openAll(page);
    await chooseInHead(page, 'Percent of parent');
    const path = [];
    for (const row of await readRows(page)) {
        const parent = path[row.level - 2];
        path[row.level - 1] = row;
        if (!parent) continue;
        const expected = ((100 * numberOf(row.total)) / numberOf(parent.total)).toFixed(1);
        assertEqual(Number.parseFloat(row.share).toFixed(1), expected, `share of ${row.name}`);
    }
    await head(page, 'Of caller').click({ button: 'right' });
    await page.getByRole('menuitemcheckbox', { name: 'Percent of parent' }).click();
    await settle(page);
    assertEqual(await head(page, 'Of caller').count(), 0, 'heads of the column');
    await page.close();
});

/** Names that begin outside of what the table shows, of all rows that are on the screen. */
const unseenNames = (page) =>
    page.$eval('.tree', (tree) => {
        const frame = tree.getBoundingClientRect();
        const left = frame.left + tree.querySelector('.tree-row .tree-numbers').getBoundingClientRect().width;
        return [...tree.querySelectorAll('.tree-row')]
            .map((row) => row.querySelector('.tree-text bdi'))
            .filter((name) => {
                const { left: start } = name.getBoundingClientRect();
                return start < left || start > frame.left + tree.clientWidth - 20;
            })
            .map((name) => name.innerText);
    });

await check('however deep the tree and wherever it is scrolled to, each row shows its name', async () => {
    const page = await openPage(`${deepUrl}?chains`);
    assertEqual((await selectedRow(page)).name, 'level 200', 'selected row');
    for (const share of [0, 0.4, 1])
        for (const part of [0, 0.5, 1]) {
            await page.$eval('.tree', (tree, [x, y]) => tree.scrollTo(x * tree.scrollWidth, y * tree.scrollHeight), [share, part]);
            await settle(page);
            const unseen = await askUntil((names) => names.length === 0, () => unseenNames(page));
            assertEqual(unseen.join(', '), '', `names out of sight at ${share} of the width and ${part} of the height`);
        }
    await page.$eval('.tree', (tree) => tree.scrollTo(tree.scrollWidth, 0));
    await settle(page);
    assertEqual(await page.locator('.tree-row[data-row="2"] .tree-level').innerText(), '3', 'depth beside the name');
    await page.close();
});

/** Opens the functions, and copies them by the menu of a row. */
async function copied(page, item) {
    await page.locator('[role="grid"]').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Shift+F10');
    await page.evaluate(() => navigator.clipboard.writeText(''));
    await page.getByRole('menuitem', { name: item }).click();
    return askUntil((text) => text !== '', () => clipboard(page));
}

await check('the table is copied as text, Markdown and CSV, with the numbers of prof report', async () => {
    const page = await openPage(`${url}?thread=0&tab=functions`, '[role="grid"] .tree-row');
    const text = (await copied(page, 'Copy table as text')).trimEnd().split('\n');
    assertEqual(text.length, report.functions.length + 1, 'lines of text');
    assert(/^ *Total % +Total \(samples\) +Self % +Self +Function$/.test(text[0]), `head: ${text[0]}`);
    const markdown = (await copied(page, 'Copy table as Markdown')).trimEnd().split('\n');
    assertEqual(markdown.length, report.functions.length + 2, 'lines of Markdown');
    assertEqual(markdown[1], '| ---: | ---: | ---: | ---: | --- |', 'second line of Markdown');
    const csv = (await copied(page, 'Copy table as CSV')).trimEnd().split('\r\n').slice(1);
    const rows = csv.map((line) => line.split(','));
    report.functions.forEach((row, at) => {
        assertEqual(Number(rows[at][1]), row.total, `total of ${row.name}`);
        assertEqual(Number(rows[at][3]), row.self, `self of ${row.name}`);
        assertEqual(rows[at][4], row.lib ? `${row.name} [${row.lib}]` : row.name, 'name');
    });
    await page.close();
});

await check('functions are grouped by library where they have no namespace, with the numbers of prof report', async () => {
    const page = await openPage(`${url}?thread=0&tab=functions`, '[role="grid"] .tree-row');
    await page.getByRole('combobox', { name: 'Group by' }).selectOption('namespace');
    await page.waitForSelector('[aria-label="Groups of functions"] .tree-row');
    await settle(page);
    const { groups } = JSON.parse(execFileSync(prof, ['report', '--json', '--group-by', 'namespace', '--thread', '0', file], { encoding: 'utf8' }));
    const rows = await page.$$eval('.tree-row', (all) =>
        all.map((row) => [row.querySelector('.tree-text').textContent, row.querySelector('.number').textContent].join(' ')),
    );
    assertEqual(rows.join(), groups.map(({ name, total }) => `${name} ${total}`).join(), 'the groups');
    assertEqual(new URL(page.url()).searchParams.get('groupsBy'), 'namespace', 'the address');
    await page.locator('.tree-row').first().dblclick();
    await settle(page);
    assert((await page.locator('.search-count').innerText()).startsWith(`${groups[0].total} of`), 'the search does not find the group');
    await page.close();
});

await check('functions are grouped by patterns, which the address keeps, with the numbers of prof report', async () => {
    const page = await openPage(`${url}?thread=0&tab=functions`, '[role="grid"] .tree-row');
    await page.getByRole('combobox', { name: 'Group by' }).selectOption({ label: 'Patterns' });
    const terms = '"work",/^[hl]e/';
    await page.getByLabel('Patterns of groups').fill(terms);
    await page.getByLabel('Patterns of groups').press('Enter');
    await askUntil((count) => count === 3, () => page.locator('.tree-row').count());
    await page.reload();
    await page.waitForSelector('[aria-label="Groups of functions"] .tree-row');
    await settle(page);
    const { groups } = JSON.parse(execFileSync(prof, ['report', '--json', '--group-by', terms, '--thread', '0', file], { encoding: 'utf8' }));
    const rows = await page.$$eval('.tree-row', (all) =>
        all.map((row) => [row.querySelector('.tree-text').textContent, row.querySelector('.number').textContent].join(' ')),
    );
    assertEqual(rows.join(), groups.map(({ name, total }) => `${name} ${total}`).join(), 'the groups');
    await page.locator('.tree-row', { hasText: '(other)' }).dblclick();
    await page.locator('.tree-row', { hasText: 'work' }).dblclick();
    await settle(page);
    assertEqual(new URL(page.url()).searchParams.get('search'), '"work"', 'the search for a group');
    await page.close();
});

await check('the sidebar of a function has its numbers, its callers and callees, which lead on', async () => {
    const page = await openPage(`${url}?thread=0&tab=functions`, '[role="grid"] .tree-row');
    const sidebar = page.locator('.sidebar');
    await askUntil((name) => name === report.functions[0].name, () => sidebar.locator('h2').innerText());
    assertEqual(await sidebar.locator('h2').innerText(), report.functions[0].name, 'name before anything is chosen');
    await page.locator('[role="grid"] .tree-row', { hasText: 'walk' }).click();
    await settle(page);
    assertEqual(await sidebar.locator('h2').innerText(), 'walk', 'name');
    const row = report.functions.find((one) => one.name === 'walk');
    const amounts = await sidebar.locator('.amount').allInnerTexts();
    assert(amounts[0].includes(`${row.total} samples`) && amounts[1].includes(`${row.self} samples`), `amounts: ${amounts}`);
    const listed = async (title) =>
        (await sidebar.locator('section', { has: page.getByRole('heading', { name: title }) }).locator('tr').allInnerTexts())
            .map((text) => text.split(/\s+/).filter((word) => word !== '').join(' '))
            .join(', ');
    assertEqual(await listed('Called by'), 'main 100.0% 9', 'callers');
    assertEqual(await listed('Calls'), 'walk 88.9% 8', 'callees');
    await sidebar.getByRole('button', { name: 'main' }).click();
    await settle(page);
    assertEqual(await sidebar.locator('h2').innerText(), 'main', 'name after a click');
    assertEqual(await page.locator('[role="grid"] .tree-row.selected bdi').first().innerText(), 'main', 'selected row');
    await page.close();
});

await check('a tooltip goes with the view that it is about, and when that is scrolled', async () => {
    const page = await openPage(`${url}?tab=flame-graph`, '.chart canvas');
    const { x, y, width, height } = await page.locator('#view .chart').boundingBox();
    // Again and again: the mouse may be there before anything is drawn.
    const hover = () =>
        askUntil(
            (count) => count === 1,
            async () => {
                await page.mouse.move(x + width / 2, y + height - 30);
                await page.mouse.move(x + width / 2, y + height - 10);
                return page.locator('.tooltip').count();
            },
        );
    await hover();
    await page.keyboard.press('i');
    await page.waitForSelector('.tooltip', { state: 'detached' });
    await settle(page);
    await page.keyboard.press('i');
    await settle(page);
    await hover();
    await page.keyboard.press('2');
    await page.waitForSelector('[role="treegrid"]');
    await settle(page);
    assertEqual(await page.locator('.tooltip').count(), 0, 'tooltips');
    await page.close();
});

await check('each of a million rows is reached by keys, the scroll bar and the wheel', async () => {
    const page = await openPage(`${longUrl}?tab=marker-table`, '.tree-row');
    await walkLongTable(page, assertEqual);
    await page.close();
});

await check('nothing complained', () => assertEqual(complaints.join('; '), '', 'complaints of the browser'));

await closeBrowser();
finish();
