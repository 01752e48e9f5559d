// The state of the page without a browser: several sessions, zooming, moving, closing a rect of the flame graph,
// finding text, and keeping samples.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { random } from './page_modules.mjs';
import { axes, BatchCache, costText, describeWeight, openSession, Request, stillSession, until, weightColumns } from './page_session.mjs';
import { writeProfile } from './small_profile.mjs';
import { assert, assertEqual, check, finish } from './page_tap.mjs';

const { store, flame: flames, sourcePanel, sourceFind, markerFilter } = stillSession();

/** An axis from 10 to 110 of which no less than 2 is shown; what was shown last is in `span`. */
function axisOf(span) {
    const axis = { span, shown: () => axis.span, limits: () => [10, 110], shortest: () => 2, show: (next) => { axis.span = next; } };
    return axis;
}

await check('zooming keeps the place under the mouse, if the range has room', () => {
    for (let round = 0; round < 2000; round++) {
        const from = 10 + random(90);
        const [at, factor] = [random(101) / 100, [0.001, 0.5, 0.8, 1.25, 3, 1000][random(6)]];
        const axis = axisOf([from, from + 2 + random(109 - from)]);
        const before = axis.span;
        const place = before[0] + at * (before[1] - before[0]);
        axes.zoomAxis(axis, place, factor);
        const [start, end] = axis.span;
        const length = Math.min(100, Math.max(2, (before[1] - before[0]) * factor));
        const wanted = Math.max(10, Math.min(110 - length, place - at * length));
        assert(Math.abs(end - start - length) < 1e-9, `${before} times ${factor} became ${axis.span}`);
        assert(Math.abs(start - wanted) < 1e-9, `${before} begins at ${start}, not ${wanted}, after a zoom at ${place}`);
    }
});

await check('moving along ends at the edges', () => {
    for (let round = 0; round < 2000; round++) {
        const from = 10 + random(90);
        const axis = axisOf([from, from + 2 + random(109 - from)]);
        const before = axis.span;
        const by = random(400) - 200;
        axes.panAxis(axis, by);
        const moved = Math.max(10 - before[0], Math.min(110 - before[1], by));
        assertEqual(axis.span.join(), [before[0] + moved, before[1] + moved].join(), `${before} moved by ${by}`);
        if (moved === 0) assert(axis.span === before, 'a move of nothing changes the view');
    }
});

/** main (all) with work (all) and walk (half) side by side in it; leaf in both. What is shown is 0 to 1. */
const RECTS = {
    func: Int32Array.of(0, 1, 3, 2, 2, 5),
    parent: Int32Array.of(-1, 0, 0, 1, 2, -1),
    depth: Int32Array.of(0, 1, 1, 2, 2, 0),
    start: Float64Array.of(-1, -1, 0, 0, 0.2, -4),
    end: Float64Array.of(3, 2, 0.5, 1, 0.4, -1),
};

await check('a step out of a rect of the flame graph leads to the next caller that is wider', () => {
    flames.flamePixels.value = 1;
    const shown = (change) => {
        store.view.value = { ...store.view.value, zoom: [], part: null, ...change };
        flames.flame.value = { part: [0, 1], rects: RECTS, zoom: '' };
    };
    const state = () => `${store.view.value.zoom.join(' ')} | ${store.view.value.part ?? ''}`;
    shown({ zoom: [0, 1, 2] });
    assert(flames.zoomOut(false), 'there is a zoom');
    assertEqual(state(), '0 1 | ', 'after a step out of leaf');
    assert(flames.zoomOut(false), 'there is still a zoom');
    assertEqual(state(), '0 | ', 'after a step out of work');
    shown({ zoom: [0, 3, 2] });
    flames.zoomOut(false);
    assertEqual(state(), '0 | ', 'after a step out of a leaf whose caller is narrower than what is shown');
    shown({ zoom: [0, 3, 2], part: [0.1, 0.2] });
    flames.zoomOut(false);
    assertEqual(state(), '0 3 2 | ', 'moving about in a rect is given up before the rect is');
    shown({ zoom: [0, 3, 2], part: [0.1, 0.2] });
    flames.zoomOut(true);
    assertEqual(state(), ' | ', 'all the way out');
    assert(!flames.zoomOut(false), 'a step out of nothing');
    shown({ part: [0.1, 0.2] });
    assert(flames.zoomOut(false) && state() === ' | ', 'a step out of a part of all');
});

