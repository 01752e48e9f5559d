// A profile whose samples all end in a function of one category, called by one of another category.
//
//     node tests/e2e/page_callers_profile.mjs FILE
import { writeProfile } from './small_profile.mjs';

writeProfile(process.argv[2], {
    product: 'callers',
    functions: [
        ['caller', 0, 0],
        ['leaf', 0, 1],
    ],
    libraries: ['app'],
    categories: [
        ['Caller', 'yellow'],
        ['Leaf', 'blue'],
        ['Other', 'grey'],
    ],
    samples: [[[0, 1], 10]],
});
