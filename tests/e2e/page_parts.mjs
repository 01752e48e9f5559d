// The parts of the page that need no browser: addresses, numbers, names, the order of tracks.
import { loadParts, random } from './page_modules.mjs';
import { loadEngine } from '../engine_loader.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const [codec, indexes, transformCodec, tracks, trackChoice, format, plain, highlight, ticks, rectDrawing, rectPaths, fold, tableText, jumps, sourceCodec, trust, summaryView, rowScroll, colorKey, counterTracks, axisText] = await loadParts([
    'view/codec', 'base/indexes', 'view/transform_codec', 'view/tracks', 'view/track_choice', 'base/format',
    'base/plain', 'base/highlight', 'timeline/ticks', 'flame/draw_rects', 'flame/rect_paths',
    'base/fold', 'base/table_text', 'source/jumps', 'view/source_codec',
    'summary/trust', 'summary/summary_view', 'base/row_scroll', 'base/color_key', 'timeline/tracks/counter.tsx', 'session/axis_text',
]);

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

await check('what counters count is said in its unit, and so is its rate', () => {
    const amounts = [[2048, 'bytes', '2 KiB', '1.95 MiB/s'], [4e6, 'pWh', '4 µWh', '14.4 W'], [500, 'cpu-us', '500 µs', '50%'], [0.5, 'cpu-ms', '500 µs', '50%'], [0.5, 'percent', '50%', '50%'], [3, 'ops', '3 ops', '3,000 ops/s']];
    for (const [value, unit, amount, rate] of amounts) {
        assertEqual(format.formatAmount(value, unit), amount, `${value} ${unit}`);
        assertEqual(format.formatRate(value, unit), rate, `${value} ${unit} in a ms`);
    }
});

await check("of prof's own counters memory has a track at first, below the three busiest processes", () => {
    const counter = (index, thread, label, more) => ({ index, thread, label, description: '', pid: `${thread}`, unit: 'bytes', color: 'orange', isRate: false, startsAtZero: true, isHiddenAtFirst: false, isOfSystem: false, sortWeight: index, ...more });
    const lead = (thread, activity) => ({ key: `t${thread}`, kind: 'thread', index: thread, process: `${thread}`, processName: `p${thread}`, below: '', title: '', detail: '', words: '', thread, members: [thread], isLead: true, activity, isQuiet: false, height: 42 });
    const threads = [lead(0, 5), lead(1, 50), lead(2, 40), lead(3, 30)];
    const counters = [
        ...threads.map(({ thread }) => counter(thread, thread, 'Memory')),
        counter(4, 1, 'CPU', { startsAtZero: false, isRate: true, isHiddenAtFirst: true }),
        counter(5, 0, 'All CPUs', { startsAtZero: false, isHiddenAtFirst: true, isOfSystem: true }),
        counter(6, 0, 'of another recorder', { startsAtZero: false }),
    ];
    const seeds = counterTracks.COUNTERS.seeds({ counters }, threads);
    const shown = seeds.filter((seed) => !seed.isQuiet).map((seed) => `${seed.title} of ${seed.process}`);
    assertEqual(shown.join(), 'Memory of 1,Memory of 2,Memory of 3,of another recorder of 0', 'tracks at first');
    assertEqual(seeds.find((seed) => seed.title === 'All CPUs').process, '', 'the process of what counts the machine');
    const rows = tracks.layoutTracks([...threads, ...seeds], tracks.DEFAULT_TRACKS, [0]);
    assertEqual([rows.count, rows.total, rows.quiet].join(), '8,11,0', 'shown, all, and those that are said to be quiet');
});

await check('a recording without most names is not called good, and says what to do', () => {
    const section = (resolved) => ({
        label: 'Trust',
        entries: [
            { label: 'Samples lost', value: '0' },
            { label: 'Stacks complete', value: '4771 (100 %)' },
            { label: 'Stacks completed from the live process', value: '0' },
            { label: 'Addresses resolved', value: resolved },
        ],
    });
    const bad = trust.trustSummary(section('1932 (36.0 %)'), 4771);
    assertEqual([bad.isGood, bad.text].join(': '), 'false: 36.0% of addresses resolved, 100% complete stacks, 0 lost', 'a third of the names');
    assert(bad.fix.includes('prof symbolicate'), `the fix is ${bad.fix}`);
    const good = trust.trustSummary(section('5300 (98.7 %)'), 4771);
    assertEqual([good.isGood, good.text, good.fix].join(': '), 'true: 100% complete stacks, 0 lost: ', 'most names');
});

await check('a recording without many Python frames is not called good', () => {
    const section = (share, label = 'Python samples with Python frames') => ({
        label: 'Data quality',
        entries: [
            { label: 'Stacks complete', value: '477 (100 %)' },
            { label, value: share },
        ],
    });
    const bad = trust.trustSummary(section('190 (39.83 %)'), 477);
    assertEqual([bad.isGood, bad.text].join(': '), 'false: Python frames in 39.8% of Python samples, 100% complete stacks', 'a third');
    const older = trust.trustSummary(section('190 (39.83 %)', 'Samples in Python with their Python frames'), 477);
    assertEqual(older.text, bad.text, 'the label of an older version');
    const good = trust.trustSummary(section('470 (98.53 %)'), 477);
    assertEqual([good.isGood, good.text].join(': '), 'true: 100% complete stacks', 'nearly all');
});

await check('the section about data quality is found by its name and by that of older versions', () => {
    const all = { addressCount: 1, resolvedCount: 1, symbolicated: true };
    for (const label of ['Data quality', 'Trust', ' trust '])
        assertEqual(trust.trustSectionOf({ ...all, extra: [{ label: 'Recording', entries: [] }, { label, entries: [] }] })?.label, label, label);
    const others = ['Data quality, by thread', 'Trust, by thread', 'Untrusted'].map((label) => ({ label, entries: [] }));
    assertEqual(trust.trustSectionOf({ ...all, extra: others }), undefined, 'sections with similar names');
});

await check('of a profile that says nothing of itself it is said that names are missing', () => {
    const of = (resolvedCount, addressCount, symbolicated = true) => trust.trustSectionOf({ extra: [], resolvedCount, addressCount, symbolicated });
    const { isGood, text, fix } = trust.trustSummary(of(3, 27), 12);
    assertEqual([isGood, text].join(': '), 'false: 11.1% of addresses resolved', 'one name of nine');
    assert(fix.includes('prof symbolicate'), `the fix is ${fix}`);
    assertEqual([of(26, 27), of(0, 0), of(3, 27, false)].join(), ',,', 'most names, no addresses, and a profile without names');
});