await check('the axis of the flame graph shows a part, or gives it up where that is all', () => {
    store.view.value = { ...store.view.value, zoom: [0, 1], part: null };
    flames.flame.value = { part: [0.25, 0.5], rects: RECTS, zoom: '' };
    assertEqual(flames.flameAxis.shown().join(), '0.25,0.5', 'what is shown of a rect');
    flames.flameAxis.show([0.3, 0.4]);
    assertEqual(flames.flameAxis.shown().join(), '0.3,0.4', 'what is shown after a zoom');
    assertEqual(store.view.value.zoom.join(), '0,1', 'the rect, meanwhile');
    flames.flameAxis.show([0, 1]);
    assertEqual(`${store.view.value.zoom.join()} ${store.view.value.part}`, ' null', 'what is left in the end');
});

await check('the heat of a cost is the least of five steps that it does not go beyond', () => {
    for (let most = 1; most < 40; most++)
        for (let heat = 1; heat <= most; heat++) {
            const step = [1, 2, 3, 4, 5].find((one) => heat * 5 <= one * most);
            assertEqual(costText.heatStep(heat, most), step, `the heat of ${heat} of ${most}`);
        }
    assertEqual([[0, 5], [-1, 5], [5, 0], [9, 5]].map(([heat, most]) => costText.heatStep(heat, most)).join(), '0,0,0,5', 'the heat of what is none, or too much');
});

await check('a search starts at the line of the cursor', () => {
    const text = ['one', 'Two', 'three', 'two again', '', 'TWO'].join('\n');
    store.view.value = { ...store.view.value, sourcePanel: { func: 0, path: [], inverted: false, source: 3, isOfRow: false, assembly: false, symbol: -1, full: false } };
    sourcePanel.sourceText.value = { source: 3, text };
    const typed = (line, search) => {
        sourcePanel.chooseLine(line);
        sourceFind.openFind();
        sourceFind.findWhileTyped(search);
        return sourcePanel.chosenLine.value;
    };
    assertEqual([1, 2, 3, 4, 5, 6].map((line) => typed(line, 'two')).join(), '2,2,4,4,6,6', 'the lines that are found');
    assertEqual(typed(4, 'one'), 1, 'the line that is found around the end');
    assertEqual(typed(4, 'nothing'), 4, 'the line where nothing is found');
    assertEqual([typed(1, ':3'), typed(1, ':99'), typed(5, ':0')].join(), '3,6,5', 'lines by their numbers');
    typed(2, 'two');
    const steps = [1, 1, 1, -1].map((by) => {
        sourceFind.stepFound(by);
        return `${sourcePanel.chosenLine.value} (${sourceFind.foundAt.value}/${sourceFind.found.value.length})`;
    });
    assertEqual(steps.join(), '4 (2/3),6 (3/3),2 (1/3),6 (3/3)', 'the next ones');
});

await check('samples are kept by the markers that are searched for, else by a name that a search has words for', () => {
    const item = (name, markerSearch = '') => {
        store.view.value = { ...store.view.value, markerSearch };
        const { label, enabled } = markerFilter.keepSamplesItem(name);
        return `${label}: ${enabled}`;
    };
    assertEqual(item('paint'), 'Drop samples outside paint: true', 'by name');
    assertEqual(item('paint', ' size:1 '), 'Drop samples outside “size:1”: true', 'by search');
    assert(item('a "b"').endsWith(': false') && item('').endsWith(': false'), 'a name without words for it is offered');
});

