// What distinguishes processes of one name.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ differingArguments }] = await loadParts(['view/process_arguments']);
const written = (...commands) =>
    [...differingArguments(commands.map((command, at) => ({ pid: String(at), processName: 'cc1', command })))].join(' ');

await check('processes of one name have the first argument that the fewest others have', () => {
    assertEqual(written('cc1 -O2 x86 src/a.c -o /tmp/1.s', 'cc1 -O2 x86 src/b.c -o /tmp/2.s'), '0,a.c 1,b.c', 'files of a compiler');
    assertEqual(
        written("compile -trimpath '/b1=>' -p a -buildid GQqPtYzyBUN6PC1QJMMY", "compile -trimpath '/b2=>' -p b -buildid HQqPtYzyBUN6PC1QJMMY"),
        '0,a 1,b',
        'packages of Go',
    );
    assertEqual(written('cc1 a.c'), '', 'a name of one process');
    assertEqual(written('cc1 a.c', 'cc1 a.c'), '', 'equal commands');
    assertEqual(written('cc1 a.c', '', 'cc1'), '0,a.c', 'commands without arguments');
});