await check('the figures of a recording are grouped, and cut before what explains them', () => {
    assertEqual(trust.trustFigure('7674 (99.84 %)'), '7,674 (99.84 %)', 'a count and a share');
    assertEqual(trust.trustFigure('12345 (3 in JIT code; 12342 deeper than what was copied)'), '12,345', 'a count with reasons');
    assertEqual(trust.trustFigure('0.026 s, 75.1 µs a sample'), '0.026 s, 75.1 µs a sample', 'a time');
});

await check('the categories of a headline sum up to the whole', () => {
    const say = (...selfs) => summaryView.sharesText(selfs.map((self, func) => ({ func, self, total: self })), 100, (row) => 'ABCDEF'[row.func]);
    assertEqual(say(100), '100.0% A', 'one');
    assertEqual(say(40, 30, 20, 10), '40.0% A, 30.0% B, 20.0% C and 10.0% D', 'four');
    assertEqual(say(40, 30, 20, 6, 4), '40.0% A, 30.0% B, 20.0% C and 10.0% in 2 more', 'five');
});

await check('jumps are told from calls and from jumps to where a register says', () => {
    const targets = [
        ['jmp 0x12f5 <divide+0x25>', 0x12f5],
        ['jne 0x12e8', 0x12e8],
        ['loop 0x40 <f+0x10>', 0x40],
        ['b.ne 0x7c4 <main+0x34>', 0x7c4],
        ['b 0x7c4', 0x7c4],
        ['cbz x0, 0x7d0 <main+0x40>', 0x7d0],
        ['tbnz w1, #3, 0x7d8', 0x7d8],
        ['bne 0x104fc <main+0x2c>', 0x104fc],
        ['call 0x1030 <puts@plt>', null],
        ['bl 0x640 <puts@plt>', null],
        ['blx 0x640', null],
        ['jmp rax', null],
        ['jmp qword ptr [rip + 0x2fe2] # 0x4018 <puts@got>', null],
        ['br x16', null],
        ['bt eax, 0', null],
        ['mov eax, 0x10', null],
    ];
    for (const [text, target] of targets) assertEqual(jumps.jumpTarget(text), target, `target of ${text}`);
});

await check('jumps that overlap are in lanes of their own, short ones inside', () => {
    const count = 60;
    for (let round = 0; round < 200; round++) {
        const instructions = Array.from({ length: count }, (_, i) => ({
            address: i * 4,
            texts: [random(8) === 0 ? `jmp 0x${(random(count + 3) * 4).toString(16)}` : 'nop'],
        }));
        const found = jumps.layoutJumps(instructions);
        const wanted = instructions.filter(({ texts: [text] }) => text !== 'nop' && Number(text.slice(4)) < count * 4);
        assertEqual(found.length, wanted.length, 'number of jumps');
        for (const one of found) {
            assertEqual(instructions[one.from].texts[0], `jmp 0x${instructions[one.to].address.toString(16)}`, 'a jump');
            const [first, last] = [Math.min(one.from, one.to), Math.max(one.from, one.to)];
            for (const other of found) {
                const overlaps = Math.min(other.from, other.to) <= last && first <= Math.max(other.from, other.to);
                const isLast = one.lane === jumps.MOST_LANES - 1;
                assert(one === other || !overlaps || isLast || one.lane !== other.lane, 'two jumps are in one lane');
            }
            for (let lane = 0; lane < one.lane; lane++) {
                const length = (jump) => Math.abs(jump.to - jump.from);
                const inside = found.filter((other) => other.lane === lane && length(other) <= length(one));
                const hits = inside.some((other) => Math.min(other.from, other.to) <= last && first <= Math.max(other.from, other.to));
                assert(hits, `there is room in lane ${lane} for a jump in lane ${one.lane}`);
            }
        }
    }
});

await check('the source panel in the address is the same when it is read back', () => {
    assertEqual(sourceCodec.decodeSourcePanel(new URLSearchParams('thread=0&assemblyView')), null, 'a panel without a function');
    for (let round = 0; round < 500; round++) {
        const panel = {
            func: [-1, 0, random(1000)][random(3)],
            path: Array.from({ length: random(5) }, () => random(2000)),
            inverted: false,
            source: random(4),
            isOfRow: random(2) === 0,
            assembly: random(2) === 0,
            symbol: -1,
            full: random(2) === 0,
        };
        panel.inverted = panel.path.length > 0 && random(2) === 0;
        if (panel.func >= 0 && random(3) === 0) panel.source = -1;
        if (panel.assembly && random(2) === 0) panel.symbol = random(3);
        const query = new URLSearchParams();
        sourceCodec.encodeSourcePanel(panel, query);
        const again = sourceCodec.decodeSourcePanel(new URLSearchParams(query.toString()));
        assertEqual(JSON.stringify(again), JSON.stringify(panel), 'the panel');
    }
    for (const bad of ['sourceFunc=x', 'sourceFunc=-1', 'sourceViewIndex=1e9', 'sourceFunc='])
        assertEqual(sourceCodec.decodeSourcePanel(new URLSearchParams(bad)), null, bad);
});

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

await check('copied tables are aligned text, Markdown that shows names as they are, and CSV that is no formula', () => {
    const table = {
        titles: ['Total', 'Function'],
        numbers: [true, false],
        rows: [
            [{ text: '1,234', value: 1234 }, { text: 'main' }],
            [{ text: '5', value: 5 }, { text: '  a|b<i>*_"x", y' }],
            [{ text: '—', value: 0 }, { text: '=1+1' }],
            [{ text: '7', value: 7 }, { text: '  in' }],
        ],
    };
    assertEqual(
        tableText.tableText(table, 'text'),
        ['Total  Function', '1,234  main', '    5    a|b<i>*_"x", y', '    —  =1+1', '    7    in', ''].join('\n'),
        'text',
    );
    assertEqual(
        tableText.tableText(table, 'markdown').split('\n')[3],
        '| 5 | &nbsp;&nbsp;a\\|b\\<i\\>\\*\\_"x", y |',
        'Markdown',
    );
    assertEqual(
        tableText.tableText(table, 'csv'),
        ['Total,Function', '1234,main', '5,"  a|b<i>*_""x"", y"', "0,'=1+1", '7,"  in"', ''].join('\r\n').replace(/\r\n$/, '\n'),
        'CSV',
    );
});

await check('lists of indexes survive the address', () => {
    const lists = [[], [0], [31], [32], [0, 1], [0, 1, 2, 3], [5, 10, 11, 12, 13, 44], [7, 6, 5], [1, 1, 1], [4294967295]];
    for (let i = 0; i < 500; i++) lists.push(Array.from({ length: random(60) }, () => random(10 ** (1 + random(6)))));
    for (const list of lists)
        assertEqual(indexes.decodeIndexes(indexes.encodeIndexes(list)).join(), list.join(), 'the list read back');
});

