// Writes a profile with more markers than the rows that fit into the largest element of a browser.
//
//     node tests/e2e/page_long_profile.mjs FILE MARKERS
import { writeProfile } from './small_profile.mjs';

const [file, count] = [process.argv[2], Number(process.argv[3])];
const column = (value) => Array(count).fill(value);

writeProfile(file, {
    product: 'long',
    functions: [['main', 0, 0], ['tick', 0, 0]],
    libraries: ['liblong.so'],
    categories: [['Other', 'grey']],
    samples: [[[0, 1], 1000]],
    markers: {
        data: column(null),
        name: column(1),
        startTime: Array.from({ length: count }, (_, at) => (at * 1000) / count),
        endTime: column(null),
        phase: column(0),
        category: column(0),
        length: count,
    },
});
