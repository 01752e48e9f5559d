/** Names of funcs, fetched in batches and cached: the engine has them all, the page needs those on the screen. */
import { signal } from '@preact/signals';
import type { FuncInfo } from '../engine/api';
import type { Given } from './given';
import { act } from './windows';

export function createNames(session: Given) {
    const { engine } = session;

    const known = new Map<number, FuncInfo>();
    const requested = new Set<number>();

    /** Names as charts write them, in full and with folded templates: thousands are drawn at once. */
    const fullLabels = new Map<number, string>();
    const foldedLabels = new Map<number, string>();

    /** Counts the batches that have come; reading it makes a component draw again when names arrive. */
    const namesVersion = signal(0);

    /** The name of a func if it is known already. */
    function funcName(func: number): FuncInfo | undefined {
        return known.get(func);
    }

    /** Its name; '' while it is not known. */
    function nameOf(func: number): string {
        return known.get(func)?.name ?? '';
    }

    /** Gets the names of `funcs`; resolves when all of those that were requested for here are known. */
    async function fetchNames(funcs: Iterable<number>): Promise<void> {
        const missing: number[] = [];
        for (const func of funcs) {
            if (known.has(func) || requested.has(func)) continue;
            requested.add(func);
            missing.push(func);
        }
        if (missing.length === 0) return;
        try {
            const infos = await engine.funcs(missing);
            infos.forEach((info, i) => {
                const func = missing[i];
                if (func !== undefined) known.set(func, info);
            });
            namesVersion.value++;
        } finally {
            for (const func of missing) requested.delete(func);
        }
    }

    /** The same for rows on the screen: nothing is requested for if all are known. */
    function fetchMissingNames(funcs: readonly number[]): void {
        const missing = funcs.filter((func) => !known.has(func));
        if (missing.length > 0) act(fetchNames(missing));
    }

    return {
        fullLabels,
        foldedLabels,
        namesVersion,
        funcName,
        nameOf,
        fetchNames,
        fetchMissingNames,
    };
}

export type NamesPart = ReturnType<typeof createNames>;