await check('a run of indexes is written as its ends', () => {
    assertEqual(indexes.encodeIndexes([0, 1, 2, 3, 4, 5, 6, 7]), '0w7', 'the text');
    assertEqual(indexes.decodeIndexes('5awxc').join(), [5, ...Array.from({ length: 35 }, (_, i) => 10 + i)].join(), 'the list');
});

await check('a list of indexes ends where it cannot be read', () => {
    for (const [text, list] of [['12-34', '1,2'], ['1A', '1'], ['', ''], ['-1', ''], ['w7', '7'], ['3w', '3'], ['5w3', '5,3']])
        assertEqual(indexes.decodeIndexes(text).join(), list, `the list of ${text}`);
});

await check('nonsense in the address gives a list that is bounded', () => {
    for (const text of ['w', 'ww', '0w__________0', '-', '____', '%00', '0w', 'ÿ', '9'.repeat(1000)])
        assert(indexes.decodeIndexes(text).length <= 100_000, `${text} makes a huge list`);
});

await check('views survive the address', () => {
    for (let i = 0; i < 200; i++) {
        const zero = random(1000) / 7;
        const range = () => {
            const start = zero + random(1e6) / 3;
            return codec.roundRange([start, start + (random(1e6) + 1) / 10 ** random(5)], zero);
        };
        const view = {
            threads: Array.from({ length: 1 + random(5) }, () => random(100)),
            ranges: Array.from({ length: random(3) }, range),
            preview: random(2) ? range() : null,
            transforms: Array.from({ length: random(4) }, () =>
                random(2)
                    ? { kind: ['merge-function', 'drop-category', 'collapse-resource'][random(3)], index: random(5000), path: [], inverted: false }
                    : { kind: 'focus-subtree', index: -1, path: Array.from({ length: 1 + random(50) }, () => random(100_000)), inverted: random(2) === 1 },
            ),
            search: ['', 'a,b', 'std::vector<int> & = +?', '🙂 %20'][random(4)],
            inverted: random(2) === 1,
            path: Array.from({ length: [0, 1, random(80)][random(3)] }, () => random(100_000)),
            tab: codec.TABS[random(codec.TABS.length)],
            zoom: Array.from({ length: random(5) }, () => random(100_000)),
            part: random(2) ? null : [random(1e6) / 1e9, (1e9 - random(1e6)) / 1e9],
            sameWidths: random(2) === 1,
            weight: ['recorded', 'cpu-time', 'off-cpu', 'sched:sched_switch'][random(4)],
            stackType: codec.STACK_TYPES[random(3)],
            hidesIdle: random(2) === 1,
            center: random(2) ? null : { kind: ['function', 'library', 'category'][random(3)], index: random(100_000) },
            sorts: [{}, { functions: 'total.r' }, { calltree: ['self', 'name.r'][random(2)], functions: 'total' }][random(3)],
            markerSearch: ['', 'name:"a b",-/c/', '~&=%20+'][random(3)],
            marker: random(3) - 1,
            tracks: {
                base: ['busy', 'all', 'none'][random(3)],
                shown: Array.from({ length: random(3) }, (_, i) => `t${i * 7 + random(7)}`),
                hidden: Array.from({ length: random(3) }, (_, i) => `c${i * 7 + random(7)}`),
                opened: Array.from({ length: random(3) }, (_, i) => `r${i * 7 + random(7)}`),
                order: Array.from({ length: random(3) }, (_, i) => `p${20 - i * 7 - random(7)}`),
            },
            profileName: ['', 'a & b = ünï+?#'][random(2)],
        };
        const whole = { ...codec.EMPTY_VIEW, ...view };
        const text = (some) => JSON.stringify(Object.entries(some).sort());
        assertEqual(text(codec.decodeView(codec.encodeView(whole, zero, 100_000), zero)), text(whole), 'the view read back');
    }
});

await check('parts of a flame graph and places of a range are read as they are written', () => {
    const part = (text) => JSON.stringify(codec.decodeView(`part=${text}`, 0).part);
    assertEqual(['0-1', '0.5-0.7', '0.25-0.5', '0.5-1'].map(part).join(), '[0,1],[0.5,0.7],[0.25,0.5],[0.5,1]', 'parts');
    assertEqual(['0.5-0.5', '0.7-0.5', '0.5-1.5', '2-3', '-', '0.5', '0.5-0.7-0.9'].map(part).join(), 'null,null,null,null,null,null,null', 'what is no part');
    const range = (text) => JSON.stringify(codec.decodeView(`preview=${text}`, 100).preview);
    assertEqual(['1200m350', '15250u4000', '-5n1000000'].map(range).join(), '[1300,1650],[115.25,119.25],[99.999995,100.999995]', 'ranges');
});

await check('an address that says nothing is the first view', () => {
    const entries = (view) => JSON.stringify(Object.entries(view).sort());
    for (const text of ['', '?', '?thread', '?range=&preview=x&tab=&weight=a%20b&marker=-5&part=1-0&sort=x&center=function-'])
        assertEqual(entries(codec.decodeView(text, 5)), entries(codec.EMPTY_VIEW), text);
});

await check('transforms are written as the Firefox Profiler writes them', () => {
    const of = (kind, index, path = [], inverted = false) => ({ kind, index, path, inverted });
    const all = [
        of('merge-function', 12),
        of('merge-call-node', -1, [0, 1, 2, 3]),
        of('focus-function', 3),
        of('focus-subtree', -1, [7, 100]),
        of('focus-subtree', -1, [5], true),
        of('focus-self', 4),
        of('focus-category', 1),
        of('drop-function', 8),
        of('collapse-resource', 2),
        of('collapse-direct-recursion', 6),
        of('collapse-recursion', 6),
        of('collapse-function-subtree', 9),
        of('focus-resource', 1),
        of('drop-resource', 2),
        of('merge-resource', 3),
    ];
    const text = 'mf-12~mcn-combined-0w3~ff-3~f-combined-7z4~f-combined-5-i~ffs-combined-4~fg-1~df-8~cr-combined-2-52~drec-combined-6~rec-6~cfs-9~fl-1~dl-2~ml-3';
    assertEqual(transformCodec.encodeTransforms(all, 50), text, 'the text');
    assertEqual(JSON.stringify(transformCodec.decodeTransforms(text)), JSON.stringify(all), 'the list');
});

