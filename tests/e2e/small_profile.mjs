// Writes small profiles of one thread for the tests of the page.
import { writeFileSync } from 'node:fs';

/** What all threads here have: they last as long as their process. */
export const WHOLE_LIFE = {
    processType: 'default',
    processStartupTime: 0,
    processShutdownTime: null,
    registerTime: 0,
    unregisterTime: null,
    pausedRanges: [],
};

/**
 * The tables of `functions`: [name, index of its library or -1, index of its category], each with one frame. Their names are
 * the first texts of the profile, those of `libraries` follow.
 */
export function functionTables(functions, libraries) {
    const count = functions.length;
    const none = (length) => Array(length).fill(null);
    const fill = (length, value) => Array(length).fill(value);
    const indexes = functions.map((_, at) => at);
    return {
        frameTable: {
            address: fill(count, -1),
            lib: fill(count, -1),
            inlineDepth: fill(count, 0),
            category: functions.map(([, , category]) => category),
            subcategory: fill(count, 0),
            func: indexes,
            nativeSymbol: none(count),
            innerWindowID: fill(count, 0),
            line: none(count),
            column: none(count),
            originalLocation: none(count),
            length: count,
        },
        funcTable: {
            name: indexes,
            isJS: fill(count, false),
            relevantForJS: fill(count, false),
            resource: functions.map(([, library]) => library),
            source: none(count),
            lineNumber: none(count),
            columnNumber: none(count),
            originalLocation: none(count),
            length: count,
        },
        resourceTable: {
            name: libraries.map((_, at) => count + at),
            host: none(libraries.length),
            type: fill(libraries.length, 1),
            length: libraries.length,
        },
        nativeSymbols: { libIndex: [], address: [], name: [], functionSize: [], length: 0 },
        sources: { id: [], filename: [], startLine: [], startColumn: [], sourceMapURL: [], content: [], length: 0 },
        sourceLocationTable: { source: [], line: [], column: [], length: 0 },
    };
}

const NO_MARKERS = { data: [], name: [], startTime: [], endTime: [], phase: [], category: [], length: 0 };

/**
 * `functions`: [name, index of its library, index of its category]. `samples`: [stack, times], the stack root first as
 * indexes of functions; or objects { stack, ms, cpu, weight } (ms since the sample before, and µs of CPU time in it). `markers`: the
 * table of its markers, whose names are among those of `functions`.
 */
export function writeProfile(file, { product, functions, libraries, categories, samples, weightType = 'samples', markers = NO_MARKERS }) {
    const stacks = { frame: [], prefixOffset: [] };
    const known = new Map();
    const stackOf = (path) => {
        if (path.length === 0) return -1;
        const key = path.join();
        if (!known.has(key)) {
            const caller = stackOf(path.slice(0, -1));
            const at = stacks.frame.push(path[path.length - 1]) - 1;
            stacks.prefixOffset.push(caller < 0 ? 0 : at - caller);
            known.set(key, at);
        }
        return known.get(key);
    };
    const counted = samples.flatMap((one) => (Array.isArray(one) ? Array(one[1]).fill({ stack: one[0], ms: 1 }) : [one]));
    const stack = counted.map((sample) => stackOf(sample.stack));
    const hasCpu = counted.some((sample) => sample.cpu !== undefined);
    const hasWeight = counted.some((sample) => sample.weight !== undefined);

    const profile = {
        meta: {
            interval: 1,
            startTime: 1767225600000,
            processType: 0,
            product,
            stackwalk: 1,
            version: 36,
            preprocessedProfileVersion: 70,
            markerSchema: [],
            symbolicated: true,
            categories: categories.map(([name, color]) => ({ name, color, subcategories: ['Other'] })),
            ...(hasCpu ? { sampleUnits: { time: 'ms', eventDelay: 'ms', threadCPUDelta: 'µs' } } : {}),
        },
        libs: [],
        shared: {
            stringArray: [...functions.map(([name]) => name), ...libraries],
            stackTable: { ...stacks, length: stacks.frame.length },
            ...functionTables(functions, libraries),
        },
        threads: [
            {
                ...WHOLE_LIFE,
                name: product,
                isMainThread: true,
                processName: product,
                pid: '1',
                tid: 1,
                samples: {
                    stack,
                    timeDeltas: counted.map((sample) => sample.ms),
                    weight: hasWeight ? counted.map((sample) => sample.weight) : null,
                    weightType,
                    ...(hasCpu ? { threadCPUDelta: counted.map((sample) => sample.cpu) } : {}),
                    length: counted.length,
                },
                markers,
            },
        ],
    };
    writeFileSync(file, JSON.stringify(profile));
}
