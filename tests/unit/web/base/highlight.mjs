// Which parts of a text match a search.
import { loadEngine } from '../../../engine_loader.mjs';
import { loadParts, random } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';

const [highlight] = await loadParts(['base/highlight']);
const { openEngine, module } = await loadEngine();
const engine = await openEngine(module); // of no profile

const termsExpression = (search) => highlight.termsExpression(engine.searchTerms(search));
/** How well a text has all words that were typed; -1: it lacks one. */
function fuzzyScore(text, typed) {
    const { scores } = engine.findTexts(typed, ['other', text]);
    const own = [...scores].slice(scores.length / 2);
    return own.includes(-1) ? -1 : own.reduce((sum, score) => sum + score, 0);
}
/** The text cut into pieces, the letters that were typed marked. */
function fuzzyPieces(text, typed) {
    const before = 'öther: 🙂 ';
    const { marks } = engine.findTexts(typed, [before, text]);
    assertEqual(marks.length, before.length + text.length, 'number of marks');
    return highlight.piecesOf(text, (at) => marks[before.length + at] !== 0);
}
await check('searched terms are marked wherever they are, letter by letter', () => {
    const find = termsExpression(' vec , [a] ');
    const pieces = highlight.markedPieces('std::Vector::VEC[a]', find);
    assertEqual(pieces.map((piece) => piece.text).join(''), 'std::Vector::VEC[a]', 'the pieces together');
    assertEqual(pieces.map(({ text, marked }) => (marked ? `<${text}>` : text)).join('|'), 'std::|<Vec>|tor::|<VEC>|<[a]>', 'the pieces');
    const all = (name, expression) => highlight.markedPieces(name, expression).map(({ text, marked }) => (marked ? `<${text}>` : text)).join('|');
    assertEqual(all('x.y', highlight.partExpression('.')), 'x|<.>|y', 'a part that is no expression');
    assertEqual(all('xay', highlight.partExpression('.')), 'xay', 'what it does not match');
    assertEqual(highlight.partExpression(''), null, 'the expression of no text');
    assertEqual([all('abc', null), all('', /a/g), all('abc', /b*/g)].join(), 'abc,,a|<b>|c', 'pieces of what is not found');
    assertEqual(termsExpression(' , '), null, 'the expression of no terms');
});

await check('terms of a search are told apart as the engine does', () => {
    const read = (search) => engine.searchTerms(search).map(({ text, kind, excluded }) => `${excluded ? '-' : ''}${kind[0]}:${text}`).join(' ');
    assertEqual(read('a, -b,lib:c ,-file:d'), 'p:a -p:b p:c -p:d', 'plain terms');
    assertEqual(read('"a, b" , -"c",lib:"d"'), 'e:a, b -e:c e:d', 'quoted terms');
    assertEqual(read('/a,b/, -/c\\/d/,file:/^e/'), 'e:a,b -e:c\\/d e:^e', 'expressions');
    assertEqual(read('/src/math,lib::x,-, "open'), 'p:/src/math p:lib::x p:- p:"open', 'what only looks special');
    assertEqual(termsExpression('-a,-/b/'), null, 'the expression of excluded terms');
    assert(termsExpression('/(/,x'), 'a broken expression leaves nothing');
    assertEqual(read('/(/, /A\\W/,Ab'), 'p:/(/ e:A\\W p:Ab', 'what is no expression, and letters as they were written');
    const pieces = highlight.markedPieces('read_all', termsExpression('/^r.*d/,"all"'));
    assertEqual(pieces.filter((piece) => piece.marked).map((piece) => piece.text).join('|'), 'read', 'what is marked');
});

/** All places of a word in a text, tried one by one; -1 if there is none. */
function slowPlaces(text, word, last) {
    if (word === '') return 0;
    let best = -1;
    for (let at = last + 1; at < text.length; at++) {
        if (text[at].toLowerCase() !== word[0].toLowerCase()) continue;
        const rest = slowPlaces(text, word.slice(1), at);
        if (rest < 0) continue;
        const isPart = at === 0 || (/\w/.test(text[at]) && text[at] !== '_' && (!/[A-Za-z0-9]/.test(text[at - 1]) || /[a-z][A-Z]/.test(text.slice(at - 1, at + 1))));
        const here = last >= 0 && at === last + 1 ? 12 : isPart ? 10 : 1;
        best = Math.max(best, rest + here + (last < 0 && at === 0 ? 4 : 0));
    }
    return best;
}
await check('letters are found in their best places, and these are marked', () => {
    for (let i = 0; i < 2000; i++) {
        const some = (from, most) => Array.from({ length: random(most) }, () => from[random(from.length)]).join('');
        const text = some('abcABC_: x', 12);
        const typed = some('abcAx_', 5);
        const places = typed === '' ? 0 : slowPlaces(text, typed, -1);
        const expected = places < 0 ? -1 : places + (typed !== '' && text.toLowerCase() === typed.toLowerCase() ? 20 : 0);
        assertEqual(fuzzyScore(text, typed), expected, `what ${JSON.stringify(typed)} is worth in ${JSON.stringify(text)}`);
    }
    const marked = fuzzyPieces('std::vector<int>::push_back', 'vpb').filter((piece) => piece.marked);
    assertEqual(marked.map((piece) => piece.text).join(), 'v,p,b', 'what is marked');
    assertEqual(fuzzyPieces('Show all tracks', 'all').map((piece) => piece.text).join('|'), 'Show |all| tracks', 'the pieces');
    assertEqual(fuzzyScore('Show all tracks', 'tracks zz'), -1, 'a word that is not there');
    assertEqual(fuzzyPieces('für 🙂 Größe x', 'größe').map((piece) => piece.text).join('|'), 'für 🙂 |Größe| x', 'the pieces around other letters');
    const { words, marks } = engine.findTexts('sh trk', ['Show all tracks']);
    assertEqual(`${words} ${[...marks].join('')}`, '2 110000000220020', 'which word each letter is of');
    assertEqual(JSON.stringify(engine.findTexts('', ['a'])), JSON.stringify({ words: 0, scores: new Int16Array(0), marks: new Uint8Array(1) }), 'nothing typed');
});

await check('what was found in a long name is in sight, whatever comes before it', () => {
    const of = (...texts) => highlight.piecesInSight(texts.map((text, at) => ({ text, marked: at % 2 === 1 }))).map(({ text }) => text).join('|');
    const long = 'a_namespace_of_many_letters::with::a::class::that::has::a::name::';
    assertEqual(of('std::', 'sort', long), `std::|sort|${long}`, 'a short lead, and what follows');
    assertEqual(of(long, 'sort', ''), 'a_namespace_of_many_letters::with:…::has::a::name::|sort|', 'a long lead');
    assertEqual(of('', 'sort', long, 'x', ''), '|sort|a_namespace_of_m…::has::a::name::|x|', 'a long way between two');
});
