// Builds the page into build/web. The server embeds index.html, engine.js (which starts the worker), app.js, worker.js,
// helper.js, style.css, engine.wasm and the files that app.js loads on demand. shell.html becomes the page in one file
// (lib/export/html_page.h). `prof --licenses` prints licenses.txt. Usage: node build.mjs [--out DIR] [--wasm FILE]. All
// addresses inside the page are relative, because the server puts a random token before each path. The page loads
// nothing from other servers and has no inline script, so the server can send a strict Content-Security-Policy.
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { writeHexColors } from './oklch.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const FIRST_LOAD_LIMIT = 160 * 1024; // bytes after gzip, without the engine

function option(name, fallback) {
    const at = process.argv.indexOf(`--${name}`);
    const value = process.argv[at + 1];
    return resolve(at >= 0 && value ? value : fallback);
}

const out = option('out', join(here, '../build/web'));
const wasm = option('wasm', join(here, '../build/engine.wasm'));

await mkdir(out, { recursive: true });
const options = {
    outdir: out,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['es2020', 'chrome96', 'firefox102'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
};
// A script starts the engine before the rest of the page, which imports this script.
const startedBefore = {
    name: 'started-before',
    setup: (plugins) =>
        plugins.onResolve({ filter: /\/engine\/start$/ }, () => ({ path: './engine.js', external: true })),
};
const hexColors = {
    name: 'hex-colors',
    setup: (plugins) =>
        plugins.onLoad({ filter: /\/colors\.css$/ }, async ({ path }) => ({
            contents: writeHexColors(await readFile(path, 'utf8')),
            loader: 'css',
        })),
};
// Each module that the page imports on demand becomes a file. Each worker is one file.
const { metafile } = await build({
    ...options,
    entryPoints: [{ in: join(here, 'src/main.tsx'), out: 'app' }],
    plugins: [startedBefore],
    splitting: true,
    metafile: true,
});
const others = await build({
    ...options,
    plugins: [hexColors],
    metafile: true,
    entryPoints: [
        { in: join(here, 'src/engine/start.ts'), out: 'engine' },
        { in: join(here, 'src/engine/worker.ts'), out: 'worker' },
        { in: join(here, 'src/engine/helper.ts'), out: 'helper' },
        { in: join(here, 'src/style/style.css'), out: 'style' },
    ],
});
// Chromium compiles the functions of a script that begins with this comment in a second thread while the profile loads.
// Without the comment, Chromium compiles each function at its first call, while it draws the page. Other browsers
// ignore the comment.
const app = join(out, 'app.js');
await writeFile(app, `//# allFunctionsCalledOnLoad\n${await readFile(app, 'utf8')}`);
await copyFile(join(here, 'src/index.html'), join(out, 'index.html'));
await stat(wasm).then(
    () => copyFile(wasm, join(out, 'engine.wasm')),
    () => {
        console.error(`build.mjs: ${wasm} is missing: build it first with \`make build/engine.wasm\``);
        process.exitCode = 1;
    },
);

/** Returns the file of the page, with all files that it imports at once. */
function withImports(name, found = new Set()) {
    found.add(name);
    const [, output] = Object.entries(metafile.outputs).find(([path]) => resolve(path) === join(out, name));
    for (const { path, kind, external } of output.imports)
        if (kind === 'import-statement' && !external && !found.has(basename(path))) withImports(basename(path), found);
    return found;
}

let total = 0;
for (const name of ['index.html', 'engine.js', 'worker.js', 'style.css', ...withImports('app.js')])
    total += gzipSync(await readFile(join(out, name))).length;
if (total > FIRST_LOAD_LIMIT) {
    console.error(`build.mjs: the page is ${total} bytes after gzip, more than ${FIRST_LOAD_LIMIT}`);
    process.exitCode = 1;
}

/** Returns all files that a file imports, at once or on demand. */
function withAll(path, found = new Set()) {
    found.add(basename(path));
    for (const { path: other, external } of metafile.outputs[path].imports)
        if (!external && !found.has(basename(other))) withAll(other, found);
    return found;
}

// The shell has a place for each file. Its only script is allowed by its hash in the shell's policy. The files that
// only the source view needs are a separate part, which an export may omit.
const KINDS = { js: 'text/javascript', css: 'text/css', wasm: 'application/wasm', txt: 'text/plain' };
const place = (name) =>
    `        <script type="text/plain" data-name="${name}" data-kind="${KINDS[name.split('.').pop()]}">\n<!--file ${name}--></script>\n`;
const atOnce = [
    'engine.js',
    'worker.js',
    'helper.js',
    'style.css',
    'engine.wasm',
    'licenses.txt',
    ...withImports('app.js'),
];
const [editor] = Object.entries(metafile.outputs).find(([, { entryPoint }]) =>
    entryPoint?.endsWith('source/editor.ts'),
);
const ofEditor = [...withAll(editor)].filter((name) => !atOnce.includes(name));
const ofViews = Object.keys(metafile.outputs)
    .map((path) => basename(path))
    .filter((name) => !atOnce.includes(name) && !ofEditor.includes(name));
const shellBuild = await build({
    ...options,
    entryPoints: [join(here, 'src/shell.ts')],
    format: 'iife',
    write: false,
    metafile: true,
});
const script = shellBuild.outputFiles[0].text.trim();
const parts = {
    hash: `sha256-${createHash('sha256').update(script).digest('base64')}`,
    files: `${[...atOnce, ...ofViews].map(place).join('')}        <!--editor-->\n${ofEditor.map(place).join('')}        <!--/editor-->`,
    shell: `<script>${script}</script>`,
};
const shell = await readFile(join(here, 'src/shell.html'), 'utf8');
await writeFile(
    join(out, 'shell.html'),
    shell.replace(/<!--(hash|files|shell)-->/g, (_, name) => parts[name]),
);

// Collects the licenses of prof, of the packages in the bundles, and of the libraries in the binary and the engine.
// Packages with equal license texts share one entry.
const packages = new Set();
for (const built of [metafile, others.metafile, shellBuild.metafile])
    for (const path of Object.keys(built.inputs)) {
        const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
        if (name) packages.add(name);
    }
const texts = new Map();
for (const name of [...packages].sort()) {
    const from = join(here, 'node_modules', name);
    const { version, license } = JSON.parse(await readFile(join(from, 'package.json'), 'utf8'));
    const text = (await readFile(join(from, 'LICENSE'), 'utf8')).trim();
    texts.set(text, [...(texts.get(text) ?? []), `==== ${name} ${version}, bundled into the page: ${license}`]);
}
const licenses = [
    `==== prof\n\n${(await readFile(join(here, '../LICENSE'), 'utf8')).trim()}`,
    ...[...texts].map(([text, names]) => `${names.join('\n')}\n\n${text}`),
    (await readFile(join(here, '../cmd/linked-licenses.txt'), 'utf8')).trim(),
];
await writeFile(join(out, 'licenses.txt'), `${licenses.join('\n\n')}\n`);
