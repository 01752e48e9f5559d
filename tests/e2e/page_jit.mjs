// Source and instructions of a JIT function of node with their costs, and the message of the page when prof no longer
// has the code.
//
//     node tests/e2e/page_jit.mjs URL SOURCE CACHE
import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { askUntil, checkComplaints, closeBrowser, numberOf, openPage, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [url, sourceFile, cache] = process.argv.slice(2);
const body = readFileSync(sourceFile, 'utf8').split('\n').findIndex((line) => line.startsWith('function work')) + 1;
const images = readdirSync(cache).filter((name) => /^jit-[0-9a-f]+\.elf$/.test(name));

/** A page with the source panel of work(), the hot function. */
async function openWork() {
    const page = await openPage(url);
    await page.getByRole('tab', { name: 'Functions' }).click();
    await settle(page);
    const row = page.locator('.tree-row', { has: page.locator('.tree-text bdi', { hasText: /^work$/ }) }).first();
    await row.click();
    await settle(page);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.source-panel');
    return page;
}

async function openCode(page) {
    if ((await page.locator('.code-pane').count()) === 0) await page.keyboard.press('a');
    await page.waitForSelector('.code-pane');
}

const readCode = (page) =>
    page.$$eval('.code-row', (rows) =>
        rows.map((row) => {
            const [total, self, address, origin, instruction] = [...row.children].map((cell) => cell.textContent);
            return { total, self, address, origin, instruction };
        }),
    );

await check('the instructions of a JIT function have costs and lines beside its source', async () => {
    assert(images.length > 0, 'the cache has no image of JIT code');
    const page = await openWork();
    await page.waitForSelector('.source-editor .cm-line');
    const text = await page.$eval('.source-editor', (holder) => holder.shadowRoot.textContent);
    assert(text.includes('function work'), `the source is ${text.slice(0, 200)}`);
    await openCode(page);
    await page.waitForSelector('.code-row');
    const rows = await askUntil((all) => all.some((row) => row.self !== ''), () => readCode(page));
    const hot = [...rows].sort((a, b) => (b.self === '' ? 0 : numberOf(b.self)) - (a.self === '' ? 0 : numberOf(a.self)))[0];
    const line = Number(/\d+/.exec(hot.origin)?.[0] ?? 0);
    assert(line >= body && line <= body + 4, `the costliest instruction is of line ${hot.origin}, not of work()`);
    assert(/^[a-z]/.test(hot.instruction), `its text is ${hot.instruction}`);
    await page.close();
});

await check('when the code no longer exists, the page shows the reason', async () => {
    for (const name of images) renameSync(join(cache, name), join(cache, `${name}.gone`));
    const page = await openWork();
    await openCode(page);
    const text = await askUntil(
        (said) => said.includes('No machine code available'),
        () => page.locator('.code-pane').innerText(),
    );
    assert(text.includes('no longer has the JIT code'), `it says ${text}`);
    assert(text.includes('for the user and machine'), `it says ${text}`);
    for (const name of images) renameSync(join(cache, `${name}.gone`), join(cache, name));
    await page.close();
});

await checkComplaints();

await closeBrowser();
finish();