/** A question that is answered when the test says so. */
function openQuestion() {
    const question = { asked: 0 };
    question.ask = () => {
        question.asked++;
        return new Promise((resolve, reject) => Object.assign(question, { resolve, reject }));
    };
    return question;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

await check('of the questions that come while one is answered only the newest is asked', async () => {
    const request = new Request();
    const questions = [openQuestion(), openQuestion(), openQuestion()];
    for (const question of questions) request.ask(question.ask);
    assertEqual(questions.map((one) => one.asked).join(), '1,0,0', 'what is asked at once');
    assert(request.isPending.value, 'nothing is under way');
    questions[0].resolve('first');
    await turn();
    assertEqual(`${request.value.value} ${questions.map((one) => one.asked).join()}`, 'first 1,0,1', 'after the first answer');
    questions[2].resolve('third');
    await turn();
    assertEqual(`${request.value.value} ${request.isPending.value}`, 'third false', 'after the last answer');
});

await check('a failed query shows the reason until the next answer', async () => {
    const request = new Request();
    const [good, bad, empty, again] = [openQuestion(), openQuestion(), openQuestion(), openQuestion()];
    const state = () => `${request.value.value}: ${request.error.value}`;
    request.ask(good.ask);
    good.resolve('good');
    await turn();
    request.ask(bad.ask);
    bad.reject(new Error('out of memory'));
    await turn();
    assertEqual(state(), 'good: out of memory', 'after a failure');
    request.ask(again.ask);
    again.resolve('again');
    await turn();
    assertEqual(state(), 'again: ', 'after the next answer');
    request.ask(empty.ask);
    empty.resolve(null);
    await turn();
    assertEqual(state(), 'again: ', 'after no answer');
});

await check('the answer of a cancelled query is not shown', async () => {
    const request = new Request();
    const [slow, quick, late] = [openQuestion(), openQuestion(), openQuestion()];
    request.replace(slow.ask);
    request.replace(quick.ask);
    assertEqual(quick.asked, 1, 'how often the second was asked at once');
    quick.resolve('quick');
    await turn();
    slow.resolve('slow');
    await turn();
    assertEqual(request.value.value, 'quick', 'the answer');
    request.ask(late.ask);
    request.clear();
    late.resolve('late');
    await turn();
    assertEqual(`${request.value.value} ${request.isPending.value}`, 'null false', 'what is left');
});

const DATA = new URL('../data/', import.meta.url).pathname;

/** What a session shows: its view, the rows with their totals and names, the functions. */
const shownBy = ({ store, tree, functions, names }) =>
    JSON.stringify({
        view: store.view.value,
        summary: tree.summary.value,
        rows: tree.rows.value.map((row) => [row.depth, names.nameOf(row.func), row.total, row.self]),
        functions: functions.sortedFunctions.value.map((row) => [names.nameOf(row.func), row.total, row.self]),
    });

await check('two sessions are independent', async () => {
    const a = await openSession(`${DATA}samply-0.13.json`);
    const b = await openSession(`${DATA}samply-0.13-markers.json`);
    await until(() => a.tree.summary.value && b.tree.summary.value && a.tree.rows.value.length > 0 && b.tree.rows.value.length > 0 && b.overview.found.value, 'trees');
    assert(a.info.value.product !== '' && a.info.value.funcCount !== b.info.value.funcCount, 'the profiles are not two');
    const before = shownBy(b);
    const first = shownBy(a);
    const { asked } = b.calls;
    await a.treeChanges.invert();
    a.store.changeView({ tab: 'functions', search: 'main' }, 'push');
    a.tables.sortTable('functions', 'name', 'self');
    await until(() => a.functions.sortedFunctions.value.length > 0 && shownBy(a) !== first, 'the functions of the first');
    assert(a.store.inverted.value && !b.store.inverted.value, 'both are inverted, or none');
    assertEqual(shownBy(b), before, 'the second session');
    assertEqual(b.calls.asked, asked, 'what the engine of the second was asked meanwhile');
    assert(a.written.length > 0 && a.written.some((line) => line.includes('search=main')), `the first wrote ${a.written}`);
    assert(b.written.every((line) => !line.includes('search')), `the second wrote ${b.written}`);
});

await check('a tree that is turned twice, however fast, is at the place where it was', async () => {
    const { tree, treeChanges, store } = await openSession(`${DATA}samply-0.13.json`);
    await until(() => tree.selected.value !== null && store.view.value.path.length > 2, 'a selection');
    await tree.selectPath(store.view.value.path.slice(0, -1)); // not the end of a chain
    const before = JSON.stringify([store.view.value.path, store.inverted.value]);
    await Promise.all([treeChanges.invert(), treeChanges.invert()]);
    assertEqual(JSON.stringify([store.view.value.path, store.inverted.value]), before, 'the place');
});

await check('a session begins with the view of its address, as far as the profile has it', async () => {
    const session = await openSession(`${DATA}samply-0.13.json`, '?tab=flame-graph&thread=999&invertCallstack');
    assertEqual(`${session.store.view.value.tab} ${session.store.inverted.value}`, 'flame-graph true', 'the view');
    const known = session.info.value.threads.map((thread) => thread.index);
    assert(session.store.selectedThreads.value.every((thread) => known.includes(thread)), 'a thread that is not there is selected');
});

await check('a session that was disposed of asks nothing, writes nothing and shows nothing new', async () => {
    const session = await openSession(`${DATA}samply-0.13.json`);
    await until(() => session.tree.rows.value.length > 0, 'a tree');
    session.store.changeView({ search: 'main' }, 'replace'); // a query and a timer are under way
    session.dispose();
    const before = shownBy(session);
    const [asked, written] = [session.calls.asked, session.written.length];
    session.store.changeView({ tab: 'summary', search: 'other' }, 'replace');
    session.store.flushAddress();
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert(session.calls.ended, 'its engine goes on');
    assertEqual(session.calls.asked, asked, 'what its engine was asked after its end');
    assertEqual(JSON.parse(shownBy(session)).rows.join(), JSON.parse(before).rows.join(), 'its rows');
    assertEqual(session.written.length, written, 'what it wrote after its end');
});

await check('weights have the labels and units of the profile everywhere', async () => {
    const work = await mkdtemp(join(tmpdir(), 'prof-weights-'));
    const cases = [
        ['samples', 'Weighted samples (samples)', 'Total (samples)', '4,096', '4,096 samples, about 4.1 s'],
        ['tracing-ms', 'Recorded time (ms)', 'Total (ms)', '4,096.0', '4.1 s'],
        ['bytes', 'Bytes (bytes)', 'Total (bytes)', '4 KiB', '4 KiB'],
    ];
    for (const [weightType, recorded, title, text, words] of cases) {
        const file = join(work, `${weightType}.json`);
        writeProfile(file, {
            product: 'weights', weightType, functions: [['main', 0, 0]], libraries: ['app'], categories: [['User', 'blue']],
            samples: [1024, 3072].map((weight) => ({ stack: [0], ms: 1, weight })),
        });
        const session = await openSession(file, '?weight=nothing-like-it');
        await until(() => session.tree.summary.value && session.tree.rows.value.length > 0, 'a tree');
        const { filters, store, tree } = session;
        const list = filters.weights.value.map(({ label, unit }) => `${label} (${unit})`);
        assertEqual(list.join(), `${recorded},Samples (samples),Time (ms)`, `weights of ${weightType}`);
        const shown = () => {
            const total = tree.summary.value.rootTotal;
            const column = weightColumns(session, { whole: () => total }).find(({ key }) => key === 'total');
            const cost = session.costText.costTitle(tree.rows.value[0]);
            return [column.title, column.text(tree.rows.value[0]), describeWeight(total, filters.weightUnit.value, 1), cost].join(' | ');
        };
        assertEqual(shown(), [title, text, words, `Total 100.0% (${words}), self 100.0% (${words})`].join(' | '), `texts of ${weightType}`);
        filters.setWeight('samples');
        assertEqual(store.view.value.weight, 'samples', 'the weight of the view');
        await until(() => tree.summary.value.rootTotal === 2, 'samples are counted');
        assertEqual(shown().split(' | ').slice(0, 3).join(), 'Total (samples),2,2 samples, about 2 ms', 'texts of samples');
        session.store.flushAddress();
        assert(session.written.at(-1).includes('weight=samples'), `the address is ${session.written.at(-1)}`);
    }
    await rm(work, { recursive: true });
});

await check('two requests for one name both get the answer', async () => {
    const { names } = await openSession(`${DATA}samply-0.13.json`);
    const first = names.fetchNames([3, 4]);
    await names.fetchNames([4]);
    assert(names.funcName(4) !== undefined, 'it is not there');
    await first;
});

await check('a missing name appears as loading, and is copied when it arrives', async () => {
    const { copies, names } = await openSession(`${DATA}samply-0.13.json`);
    const func = [...Array(50).keys()].find((one) => names.funcName(one) === undefined);
    assertEqual(names.shownName(func), '…', 'what is shown');
    const copied = [];
    Object.defineProperty(globalThis, 'navigator', {
        value: { clipboard: { writeText: async (text) => copied.push(text) } },
        configurable: true,
    });
    globalThis.window ??= globalThis;
    await copies.copyName(func);
    assertEqual(copied.join(), names.nameOf(func), 'what is copied');
    assert(copied[0] !== '', 'nothing is copied');
});

await check('batched requests are sent once, dropped when outdated, and bounded', async () => {
    const asked = [];
    const held = [];
    const cache = new BatchCache((keys) => new Promise((resolve, reject) => {
        asked.push(keys.join());
        held.push({ give: () => resolve(keys.map((key) => [key, `${key}!`])), fail: () => reject(new Error('no')) });
    }), 3);
    const both = [cache.fetch([1, 2, 2]), cache.fetch([2, 1])];
    assertEqual(asked.join(' '), '1,2', 'what is asked');
    held[0].give();
    await Promise.all(both);
    assertEqual(`${cache.get(1)} ${cache.get(2)}`, '1! 2!', 'what is known');
    const stale = cache.fetch([3]);
    cache.clear();
    held[1].give();
    await stale;
    assertEqual(`${cache.get(1)} ${cache.get(3)}`, 'undefined undefined', 'what is known of other things');
    const failed = cache.fetch([3]).catch((error) => error.message);
    held[2].fail();
    assertEqual(await failed, 'no', 'why it is not there');
    const again = cache.fetch([3, 4, 5, 6]);
    held[3].give();
    await again;
    assertEqual([3, 4, 5, 6].map((key) => cache.get(key)).join(), ',4!,5!,6!', 'the newest');
});

await check('each session has texts of its own markers', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'prof-markers-'));
    const file = join(directory, 'markers.json');
    const column = (value) => Array(200).fill(value);
    writeProfile(file, {
        product: 'markers',
        functions: [['main', 0, 0], ['tick', 0, 0]],
        libraries: ['libmarkers.so'],
        categories: [['Other', 'grey']],
        samples: [[[0, 1], 200]],
        markers: {
            data: column(null), name: column(1), startTime: column(0).map((_, at) => at), endTime: column(null),
            phase: column(0), category: column(0), length: 200,
        },
    });
    for (const session of [await openSession(file), await openSession(file)]) {
        session.store.changeView({ tab: 'marker-table' }, 'replace');
        await until(() => session.markers.listedMarkers.value !== null, 'a list');
        const asked = session.markers.fetchMarkerRows([100, 101]);
        await Promise.all([asked, session.markers.fetchMarkerRows([101])]);
        assertEqual(session.markers.markerRow(101)?.name, 'tick', 'the name of a marker');
    }
    await rm(directory, { recursive: true });
});

