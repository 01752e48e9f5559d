// A profile whose call tree can be seen by eye: main calls work, which calls leaf in another library, and walk, which calls
// itself, also by way of helper.
//
//     node tests/e2e/page_transforms_profile.mjs FILE
import { writeFileSync } from 'node:fs';

const [file] = process.argv.slice(2);
const names = ['main', 'work', 'leaf', 'walk', 'helper'];
const strings = [...names, 'app', 'libm'];
/** Stacks, root first, as indexes of names; and in how many samples each is. */
const samples = [
    [[0], 1],
    [[0, 1], 2],
    [[0, 1, 2], 7],
    [[0, 3], 1],
    [[0, 3, 3], 2],
    [[0, 3, 3, 4], 1],
    [[0, 3, 3, 4, 3], 3],
    [[0, 3, 3, 4, 3, 2], 2],
];

const stacks = { frame: [], prefixOffset: [] };
const known = new Map();
function stackOf(path) {
    if (path.length === 0) return -1;
    const key = path.join();
    if (!known.has(key)) {
        const caller = stackOf(path.slice(0, -1));
        const at = stacks.frame.push(path[path.length - 1]) - 1;
        stacks.prefixOffset.push(caller < 0 ? 0 : at - caller);
        known.set(key, at);
    }
    return known.get(key);
}
const stack = samples.flatMap(([path, count]) => Array(count).fill(stackOf(path)));

const none = (length) => Array(length).fill(null);
const fill = (length, value) => Array(length).fill(value);
const count = names.length;
const inLibm = (at) => (names[at] === 'leaf' ? 1 : 0);
writeFileSync(
    file,
    JSON.stringify({
        meta: {
            interval: 1,
            startTime: 1767225600000,
            processType: 0,
            product: 'walker',
            stackwalk: 1,
            version: 36,
            preprocessedProfileVersion: 70,
            markerSchema: [],
            symbolicated: true,
            categories: [
                { name: 'User', color: 'yellow', subcategories: ['Other'] },
                { name: 'Library', color: 'blue', subcategories: ['Other'] },
                { name: 'Other', color: 'grey', subcategories: ['Other'] },
            ],
        },
        libs: [],
        shared: {
            stringArray: strings,
            stackTable: { ...stacks, length: stacks.frame.length },
            frameTable: {
                address: fill(count, -1),
                lib: fill(count, -1),
                inlineDepth: fill(count, 0),
                category: names.map((_, at) => inLibm(at)),
                subcategory: fill(count, 0),
                func: names.map((_, at) => at),
                nativeSymbol: none(count),
                innerWindowID: fill(count, 0),
                line: none(count),
                column: none(count),
                originalLocation: none(count),
                length: count,
            },
            funcTable: {
                name: names.map((_, at) => at),
                isJS: fill(count, false),
                relevantForJS: fill(count, false),
                resource: names.map((_, at) => inLibm(at)),
                source: none(count),
                lineNumber: none(count),
                columnNumber: none(count),
                originalLocation: none(count),
                length: count,
            },
            resourceTable: { name: [count, count + 1], host: none(2), type: [1, 1], length: 2 },
            nativeSymbols: { libIndex: [], address: [], name: [], functionSize: [], length: 0 },
            sources: { id: [], filename: [], startLine: [], startColumn: [], sourceMapURL: [], content: [], length: 0 },
            sourceLocationTable: { source: [], line: [], column: [], length: 0 },
        },
        threads: [
            {
                processType: 'default',
                processStartupTime: 0,
                processShutdownTime: null,
                registerTime: 0,
                unregisterTime: null,
                pausedRanges: [],
                name: 'walker',
                isMainThread: true,
                processName: 'walker',
                pid: '1',
                tid: 1,
                samples: { stack, timeDeltas: fill(stack.length, 1), weight: null, weightType: 'samples', length: stack.length },
                markers: { data: [], name: [], startTime: [], endTime: [], phase: [], category: [], length: 0 },
            },
        ],
    }),
);
