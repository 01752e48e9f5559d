// Transforms of the call tree by key, menu and address, and undo. Each tree is that of `prof report`.
//
//     node tests/e2e/page_transforms.mjs URL PROF PROFILE
import { execFileSync } from 'node:child_process';
import { answered, askUntil, closeBrowser, complaints, numberOf, openPage, readRows, selectedRow, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, prof, file] = process.argv.slice(2);

/** The rows of a tree, one text each. */
function reported(...options) {
    const report = JSON.parse(execFileSync(prof, ['report', '--json', ...options, file], { encoding: 'utf8' }));
    return report.tree.map((row) => `${'. '.repeat(row.depth)}${row.name} ${row.total} ${row.self}`).join('\n');
}

/** What the page shows when everything is open. */
async function shown(page) {
    await page.locator('[role="treegrid"]').focus();
    await page.keyboard.press('Home');
    // Each root is opened by itself.
    for (let at = 0, last = -1; at !== last; ) {
        last = at;
        await page.keyboard.press('*');
        await answered(page);
        const level = Number(await page.locator('.tree-row.selected').getAttribute('aria-level'));
        assertEqual(level, 1, 'level of what is opened');
        const roots = (await readRows(page)).filter((row) => row.level === 1);
        const next = roots.find((row) => row.at > at);
        if (!next) break;
        for (let i = at; i < next.at; i++) await page.keyboard.press('ArrowDown');
        at = next.at;
    }
    const rows = await readRows(page);
    return rows.map((row) => `${'. '.repeat(row.level - 1)}${row.name} ${numberOf(row.total)} ${numberOf(row.self)}`).join('\n');
}

/** Walks down to the row at the end of a path of names. */
async function select(page, path) {
    await page.locator('[role="treegrid"]').focus();
    await page.keyboard.press('Home');
    for (let level = 0; level < path.length; level++) {
        for (let tries = 0; (await selectedRow(page)).name !== path[level]; tries++) {
            assert(tries < 20, `there is no row ${path[level]}`);
            // To the next sibling: what is open between is closed.
            if ((await selectedRow(page)).expanded === 'true') await page.keyboard.press('ArrowLeft');
            await page.keyboard.press('ArrowDown');
            await answered(page);
        }
        if (level === path.length - 1) break;
        if ((await selectedRow(page)).expanded !== 'true') await page.keyboard.press('ArrowRight');
        await answered(page); // its first child has to be there to be gone to
        await page.keyboard.press('ArrowRight');
        await answered(page);
    }
}

const crumbs = (page) => page.locator('.transforms li').allInnerTexts();
const codes = (page) => new URL(page.url()).searchParams.get('transforms');

const whole = reported();
const byKey = [
    ['m', ['main', 'work'], ['--merge-function', 'work'], 'mf-1', 'Merge work'],
    ['M', ['main', 'work', 'leaf'], ['--merge-call-node', 'main;work;leaf'], 'mcn-combined-0w2', 'Merge row leaf'],
    ['f', ['main', 'work'], ['--focus-function', 'work'], 'ff-1', 'Focus work'],
    ['F', ['main', 'walk'], ['--focus-subtree', 'main;walk'], 'f-combined-03', 'Focus on subtree walk'],
    ['S', ['main', 'work', 'leaf'], ['--focus-self', 'leaf'], 'ffs-combined-2', 'Focus on self leaf'],
    ['g', ['main', 'work', 'leaf'], ['--focus-category', 'Library'], 'fg-1', 'Focus on category Library'],
    ['c', ['main', 'work'], ['--collapse-function', 'work'], 'cfs-1', 'Collapse work'],
    ['C', ['main', 'work'], ['--collapse-library', 'app'], 'cr-combined-0-5', 'Collapse app'],
    ['r', ['main', 'walk'], ['--collapse-recursion', 'walk'], 'rec-3', 'Collapse recursion walk'],
    ['R', ['main', 'walk'], ['--collapse-direct-recursion', 'walk'], 'drec-combined-3', 'Collapse direct recursion walk'],
    ['d', ['main', 'work', 'leaf'], ['--drop-function', 'leaf'], 'df-2', 'Drop leaf'],
    ['v', ['main', 'work', 'leaf'], ['--focus-library', 'libm'], 'fl-1', 'Focus on library libm'],
    ['V', ['main', 'work', 'leaf'], ['--merge-library', 'libm'], 'ml-1', 'Merge library libm'],
    ['X', ['main', 'work', 'leaf'], ['--drop-library', 'libm'], 'dl-1', 'Drop library libm'],
    ['D', ['main', 'work', 'leaf'], ['--drop-category', 'Library'], 'dc-1', 'Drop category Library'],
];

