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

await check('the own name of a function keeps apart from what it is in and from its arguments', () => {
    const names = [
        ['main', '|main|'],
        ['int main(int)', 'int |main|(int)'],
        ['a::Parser::parse(a::B&, int) const', 'a::Parser::|parse|(a::B&, int) const'],
        ['void std::sort<…>(int*)', 'void std::|sort|<…>(int*)'],
        ['a::~a()', 'a::|~a|()'],
        ['a::operator()(int)', 'a::|operator()|(int)'],
        ['operator new(unsigned long)', '|operator new|(unsigned long)'],
        ['std::operator<< <…>(y)', 'std::|operator<<| <…>(y)'],
        ['ptr<int>::operator->()', 'ptr<int>::|operator->|()'],
        ['main::{lambda()#1}::operator()() const', 'main::{lambda()#1}::|operator()|() const'],
        ['(anonymous namespace)::work(int)', '(anonymous namespace)::|work|(int)'],
        ['<alloc::Vec<T> as core::Drop>::drop', '<alloc::Vec<T> as core::Drop>::|drop|'],
        ['core::Iterator::collect::<Vec<u8>>', 'core::Iterator::|collect|::<Vec<u8>>'],
        ['net/http.(*conn).serve', 'net/http.(*conn).|serve|'],
        ['java.util.HashMap.get', 'java.util.HashMap.|get|'],
        ['foo.constprop.0', '|foo.constprop.0|'],
        ['mutex 0x1234', '|mutex 0x1234|'],
        ['(truncated)', '|(truncated)|'],
        ['a<(', '|a|<('],
    ];
    for (const [name, parts] of names) assertEqual(fold.nameParts(name).join('|'), parts, name);
});

await check('parameters are left out of long names', () => {
    assertEqual(fold.foldParameters('a::b(int)', 9), 'a::b(int)', 'a short name');
    assertEqual(fold.foldParameters('a::b<c>(int, long)', 9), 'a::b<c>(…)', 'a long one');
    assertEqual(fold.foldParameters('a::bcdefghij()', 9), 'a::bcdefghij()', 'no parameters');
});
