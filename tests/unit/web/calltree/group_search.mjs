// The search that finds the functions of a group.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ groupSearch }] = await loadParts(['calltree/group_search']);

await check('a group is found by its namespace, its directory or its library', () => {
    assertEqual(groupSearch('std', 'namespace'), '/^[<&*]*(mut |dyn |const )*std(::|\\.)/', 'a namespace');
    assertEqual(groupSearch('net/http', 'namespace'), '/^[<&*]*(mut |dyn |const )*net\\/http(::|\\.)/', 'a package');
    assertEqual(groupSearch('/src/a.b', 'directory'), 'file:/^\\/src\\/a\\.b\\/[^\\/]*$/', 'a directory');
    assertEqual(groupSearch('[libc.so.6]', 'namespace'), 'lib:/^\\[?libc\\.so\\.6\\]?$/', 'a library');
    assertEqual(groupSearch('[vdso]', 'directory'), 'lib:/^\\[?vdso\\]?$/', 'a library whose name has brackets');
});