for (const [key, path, options, code, crumb] of byKey)
    await check(`${key} does what prof report ${options[0]} does; back undoes it`, async () => {
        const page = await openPage(url);
        await select(page, path);
        await page.keyboard.press(key);
        await settle(page);
        assertEqual(codes(page), code, 'transforms in the address');
        assertEqual((await crumbs(page)).at(-1), crumb, 'the last breadcrumb');
        assertEqual(await shown(page), reported(...options), 'the tree');
        const again = await openPage(page.url());
        assertEqual(await shown(again), reported(...options), 'the tree of the pasted address');
        await again.close();
        await page.goBack();
        await settle(page);
        assertEqual(codes(page), null, 'transforms in the address after back');
        assertEqual(await shown(page), whole, 'the tree after back');
        await page.goForward();
        await settle(page);
        assertEqual(codes(page), code, 'transforms in the address after forward');
        await page.close();
    });

for (const [way, merge] of [
    ['Ctrl+Enter in the search', (page) => page.keyboard.press('Control+Enter')],
    [
        'the palette',
        async (page) => {
            await page.keyboard.press('Enter');
            await page.keyboard.press('Control+k');
            await page.keyboard.type('merge all matching');
            await page.keyboard.press('Enter');
        },
    ],
    [
        'the menu of a row',
        async (page) => {
            await page.keyboard.press('Enter');
            await settle(page);
            await page.locator('.tree-row.selected').click({ button: 'right' });
            await page.getByRole('menuitem', { name: /^Merge all functions matching/ }).click();
        },
    ],
])
    await check(`${way} merges all functions that match, as singly; one step back undoes it`, async () => {
        const page = await openPage(url);
        await page.keyboard.press('/');
        await page.keyboard.type('/^l/, helper');
        await merge(page);
        await page.waitForSelector('.transforms');
        await settle(page);
        assertEqual(codes(page), 'mm-/^l/, helper', 'transforms in the address');
        assertEqual(new URL(page.url()).searchParams.get('search'), null, 'the search that is left');
        assertEqual((await crumbs(page)).at(-1), 'Merge functions matching /^l/, helper', 'the last breadcrumb');
        const singly = ['--merge-function', 'leaf', '--merge-function', 'helper'];
        assertEqual(await shown(page), reported(...singly), 'the tree');
        assertEqual(await shown(page), reported('--merge-matching', '/^l/, helper'), 'the tree of prof report');
        const again = await openPage(page.url());
        assertEqual(await shown(again), reported(...singly), 'the tree of the pasted address');
        await again.close();
        await page.goBack();
        await settle(page);
        assertEqual(codes(page), null, 'transforms in the address after back');
        assertEqual(new URL(page.url()).searchParams.get('search'), '/^l/, helper', 'the search after back');
        await page.close();
    });

await check('Enter goes to the first row that matches a search, n and N to the next and the previous one, around the end', async () => {
    const page = await openPage(url);
    const at = async () => {
        await settle(page);
        const { name, level } = await selectedRow(page);
        return `${name} ${level}, ${(await page.locator('.search-count').innerText()).replace(/.*, /, '')}`;
    };
    await page.keyboard.press('/');
    await page.keyboard.type('walk');
    await page.keyboard.press('Enter');
    await page.getByText('row 1 of 3').waitFor();
    assertEqual(await at(), 'walk 2, row 1 of 3', 'after Enter');
    for (const [key, place] of [['n', 'walk 3, row 2 of 3'], ['n', 'walk 5, row 3 of 3'], ['n', 'walk 2, row 1 of 3'], ['N', 'walk 5, row 3 of 3'], ['N', 'walk 3, row 2 of 3']]) {
        await page.keyboard.press(key);
        await page.getByText(/row \d of 3/).filter({ hasText: place.split(', ')[1] }).waitFor();
        assertEqual(await at(), place, `after ${key}`);
    }
    await page.keyboard.press('/');
    await page.keyboard.press('Shift+Enter');
    await page.getByText('row 1 of 3').waitFor();
    assertEqual(await at(), 'walk 2, row 1 of 3', 'after Shift+Enter');
    await page.close();
});

await check('an inverted row focuses on its callers, and is not merged alone', async () => {
    const page = await openPage(url);
    await page.keyboard.press('i');
    await settle(page);
    await select(page, ['leaf', 'work']);
    await page.keyboard.press('M');
    await page.waitForSelector('.notice.visible');
    assertEqual(codes(page), null, 'transforms after M');
    await page.keyboard.press('F');
    await settle(page);
    assertEqual(codes(page), 'f-combined-21-i', 'transforms after F');
    assertEqual(await shown(page), reported('--inverted', '--focus-subtree', 'leaf;work'), 'the tree');
    await page.close();
});

