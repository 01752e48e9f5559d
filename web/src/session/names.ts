/** The names of functions, which the page fetches in batches and caches, because it needs only visible names. */

import { BatchCache } from '../base/batch_cache';
import type { FuncInfo } from '../engine/api';
import { act } from '../window/windows';
import type { SessionBase } from './session_base';

export function createNames(session: SessionBase) {
    const { engine } = session;

    /** The cache grows to at most the number of functions in the profile. */
    const cache = new BatchCache<FuncInfo>(async (funcs) => {
        const names = await engine.funcs(funcs);
        return names.map((name, at) => [funcs[at] ?? -1, name]);
    });

    /** The names with folded templates, cached because charts draw thousands of names at once. */
    const fullLabels = new Map<number, string>();
    const foldedLabels = new Map<number, string>();

    const { version: namesVersion } = cache;

    /** Returns the name of a function if the cache has it. */
    function funcName(func: number): FuncInfo | undefined {
        return cache.get(func);
    }

    /** Returns the name of a function, or '' before the page has fetched it. */
    function nameOf(func: number): string {
        return cache.get(func)?.name ?? '';
    }

    /** Returns the name as the page shows it, or a placeholder for a missing or unfetched name. */
    function shownName(func: number): string {
        const name = cache.get(func);
        return name ? name.name || '(no name)' : '…';
    }

    /** Adds names that came with another answer. */
    function addNames(names: readonly (readonly [number, FuncInfo])[]): void {
        cache.add(names);
    }

    /** Fetches the names of `funcs`. Resolves when the cache has all of them. */
    function fetchNames(funcs: Iterable<number>): Promise<void> {
        return cache.fetch(funcs);
    }

    /** The same for visible rows. Requests nothing if the cache has all names. */
    function fetchMissingNames(funcs: readonly number[]): void {
        const missing = funcs.filter((func) => cache.get(func) === undefined);
        if (missing.length > 0) act(fetchNames(missing));
    }

    return {
        fullLabels,
        foldedLabels,
        namesVersion,
        funcName,
        nameOf,
        shownName,
        addNames,
        fetchNames,
        fetchMissingNames,
    };
}

export type NamesPart = ReturnType<typeof createNames>;