await check('a search for functions comes back from the address as it was', () => {
    for (const text of ['std::', '-name,a-b', '50%~7E', '/^std::/, -"std::sort"']) {
        const one = { kind: 'merge-matching', index: -1, path: [], inverted: false, text };
        const both = transformCodec.decodeTransforms(transformCodec.encodeTransforms([one, one], 7));
        assertEqual(JSON.stringify(both), JSON.stringify([one, one]), text);
    }
});

await check('a search for markers comes back from the address as it was', () => {
    for (const text of ['', 'load', '-name:a-b', '50%~7E', '%7E', '%257e', '~~', 'ä,"<b>"']) {
        const one = { kind: 'filter-samples', index: -1, path: [], inverted: false, text };
        const both = transformCodec.decodeTransforms(transformCodec.encodeTransforms([one, one], 7));
        assertEqual(JSON.stringify(both), JSON.stringify([one, one]), text);
    }
});

await check('transforms that cannot be read are left out', () => {
    for (const text of ['', '~', 'xx-1', 'mf', 'mf-', 'mf--1', 'mf-1e9', 'f-combined', 'f-combined-', 'cr-1', 'drec-2', 'toString-1', 'fs', 'fs-x-1', 'mm', 'mm-'])
        assertEqual(transformCodec.decodeTransforms(text).length, 0, `length of ${JSON.stringify(text)}`);
    assertEqual(transformCodec.decodeTransforms('nonsense~mf-1~fs-o-name').length, 1, 'length of a list with others');
    assert(transformCodec.decodeTransforms('mf-1~'.repeat(10_000)).length <= 200, 'a list has no bound');
});

await check('a range is rounded to much less than a pixel', () => {
    for (const duration of [0.00002, 0.5, 8, 900, 60_000, 7_200_000]) {
        const [start, end] = codec.roundRange([123.456789, 123.456789 + duration], 0);
        assert(Math.abs(start - 123.456789) <= duration / 5000 + 1e-6, `${duration} ms begins ${start - 123.456789} ms off`);
        assert(Math.abs(end - start - duration) <= duration / 5000 + 1e-6, `${duration} ms became ${end - start} ms`);
    }
});

await check('marks of the ruler are round, apart, and inside', () => {
    for (let i = 0; i < 300; i++) {
        const zero = random(1000);
        const from = zero + random(1e6) / 13;
        const to = from + 10 ** (random(10) - 4);
        const marks = ticks.ticks(from, to, zero, 1000, 88);
        assert(marks.length <= 12, `${marks.length} marks in 1000 pixels`);
        assert(marks.every((mark) => mark.time >= from - 1e-6 && mark.time <= to + 1e-6), 'a mark is outside');
        assertEqual(new Set(marks.map((mark) => mark.label)).size, marks.length, 'number of different labels');
        const step = ticks.tickStep(to - from, 1000, 88);
        const pixels = (one) => (one * 1000) / (to - from);
        const isRound = (one) => [1, 2, 5].some((digit) => Math.abs(one / (digit * 10 ** Math.floor(Math.log10(one * 1.0001))) - 1) < 1e-6);
        assert(isRound(step) && pixels(step) > 87.999, `the step is ${step}, ${pixels(step)} pixels`);
        assert([step / 2, step / 2.5].filter(isRound).every((smaller) => pixels(smaller) < 88.001), 'there is room for more marks');
        const count = (margin) => Math.floor((to - zero) / step + margin) - Math.ceil((from - zero) / step - margin) + 1;
        assert(marks.length >= count(-1e-3) && marks.length <= count(1e-3), `${marks.length} marks where there is room for ${count(0)}`);
        for (const { time, label } of marks) {
            const [number, unit] = label.split(' ');
            const said = Number(number) * { s: 1000, ms: 1, 'µs': 0.001 }[unit];
            assert(Math.abs(said - (time - zero)) < step / 100, `${label} is at ${time - zero} ms`);
            assertEqual(unit, to - zero >= 1000 && step >= 1 ? 's' : step >= 0.1 ? 'ms' : 'µs', 'the unit');
        }
    }
    const labels = (to, zero = 0) => ticks.ticks(zero, zero + to, zero, 200, 88).map((mark) => mark.label).join();
    assertEqual([10, 2, 0.2, 0.02].map((to) => labels(to)).join('|'), '0 ms,5 ms,10 ms|0 ms,1 ms,2 ms|0.0 ms,0.1 ms,0.2 ms|0 µs,10 µs,20 µs', 'labels of short times');
    assertEqual([2000, 200, 1000, 999].map((to) => labels(to, 7)).join('|'), '0 s,1 s,2 s|0 ms,100 ms,200 ms|0.0 s,0.5 s,1.0 s|0 ms,500 ms', 'labels of long times');
    assertEqual([ticks.tickStep(0, 100, 10), ticks.tickStep(Number.NaN, 100, 10), ticks.tickStep(100, 0, 1)].join(), '1,1,100', 'the step of what has no length or room');
});

await check('an axis without times has whole samples, named once, and no time', () => {
    const labels = (from, to, width) => ticks.ticks(from, to, 0, width, 88, 'samples').map((mark) => mark.label).join();
    assertEqual(labels(0, 285, 400), '0 samples,100,200', 'labels of the full range');
    assertEqual(labels(0, 3, 10_000), '0 samples,1,2,3', 'labels where parts of a sample had room');
    assertEqual(labels(1_999_000, 2_001_000, 300), '1,999,000 samples,2,000,000,2,001,000', 'labels of many samples');
    const { axisUnitOf, formatLength, formatPlace, formatRange } = axisText;
    const unitOf = (timesAreOrder, unit) => axisUnitOf({ timesAreOrder, weights: [{ unit }] });
    assertEqual([unitOf(true, 'samples'), unitOf(true, 'bytes'), unitOf(true, 'ms'), unitOf(false, 'samples')].join(), 'samples,samples,ms,ms', 'the units');
    assertEqual([formatLength(1, 'samples'), formatLength(1285, 'samples'), formatLength(1285, 'ms')].join('|'), '1 sample|1,285 samples|1.28 s', 'lengths');
    assertEqual([formatPlace(0, 'samples'), formatPlace(120.9, 'samples'), formatPlace(12.5, 'ms')].join('|'), 'sample 1|sample 121|12.5 ms', 'places');
    const ranges = [[0, 285], [120, 340.2], [7, 8], [7.2, 7.4]].map((range) => formatRange(range, 'samples'));
    assertEqual(ranges.join('|'), 'samples 1–285|samples 121–341|sample 8|sample 8', 'ranges of samples');
    assertEqual(formatRange([120, 340], 'ms'), '220 ms', 'a range of time');
});

