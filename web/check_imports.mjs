// Checks the imports of the page's modules, which no linter checks (docs/architecture.md lists the directories).
// Imports of files and directories form no cycle, where imports of types alone do not count. A shared directory imports
// only shared directories below it, and no types of features. A feature imports only the modules of other features in
// OFFERED, and uses the session for everything else. Only app/ and the modules beside it import app/, except the type
// Session: components get the session from session/context.ts. Only modules of the window have state outside of a
// session. Usage: node check_imports.mjs [DIRECTORY].
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), 'src'));
/** Directories that all features share, lowest first. All other directories except app/ are features. */
const SHARED = ['base', 'engine', 'view', 'window', 'session', 'ui', 'table'];
const FEATURE = SHARED.length;
const APP = FEATURE + 1;
/** Modules of a feature that other features import, with the reasons. */
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
/** Modules of the window, and modules that are separate programs. */
const MAY_HAVE_STATE = /^(window\/\w+\.ts|live\/live\.ts|app\/page\.ts|engine\/(start|worker|helper)\.ts)$/;
const IMPORT = /^(?:import|export)\s+(type\s)?([^;'"]*?)\bfrom\s+'(\.[^']*)'/gm;
const STATE = /^(?:export )?(?:let\s|(?:const|var)\s.*=\s*(?:signal|computed|effect)[<(]|effect\()/gm;

const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
const problems = [];

/** Returns whether a clause imports only types: `{ type A, type B }`. */
function isOfTypes(clause) {
    const [, names] = /^\{([^}]*)\}\s*$/.exec(clause.trim()) ?? [];
    return names?.split(',').every((name) => name.trim() === '' || name.trim().startsWith('type ')) ?? false;
}

/** The imports of each file. Imports of types alone are in a list of their own. */
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
/** Returns '' for the entry modules beside the directories. */
const directoryOf = (file) => /^([^/]*)\/|/.exec(nameOf(file))[1] ?? '';

function heightOf(directory) {
    if (directory === '' || directory === 'app') return APP;
    return SHARED.includes(directory) ? SHARED.indexOf(directory) : FEATURE;
}

/** Reports each cycle of a graph, which maps each node to its successors. */
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