await check('steps move between the rows that match a search, and open their ancestors', async () => {
    const { store, tree, treeSearch, names } = await openSession(`${DATA}samply-0.13.json`);
    await until(() => tree.rows.value.length > 0, 'a tree');
    store.changeView({ search: 'a' }, 'replace');
    await treeSearch.goToMatch('first');
    const [, count] = / of ([\d,]+)/.exec(treeSearch.matchPlace.value) ?? [];
    assert(Number(count) > 2, `matches: ${treeSearch.matchPlace.value}`);
    const seen = new Set();
    for (let at = 1; at <= Number(count); at++) {
        assertEqual(treeSearch.matchPlace.value, `${at} of ${count}`, 'the place');
        assert(/a/i.test(names.nameOf(tree.selected.value.func)) || names.funcName(tree.selected.value.func).lib.includes('a'), 'it does not match');
        assert(tree.rows.value.includes(tree.selected.value), 'the row is not open');
        seen.add(JSON.stringify(store.view.value.path));
        await treeSearch.goToMatch(1);
    }
    assertEqual(seen.size, Number(count), 'rows that were selected');
    assertEqual(treeSearch.matchPlace.value, `1 of ${count}`, 'after the last one');
    await treeSearch.goToMatch(-1);
    assertEqual(treeSearch.matchPlace.value, `${count} of ${count}`, 'before the first one');
});

