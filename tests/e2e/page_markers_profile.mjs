// A small profile with markers and counters. It has two threads, a memory and a power counter, and markers with a
// schema of fields, with a description, and without a schema.
//
//     node tests/e2e/page_markers_profile.mjs FILE
import { writeFileSync } from 'node:fs';
import { functionTables, WHOLE_LIFE } from './small_profile.mjs';

const [file] = process.argv.slice(2);
const strings = ['main', 'work', 'app', 'load', 'paint', 'tick', 'https://example.org/a', '<b>bold</b>', 'open', 'wait'];
const SAMPLES = 100; // 1 ms each

/** name, category, start, end (null: an instant), payload */
const mainMarkers = [
    ['load', 0, 10, 30, { type: 'Load', url: 6, size: 2048, secret: 'hidden text' }],
    ['load', 0, 20, 40, { type: 'Load', url: 7, size: 1048576 }],
    ['paint', 1, 50, 50.5, null],
    ['paint', 1, 60, 75, { type: 'Paint', area: 0.25, cause: { stack: 1 } }],
    ['tick', 1, 33, null, null],
    ['tick', 1, 90, null, { reason: 'late, very' }],
];
const workerMarkers = [['load', 0, 5, 95, { type: 'Load', url: 6, size: 10 }]];

/** `pairs`: more rows, starts and ends apart. */
function markerTable(markers, pairs = []) {
    const rows = [
        ...markers.map(([name, category, start, end, data]) => [name, category, start, end, end === null ? 0 : 1, data]),
        ...pairs,
    ];
    const column = (at) => rows.map((row) => row[at]);
    return {
        name: column(0).map((name) => strings.indexOf(name)),
        category: column(1),
        startTime: column(2),
        endTime: column(3),
        phase: column(4),
        data: column(5),
        length: rows.length,
    };
}

const pairs = [
    ['open', 2, 2, null, 2, null],
    ['wait', 2, 44, null, 2, null],
    ['wait', 2, null, 48, 3, null],
];

function thread(index, name, markers) {
    return {
        ...WHOLE_LIFE,
        name,
        isMainThread: index === 0,
        processName: 'app',
        pid: '42',
        tid: 42 + index,
        samples: {
            stack: Array.from({ length: SAMPLES }, (_, i) => (i % 10 === 9 ? null : i % 2)),
            time: Array.from({ length: SAMPLES }, (_, i) => i),
            weight: null,
            weightType: 'samples',
            length: SAMPLES,
        },
        markers,
    };
}

function counter(name, category, count) {
    return {
        name,
        category,
        description: `About ${name}`,
        pid: '42',
        mainThreadIndex: 0,
        samples: { time: count.map((_, i) => i * 10), count, length: count.length },
    };
}

writeFileSync(
    file,
    JSON.stringify({
        meta: {
            interval: 1,
            startTime: 1767225600000,
            processType: 0,
            product: 'marked',
            stackwalk: 1,
            version: 36,
            preprocessedProfileVersion: 70,
            symbolicated: true,
            categories: [
                { name: 'Network', color: 'blue', subcategories: ['Other'] },
                { name: 'Graphics', color: 'green', subcategories: ['Other'] },
                { name: 'Other', color: 'grey', subcategories: ['Other'] },
            ],
            markerSchema: [
                {
                    name: 'Load',
                    display: ['marker-chart', 'marker-table', 'timeline-overview'],
                    tableLabel: '{marker.data.url} ({marker.data.size})',
                    chartLabel: '{marker.data.url}',
                    tooltipLabel: 'Loading {marker.data.url}',
                    fields: [
                        { key: 'url', label: 'Address', format: 'unique-string' },
                        { key: 'size', label: 'Size', format: 'bytes' },
                        { key: 'secret', label: 'Secret', format: 'string', hidden: true },
                    ],
                    description: 'Something is loaded.',
                },
                {
                    name: 'Paint',
                    display: ['marker-table'],
                    fields: [{ key: 'area', label: 'Area', format: 'percentage' }],
                },
            ],
        },
        libs: [],
        shared: {
            stringArray: strings,
            stackTable: { frame: [0, 1], prefixOffset: [0, 1], length: 2 },
            ...functionTables([['main', -1, 0], ['work', -1, 1]], []),
        },
        threads: [
            thread(0, 'main', markerTable(mainMarkers, pairs)),
            thread(1, 'worker', markerTable(workerMarkers)),
            thread(2, 'quiet', markerTable([])),
        ],
        counters: [
            counter('malloc', 'Memory', [0, 1024, 2048, -1024, 4096, 0, 0, 0, 0, -2048]),
            counter('package', 'power', [0, 1e6, 2e6, 3e6, 4e6, 5e6, 4e6, 3e6, 2e6, 1e6]),
        ],
    }),
);
