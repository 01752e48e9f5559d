// Writes a profile whose texts try to break the page: node tests/e2e/page_hostile_profile.mjs FILE
import { writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

export const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
const RIGHT_TO_LEFT = 'safe\u202Elmx.exe\u2066\u200B';
const CONTROLS = 'tab\tnull\u0000escape\u001b[31mred\nline';
const LONG = `long_${'A'.repeat(1 << 20)}`;
const PILED = `z${'\u0335\u0321\u0310'.repeat(400)}`;
const NAMES = ['main', MARKUP, RIGHT_TO_LEFT, CONTROLS, LONG, PILED, '', '(truncated)'];

function table(rows, columns) {
    return { ...columns, length: rows };
}

function hostileProfile() {
    const stringArray = [...NAMES, MARKUP];
    const funcs = NAMES.length;
    const column = (value) => NAMES.map(() => value);
    const indexes = NAMES.map((_, at) => at);
    // Every name is called by main; the last one is a root of its own.
    const stacks = NAMES.map((_, at) => (at === 0 || at === funcs - 1 ? 0 : at));
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
            markerSchema: [],
            categories: [{ name: MARKUP, color: 'grey', subcategories: ['Other'] }],
            symbolicated: true,
            arguments: RIGHT_TO_LEFT,
            extra: [{ label: MARKUP, entries: [{ label: MARKUP, format: 'string', value: CONTROLS }] }],
        },
        libs: [],
        shared: {
            stringArray,
            stackTable: table(funcs, { frame: indexes, prefixOffset: stacks }),
            frameTable: table(funcs, {
                address: column(-1),
                lib: column(-1),
                inlineDepth: column(0),
                category: column(0),
                subcategory: column(0),
                func: indexes,
                nativeSymbol: column(null),
                innerWindowID: column(0),
                line: column(null),
                column: column(null),
                originalLocation: column(null),
            }),
            funcTable: table(funcs, {
                name: indexes,
                isJS: column(false),
                relevantForJS: column(false),
                resource: column(0),
                source: column(null),
                lineNumber: column(null),
                columnNumber: column(null),
                originalLocation: column(null),
            }),
            resourceTable: table(1, { name: [funcs], host: [null], type: [1] }),
            nativeSymbols: table(0, { libIndex: [], address: [], name: [], functionSize: [] }),
            sources: table(0, { id: [], filename: [], startLine: [], startColumn: [], sourceMapURL: [], content: [] }),
            sourceLocationTable: table(0, { source: [], line: [], column: [] }),
        },
        threads: [
            {
                processType: 'default',
                processStartupTime: 0,
                processShutdownTime: null,
                registerTime: 0,
                unregisterTime: null,
                pausedRanges: [],
                name: MARKUP,
                isMainThread: true,
                processName: RIGHT_TO_LEFT,
                pid: '1',
                tid: 1,
                samples: table(samples.length, {
                    stack: samples,
                    timeDeltas: samples.map(() => 1),
                    weight: null,
                    weightType: 'samples',
                }),
                markers: table(0, { data: [], name: [], startTime: [], endTime: [], phase: [], category: [] }),
            },
        ],
    };
}

const [file] = process.argv.slice(2);
if (import.meta.url === pathToFileURL(process.argv[1]).href && file) await writeFile(file, JSON.stringify(hostileProfile()));