await check('shares and durations are short and never lie about zero', () => {
    assertEqual(format.formatShare(1, 3), '33.3%', 'a third');
    assertEqual(format.formatShare(1, 100_000), '<0.1%', 'next to nothing');
    assertEqual(format.formatShare(0, 5), '0%', 'nothing');
    assertEqual(format.formatShare(5, 0), '0%', 'a share of nothing');
    assertEqual(format.formatShare(1, 2000), '0.1%', 'the least that is not next to nothing');
    assertEqual(format.formatShare(-1, 4), '-25.0%', 'a share that is taken away');
    assertEqual([0, 999, 1234567.4, -1000].map(format.formatCount).join(' '), '0 999 1,234,567 -1,000', 'counts');
    const durations = [
        [0, '0 ms'], [1, '1 ms'], [12.345, '12.3 ms'], [340.4, '340 ms'], [-2.5, '-2.5 ms'], [0.0125, '12.5 µs'], [0.001, '1 µs'],
        [0.0009, '900 ns'], [1000, '1 s'], [1234.5, '1.23 s'], [119_999, '120 s'], [120_000, '2 min 00 s'], [125_000, '2 min 05 s'],
        [3_661_400, '61 min 01 s'],
    ];
    for (const [ms, text] of durations) assertEqual(format.formatDuration(ms), text, `${ms} ms`);
    const bytes = [[0, '0 B'], [1023, '1023 B'], [1024, '1 KiB'], [1536, '1.5 KiB'], [-(2 ** 20), '-1 MiB'], [100 * 2 ** 30, '100 GiB'], [2 ** 52, '4096 TiB']];
    for (const [count, text] of bytes) assertEqual(format.formatBytes(count), text, `${count} bytes`);
    const weights = [
        [1234567, 'samples', '1,234,567', '1,234,567 samples, about 41 min 09 s'],
        [1, 'samples', '1', '1 sample, about 2 ms'],
        [-1.25, 'samples', '-1.3', '-1.3 samples, about -2.5 ms'],
        [0, 'samples', '—', '0 samples'],
        [0, 'ms', '—', '0 ms'],
        [1234.56, 'ms', '1,234.6', '1.23 s'],
        [5, 'ms', '5.0', '5 ms'],
        [2048, 'bytes', '2 KiB', '2 KiB'],
        [12345, 'cache-misses', '12,345', '12,345 cache-misses'],
        [0, 'cache-misses', '—', '0 cache-misses'],
    ];
    for (const [weight, unit, text, words] of weights) {
        assertEqual(format.formatWeight(weight, unit), text, `${weight} ${unit}`);
        assertEqual(format.describeWeight(weight, unit, 2), words, `${weight} ${unit} in words`);
    }
    assertEqual(format.describeWeight(3, 'samples', 0), '3 samples', 'samples of no length');
    assertEqual(format.describeWeight(3, 'samples', 0.5), '3 samples, about 1.5 ms', 'samples of half a millisecond');
});

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

/** A number without digits: threads whose names differ in digits alone form a group. */
function letters(number) {
    return [...String(number)].map((digit) => 'abcdefghij'[digit]).join('');
}

function thread(index, activity, more) {
    return {
        index,
        name: `thread ${letters(index)}`,
        processName: 'server',
        pid: '1',
        tid: String(100 + index),
        isMain: index === 0,
        start: null,
        end: null,
        sampleCount: activity,
        activity,
        ...more,
    };
}

/** Tracks of threads as the page lays them out: `choice` says what differs from the first view. */
function layout(threads, choice = {}, selected = []) {
    return tracks.layoutTracks(tracks.threadTracks(threads), { ...tracks.DEFAULT_TRACKS, ...choice }, selected);
}

await check('tracks are busiest first, quiet ones hidden and counted', () => {
    const threads = Array.from({ length: 1000 }, (_, index) => thread(index, index % 100 === 99 ? 1000 + index : index % 100 === 98 ? 190 : 1));
    const { shown, quiet, count, total, rows } = layout(threads);
    assertEqual(shown.length, 15, 'number of tracks');
    assertEqual([quiet, count, total].join(), '985,15,1000', 'numbers of hidden ones, shown ones and all');
    const activities = rows.filter((row) => row.kind === 'thread').map((row) => row.activity);
    assertEqual(activities.join(), [...activities].sort((a, b) => b - a).join(), 'the order');
    assertEqual(layout(threads, { base: 'all' }).shown.length, 1000, 'number of all tracks');
});

/** A main thread of 40 ms, and so many workers of 4. */
const workers = (count, name = (index) => `worker-${index}`) => [
    thread(0, 40),
    ...Array.from({ length: count }, (_, index) => thread(index + 1, 4, { name: name(index) })),
];
const written = (rows) => rows.map((row) => `${row.key}${row.isOpen === null ? '' : row.isOpen ? '-' : '+'}`).join();

await check('threads of a process whose names are equal but for digits are one row, which opens to them', () => {
    const threads = workers(1000);
    const first = layout(threads);
    assertEqual(written(first.rows), 't0,r1+', 'the rows at first');
    assertEqual([first.rows[1].title, first.rows[1].detail, first.rows[1].activity].join(), 'worker-*,1,000 threads,4000', 'the row of the group');
    assertEqual([first.shown.length, first.quiet].join(), '1001,0', 'threads that rows stand for, and hidden ones');
    const open = layout(threads, { opened: ['r1'] });
    assertEqual(open.rows.length, 1002, 'rows of the open group');
    assertEqual(written(open.rows.slice(0, 4)), 't0,r1-,t1,t2', 'the first of them');
    assertEqual(open.rows.slice(0, 3).map((row) => row.level).join(''), '012', 'their levels');
    assertEqual(written(layout(threads, { opened: ['r1'], hidden: ['r1'] }).rows), 't0', 'a hidden group takes its threads along');
    assertEqual(layout(threads, { hidden: ['t5'] }).shown.length, 1000, 'a hidden thread of a closed group');
    assertEqual(written(layout(workers(7)).rows), 't0,t1,t2,t3,t4,t5,t6,t7', 'a few are seen one by one');
    const two = [...workers(8), ...workers(8).map((one) => ({ ...one, index: one.index + 9, pid: '2' }))];
    assertEqual(written(layout(two).rows), 't0,r1+,t9,r10+', 'groups of two processes');
    assertEqual(written(layout(workers(9, () => 'pool')).rows), 't0,r1+', 'names without digits');
});

await check('a selected thread of a closed group has a row; all of them have that of the group', () => {
    const threads = workers(10);
    assertEqual(written(layout(threads, {}, [3]).rows), 't0,r1+,t3', 'one');
    assertEqual(written(layout(threads, {}, threads.slice(1).map((one) => one.index)).rows), 't0,r1+', 'all');
    assertEqual(written(layout(threads, { base: 'none', shown: ['t3'] }, [3]).rows), 'p0,t3', 'one alone');
    assertEqual(written(layout(threads, { base: 'none', shown: ['r1'] }).rows), 'p0,r1+', 'the group alone');
});

