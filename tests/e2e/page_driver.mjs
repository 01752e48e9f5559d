// Shared by the tests of the page in a browser: starts the browser, and reads rows as a user sees them.
import { createRequire } from 'node:module';
import { countQuestions, TIMEOUT_MS, settle } from './page_rows.mjs';
import { assertEqual, check } from './page_tap.mjs';

export * from './page_rows.mjs';

// The browser's driver is among the packages of the page.
const { chromium } = createRequire(new URL('../../web/package.json', import.meta.url))('playwright-core');

/** What pages wrote to their console as errors, and addresses that they asked other hosts for. */
export const complaints = [];
export const foreign = [];

const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox', ...(process.env.JS_FLAGS ? [`--js-flags=${process.env.JS_FLAGS}`] : [])],
});
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
await context.grantPermissions(['clipboard-read', 'clipboard-write']);

await context.addInitScript(countQuestions);

/*
 * Tabs that a test has closed and not changed, empty: opening an address in one of these takes a third of the time that a
 * new tab takes, whose process has to start.
 */
const emptyTabs = [];
const CHANGES = ['addInitScript', 'emulateMedia', 'exposeFunction', 'on', 'once', 'route', 'setViewportSize'];

async function newTab() {
    const page = await context.newPage();
    const close = page.close.bind(page);
    let isChanged = false;
    page.setDefaultTimeout(TIMEOUT_MS);
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('request', (request) => {
        if (!request.url().startsWith(page.origin) && !/^(data|about):/.test(request.url())) foreign.push(request.url());
    });
    for (const name of CHANGES) {
        const change = page[name].bind(page);
        page[name] = (...args) => {
            isChanged = true;
            return change(...args);
        };
    }
    page.close = async () => {
        if (isChanged) return close();
        await page.goto('about:blank');
        emptyTabs.push(page);
    };
    return page;
}

/** Opens an address and waits for the tree, or for what else is to be there. */
export async function openPage(address, awaited = '.tree-row.selected') {
    const page = emptyTabs.pop() ?? (await newTab());
    page.origin = new URL(address).origin;
    await page.goto(address);
    await page.waitForSelector(awaited);
    await settle(page);
    return page;
}

/** The last check of a script. */
export async function checkComplaints() {
    await check('no errors, and no request to another host', async () => {
        assertEqual(complaints.join('\n'), '', 'errors');
        assertEqual(foreign.join('\n'), '', 'addresses');
    });
}

export async function closeBrowser() {
    await browser.close();
}
