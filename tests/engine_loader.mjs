// The engine in node, as the worker of the page has it: web/src/engine/wasm.ts over build/engine.wasm.
import { execFileSync } from 'node:child_process';
import { webcrypto } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

globalThis.crypto ??= webcrypto; // node 18 does not have it as browsers do

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');
export const build = process.env.BUILD ?? join(root, 'build');

/** The compiled module, what opens an engine with it, and the layout of its memory. */
export async function loadEngine(wasm = join(build, 'engine.wasm')) {
    const { build: bundle } = createRequire(join(root, 'web/package.json'))('esbuild');
    const directory = await mkdtemp(join(tmpdir(), 'prof-engine-'));
    try {
        const entryPoints = ['wasm', 'layout', 'module'].map((name) => join(root, `web/src/engine/${name}.ts`));
        await bundle({ entryPoints, outdir: directory, outExtension: { '.js': '.mjs' }, bundle: true, format: 'esm' });
        const load = (name) => import(pathToFileURL(join(directory, `${name}.mjs`)).href);
        const { openEngine } = await load('wasm');
        const { EngineModule } = await load('module');
        const layout = await load('layout');
        return { openEngine, EngineModule, layout, module: await WebAssembly.compile(await readFile(wasm)) };
    } finally {
        await rm(directory, { recursive: true });
    }
}

/** The calls that name a query, or a butterfly, first. */
const OF_QUERY = new Set(
    ('roots children childrenAlong heaviestBelow descendants heaviestPath path find details functionDetails rewritePaths recursion functions ' +
        'changes groups functionsWeighed butterfly flame stackChart findFunctions lineCosts symbols addressCosts').split(' '),
);
const OF_BUTTERFLY = new Set(['butterflyChildren', 'butterflyDescendants']);

/**
 * The engine for tests that ask one query after another: what is asked is about the last of them. Where a test is about
 * several, it takes the engine itself.
 */
export function onLastQuery(engine) {
    let query = { id: 0 };
    let last = { threads: [], transforms: [] };
    let butterfly = { id: 0 };
    return new Proxy(engine, {
        get(target, name) {
            const call = target[name];
            if (OF_QUERY.has(name) && name !== 'butterfly') return (...args) => call(query.id, ...args);
            if (OF_BUTTERFLY.has(name)) return (...args) => call(butterfly.id, ...args);
            if (name === 'butterfly') return (...args) => (butterfly = call(query.id, ...args));
            if (name === 'query') return (wanted) => ((last = wanted), (query = call(wanted)));
            if (name === 'sampleAt') return (thread, time) => call(thread, time, last);
            if (name === 'activity')
                return (thread, from, to, width, search, of = null) =>
                    call(thread, from, to, width, { threads: last.threads, transforms: last.transforms, search, of });
            return call;
        },
    });
}

/** The file name of a synthetic profile of that size, which is made if it is not there yet. `seed`: of what is random in it. */
export function syntheticProfile(samples, stacks, threads, seed = 0) {
    const file = join(build, `bench/synthetic-${[samples, stacks, threads, ...(seed ? [seed] : [])].join('-')}.json.gz`);
    if (!existsSync(file)) {
        const generator = join(build, 'bench/generate_profile');
        execFileSync('make', ['-s', '-C', root, relative(root, generator)], { stdio: 'inherit' });
        execFileSync(generator, [samples, stacks, threads, file, ...(seed ? ['40', seed] : [])], { stdio: 'inherit' });
    }
    return file;
}
