#!/usr/bin/env node
// Measures the memory that the page still uses for closed profiles: headless Chromium opens one file repeatedly, visits
// each view, and measures the memory after a garbage collection. The goal is that ten openings use as much as one. The
// scripts run without compilers, because the code of hot functions would be most of the growth of their heap. The
// resident memory is that of the whole process, with engine, code and graphics.
//
//     bench_page_heap.mjs [SAMPLES STACKS THREADS]        (100000 30000 8)
//     bench_page_heap.mjs FILE
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root, syntheticProfile } from '../engine_loader.mjs';
import { serve } from './served.mjs';

const PROFILES = 10;
const VIEWS = ['summary', 'functions', 'butterfly', 'flame-graph', 'stack-chart', 'marker-chart', 'calltree'];
const QUIET_MS = 400;
const NO_COMPILERS = '--js-flags=--no-sparkplug --no-maglev --no-turbofan --no-lazy-feedback-allocation';

const { chromium } = createRequire(join(root, 'web/package.json'))('playwright-core');
const [first = '100000', stacks = '30000', threads = '8'] = process.argv.slice(2);
const file = /^\d+$/.test(first) ? syntheticProfile(first, stacks, threads) : first;

const { server, url } = await serve(file);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: ['--no-sandbox', NO_COMPILERS] });
const measured = [];
try {
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
    await page.goto(url);
    await page.waitForSelector('.tree-row.selected');
    const session = await page.context().newCDPSession(page);
    const processes = await browser.newBrowserCDPSession();

    const shown = () => page.evaluate(() => history.state?.session);
    const open = async () => {
        const before = await shown();
        const chooser = page.waitForEvent('filechooser');
        await page.getByRole('button', { name: 'Open a file' }).click();
        await (await chooser).setFiles(file);
        await page.waitForFunction((id) => history.state?.session !== id, before);
        for (const view of VIEWS) {
            await page.click(`#tab-${view}`);
            await page.waitForTimeout(QUIET_MS);
        }
    };
    const measure = async () => {
        for (let round = 0; round < 3; round++) {
            await session.send('HeapProfiler.collectGarbage');
            await page.waitForTimeout(QUIET_MS);
        }
        const { usedSize } = await session.send('Runtime.getHeapUsage');
        const { processInfo } = await processes.send('SystemInfo.getProcessInfo');
        const resident = processInfo
            .filter(({ type }) => type === 'renderer')
            .map(({ id }) => Number(/VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))[1]) / 1024);
        measured.push({ heap: usedSize / 1024 / 1024, resident: Math.max(...resident) });
    };
    await open();
    await open(); // what is made once for all is there now
    await measure();
    for (let count = 1; count < PROFILES; count++) await open();
    await measure();
} finally {
    await browser.close();
    server.kill('SIGINT');
}

const [one, ten] = measured;
console.log(`${file}, opened and closed in one page; MiB after a collection`);
console.log(`${''.padEnd(12)} ${'one'.padStart(8)} ${'ten'.padStart(8)} ${'ratio'.padStart(8)}`);
for (const name of ['heap', 'resident'])
    console.log(`${name.padEnd(12)} ${one[name].toFixed(1).padStart(8)} ${ten[name].toFixed(1).padStart(8)} ${(ten[name] / one[name]).toFixed(2).padStart(8)}`);
