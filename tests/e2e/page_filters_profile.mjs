// A profile with CPU times and weights: main calls work, which enters the kernel, and waits in idle.
//
//     node tests/e2e/page_filters_profile.mjs FILE
import { writeProfile } from './small_profile.mjs';

const sample = (stack, ms, cpu, weight) => ({ stack, ms, cpu, weight });

writeProfile(process.argv[2], {
    product: 'filters',
    functions: [
        ['main', 0, 0],
        ['work', 0, 0],
        ['sys_read', 1, 1],
        ['page_fault', 1, 1],
        ['idle', 0, 2],
    ],
    libraries: ['app', 'vmlinux'],
    categories: [
        ['User', 'yellow'],
        ['Kernel', 'orange'],
        ['Idle', 'transparent'],
        ['Other', 'grey'],
    ],
    samples: [
        sample([0], 1, 1000, 1),
        sample([0, 1], 1, 1000, 1),
        sample([0, 1], 2, 1500, 2),
        sample([0, 1, 2], 1, 750, 1),
        sample([0, 1, 2], 4, 500, 4),
        sample([0, 1, 2, 3], 1, 1000, 1),
        sample([0, 4], 8, 0, 8),
        sample([0, 4], 2, 0, 2),
        sample([0, 1, 3], 1, 250, 1),
        sample([0], 1, 0, 1),
    ],
});
