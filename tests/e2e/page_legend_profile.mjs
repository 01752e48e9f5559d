// A profile with a function in each of ten categories, or in each named category. The names of the ten categories do
// not fit beside the tabs.
//
//     node tests/e2e/page_legend_profile.mjs FILE [CATEGORY...]
import { writeProfile } from './small_profile.mjs';

const [file, ...named] = process.argv.slice(2);
const names = named.length > 0 ? named : Array.from({ length: 10 }, (_, index) => `Category number ${index}`);
const at = [...names.keys()];
writeProfile(file, {
    product: 'legend',
    functions: at.map((index) => [`work ${index}`, 0, index]),
    libraries: ['app'],
    categories: at.map((index) => [names[index], ['blue', 'green', 'yellow', 'orange', 'purple'][index % 5]]),
    samples: at.map((index) => [at.slice(0, index + 1), 10 - index]),
});
