/** Selects threads like items of a list. */

/**
 * only: select the clicked threads alone; toggle (Ctrl): add or remove them; extend (Shift): add all from the last
 * selected thread on.
 */
export type ChooseMode = 'only' | 'toggle' | 'extend';

interface Click {
    thread: number;
    /** The clicked thread, and threads that the user selects together with it. */
    clicked: number[];
    mode: ChooseMode;
    /** The shown threads from top to bottom. */
    order: readonly number[];
}

/** Returns the selected threads after a click. The clicked thread is last. */
export function chosenThreads(chosen: readonly number[], { thread, clicked, mode, order }: Click): number[] {
    if (mode === 'toggle')
        return chosen.includes(thread) ? chosen.filter((other) => other !== thread) : [...chosen, thread];
    const last = order.indexOf(chosen[chosen.length - 1] ?? thread);
    const at = order.indexOf(thread);
    if (mode === 'only' || last < 0 || at < 0) return clicked;
    const between = order.slice(Math.min(last, at), Math.max(last, at) + 1);
    return at < last ? between.reverse() : between;
}
