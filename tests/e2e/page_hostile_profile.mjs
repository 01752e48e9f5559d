// Writes a profile whose texts try to break the page: node tests/e2e/page_hostile_profile.mjs FILE
import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { WHOLE_LIFE } from './small_profile.mjs';

export const TITLE_THIEF = /^[12]$/; // what the page's title would be if a name ran as a script
export const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
export const RIGHT_TO_LEFT = 'safe\u202Elmx.exe\u2066\u200B';
export const CONTROLS = 'tab\tnull\u0000escape\u001b[31mred\nline';
export const LONG = `long_${'A'.repeat(1 << 20)}`;
const PILED = `z${'\u0335\u0321\u0310'.repeat(400)}`;
const FORMULA = '=HYPERLINK("https://example.org/",A1)|cmd';
const NAMES = ['main', MARKUP, RIGHT_TO_LEFT, CONTROLS, LONG, PILED, '', '(truncated)', FORMULA];
/** What threads, markers, fields, counters and files are called. */
export const TEXTS = [MARKUP, RIGHT_TO_LEFT, CONTROLS, LONG, PILED, FORMULA, '__proto__'];

function table(rows, columns) {
    return { ...columns, length: rows };
}

function hostileSchema(name) {
    const fields = [...TEXTS.map((key) => ({ key, label: key, format: 'string' })), { key: 'text', label: MARKUP, format: 'unique-string' }, { key: 'address', label: 'Address', format: 'url' }];
    return {
        name,
        display: ['marker-chart', 'marker-table', 'timeline-overview'],
        tooltipLabel: `${MARKUP} {marker.data.text}`,
        tableLabel: `{marker.data.text} {marker.data.${MARKUP}} ${CONTROLS}`,
        chartLabel: '{marker.data.text}',
        description: MARKUP,
        fields,
    };
}

function hostilePayload(text, index) {
    const values = Object.fromEntries(TEXTS.map((key) => [key, text]));
    return { type: 'Hostile', ...values, text: index, address: `javascript:document.title=1//${text.slice(0, 50)}` };
}

function hostileProfile() {
    const stringArray = [...NAMES, MARKUP, ...TEXTS, [...TEXTS, '```'].join('\n')];
    const firstText = NAMES.length + 1;
    const markers = TEXTS.flatMap((text, at) => [
        [firstText + at, at * 4, at * 4 + 3, 1, hostilePayload(text, firstText + at)],
        [firstText + at, at * 4 + 1, null, 0, { type: text, cause: { stack: at } }],
    ]);
    const funcs = NAMES.length;
    const column = (value) => NAMES.map(() => value);
    const indexes = NAMES.map((_, at) => at);
    // Every name is called by main; that of truncated stacks is a root of its own.
    const stacks = NAMES.map((name, at) => (at === 0 || name === '(truncated)' ? 0 : at));
    const samples = NAMES.flatMap((_, at) => new Array(funcs - at).fill(at));
    return {
        meta: {
            interval: 1,
            startTime: 1767225600000,
            processType: 0,
            product: MARKUP,
            stackwalk: 1,
            version: 36,
            preprocessedProfileVersion: 9999, // of the future: the page says so
            markerSchema: [hostileSchema('Hostile'), ...TEXTS.map(hostileSchema)],
            categories: [
                { name: MARKUP, color: 'grey', subcategories: ['Other', MARKUP] },
                ...TEXTS.map((name) => ({ name, color: 'red;background:url(//example.org/)', subcategories: ['Other', name] })),
            ],
            symbolicated: true,
            arguments: RIGHT_TO_LEFT,
            extra: [{ label: MARKUP, entries: [{ label: MARKUP, format: 'string', value: CONTROLS }] }],
        },
        libs: TEXTS.map((name) => ({ name, path: name, debugName: name, debugPath: name, breakpadId: name.slice(0, 40), codeId: null, arch: name })),
        counters: TEXTS.map((name) => ({
            name,
            category: name,
            description: name,
            color: 'red;background:url(//example.org/)',
            display: { label: name, unit: name.slice(0, 30), color: name, graphType: 'line-accumulated', sortWeight: 1 },
            pid: '1',
            mainThreadIndex: 0,
            samples: table(2, { time: [0, 20], count: [5, 1e6] }),
        })),
        shared: {
            stringArray,
            stackTable: table(funcs, { frame: indexes, prefixOffset: stacks }),
            frameTable: table(funcs, {
                address: column(-1),
                lib: column(-1),
                inlineDepth: column(0),
                category: indexes.map((at) => at % TEXTS.length),
                subcategory: column(1),
                func: indexes,
                nativeSymbol: column(null),
                innerWindowID: column(0),
                line: indexes.map((at) => at + 1),
                column: column(null),
                originalLocation: column(null),
            }),
            funcTable: table(funcs, {
                name: indexes,
                isJS: column(false),
                relevantForJS: column(false),
                resource: column(0),
                source: indexes.map((at) => at % TEXTS.length),
                lineNumber: column(null),
                columnNumber: column(null),
                originalLocation: column(null),
            }),
            resourceTable: table(1, { name: [funcs], host: [null], type: [1] }),
            nativeSymbols: table(0, { libIndex: [], address: [], name: [], functionSize: [] }),
            sources: table(TEXTS.length, {
                id: TEXTS.map(() => null),
                filename: TEXTS.map((_, at) => firstText + at),
                startLine: TEXTS.map(() => 1),
                startColumn: TEXTS.map(() => 1),
                sourceMapURL: TEXTS.map(() => null),
                content: TEXTS.map(() => stringArray.length - 1),
            }),
            sourceLocationTable: table(0, { source: [], line: [], column: [] }),
        },
        threads: [MARKUP, RIGHT_TO_LEFT, CONTROLS, LONG, PILED].map((name, at) => ({
            ...WHOLE_LIFE,
            name,
            isMainThread: at === 0,
            processName: at === 0 ? RIGHT_TO_LEFT : name,
            pid: at < 3 ? '1' : name.slice(0, 100),
            tid: at === 0 ? 1 : name.slice(0, 100),
            samples: table(samples.length, {
                stack: samples,
                timeDeltas: samples.map(() => 1),
                weight: null,
                weightType: 'samples',
            }),
            markers: table(markers.length, {
                name: markers.map(([text]) => text),
                startTime: markers.map(([, start]) => start),
                endTime: markers.map(([, , end]) => end),
                phase: markers.map(([, , , phase]) => phase),
                data: markers.map(([, , , , data]) => data),
                category: markers.map((_, i) => i % TEXTS.length),
            }),
        })),
    };
}

const [file] = process.argv.slice(2);
if (import.meta.url === pathToFileURL(process.argv[1]).href && file) await writeFile(file, JSON.stringify(hostileProfile()));
