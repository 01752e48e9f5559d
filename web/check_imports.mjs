// What no linter checks of the page's modules:
// - imports form no cycle (imports of types alone are gone when the page runs, and do not count);
// - nothing outlives a session: only the modules of the window have state of their own.
//
//     node check_imports.mjs [DIRECTORY]
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), 'src'));
/** Modules that belong to the window, and those that are programs of their own. */
const MAY_HAVE_STATE = /^(state\/(live|page|server|settings|theme|windows)\.ts|engine\/(start|worker|helper)\.ts)$/;
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

const imports = new Map(
    files.map((file) => [
        file,
        [...texts.get(file).matchAll(IMPORT)]
            .filter(([, type, clause]) => !type && !isOfTypes(clause))
            .map(([, , , path]) => resolve(dirname(file), path))
            .flatMap((path) => ['.ts', '.tsx'].map((ending) => path + ending).filter((one) => texts.has(one))),
    ]),
);

const done = new Set();
function visit(file, path) {
    const at = path.indexOf(file);
    if (at >= 0)
        problems.push(`a cycle: ${[...path.slice(at), file].map((one) => relative(root, one)).join(' imports ')}`);
    if (at >= 0 || done.has(file)) return;
    for (const other of imports.get(file)) visit(other, [...path, file]);
    done.add(file);
}
for (const file of files) visit(file, []);

for (const [file, text] of texts) {
    if (MAY_HAVE_STATE.test(relative(root, file))) continue;
    for (const match of text.matchAll(STATE)) {
        const line = text.slice(0, match.index).split('\n').length;
        problems.push(
            `${relative(root, file)}:${line}: state that outlives a session: make it a part of one (state/session.ts)`,
        );
    }
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