await check('quiet threads that hold most of a process together are a group of their own', () => {
    const threads = workers(200, letters);
    const { rows, quiet } = layout(threads);
    assertEqual(rows.filter((row) => row.kind === 'group').map((row) => `${row.title} (${row.detail})`).join(), 'Other threads (186 threads)', 'the group');
    assertEqual(quiet, 0, 'threads hidden as less busy');
    assertEqual(layout([thread(0, 4000), ...workers(200, letters).slice(1).map((one) => ({ ...one, activity: 1 }))]).rows.length, 1, 'where they hold little');
});

await check('hidden ones are counted if they are quiet, and nobody said so', () => {
    const threads = Array.from({ length: 20 }, (_, index) => thread(index, index < 5 ? 100 - index : 1));
    const counts = (choice, selected) => {
        const { count, quiet, total } = layout(threads, choice, selected);
        return [count, quiet, total].join();
    };
    assertEqual(counts({}), '5,15,20', 'at first');
    assertEqual(counts({ hidden: ['t0', 't9'] }), '4,14,20', 'with hidden ones');
    assertEqual(counts({ shown: ['t10', 't11'] }), '7,13,20', 'with shown ones');
    assertEqual(counts({}, [12]), '6,14,20', 'with a selected one');
    assertEqual(counts({ base: 'all', hidden: ['t0'] }), '19,0,20', 'of all');
    assertEqual(counts({ base: 'none', shown: ['t0'] }), '1,0,20', 'of none');
    assertEqual(layout([thread(4, 0), thread(5, 0)]).shown.join(), '4', 'where nothing does anything');
});

await check('a thread that does a twentieth of what the busiest does is no quiet one', () => {
    const activities = [40, 1000, 50, 49, 900, 0, 51];
    assertEqual(layout(activities.map((activity, index) => thread(index, activity, { pid: String(index) }))).shown.join(), '1,4,6,2', 'what is shown');
});

await check('what CPUs did is a process of its own, and takes no place among the busy threads', () => {
    const cpu = (index, name, activity) => thread(index, activity, { pid: '0', processName: 'CPU', name });
    const threads = [thread(0, 5, { name: 'work', processName: 'work' }), cpu(1, 'CPU 0', 900), cpu(2, 'CPU', 950), cpu(3, 'CPU 1', 0)];
    const { rows } = layout(threads);
    const written = rows.map((row) => `${row.kind} ${row.title}${row.detail && ` (${row.detail})`}`).join('; ');
    assertEqual(written, 'thread work (PID 1); process CPUs; cpu CPU 0; cpu All CPUs', 'the rows');
    const named = layout([thread(0, 5, { name: 'main thread', processName: 'server' })]).rows[0];
    assertEqual(`${named.title} (${named.detail})`, 'server (main thread · PID 1)', 'a main thread of another name');
});

await check('the main thread speaks for its process, and a selected thread stays', () => {
    const threads = [thread(0, 50), thread(1, 90), thread(2, 0)];
    assertEqual(layout(threads).shown.join(), '0,1', 'what is shown');
    assertEqual(layout(threads, {}, [2]).shown.join(), '0,1,2', 'with a selected one');
});

await check('what is hidden at first says its part of all CPU time', () => {
    const threads = [thread(0, 60), ...Array.from({ length: 40 }, (_, index) => thread(index + 1, 1))];
    const first = layout(threads);
    assertEqual([first.quiet, first.quietShare, first.hasOnlyThreads].join(), '40,0.4,true', 'forty of one ms beside one of sixty');
    assertEqual(layout(threads, {}, [2]).quietShare, 0.39, 'with one of them on the screen');
});

await check('a thousand chosen threads do not fill the timeline', () => {
    const threads = [thread(0, 6000), ...Array.from({ length: 999 }, (_, index) => thread(index + 1, index < 20 ? 400 : 1))];
    const all = threads.map((one) => one.index);
    assertEqual(layout(threads, {}, all).shown.length, 15, 'tracks');
    assertEqual(layout(threads, { base: 'all' }, all).shown.length, 1000, 'all that were asked for');
});

await check('PIDs and TIDs are those of the system', () => {
    const threads = [thread(0, 50, { pid: '77.1', tid: '77.1' }), thread(1, 40, { pid: '77.1', tid: '78.2' })];
    const details = layout(threads).rows.map((row) => row.detail);
    assert(details[0].endsWith('PID 77'), `the process is called ${details[0]}`);
    assertEqual(details[1], 'TID 78', 'what the thread is called');
});

await check('the threads that the file wants to be seen go before the busiest', () => {
    const threads = Array.from({ length: 8 }, (_, index) => thread(index, 100 - index));
    const layout = (initial) => tracks.layoutTracks(tracks.threadTracks(threads, initial), tracks.DEFAULT_TRACKS, []);
    assertEqual(layout([6, 2]).shown.join(), '2,6', 'they alone, busiest first');
    assertEqual(layout([6, 2]).quiet, 6, 'the others can be shown');
    assertEqual(layout([]).shown.length, 8, 'without such a wish');
});

await check('the search for tracks finds names and numbers, also of hidden ones', () => {
    const seeds = tracks.threadTracks(Array.from({ length: 40 }, (_, index) => thread(index, index === 0 ? 1000 : 0)));
    assertEqual(tracks.matchingTracks(seeds, '117, THREAD D').length, 12, 'number of matches');
    assertEqual(tracks.matchingTracks(seeds, 'none').length, 0, 'matches of nothing');
    assertEqual(tracks.matchingTracks(seeds, ' , ').length, 40, 'matches of no term');
});

/** Three processes of four threads each, the first of which is the main one; the busiest process is the last. */
const PROCESSES = Array.from({ length: 12 }, (_, index) =>
    thread(index, 1000 * (1 + Math.floor(index / 4)) - index, { pid: String(Math.floor(index / 4)), isMain: index % 4 === 0 }),
);

await check('the tracks of a process, and those below a track, are found; a choice lists its tracks in order', () => {
    const seeds = tracks.threadTracks(PROCESSES);
    const below = { ...seeds[9], key: 'm3', kind: 'markers', index: 3, below: 't9' };
    assertEqual(trackChoice.tracksOfProcess(seeds, '1').join(), 't4,t5,t6,t7', 'tracks of a process');
    assertEqual(trackChoice.trackWithThoseBelow([...seeds, below], 't9').join(), 't9,m3', 'a track and what is below');
    const { hidden } = trackChoice.hideTracks({ ...tracks.DEFAULT_TRACKS, hidden: ['t10', 'c2'] }, ['t9', 't100', 'c1', 't9']);
    assertEqual(hidden.join(), 'c1,c2,t9,t10,t100', 'what is hidden');
});

