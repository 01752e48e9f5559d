// Names with invisible characters, and long ones.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [plain] = await loadParts(['base/plain']);

await check('what is invisible in a name is spelled out', () => {
    assertEqual(plain.plainText('a\udfff\ud800b', 9), 'a\ufffd\ufffdb', 'halves of pairs');
    const text = plain.plainText('a\u202Eb\u0000c\u200Dd\uFEFFe\uD800f\u{E0041}g', 100);
    assertEqual(text, 'a⟨U+202E⟩b⟨U+0000⟩c⟨U+200D⟩d⟨U+FEFF⟩e\uFFFDf⟨U+E0041⟩g', 'the text');
    assertEqual(plain.plainText('größe 日本 <b>&amp;', 100), 'größe 日本 <b>&amp;', 'ordinary text');
});

await check('long names are cut, and it is said how much is left out', () => {
    assertEqual(plain.plainText('x'.repeat(500), 10), `${'x'.repeat(10)}…`, 'the text');
    assertEqual(plain.cutNote('x'.repeat(1500), 1000), 'the first 1,000 of 1,500 characters', 'the note');
    assertEqual(plain.cutNote('x'.repeat(1000), 1000), '', 'the note of one that just fits');
    assertEqual(plain.plainText('x'.repeat(10), 10), 'x'.repeat(10), 'one that just fits');
    assertEqual(plain.plainText('\u200d\u200dxyz', 2), '⟨U+200D⟩⟨U+200D⟩…', 'a long one that is invisible');
    assertEqual(plain.oneLine('a\nb\u2028c\td\u200de'), 'a b c d\u200de', 'a name in one line');
    assertEqual(['/usr/lib/libc.so', 'main.c', 'dir/'].map(plain.baseName).join('|'), 'libc.so|main.c|', 'paths without directories');
});

await check('placeholders are no functions', () => {
    const names = ['(truncated)', '(not sampled)', '(4-7 frames omitted)', '(anonymous)', 'truncated', '(not sampled) x'];
    assertEqual(names.map(plain.isPlaceholderName).join(), 'true,true,true,false,false,false', 'the names');
});