await check('which frames can be shown alone depends on their libraries, not on names of categories', async () => {
    const work = await mkdtemp(join(tmpdir(), 'prof-frames-'));
    const choices = async (libraries, category) => {
        const file = join(work, 'p.json');
        writeProfile(file, {
            product: 'frames', libraries, categories: [['User', 'blue'], [category, 'orange']],
            functions: [['main', 0, 0], ['read', 1, 1]], samples: [[[0], 2], [[0, 1], 3]],
        });
        const session = await openSession(file, '?implementation=kernel');
        await until(() => session.tree.summary.value && session.tree.rows.value.length > 0, 'a tree');
        const rows = session.tree.rows.value.map((row) => `${session.names.nameOf(row.func)} ${row.total}`);
        return [session.filters.stackChoices.value.map(({ value }) => value).join(), rows.join()].join(' | ');
    };
    assertEqual(await choices(['app', '[kernel.kallsyms]'], 'System'), 'all,user,kernel | read 3', 'a kernel of another name');
    assertEqual(await choices(['app', 'libc.so.6'], 'Kernel'), ' | main 5,read 3', 'a category of that name without a kernel');
    assertEqual(await choices(['app', 'perf-12.map'], 'Kernel'), 'all,native,jit | main 5,read 3', 'code of a JIT compiler');
    await rm(work, { recursive: true });
});

