// Which pages of other servers can read a profile that prof serves for the hosted page. The test uses empty pages with
// the addresses of the hosted page and of another page.
//
//     node tests/e2e/page_hosted.mjs ADDRESS
//
// ADDRESS is what `prof load --ui hosted` prints.
import { createRequire } from 'node:module';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const { chromium } = createRequire(new URL('../../web/package.json', import.meta.url))('playwright-core');
const [address] = process.argv.slice(2);
const [, profile] = /\/from-url\/([^/]+)\//.exec(address) ?? [];
const profileUrl = decodeURIComponent(profile);
const symbolServer = new URL(address).searchParams.get('symbolServer');

// New versions ask the user whether a page may reach this machine; here nobody could answer.
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-features=LocalNetworkAccessChecks'],
});

/** A page of that origin, and what it gets of an address. */
async function pageOf(origin) {
    const page = await browser.newPage();
    await page.route(`${origin}/**`, (route) => route.fulfill({ contentType: 'text/html', body: '<title>page</title>' }));
    await page.goto(`${origin}/`);
    const get = (url, options) =>
        page.evaluate(
            async ([to, init]) => {
                try {
                    const answer = await fetch(to, init);
                    return { status: answer.status, text: await answer.text() };
                } catch (error) {
                    return { status: 0, text: String(error) };
                }
            },
            [url, options],
        );
    return { page, get };
}

await check('the hosted page can read the profile and ask for symbols', async () => {
    const { get, page } = await pageOf('https://profiler.firefox.com');
    const answer = await get(profileUrl);
    assertEqual(answer.status, 200, `status (${answer.text.slice(0, 80)})`);
    assertEqual(JSON.parse(answer.text).meta.product, 'walker', 'the product');
    const body = JSON.stringify({ jobs: [{ memoryMap: [], stacks: [] }] });
    const symbols = await get(`${symbolServer}/symbolicate/v5`, { method: 'POST', body });
    assertEqual(symbols.status, 200, `status of symbols (${symbols.text.slice(0, 80)})`);
    // JSON by its name makes the browser ask first.
    const asked = await get(`${symbolServer}/symbolicate/v5`, { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
    assertEqual(asked.status, 200, `status of symbols that are asked for first (${asked.text.slice(0, 80)})`);
    await page.close();
});

await check('other pages can read nothing', async () => {
    const { get, page } = await pageOf('https://example.org');
    const answer = await get(profileUrl);
    assert(answer.status === 0 && /fetch/.test(answer.text), `it gets ${answer.status} ${answer.text.slice(0, 80)}`);
    await page.close();
});

await browser.close();
finish();
