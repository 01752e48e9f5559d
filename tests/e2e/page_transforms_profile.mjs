// A profile in which main calls work, which calls leaf in another library, and walk, which calls itself, also by way of
// helper.
//
//     node tests/e2e/page_transforms_profile.mjs FILE
import { writeProfile } from './small_profile.mjs';

writeProfile(process.argv[2], {
    product: 'walker',
    functions: [
        ['main', 0, 0],
        ['work', 0, 0],
        ['leaf', 1, 1],
        ['walk', 0, 0],
        ['helper', 0, 0],
    ],
    libraries: ['app', 'libm'],
    categories: [
        ['User', 'yellow'],
        ['Library', 'blue'],
        ['Other', 'grey'],
    ],
    samples: [
        [[0], 1],
        [[0, 1], 2],
        [[0, 1, 2], 7],
        [[0, 3], 1],
        [[0, 3, 3], 2],
        [[0, 3, 3, 4], 1],
        [[0, 3, 3, 4, 3], 3],
        [[0, 3, 3, 4, 3, 2], 2],
    ],
});
