// Loads modules of the page for tests that need no browser.
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const web = new URL('../../web/', import.meta.url);

/** What the modules `parts` ("base/format", "summary/Summary.tsx") export, in their order. */
export async function loadParts(parts) {
    const { build } = createRequire(new URL('package.json', web))('esbuild');
    const work = await mkdtemp(join(tmpdir(), 'prof-page-'));
    await build({
        entryPoints: parts.map((part) => fileURLToPath(new URL(`src/${part.endsWith('.tsx') ? part : `${part}.ts`}`, web))),
        outdir: work,
        outbase: fileURLToPath(new URL('src', web)),
        outExtension: { '.js': '.mjs' },
        bundle: true,
        splitting: true, // what several import is one module, as on the page
        format: 'esm',
    });
    const modules = await Promise.all(parts.map((part) => import(pathToFileURL(join(work, `${part.replace(/\.tsx$/, '')}.mjs`)).href)));
    await rm(work, { recursive: true });
    return modules;
}

let seed = 1;

/** A whole number from 0 to `limit` - 1, the same ones in every run. */
export function random(limit) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * limit); // the lower digits repeat soon: the last one is 0, 1, 0, 1
}
