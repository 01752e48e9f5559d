// Writes a profile with a call tree that no window is wide enough for: 200 functions, each called by the one before, and
// one more that the first calls, too.
//
//     node tests/e2e/page_tables_profile.mjs FILE
import { writeProfile } from './small_profile.mjs';

const DEPTH = 200;
const functions = Array.from({ length: DEPTH }, (_, at) => [`level ${at + 1}`, 0, 0]);

writeProfile(process.argv[2], {
    product: 'deep',
    functions: [...functions, ['aside', 0, 0]],
    libraries: ['libdeep.so'],
    categories: [['Other', 'grey']],
    samples: [
        [functions.map((_, at) => at), 9],
        [[0, DEPTH], 1],
    ],
});