const BRANCHES = {
    product: 'branches', libraries: ['app'], categories: [['User', 'blue']],
    functions: [['main', 0, 0], ['busy', 0, 0], ['idle', 0, 0], ['leaf', 0, 0]], samples: [[[0, 1], 9], [[0, 2, 3], 1]],
};

await check('a row that is opened and entered at once is entered when its rows arrive', async () => {
    const work = await mkdtemp(join(tmpdir(), 'prof-branches-'));
    const file = join(work, 'p.json');
    writeProfile(file, BRANCHES);
    const { butterfly, functions, names, store, tree } = await openSession(file);
    await until(() => tree.rows.value.length > 2, 'a tree');
    const named = (rows, name) => rows.find((row) => names.nameOf(row.func) === name);
    const idle = named(tree.rows.value, 'idle');
    tree.selectNode(idle);
    const isOpened = [tree.expand(idle), tree.enter(idle), tree.enter(idle)];
    assert(idle.children === null, 'its rows are there already');
    await Promise.all(isOpened);
    assertEqual(names.nameOf(tree.selected.value.func), 'leaf', 'the row of the call tree');
    assert(tree.rows.value.includes(tree.selected.value), 'the call tree does not show it');

    store.changeView({ tab: 'butterfly' }, 'push');
    await until(() => functions.functions.value.length > 0, 'functions');
    butterfly.setCenter({ kind: 'function', index: named(functions.functions.value, 'main').func });
    const { tree: callees } = butterfly.callees;
    await until(() => named(callees.rows.value, 'idle'), 'callees');
    const row = named(callees.rows.value, 'idle');
    callees.select(row, true);
    for (const key of ['ArrowRight', 'ArrowRight']) assert(callees.onKey(key, row), `${key} means nothing`);
    await until(() => callees.selected.value !== row, 'another row');
    assertEqual(names.nameOf(callees.selected.value.func), 'leaf', 'the row of the callees');
    assert(callees.rows.value.includes(callees.selected.value), 'the callees do not show it');
    await rm(work, { recursive: true });
});

await check('of many threads the stack chart shows the busiest, in their order', async () => {
    const work = await mkdtemp(join(tmpdir(), 'prof-threads-'));
    const file = join(work, 'p.json');
    writeProfile(file, BRANCHES);
    const profile = JSON.parse(await readFile(file, 'utf8'));
    const [thread] = profile.threads;
    const { stack, timeDeltas } = thread.samples;
    profile.threads = Array.from({ length: 10 }, (_, at) => {
        const length = at === 4 || at === 7 ? 1 : stack.length;
        const samples = { ...thread.samples, stack: stack.slice(0, length), timeDeltas: timeDeltas.slice(0, length), length };
        return { ...thread, name: `worker ${at}`, isMainThread: at === 0, tid: at + 1, samples };
    });
    await writeFile(file, JSON.stringify(profile));
    const { stackChart, store } = await openSession(file);
    store.changeView({ tab: 'stack-chart', threads: profile.threads.map((_, at) => at) }, 'push');
    stackChart.stackChartPixels.value = 100;
    await until(() => stackChart.stackChart.value?.charts.length === 8, 'eight charts');
    assertEqual(stackChart.stackChart.value.charts.map((chart) => chart.thread).join(), '0,1,2,3,5,6,8,9', 'the threads');
    await rm(work, { recursive: true });
});

finish();
