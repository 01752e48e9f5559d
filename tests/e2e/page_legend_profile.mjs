// A profile with a function in each of ten categories, whose names have no room beside the tabs.
//
//     node tests/e2e/page_legend_profile.mjs FILE
import { writeProfile } from './small_profile.mjs';

const at = Array.from({ length: 10 }, (_, index) => index);
writeProfile(process.argv[2], {
    product: 'legend',
    functions: at.map((index) => [`work ${index}`, 0, index]),
    libraries: ['app'],
    categories: at.map((index) => [`Category number ${index}`, ['blue', 'green', 'yellow', 'orange', 'purple'][index % 5]]),
    samples: at.map((index) => [at.slice(0, index + 1), 10 - index]),
});
