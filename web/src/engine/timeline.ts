/**
 * The calls about the graphs of the timeline and the samples under the mouse, which lib/wasm/wasm_timeline.c answers.
 */
import { NewestMap } from '../base/newest_map';
import type { ActivityFilter, Stacks, TimelineCalls } from './api';
import type { EngineModule, Pointer } from './module';
import type { Answers } from './protocol';
import { transformWords } from './tree';

interface Functions {
    session_activity(session: Pointer, drawnCount: number, from: number, to: number, width: number): Pointer;
    session_activity_matching(session: Pointer): Pointer;
    session_thread_times(session: Pointer, from: number, to: number): Pointer;
    session_state_lanes(
        session: Pointer,
        threads: number,
        lanes: number,
        from: number,
        to: number,
        width: number,
    ): Pointer;
    session_cpu_lanes(session: Pointer, cpus: number, from: number, to: number, width: number): Pointer;
    session_cpu_at(session: Pointer, cpu: number, time: number): Pointer;
    session_state_sums(session: Pointer, threads: number, from: number, to: number): Pointer;
    session_longest_wait(session: Pointer, thread: number, state: number, from: number, to: number): number;
    session_sample_at(session: Pointer, thread: number, time: number, threads: number, transformWords: number): Pointer;
}

interface ActivityRows {
    categories: number[];
    shares: Float32Array;
    strip: Uint8Array;
}

/**
 * The limit of cached graphs, several times the number of graphs in a window. For an earlier selection, the engine thus
 * need not read all samples again.
 */
const MOST_RECENT = 64;

/** Returns the rows of `matching` in the order of `categories`, with zeros for other categories. */
function spread(matching: ActivityRows, categories: number[], width: number): Float32Array {
    const shares = new Float32Array(categories.length * width);
    matching.categories.forEach((category, row) => {
        const at = categories.indexOf(category);
        if (at >= 0) shares.set(matching.shares.subarray(row * width, (row + 1) * width), at * width);
    });
    return shares;
}

export function timelineAnswers(module: EngineModule): Answers<TimelineCalls> {
    const { session } = module;
    const wasm = module.functions<Functions>();
    const recent = new NewestMap<string, ActivityRows>(MOST_RECENT);

    function recentRows(of: unknown, compute: () => ActivityRows): ActivityRows {
        const key = JSON.stringify([module.profiles, of]);
        const rows = recent.get(key) ?? compute();
        recent.set(key, rows);
        return rows;
    }

    function activityRows(pointer: Pointer, width: number): ActivityRows {
        const view = module.view(pointer);
        return {
            categories: Array.from(view.ints(0)),
            shares: view.floats(1, view.length * width),
            strip: view.bytes(2, width),
        };
    }

    /** Returns the words of threads and transforms, and the number of each. */
    function stackWords({ threads, transforms }: Stacks): { words: number[]; lengths: [number, number] } {
        const words = transforms.flatMap(transformWords);
        return { words: [...threads, ...words], lengths: [threads.length, words.length] };
    }

    function activityMatching(
        drawn: readonly number[],
        from: number,
        to: number,
        width: number,
        filter: ActivityFilter,
    ): ActivityRows {
        const { words, lengths } = stackWords(filter);
        const path = filter.of?.path ?? [];
        const search = module.encode(filter.search);
        const inverted = Number(filter.of?.inverted ?? false);
        const request = [width, drawn.length, ...lengths, path.length, search.length, inverted];
        module.inputRequest([from, to], [...request, ...drawn, ...words, ...path], search);
        return activityRows(wasm.session_activity_matching(session), width);
    }

    return {
        activity(threads, from, to, width, filter) {
            const { of, search, transforms } = filter;
            const drawn = [threads, from, to, width];
            const all = recentRows(drawn, () => {
                module.inputWords(threads);
                return activityRows(wasm.session_activity(session, threads.length, from, to, width), width);
            });
            const isCut = of !== null || search !== '' || transforms.length > 0;
            const stacks = transforms.length > 0 ? filter.threads : [];
            const matching = isCut
                ? recentRows([drawn, of, search, transforms, stacks], () =>
                      activityMatching(threads, from, to, width, filter),
                  )
                : null;
            // The page takes over the memory of an answer, so the cache keeps the original, and the answer has copies.
            return {
                width,
                categories: all.categories,
                shares: all.shares.slice(),
                matching: matching && spread(matching, all.categories, width),
                strip: all.strip.slice(),
                matchingStrip: matching?.strip.slice() ?? null,
            };
        },
        threadTimes([from, to]) {
            const view = module.view(wasm.session_thread_times(session, from, to));
            return view.doubles(0, view.length);
        },
        stateLanes(lanes, from, to, width) {
            const threads = lanes.flat();
            let end = 0;
            module.inputWords([...threads, ...lanes.map((lane) => (end += lane.length))]);
            const view = module.view(wasm.session_state_lanes(session, threads.length, lanes.length, from, to, width));
            return { width, rows: view.ints(0, 2 * view.length), shares: view.floats(1, view.length * width) };
        },
        cpuLanes(cpus, from, to, width) {
            module.inputWords(cpus);
            const view = module.view(wasm.session_cpu_lanes(session, cpus.length, from, to, width));
            return { width, rows: view.ints(0, 2 * view.length), shares: view.floats(1, view.length * width) };
        },
        cpuAt(cpu, time) {
            const view = module.view(wasm.session_cpu_at(session, cpu, time));
            const [start = 0, end = 0, offCpu = 0, previousEnd = 0] = view.doubles(0, 4);
            const [thread = -1, previousCpu = -1] = view.ints(1, 2);
            return { start, end, offCpu, previousEnd, thread, previousCpu };
        },
        stateSums(threads, [from, to]) {
            module.inputWords(threads);
            const view = module.view(wasm.session_state_sums(session, threads.length, from, to));
            return view.doubles(0, view.length);
        },
        longestWait(thread, state, [from, to]) {
            const time = wasm.session_longest_wait(session, thread, state, from, to);
            return Number.isNaN(time) ? null : time;
        },
        sampleAt(thread, time, stacks) {
            const { words, lengths } = stackWords(stacks);
            module.inputWords(words);
            const pointer = wasm.session_sample_at(session, thread, time, ...lengths);
            if (pointer === 0) return null;
            const view = module.view(pointer);
            const cpu = view.doubles(2, 1)[0] ?? Number.NaN;
            const [from = Number.NaN, to = Number.NaN] = view.doubles(5, 2);
            return {
                time: view.doubles(1, 1)[0] ?? 0,
                path: Array.from(view.ints(0)),
                category: view.ints(3, 1)[0] ?? 0,
                cpu: Number.isNaN(cpu) ? null : cpu,
                dropped: view.bytes(4, 1)[0] === 1,
                notRunning: Number.isNaN(from) ? null : [from, to],
                reason: view.ints(6, 1)[0] ?? -1,
                unseen: view.doubles(8, 1)[0] ?? 0,
                runtimeCallers: view.ints(9, 1)[0] ?? 0,
                waker: module.text(view.ints(7, 1)[0] ?? -1), // the last read, because reading a string ends the answer
            };
        },
    };
}
