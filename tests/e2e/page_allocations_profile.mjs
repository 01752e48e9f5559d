// A profile with allocations beside its time samples. main calls parse and build; parse leaks.
//
//     node tests/e2e/page_allocations_profile.mjs FILE
import { readFileSync, writeFileSync } from 'node:fs';
import { writeProfile } from './small_profile.mjs';

const file = process.argv[2];
writeProfile(file, {
    product: 'allocations',
    functions: [
        ['main', 0, 0],
        ['parse', 0, 0],
        ['build', 0, 0],
    ],
    libraries: ['app'],
    categories: [
        ['User', 'yellow'],
        ['Other', 'grey'],
    ],
    samples: [
        [[0], 1],
        [[0, 1], 4],
        [[0, 2], 3],
    ],
});

// Rows: ms, index of the stack (0: main, 1: parse, 2: build), bytes, address.
const rows = [
    [1, 1, 4096, 0x1000],
    [2, 2, 1024, 0x2000],
    [3, 2, 2048, 0x3000],
    [4, 0, -1024, 0x2000],
    [5, 1, 512, 0x2000],
    [6, 0, -2048, 0x3000],
    [7, 0, -64, 0x9000],
];
const profile = JSON.parse(readFileSync(file, 'utf8'));
const column = (at) => rows.map((row) => row[at]);
profile.threads[0].nativeAllocations = {
    time: column(0),
    stack: column(1),
    weight: column(2),
    weightType: 'bytes',
    memoryAddress: column(3),
    threadId: rows.map(() => 1),
    length: rows.length,
};
profile.threads[0].jsAllocations = {
    time: [2, 4],
    className: ['Array', 'Object'],
    typeName: ['JSObject', 'JSObject'],
    coarseType: ['Object', 'Object'],
    weight: [48, 16],
    weightType: 'bytes',
    inNursery: [true, true],
    stack: [2, 1],
    length: 2,
};
writeFileSync(file, JSON.stringify(profile));