await check('breadcrumbs lead back to any step, and to the row that was selected there', async () => {
    const page = await openPage(url);
    await select(page, ['main', 'walk']);
    for (const key of ['r', 'F']) {
        await page.keyboard.press(key);
        await settle(page);
    }
    await select(page, ['walk', 'helper']);
    await page.keyboard.press('d');
    await settle(page);
    assertEqual((await crumbs(page)).join(' | '), 'All stacks | Collapse recursion walk | Focus on subtree walk | Drop helper', 'breadcrumbs');
    await page.getByRole('button', { name: 'Focus on subtree walk' }).click();
    await settle(page);
    assertEqual(codes(page), 'rec-3~f-combined-03', 'transforms after a click');
    assertEqual((await selectedRow(page)).name, 'helper', 'selected row');
    await page.locator('[role="treegrid"]').focus();
    await page.keyboard.press('u');
    await settle(page);
    assertEqual(codes(page), 'rec-3', 'transforms after u');
    await page.getByRole('button', { name: 'All stacks' }).click();
    await settle(page);
    assertEqual(await page.locator('.transforms').count(), 0, 'number of breadcrumb bars');
    assertEqual(await shown(page), whole, 'the tree');
    await page.close();
});

await check('the selection and open rows stay across a transform', async () => {
    const page = await openPage(url);
    await page.keyboard.press('Home');
    await page.keyboard.press('*');
    await settle(page);
    const before = (await readRows(page)).map((row) => row.name);
    await select(page, ['main', 'work', 'leaf']);
    await page.keyboard.press('ArrowLeft'); // to its caller
    await settle(page);
    await page.keyboard.press('m');
    await settle(page);
    assertEqual((await selectedRow(page)).name, 'main', 'selected row');
    const after = (await readRows(page)).map((row) => row.name);
    assert(before.includes('work') && !after.includes('work'), 'work is still there');
    assert(after.includes('leaf'), 'what was below it is not shown');
    await page.close();
});

await check('the menu opens with the mouse and with the keyboard, and has every transform', async () => {
    const page = await openPage(url);
    await select(page, ['main', 'walk']);
    await page.locator('.tree-row.selected').click({ button: 'right', position: { x: 420, y: 8 } });
    await page.waitForSelector('[role="menu"]');
    const keys = await page.locator('[role="menuitem"] kbd').allInnerTexts();
    for (const [key] of byKey) assert(keys.includes(key), `the menu does not have ${key}`);
    await page.getByRole('menuitem', { name: 'Collapse recursion' }).click();
    await settle(page);
    assertEqual(codes(page), 'rec-3', 'transforms after a click');
    // It does not call itself any more.
    await page.locator('[role="treegrid"]').focus();
    await page.keyboard.press('Shift+F10');
    await page.waitForSelector('[role="menuitem"]:disabled:has-text("Collapse recursion")');
    await page.keyboard.press('d');
    await settle(page);
    assertEqual(codes(page), 'rec-3~df-3', 'transforms after a key of the menu');
    await page.locator('[role="treegrid"]').focus();
    await page.keyboard.press('Shift+F10');
    for (let i = 0; i < 2; i++) await page.keyboard.press('ArrowDown');
    assertEqual(await page.evaluate(() => document.activeElement.innerText.split('\n')[0]), 'Merge function', 'third item');
    await page.keyboard.press('Escape');
    assertEqual(await page.locator('[role="menu"]').count(), 0, 'number of menus');
    assert(await page.evaluate(() => document.activeElement.getAttribute('role') === 'treegrid'), 'the tree has not the focus');
    await page.close();
});

await check('copied stacks and names are those of the row', async () => {
    const page = await openPage(url);
    await select(page, ['main', 'work', 'leaf']);
    await page.keyboard.press('Shift+F10');
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
    await page.getByRole('menuitem', { name: 'Copy stack' }).click();
    const stack = 'leaf [libm]\nwork [app]\nmain [app]\n';
    assertEqual(await askUntil((text) => text === stack, clipboard), stack, 'the stack');
    await page.keyboard.press('Control+c');
    assertEqual(await askUntil((text) => text === 'leaf', clipboard), 'leaf', 'the name');
    await page.close();
});

await check('a search excludes, quotes, and takes expressions and fields, as prof report does', async () => {
    const page = await openPage(`${url}?chains`);
    for (const search of ['-walk', '"work"', '/^(le|he)/,-lib:libm', 'lib:libm,-"work"']) {
        await page.locator('#stack-search').fill(search);
        await page.keyboard.press('Enter');
        await settle(page);
        assertEqual(await shown(page), reported('--search', search), `the tree of ${search}`);
    }
    await page.close();
});

