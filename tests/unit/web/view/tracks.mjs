// Which tracks are shown, and in which order.
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';
import { letters, thread, layout, workers, written, PROCESSES } from './some_tracks.mjs';

const [tracks] = await loadParts(['view/tracks']);

await check('tracks are busiest first, quiet ones hidden and counted', () => {
    const threads = Array.from({ length: 1000 }, (_, index) => thread(index, index % 100 === 99 ? 1000 + index : index % 100 === 98 ? 190 : 1));
    const { shown, quiet, count, total, rows } = layout(threads);
    assertEqual(shown.length, 15, 'number of tracks');
    assertEqual([quiet.length, count, total].join(), '985,15,1000', 'numbers of hidden ones, shown ones and all');
    const activities = rows.filter((row) => row.kind === 'thread').map((row) => row.activity);
    assertEqual(activities.join(), [...activities].sort((a, b) => b - a).join(), 'the order');
    assertEqual(layout(threads, { base: 'all' }).shown.length, 1000, 'number of all tracks');
});

await check('while a profile grows, processes and threads stay in the order in which they began', () => {
    const seeds = tracks.threadTracks([thread(0, 1), thread(1, 5), thread(2, 9, { pid: '2' })]);
    const rows = (isGrowing) => written(tracks.layoutTracks(seeds, { ...tracks.DEFAULT_TRACKS, base: 'all' }, [], isGrowing).rows);
    assertEqual([rows(true), rows(false)].join(' '), 't0,t1,t2 t2,t0,t1', 'the rows meanwhile and afterwards');
});

await check('threads of a process whose names are equal but for digits are one row, which opens to them', () => {
    const threads = workers(1000);
    const first = layout(threads);
    assertEqual(written(first.rows), 't0,r1+', 'the rows at first');
    assertEqual([first.rows[1].title, first.rows[1].detail, first.rows[1].activity].join(), 'worker-*,1,000 threads,4000', 'the row of the group');
    assertEqual([first.shown.length, first.quiet.length].join(), '1001,0', 'threads that rows stand for, and hidden ones');
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
    assertEqual(quiet.length, 0, 'threads hidden as less busy');
    assertEqual(layout([thread(0, 4000), ...workers(200, letters).slice(1).map((one) => ({ ...one, activity: 1 }))]).rows.length, 1, 'where they hold little');
});

await check('hidden ones are counted if they are quiet, and nobody said so', () => {
    const threads = Array.from({ length: 20 }, (_, index) => thread(index, index < 5 ? 100 - index : 1));
    const counts = (choice, selected) => {
        const { count, quiet, total } = layout(threads, choice, selected);
        return [count, quiet.length, total].join();
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
    assertEqual([first.quiet.length, first.quietShare, first.hasOnlyThreads].join(), '40,0.4,true', 'forty of one ms beside one of sixty');
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
    assertEqual(layout([6, 2]).quiet.length, 6, 'the others can be shown');
    assertEqual(layout([]).shown.length, 8, 'without such a wish');
});

await check('the search for tracks finds names and numbers, also of hidden ones', () => {
    const seeds = tracks.threadTracks(Array.from({ length: 40 }, (_, index) => thread(index, index === 0 ? 1000 : 0)));
    assertEqual(tracks.matchingTracks(seeds, '117, THREAD D').length, 12, 'number of matches');
    assertEqual(tracks.matchingTracks(seeds, 'none').length, 0, 'matches of nothing');
    assertEqual(tracks.matchingTracks(seeds, ' , ').length, 40, 'matches of no term');
});

await check('a process without its main thread has a heading', () => {
    const { rows } = layout(PROCESSES, { hidden: ['t8'] });
    assertEqual(rows.slice(0, 2).map((row) => `${row.kind} ${row.level}`).join(), 'process 0,thread 1', 'the first rows');
    assertEqual(rows.filter((row) => row.kind === 'process').length, 1, 'number of headings');
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
