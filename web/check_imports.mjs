// What no linter checks of the page's modules (docs/architecture.md has their directories):
// - imports form no cycle, of files or of directories (imports of types alone are gone when the page runs, and do not count);
// - a shared directory imports only shared ones below it, and no feature, not even its types;
// - a feature imports of another only modules in OFFERED; all else reaches it through the session;
// - only app/ and the modules beside it import app/. Its type Session is everywhere: components get the session itself from
//   session/context.ts;
// - nothing outlives a session: only the modules of the window have state of their own.
//
//     node check_imports.mjs [DIRECTORY]
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), 'src'));
/** Directories that all features share, lowest first. Any other directory but app/ is a feature. */
const SHARED = ['base', 'engine', 'view', 'window', 'session', 'ui', 'table'];
const FEATURE = SHARED.length;
const APP = FEATURE + 1;
/** Modules of a feature that others import, and why they do. */
const OFFERED = new Map([
    ['calltree/node_menu.ts', 'a call node has the same keys in the butterfly'],
    ['calltree/transform_offers.ts', 'transforms are commands, too, and have keys'],
    ['compare/certainty.ts', 'the sidebar and the dialog of the recording explain what a confidence interval lacks'],
    ['compare/change_columns.tsx', 'every list of a comparison has the same columns of changes'],
    ['compare/comparison.ts', 'the palette, the summary and the dialog of the recording name the sides'],
    ['flame/draw_rects.ts', 'rects of markers have labels as those of the flame graph'],
    ['live/live.ts', 'a running recording adds commands'],
    ['markers/marker_parts.tsx', 'markers in tracks of the timeline have the tooltip and the menu of the marker chart'],
    ['save/exports.ts', 'each export is a command, too'],
    ['timeline/track_actions.ts', 'the dialog of keys lists those of tracks'],
]);
const SESSION = 'app/session.ts';
/** Modules that belong to the window, and those that are programs of their own. */
const MAY_HAVE_STATE = /^(window\/\w+\.ts|live\/live\.ts|app\/page\.ts|engine\/(start|worker|helper)\.ts)$/;
const IMPORT = /^(?:import|export)\s+(type\s)?([^;'"]*?)\bfrom\s+'(\.[^']*)'/gm;
const STATE = /^(?:export )?(?:let\s|(?:const|var)\s.*=\s*(?:signal|computed|effect)[<(]|effect\()/gm;

const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
const problems = [];

/** Whether all names of a clause are types: `{ type A, type B }`. */
function isOfTypes(clause) {
    const [, names] = /^\{([^}]*)\}\s*$/.exec(clause.trim()) ?? [];
    return names?.split(',').every((name) => name.trim() === '' || name.trim().startsWith('type ')) ?? false;
}

/** Imports of each file; those of types alone apart. */
const imports = new Map();
const typeImports = new Map();
for (const file of files) {
    const found = { values: [], types: [] };
    for (const [, type, clause, path] of texts.get(file).matchAll(IMPORT)) {
        const target = ['.ts', '.tsx']
            .map((ending) => resolve(dirname(file), path) + ending)
            .find((one) => texts.has(one));
        if (target) found[type || isOfTypes(clause) ? 'types' : 'values'].push(target);
    }
    imports.set(file, found.values);
    typeImports.set(file, found.types);
}

const nameOf = (file) => relative(root, file);
/** '' for the modules beside the directories: what the page begins with. */
const directoryOf = (file) => /^([^/]*)\/|/.exec(nameOf(file))[1] ?? '';

function heightOf(directory) {
    if (directory === '' || directory === 'app') return APP;
    return SHARED.includes(directory) ? SHARED.indexOf(directory) : FEATURE;
}

/** Reports each cycle of a graph: a map from a node to those that it leads to. */
function findCycles(graph, name) {
    const done = new Set();
    function visit(node, path) {
        const at = path.indexOf(node);
        if (at >= 0) problems.push(`a cycle: ${[...path.slice(at), node].map(name).join(' imports ')}`);
        if (at >= 0 || done.has(node)) return;
        for (const other of graph.get(node) ?? []) visit(other, [...path, node]);
        done.add(node);
    }
    for (const node of graph.keys()) visit(node, []);
}

const directories = new Map();
const used = new Set();
for (const file of files) {
    const from = directoryOf(file);
    const problem = (other, why) => problems.push(`${nameOf(file)} imports ${nameOf(other)}: ${why}`);
    for (const other of imports.get(file)) {
        const to = directoryOf(other);
        if (from === to) continue;
        if (to !== '' && from !== '') directories.set(from, (directories.get(from) ?? new Set()).add(to));
        if (heightOf(to) > heightOf(from)) problem(other, `${to || 'the root'}/ is above ${from}/`);
        if (heightOf(from) !== FEATURE || heightOf(to) !== FEATURE) continue;
        used.add(nameOf(other));
        if (!OFFERED.has(nameOf(other)))
            problem(other, 'a feature uses another through the session, or OFFERED names the module');
    }
    for (const other of typeImports.get(file)) {
        const [below, above] = [heightOf(from), heightOf(directoryOf(other))];
        if (above > below && above >= FEATURE && nameOf(other) !== SESSION)
            problem(other, 'not even a type comes from above');
    }
}
findCycles(imports, nameOf);
findCycles(directories, (directory) => `${directory}/`);
for (const name of OFFERED.keys())
    if (!used.has(name)) problems.push(`check_imports.mjs: no other feature imports ${name}: OFFERED need not name it`);

for (const [file, text] of texts) {
    if (MAY_HAVE_STATE.test(nameOf(file))) continue;
    for (const match of text.matchAll(STATE)) {
        const line = text.slice(0, match.index).split('\n').length;
        problems.push(`${nameOf(file)}:${line}: state that outlives a session: make it a part of one (app/session.ts)`);
    }
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
