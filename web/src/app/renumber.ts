/**
 * Converts the view of a profile for another profile of the same recording, in which functions and threads have other
 * numbers.
 */
import type { FuncInfo, NodePath, ProfileInfo, ThreadInfo } from '../engine/api';
import type { EngineWorker } from '../engine/client';
import type { Range, View } from '../view/codec';
import type { Session } from './session';

/** Maps numbers of the old profile to numbers of the new profile. */
interface Numbers {
    funcs: ReadonlyMap<number, number>;
    threads: ReadonlyMap<number, number>;
    /** ms: difference to add to times. */
    shift: number;
}

const BATCH = 20_000;

function keyOf({ name, lib, file, line }: FuncInfo): string {
    return JSON.stringify([name, lib, file, line]);
}

function threadKeyOf({ pid, tid }: ThreadInfo): string {
    return JSON.stringify([pid, tid]);
}

/**
 * Matches the threads of two profiles, where times of the second profile are later by `shift`. The start distinguishes
 * threads with the same number. In a flight recorder, threads that are older than the second profile start with it.
 */
function matchThreads(old: readonly ThreadInfo[], next: readonly ThreadInfo[], shift: number): Map<number, number> {
    const byKey = new Map<string, ThreadInfo[]>();
    for (const thread of next) {
        const same = byKey.get(threadKeyOf(thread));
        if (same) same.push(thread);
        else byKey.set(threadKeyOf(thread), [thread]);
    }
    const matches = new Map<number, number>();
    for (const thread of old) {
        const start = Math.max(0, (thread.start ?? 0) + shift);
        const distance = (other: ThreadInfo): number => Math.abs((other.start ?? 0) - start);
        const [nearest] = byKey.get(threadKeyOf(thread))?.sort((a, b) => distance(a) - distance(b)) ?? [];
        if (nearest) matches.set(thread.index, nearest.index);
    }
    return matches;
}

async function namesOf(engine: EngineWorker, count: number): Promise<FuncInfo[]> {
    const names: FuncInfo[] = [];
    for (let from = 0; from < count; from += BATCH) {
        const funcs = Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => from + at);
        for (const name of await engine.funcs(funcs)) names.push(name);
    }
    return names;
}

export async function matchNumbers(before: Session, engine: EngineWorker, profile: ProfileInfo): Promise<Numbers> {
    const { info } = before;
    const [old, next] = await Promise.all([
        namesOf(before.engine, info.peek().funcCount),
        namesOf(engine, profile.funcCount),
    ]);
    const nextFuncs = new Map(next.map((name, func) => [keyOf(name), func]));
    const funcs = new Map<number, number>();
    old.forEach((name, func) => {
        const number = nextFuncs.get(keyOf(name));
        if (number !== undefined) funcs.set(func, number);
    });
    const shift = info.peek().startTime - profile.startTime;
    return { funcs, threads: matchThreads(info.peek().threads, profile.threads, shift), shift };
}

/** Returns the longest part of the path that the new profile has. */
export function renumberPath(path: NodePath, { funcs }: Numbers): NodePath {
    const numbers: NodePath = [];
    for (const func of path) {
        const number = funcs.get(func);
        if (number === undefined) break;
        numbers.push(number);
    }
    return numbers;
}

/** Omits the parts of the view that refer to functions or threads that the new profile lacks. */
export function renumberView(view: View, numbers: Numbers): View {
    const { funcs, threads, shift } = numbers;
    const shifted = ([from, to]: Range): Range => [from + shift, to + shift];
    const isOfFunc = (kind: string): boolean =>
        kind.includes('function') || kind.includes('recursion') || kind === 'focus-self';
    const transforms = view.transforms.flatMap((transform) => {
        const index = isOfFunc(transform.kind) && transform.index >= 0 ? funcs.get(transform.index) : transform.index;
        const path = renumberPath(transform.path, numbers);
        return index === undefined || path.length < transform.path.length ? [] : [{ ...transform, index, path }];
    });
    const center = view.center?.kind === 'function' ? funcs.get(view.center.index) : undefined;
    return {
        ...view,
        threads: view.threads.flatMap((thread) => threads.get(thread) ?? []),
        ranges: view.ranges.map(shifted),
        preview: view.preview && shifted(view.preview),
        transforms,
        path: renumberPath(view.path, numbers),
        zoom: renumberPath(view.zoom, numbers),
        center: view.center && center !== undefined ? { ...view.center, index: center } : null,
        marker: -1,
    };
}
