// Choosing, hiding and moving tracks.
import { loadParts, random } from '../../../e2e/page_modules.mjs';
import { assert, assertEqual, check } from '../../../e2e/page_tap.mjs';
import { thread, PROCESSES } from './some_tracks.mjs';

const [tracks, trackChoice] = await loadParts(['view/tracks', 'view/track_choice']);

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

await check('lists of tracks survive the address', () => {
    assertEqual(trackChoice.encodeTracks(['t0', 't1', 't2', 'c5', 't3']), 't0w2~c5~t3', 'the text');
    for (let i = 0; i < 200; i++) {
        const keys = [...new Set(Array.from({ length: random(40) }, () => 'ptmcu'[random(5)] + random(2000)))];
        assertEqual(trackChoice.decodeTracks(trackChoice.encodeTracks(keys)).join(), keys.join(), 'the list read back');
    }
    for (const text of ['', '~', 'x5', 't', '5', '__', 't0w', 'toString'])
        assert(trackChoice.decodeTracks(text).every((key) => /^[a-z]\d+$/.test(key)), `${text} gives strange tracks`);
});