/** The function list as it is shown: name, total, self. */
async function functionsShown(page) {
    const rows = await page.$$eval('[role="grid"] .tree-row', (all) =>
        all
            .map((row) => [
                Number(row.dataset.row),
                row.querySelector('.tree-text bdi')?.textContent,
                row.querySelector('.number').textContent,
                row.querySelector('.number.self').textContent,
            ])
            .sort((a, b) => a[0] - b[0]),
    );
    return rows.map(([, name, total, self]) => `${name} ${numberOf(total)} ${numberOf(self)}`).join('\n');
}

function functionsReported(...options) {
    const report = JSON.parse(execFileSync(prof, ['report', '--json', '--functions', ...options, file], { encoding: 'utf8' }));
    return report.functions.map((row) => `${row.name} ${row.total} ${row.self}`);
}

await check('the function list is that of prof report, and sorts by each column', async () => {
    const page = await openPage(url);
    const tree = page.url();
    await page.getByRole('tab', { name: 'Functions' }).click();
    await page.waitForSelector('[role="grid"] .tree-row');
    await settle(page);
    assertEqual(new URL(page.url()).searchParams.get('tab'), 'functions', 'tab in the address');
    assertEqual(await functionsShown(page), functionsReported().join('\n'), 'the list');
    const numbers = async (at) => (await functionsShown(page)).split('\n').map((row) => Number(row.split(' ').at(at)));
    await page.getByRole('button', { name: /^Total/ }).click();
    await settle(page);
    const totals = await numbers(-2);
    assertEqual(totals.join(), [...totals].sort((a, b) => b - a).join(), 'totals');
    await page.getByRole('button', { name: /^Total/ }).click();
    await settle(page);
    assertEqual((await numbers(-2)).join(), [...totals].sort((a, b) => a - b).join(), 'totals the other way');
    await page.getByRole('button', { name: /^Function/ }).click();
    await settle(page);
    assertEqual((await functionsShown(page)).split('\n').map((row) => row.split(' ')[0]).join(), 'helper,leaf,main,walk,work', 'names');
    await page.goBack();
    await settle(page);
    assertEqual(page.url(), tree, 'address after back');
    await page.close();
});

await check('key and menu transform functions, and w shows the callers', async () => {
    const page = await openPage(`${url}?thread=0&tab=functions`, '[role="grid"] .tree-row');
    await page.locator('[role="grid"] .tree-row', { hasText: 'leaf' }).click();
    await page.keyboard.press('m');
    await settle(page);
    assertEqual(codes(page), 'mf-2', 'transforms after m');
    assertEqual(await functionsShown(page), functionsReported('--merge-function', 'leaf').join('\n'), 'the list');
    await page.locator('[role="grid"] .tree-row', { hasText: 'walk' }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Focus on function' }).click();
    await settle(page);
    assertEqual(codes(page), 'mf-2~ff-3', 'transforms after the menu');
    await page.locator('[role="grid"] .tree-row', { hasText: 'helper' }).click();
    await page.keyboard.press('w');
    await page.waitForSelector('[role="treegrid"] .tree-row.selected');
    await settle(page);
    assertEqual((await selectedRow(page)).name, 'helper', 'selected row of the tree');
    assert(await page.getByLabel('Invert call stack').isChecked(), 'the tree is not inverted');
    await page.close();
});

await check('a transform that leaves no samples shows a message, and offers undo', async () => {
    const page = await openPage(url);
    await select(page, ['main']);
    await page.keyboard.press('d');
    await page.waitForSelector('.empty');
    await page.getByRole('button', { name: 'Undo the last transform' }).last().click();
    await page.waitForSelector('.tree-row');
    assertEqual(codes(page), null, 'transforms after undoing');
    await page.close();
});

await check('the graph fades the stacks that a transform drops, with a tooltip', async () => {
    const page = await openPage(url);
    const draw = () => page.locator('.track[data-thread] canvas').first().evaluate((canvas) => canvas.toDataURL());
    await select(page, ['main']);
    const before = await draw();
    await page.keyboard.press('d');
    await page.waitForSelector('.empty');
    await askUntil((image) => image !== before, draw);
    const bounds = await page.locator('.track[data-thread] canvas').first().boundingBox();
    await page.mouse.move(bounds.x + bounds.width / 2, bounds.y + bounds.height / 2);
    await page.waitForSelector('.tooltip:has-text("transforms drop this sample")');
    await page.close();
});

await check('nothing complained', () => assertEqual(complaints.join('; '), '', 'complaints of the browser'));

await closeBrowser();
finish();
