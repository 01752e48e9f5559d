/** Names of funcs, fetched in batches and cached, because the page needs only visible names. */

import { BatchCache } from '../base/batch_cache';
import type { FuncInfo } from '../engine/api';
import { act } from '../window/windows';
import type { SessionBase } from './session_base';

export function createNames(session: SessionBase) {
    const { engine } = session;

    /** As many as the profile has functions, at most. */
    const cache = new BatchCache<FuncInfo>(async (funcs) => {
        const names = await engine.funcs(funcs);
        return names.map((name, at) => [funcs[at] ?? -1, name]);
    });

    /** Names as charts write them, in full and with folded templates: thousands are drawn at once. */
    const fullLabels = new Map<number, string>();
    const foldedLabels = new Map<number, string>();

    const { version: namesVersion } = cache;

    /** The name of a func if it is known already. */
    function funcName(func: number): FuncInfo | undefined {
        return cache.get(func);
    }

    /** Its name; '' while it is not cache. */
    function nameOf(func: number): string {
        return cache.get(func)?.name ?? '';
    }

    /** Its name as it is shown: with a sign while it is on its way, or if it has none. */
    function shownName(func: number): string {
        const name = cache.get(func);
        return name ? name.name || '(no name)' : '…';
    }

    /** Takes in names that came with something else. */
    function addNames(names: readonly (readonly [number, FuncInfo])[]): void {
        cache.add(names);
    }

    /** Gets the names of `funcs`; resolves when all of them are cache. */
    function fetchNames(funcs: Iterable<number>): Promise<void> {
        return cache.fetch(funcs);
    }

    /** The same for rows on the screen: nothing is asked for if all are cache. */
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
