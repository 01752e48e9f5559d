// Commands and their keys.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ command, keyName, keyText }] = await loadParts(['commands/command']);
const press = (key, ...held) =>
    keyName({ key, altKey: held.includes('alt'), ctrlKey: held.includes('ctrl'), metaKey: held.includes('meta'), shiftKey: held.includes('shift') });

await check('a key has a name; with Ctrl the case is that of Shift', () => {
    const names = [
        [press('z'), 'z'],
        [press('Z', 'shift'), 'Z'],
        [press('z', 'ctrl'), 'Ctrl+z'],
        [press('Z', 'ctrl'), 'Ctrl+z'],
        [press('z', 'ctrl', 'shift'), 'Ctrl+Z'],
        [press('k', 'meta'), 'Ctrl+k'],
        [press('?', 'shift'), '?'],
        [press('Escape'), 'Escape'],
        [press('Delete', 'shift'), 'Shift+Delete'],
        [press('Delete', 'ctrl'), null],
        [press('z', 'alt'), null],
        [press('ArrowUp', 'meta'), null],
    ];
    names.forEach(([name, expected], at) => assertEqual(name, expected, `key ${at}`));
});

await check('keys are written as on a keyboard', () => {
    const texts = [['z', 'z'], ['Z', 'Z'], ['Ctrl+z', 'Ctrl+Z'], ['Ctrl+Z', 'Ctrl+Shift+Z'], ['Escape', 'Esc'], [' ', 'Space'], ['ArrowUp', '↑'], ['ArrowDown', '↓'], ['?', '?'], ['Ctrl+1', 'Ctrl+1']];
    for (const [key, text] of texts) assertEqual(keyText(key), text, key);
});

await check('a command applies always and has no key, unless it says so', () => {
    const run = () => 'run';
    const plain = command('Plain', run);
    assertEqual([plain.title, plain.key, plain.isOffered(), plain.run()].join(), 'Plain,,true,run', 'a plain command');
    const special = command('Special', run, { key: 'x', isOffered: () => false, isHidden: true });
    assertEqual([special.title, special.key, special.isOffered(), special.isHidden].join(), 'Special,x,false,true', 'a special command');
});
