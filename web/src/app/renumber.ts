/** The view of one profile for another of the same recording, in which functions and threads have other numbers. */
import type { FuncInfo, NodePath, ProfileInfo, ThreadInfo } from '../engine/api';
import type { EngineWorker } from '../engine/client';
import type { Range, View } from '../view/codec';
import type { Session } from './session';

/** From a number in the profile before to that in the next one. */
interface Numbers {
    funcs: ReadonlyMap<number, number>;
    threads: ReadonlyMap<number, number>;
    /** ms: what is added to times. */
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
 * From threads of one profile to those of the next, whose times are later by `shift`. Among threads of the same number, the
 * start shows; those that started before the next profile begins, as a flight recorder's do, start with it.
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

/** As far as the next profile has it. */
export function renumberPath(path: NodePath, { funcs }: Numbers): NodePath {
    const numbers: NodePath = [];
    for (const func of path) {
        const number = funcs.get(func);
        if (number === undefined) break;
        numbers.push(number);
    }
    return numbers;
}

/** What speaks of a function or thread that the next profile lacks falls away. */
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
