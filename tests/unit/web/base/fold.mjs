// Folded template arguments.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';

const [fold] = await loadParts(['base/fold']);

await check('template arguments are folded, and nothing else that has angles', () => {
    const names = [
        ['std::vector<int>::push_back(int const&)', 'std::vector<…>::push_back(int const&)'],
        ['std::map<std::string, std::vector<int> >::at', 'std::map<…>::at'],
        ['a<b<c>>::d<e>(f<g>)', 'a<…>::d<…>(f<…>)'],
        ['bool std::operator< <char, int>(x)', 'bool std::operator< <…>(x)'],
        ['operator<<', 'operator<<'],
        ['bool operator<(A<int>)', 'bool operator<(A<…>)'],
        ['std::operator<< <std::char_traits<char> >(y)', 'std::operator<< <…>(y)'],
        ['ptr<int>::operator->()', 'ptr<…>::operator->()'],
        ['cooperator<int>', 'cooperator<…>'],
        ['main()::<lambda()>', 'main()::<lambda()>'],
        ['<alloc::vec::Vec<T,A> as core::ops::Drop>::drop', '<alloc::vec::Vec<…> as core::ops::Drop>::drop'],
        ['core::iter::Iterator::collect::<Vec<u8>>', 'core::iter::Iterator::collect::<…>'],
        ['f<fn(A) -> B>', 'f<…>'],
        ['f<(a) => b>(c)', 'f<…>(c)'],
        ['a<b> = c<d>', 'a<…> = c<…>'],
        ['f<a>=b', 'f<…>=b'],
        ['less<', 'less<'],
        ['plain', 'plain'],
    ];
    for (const [name, folded] of names) assertEqual(fold.foldTemplates(name), folded, name);
    const start = performance.now();
    fold.foldTemplates('a<'.repeat(4000));
    assert(performance.now() - start < 500, 'brackets that do not close take long');
});
