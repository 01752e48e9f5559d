/** Selecting threads as items of a list. */

/** only: the clicked ones; toggle (Ctrl): one more or less; extend (Shift): all from the last selected one. */
export type ChooseMode = 'only' | 'toggle' | 'extend';

interface Click {
    thread: number;
    /** The thread, and the threads that are selected with it. */
    clicked: number[];
    mode: ChooseMode;
    /** The shown threads from the top. */
    order: readonly number[];
}

/** The selected threads after a click, the clicked one last. */
export function chosenThreads(chosen: readonly number[], { thread, clicked, mode, order }: Click): number[] {
    if (mode === 'toggle')
        return chosen.includes(thread) ? chosen.filter((other) => other !== thread) : [...chosen, thread];
    const last = order.indexOf(chosen[chosen.length - 1] ?? thread);
    const at = order.indexOf(thread);
    if (mode === 'only' || last < 0 || at < 0) return clicked;
    const between = order.slice(Math.min(last, at), Math.max(last, at) + 1);
    return at < last ? between.reverse() : between;
}
