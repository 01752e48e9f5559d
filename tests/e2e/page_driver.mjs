// What the tests of the page in a browser share: the browser, and the rows as a user reads them.
// CHROMIUM names the browser's program.
import { createRequire } from 'node:module';

// The browser's driver is among the packages of the page.
const { chromium } = createRequire(new URL('../../web/package.json', import.meta.url))('playwright-core');

/** What pages wrote to their console as errors, and addresses that they asked other hosts for. */
export const complaints = [];
export const foreign = [];

const PATIENCE_MS = 30_000;

const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox'],
});
const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
await context.grantPermissions(['clipboard-read', 'clipboard-write']);

// Counts what the page has asked its engine and what was not answered yet, for settle().
await context.addInitScript(() => {
    window.unanswered = 0;
    window.Worker = class extends window.Worker {
        constructor(...args) {
            super(...args);
            this.addEventListener('message', ({ data }) => {
                if (data.kind !== 'progress') window.unanswered--;
            });
        }
        postMessage(...args) {
            window.unanswered++;
            super.postMessage(...args);
        }
    };
});

/** Opens an address and waits for the tree, or for what else is to be there. */
export async function openPage(address, awaited = '.tree-row.selected') {
    const page = await context.newPage();
    const { origin } = new URL(address);
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('request', (request) => {
        if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) foreign.push(request.url());
    });
    await page.goto(address);
    await page.waitForSelector(awaited);
    await settle(page);
    return page;
}

/** The rows on the screen, top to bottom. */
export function readRows(page) {
    return page.$$eval('.tree-row', (rows) =>
        rows
            .map((row) => ({
                at: Number(row.dataset.row),
                level: Number(row.getAttribute('aria-level')),
                expanded: row.getAttribute('aria-expanded'),
                selected: row.getAttribute('aria-selected') === 'true',
                share: row.querySelector('.share').textContent,
                total: row.querySelector('.number').textContent,
                self: row.querySelector('.number.self').textContent,
                selfShare: row.querySelector('.self-share').textContent,
                name: row.querySelector('.tree-text bdi')?.textContent ?? '',
            }))
            .sort((a, b) => a.at - b.at),
    );
}

export async function selectedRow(page) {
    return (await readRows(page)).find((row) => row.selected);
}

/** The number that a cell shows. */
export function numberOf(text) {
    return text === '—' ? 0 : Number(text.replace(/,/g, ''));
}

/**
 * Waits until the page has nothing more to do: its engine has answered, and neither address nor text change any more.
 * The pauses are the page's own timers, so that on a slow machine those that it waits for itself (after typing, before
 * it writes the address) are over first.
 */
export async function settle(page) {
    const state = () =>
        page.evaluate(async () => {
            await new Promise((done) => setTimeout(done, 60));
            return [window.unanswered, location.href, document.querySelector('.below').innerText].join('\n');
        });
    const end = Date.now() + PATIENCE_MS;
    let before = '';
    for (let same = 0; same < 4 && Date.now() < end; ) {
        const now = await state();
        same = now === before && now.startsWith('0\n') ? same + 1 : 0;
        before = now;
    }
}

/** After a key that moves in a tree or opens its rows: waits until the engine has answered. The address comes later. */
export async function answered(page) {
    await page.evaluate(async () => {
        for (let quiet = 0; quiet < 4; quiet = window.unanswered === 0 ? quiet + 1 : 0)
            await new Promise((done) => setTimeout(done, 16));
    });
}

/** Asks until the answer is good; returns the last one. */
export async function askUntil(isGood, ask) {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
        const answer = await ask();
        if (isGood(answer) || Date.now() > end) return answer;
        await new Promise((done) => setTimeout(done, 50));
    }
}

export async function closeBrowser() {
    await browser.close();
}
