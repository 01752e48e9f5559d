// Writes a profile whose call tree is wider than any window. It has 200 functions, each called by the function before,
// and one more function that the first function calls.
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