await check('tracks are hidden, shown and shown alone', () => {
    const seeds = tracks.threadTracks(PROCESSES);
    const shownBy = (choice) => tracks.layoutTracks(seeds, choice, []).shown.join();
    const first = tracks.DEFAULT_TRACKS;
    assertEqual(shownBy(first), '8,9,10,11,4,5,6,7,0,1,2,3', 'what is shown at first');
    const fewer = trackChoice.hideTracks(first, ['t9', 't4']);
    assertEqual(shownBy(fewer), '8,10,11,5,6,7,0,1,2,3', 'what is left');
    assertEqual(JSON.stringify(trackChoice.showTracks(fewer, ['t4', 't9']).hidden), '[]', 'what is hidden of what was shown again');
    assertEqual(shownBy(trackChoice.onlyTracks(first, ['t5', 't1'])), '5,1', 'what is shown alone');
    assertEqual(shownBy(trackChoice.hideTracks(trackChoice.allTracks(first), ['t8', 't9', 't10', 't11'])), '4,5,6,7,0,1,2,3', 'all but a process');
    assertEqual(shownBy(trackChoice.busyTracks(fewer)), shownBy(first), 'what is shown in the end');
});

await check('a process without its main thread has a heading', () => {
    const { rows } = layout(PROCESSES, { hidden: ['t8'] });
    assertEqual(rows.slice(0, 2).map((row) => `${row.kind} ${row.level}`).join(), 'process 0,thread 1', 'the first rows');
    assertEqual(rows.filter((row) => row.kind === 'process').length, 1, 'number of headings');
});

await check('tracks are moved within their process, processes with all of their tracks', () => {
    const seeds = tracks.threadTracks(PROCESSES);
    const move = (choice, key, target) => {
        const { rows } = tracks.layoutTracks(seeds, choice, []);
        return trackChoice.moveTrack(seeds, rows, choice, key, target);
    };
    const shownBy = (choice) => tracks.layoutTracks(seeds, choice, []).shown.join();
    const first = tracks.DEFAULT_TRACKS;
    const within = move(first, 't11', 't9');
    assertEqual(shownBy(within), '8,11,9,10,4,5,6,7,0,1,2,3', 'after a move within the process');
    assertEqual(within.order.join(), 't11,t9,t10', 'the order of the moved track and those around it');
    assertEqual(shownBy(move(first, 't9', 't11')), '8,10,11,9,4,5,6,7,0,1,2,3', 'after a move down');
    const processes = move(within, 't0', 't8');
    assertEqual(shownBy(processes), '0,1,2,3,8,11,9,10,4,5,6,7', 'after a move of a process');
    assertEqual(shownBy(move(processes, 't0', 't4')), '8,11,9,10,4,5,6,7,0,1,2,3', 'after it was moved back');
    assertEqual(move(first, 't9', 't5'), null, 'a move into another process');
    assertEqual(move(first, 't9', 't9'), null, 'a move to the same place');
    assertEqual(shownBy(trackChoice.hideTracks(processes, ['t0'])), '1,2,3,8,11,9,10,4,5,6,7', 'a moved process without its main thread');
});

await check('tracks below others go where these go', () => {
    const seeds = tracks.threadTracks(PROCESSES);
    const markers = { ...seeds[9], key: 'm3', kind: 'markers', index: 3, below: 't9', title: 'Markers', isLead: false };
    const all = [...seeds, markers];
    const keysBy = (choice) => tracks.layoutTracks(all, { ...tracks.DEFAULT_TRACKS, ...choice }, []).rows.map((row) => row.key);
    const at = (keys) => keys.indexOf('m3') - keys.indexOf('t9');
    assertEqual(at(keysBy({})), 1, 'distance from its thread');
    const { rows } = tracks.layoutTracks(all, tracks.DEFAULT_TRACKS, []);
    assertEqual(rows.map((row) => row.level).join(''), '0111101110111', 'the levels');
    assertEqual(at(keysBy({ order: ['t11', 't10', 't9'] })), 1, 'distance after a move');
    assert(!keysBy({ hidden: ['t9'] }).includes('m3'), 'it stays without its thread');
});

await check('lists of tracks survive the address', () => {
    assertEqual(trackChoice.encodeTracks(['t0', 't1', 't2', 'c5', 't3']), 't0w2~c5~t3', 'the text');
    for (let i = 0; i < 200; i++) {
        const keys = [...new Set(Array.from({ length: random(40) }, () => 'ptmcu'[random(5)] + random(2000)))];
        assertEqual(trackChoice.decodeTracks(trackChoice.encodeTracks(keys)).join(), keys.join(), 'the list read back');
    }
    for (const text of ['', '~', 'x5', 't', '5', '__', 't0w', 'toString'])
        assert(trackChoice.decodeTracks(text).every((key) => /^[a-z]\d+$/.test(key)), `${text} gives strange tracks`);
});

/** Rects of a chart: main with work and walk on it, leaf on work, and a aggregate on walk. */
const someRects = {
    func: Int32Array.of(0, 1, 3, 2, -1),
    parent: Int32Array.of(-1, 0, 0, 1, 2),
    depth: Int32Array.of(0, 1, 1, 2, 2),
};

await check('rects are found by the path of their node, and have it', () => {
    assertEqual(rectPaths.rectPath(someRects, 3).join(), '0,1,2', 'the path of leaf');
    assertEqual(rectPaths.rectsOfPath(someRects, [0, 1, 2]).join(), '0,0,0,1,0', 'the rects of leaf');
    assertEqual(rectPaths.rectsOfPath(someRects, [0, 3, 2]).join(), '0,0,0,0,0', 'the rects of a path that there is not');
    assertEqual(rectPaths.rectsOfPath(someRects, []).join(), '0,0,0,0,0', 'the rects of no path');
    assertEqual(rectPaths.rowCount(someRects), 3, 'rows');
    assertEqual(rectPaths.rowCount({ depth: [] }), 0, 'rows of no rects');
    assertEqual(rectPaths.rectsOfPath(someRects, [0]).join(), '1,0,0,0,0', 'the rect of main');
    assertEqual(rectPaths.rectsOfPath(someRects, [1]).join(), '0,0,0,0,0', 'rects of a path that begins further up');
    assertEqual(rectPaths.rectsOfPath(someRects, [0, 3, -1]).join(), '0,0,0,0,0', 'a aggregate has no path');
});

