// Unit tests of the page's modules: web/src/DIRECTORY/MODULE.ts has its tests in DIRECTORY/MODULE.mjs beside this file.
//
//     node tests/unit/web/run.mjs [DIRECTORY/MODULE...]
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assertEqual, check, finish } from '../../e2e/page_tap.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const source = resolve(here, '../../../web/src');
const HELPERS = new Set(['run', 'view/some_tracks']);
const tests = readdirSync(here, { recursive: true })
    .filter((name) => name.endsWith('.mjs'))
    .map((name) => name.slice(0, -'.mjs'.length))
    .filter((name) => !HELPERS.has(name))
    .sort();

const IMPORT = /^import\s+(?!type\s)([^;'"]*?)\bfrom\s+'([^']*)'/gm;
/** What depends on the browser, on a session or on signals. */
const IMPURE = /\b(context|document|effect|fetch|navigator|performance|self|session|signal|window)\b[.(<]|\bsession\b/;

/** Modules with functions that depend on nothing but their arguments, and import only such modules. */
function pureModules() {
    const files = readdirSync(source, { recursive: true }).filter((name) => /\.tsx?$/.test(name));
    const texts = new Map(files.map((name) => [name, readFileSync(join(source, name), 'utf8').replace(/\/\*[^]*?\*\/|\/\/.*$/gm, '')]));
    const importsOf = (name) =>
        [...texts.get(name).matchAll(IMPORT)]
            .filter(([, clause]) => clause.replace(/\btype \w+|[{},\s]/g, '') !== '') // types are gone when the page runs
            .map(([, , path]) => (path.startsWith('.') ? `${relative(source, resolve(source, dirname(name), path))}.ts` : path));
    const isPure = new Map();
    function visit(name) {
        if (!isPure.has(name)) {
            isPure.set(name, true);
            isPure.set(name, texts.has(name) && !IMPURE.test(texts.get(name)) && importsOf(name).every(visit));
        }
        return isPure.get(name);
    }
    return files.filter((name) => name.endsWith('.ts') && /^export (async )?(function|class)/m.test(texts.get(name)) && visit(name)).map((name) => name.slice(0, -'.ts'.length));
}

const wanted = process.argv.slice(2);
if (wanted.length === 0)
    await check('each pure module of the page has a test', () => {
        const modules = pureModules();
        assertEqual(modules.includes('base/around') && !modules.includes('flame/rect_hooks'), true, 'whether pure modules are told from others');
        assertEqual(modules.filter((name) => !tests.includes(name)).join(' '), '', 'the modules without a test');
    });
for (const name of wanted.length > 0 ? wanted : tests) await import(`./${name}.mjs`);
finish();
