// The page when its prof stops, another prof uses its port, and the first prof starts again.
//
//     node tests/e2e/page_stopped.mjs FILE OTHER-FILE
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { closeBrowser, complaints, openPage, settle } from './page_driver.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [file, otherFile] = process.argv.slice(2);

async function load(name, port) {
    const child = spawn(process.env.PROF, ['load', '-n', '-P', port, name], { stdio: ['ignore', 'ignore', 'pipe'] });
    const [line] = await once(createInterface(child.stderr), 'line');
    const [url] = /http:\S+/.exec(line);
    return { url, end: () => (child.kill('SIGINT'), once(child, 'exit')) };
}

let prof = await load(file, '0');
const { port } = new URL(prof.url);
const page = await openPage(prof.url);
await page.keyboard.press('i');
await settle(page);
const address = page.url();
const banner = page.locator('.stopped');
const goBack = () => page.evaluate(() => window.dispatchEvent(new Event('focus')));

await check('a user who returns to the page of a running prof sees no message', async () => {
    await Promise.all([page.waitForResponse((answer) => answer.request().method() === 'HEAD'), goBack()]);
    await settle(page);
    assertEqual(await banner.count(), 0, 'number of notices');
    assertEqual(complaints.join('\n'), '', 'what the page complained of');
});

await check('a user who returns to the page of a stopped prof sees a message', async () => {
    await prof.end();
    await goBack();
    await banner.waitFor();
    assert((await banner.innerText()).includes('Run prof load FILE again'), await banner.innerText());
});

await check('actions that need prof show the same message', async () => {
    await page.keyboard.press('Control+s');
    await page.locator('.notice').getByText('prof has stopped. Run `prof load FILE` again').waitFor();
});

await check('the same file has the same address again, and the page continues', async () => {
    prof = await load(file, port);
    assertEqual(prof.url, new URL('.', address).href, 'the address');
    await banner.getByRole('button').click();
    await banner.waitFor({ state: 'detached' });
});

await check('another prof on the port shows that this prof has stopped, and reveals nothing', async () => {
    await prof.end();
    const other = await load(otherFile, port);
    await goBack();
    await banner.waitFor();
    await page.goto(address);
    assertEqual(await page.title(), 'prof has stopped', 'the title');
    assert(!(await page.content()).includes('many'), 'it names the other profile');
    assertEqual(page.url(), address, 'the address');
    for (const [colorScheme, background] of [['light', 'rgb(255, 255, 255)'], ['dark', 'rgb(21, 24, 28)']]) {
        await page.emulateMedia({ colorScheme });
        const shown = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        assertEqual(shown, background, `the background in a ${colorScheme} theme`);
    }
    await other.end();
});

await check('a reload after prof load shows the view again', async () => {
    prof = await load(file, port);
    await page.reload();
    await page.waitForSelector('.tree-row.selected');
    await settle(page);
    assert(await page.getByRole('checkbox', { name: 'Invert' }).isChecked(), 'the tree is not inverted');
});

await closeBrowser();
await prof.end();
finish();