await check('names are cut so that they fit, with dots, between characters', () => {
    // Each code point is 10 wide, whatever it is.
    const context = { measureText: () => ({ width: 10 }) };
    const fit = (text, room) => rectDrawing.fitText(context, text, room);
    assertEqual(fit('main', 40), 'main', 'what just fits');
    assertEqual(fit('main', 39), 'ma…', 'what just does not');
    assertEqual(fit('main', 10), '', 'what has no room for a character and dots');
    assertEqual(fit('🙂🙂🙂', 25), '🙂…', 'a pair of surrogates');
    assertEqual(fit('', 0), '', 'nothing');
});

await check('a name without room loses the namespaces first, then its end', () => {
    const context = { measureText: () => ({ width: 10 }) };
    const fit = (text, room) => rectDrawing.fitName(context, text, room);
    assertEqual(fit('std::sort', 90), 'std::sort', 'all of it');
    assertEqual(fit('std::map<std::string, int>::at(a::b const&)', 120), '…at(a::b co…', 'a method');
    assertEqual(fit('(anonymous namespace)::work', 80), '…work', 'a namespace without a name');
    assertEqual(fit('execute_one_pass', 60), 'execu…', 'no namespace');
    for (let room = 0; room < 90; room++) assert(!fit('toplev::main', room).startsWith('……'), `only dots in ${room}`);
    assertEqual(fit('a<'.repeat(300), 40).length, 4, 'brackets that do not close');
});

// ---- long lists ----

const ROOM = 600;
const ROW = 20;
const extentOf = (rows, room = ROOM) => ({ all: rows * ROW, room });
const scrollTopOf = (place) => place.top - place.offset;

await check('a list that a browser can hold is scrolled as it is', () => {
    const extent = extentOf(100_000);
    assertEqual(rowScroll.elementHeight(extent), 2_000_000, 'height');
    for (const top of [0, 1, 777.5, 1_999_400]) {
        const place = rowScroll.placeScrolledTo(top, { top: 5000, offset: 0 }, extent);
        assertEqual(`${place.top} ${place.offset}`, `${top} 0`, `place at ${top}`);
    }
    assertEqual(rowScroll.placeAt(9e9, extent).top, 2_000_000 - ROOM, 'the end');
});

await check('every row of the longest list is reached by the scroll bar, and its end is the last row', () => {
    for (const rows of [400_001, 2_000_000, 50_000_000]) {
        const extent = extentOf(rows);
        const height = rowScroll.elementHeight(extent);
        assert(height <= 8_000_000, `an element of ${height} px`);
        let place = { top: 0, offset: 0 };
        let last = -1;
        for (let step = 0; step <= 100; step++) {
            const scrollTop = ((height - ROOM) * step) / 100;
            place = rowScroll.placeScrolledTo(scrollTop, place, extent);
            assert(place.top > last, `${rows} rows: no way on at ${scrollTop}`);
            assert(Math.abs(scrollTopOf(place) - scrollTop) < 0.01, 'the rows are not where the element is');
            last = place.top;
        }
        assertEqual(place.top, rows * ROW - ROOM, `the end of ${rows} rows`);
        assertEqual(rowScroll.placeScrolledTo(0, place, extent).top, 0, 'the beginning');
    }
});

await check('a wheel and keys move a very long list by as much as they say, through all of it and at its ends', () => {
    const extent = extentOf(2_000_000);
    for (const start of [0, 1000, 20_000_000, extent.all - ROOM - 1000, extent.all - ROOM]) {
        for (const by of [100, -100, 13]) {
            let place = rowScroll.placeAt(start, extent);
            for (let i = 0; i < 400; i++) {
                const before = place.top;
                const wanted = Math.max(0, Math.min(before + by, extent.all - ROOM));
                const limit = rowScroll.elementHeight(extent) - ROOM;
                const scrollTop = Math.max(0, Math.min(scrollTopOf(place) + by, limit));
                const isCut = scrollTop !== scrollTopOf(place) + by;
                place = rowScroll.placeScrolledTo(scrollTop, place, extent);
                if (!isCut) assertEqual(place.top, wanted, `from ${before} by ${by}`);
                assert(scrollTopOf(place) >= 0 && scrollTopOf(place) <= limit, 'the element is scrolled beyond its end');
                // Where the element ends and the list does not, there is a way on.
                if (place.top > 0) assert(scrollTopOf(place) > 0, `stuck at ${place.top}`);
                if (place.top < extent.all - ROOM) assert(scrollTopOf(place) < limit, `stuck at ${place.top}`);
            }
            if (start === 1000 && by < 0) assertEqual(place.top, 0, 'the beginning after many steps');
            if (start === extent.all - ROOM - 1000 && by > 0) assertEqual(place.top, start + 1000, 'the end after many steps');
        }
    }
});

await check('rows that come and go leave a long list where it is, as far as there are rows', () => {
    const place = rowScroll.placeAt(30_000_000, extentOf(2_000_000));
    assertEqual(rowScroll.placeAmong(place, extentOf(2_100_000)), place, 'the same place');
    assertEqual(rowScroll.placeAmong(place, extentOf(1_000_000)).top, 20_000_000 - ROOM, 'the end of fewer rows');
    const few = rowScroll.placeAmong(place, extentOf(100));
    assertEqual(`${few.top} ${few.offset}`, `${100 * ROW - ROOM} 0`, 'the end of few rows');
});

await check('a row is brought into view: a step by a row, a jump with what is around it', () => {
    const top = (at, from, how) => rowScroll.topWithRow(at * ROW, ROW, from, ROOM, how);
    assertEqual(top(10, 0, 'nearest'), 0, 'a row that is seen');
    assertEqual(top(30, 0, 'nearest'), ROW, 'the row below');
    assertEqual(top(9, 200, 'nearest'), 180, 'the row above');
    assertEqual(top(100_000, 0, 'nearest'), 100_000 * ROW - 360, 'a row far away');
    assertEqual(top(40, 0, 'around'), 440, 'a row that is jumped to');
});

await check('what was found in a long name is in sight, whatever comes before it', () => {
    const of = (...texts) => highlight.piecesInSight(texts.map((text, at) => ({ text, marked: at % 2 === 1 }))).map(({ text }) => text).join('|');
    const long = 'a_namespace_of_many_letters::with::a::class::that::has::a::name::';
    assertEqual(of('std::', 'sort', long), `std::|sort|${long}`, 'a short lead, and what follows');
    assertEqual(of(long, 'sort', ''), 'a_namespace_of_many_letters::with:…::has::a::name::|sort|', 'a long lead');
    assertEqual(of('', 'sort', long, 'x', ''), '|sort|a_namespace_of_m…::has::a::name::|x|', 'a long way between two');
});

finish();
