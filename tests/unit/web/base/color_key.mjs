// What colors functions have in common.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [colorKey] = await loadParts(['base/color_key']);

await check('a function is colored by its library, its name or the module that it is in', () => {
    const func = (name, file = '') => ({ name, file, lib: 'libx.so' });
    const modules = [
        [func('std::map<llvm::Type, int>::at(int)'), 'std'],
        [func('void std::sort<__gnu_cxx::It<int*> >(int*, int*)'), 'std'],
        [func('clang::Sema::operator()(int) const'), 'clang'],
        [func('(anonymous namespace)::Parser::parse(llvm::Type*)', '/src/parse.cpp'), 'Parser'],
        [func('llvm::(anonymous namespace)::run()'), 'llvm'],
        [func('<alloc::vec::Vec<T> as core::ops::Drop>::drop'), 'alloc'],
        [func('runtime.mallocgc', '/usr/lib/go/malloc.go'), 'runtime'],
        [func('net/http.(*conn).serve', '/usr/lib/go/server.go'), 'net/http'],
        [func('main.main.func1', '/src/main.go'), 'main'],
        [func('java.util.HashMap.get', 'HashMap.java'), 'java.util'],
        [func('work.part.0', '/src/work.c'), 'work.c'],
        [func('loads', '/usr/lib/python3/json/__init__.py'), '__init__.py'],
        [func('0x1f388c0'), 'libx.so'],
    ];
    for (const [info, module] of modules) assertEqual(colorKey.colorKeyOf(info, 'module'), module, info.name);
    assertEqual(colorKey.colorKeyOf(func('a<int>::b'), 'function'), 'a<…>::b', 'the key of a template');
    assertEqual(colorKey.colorKeyOf(func('a<int>::b'), 'library'), 'libx.so', 'the key of a library');
});
