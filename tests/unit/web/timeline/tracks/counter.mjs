// Tracks of counters.
import { loadParts } from '../../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../../e2e/page_tap.mjs';

const [tracks, counterTracks] = await loadParts(['view/tracks', 'timeline/tracks/counter.tsx']);

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
    assertEqual([rows.count, rows.total, rows.quiet.length].join(), '8,11,0', 'shown, all, and those that are said to be quiet');
});
