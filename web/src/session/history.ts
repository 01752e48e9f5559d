/**
 * The steps of the browser's history. Each step belongs to a session, because its address has indexes of the session's
 * profile.
 */

/** Whether a change of the view adds a step to the history ('push'). */
export type Step = 'push' | 'replace';

/** The state that the page stores in a step of the history. */
export interface Entry {
    step: number;
    /** The number of the session's first step, after the steps of other sessions. */
    first: number;
    session: string;
    /** The name of the profile, for a return after the page has dropped the profile. */
    name: string;
}

/** Returns null for a step without a session, such as an address that the user typed. */
export function entryOf(state: unknown): Entry | null {
    if (typeof state !== 'object' || state === null) return null;
    const { step, first, session, name } = state as Partial<Entry>;
    if (typeof step !== 'number' || typeof session !== 'string') return null;
    return {
        step,
        first: typeof first === 'number' ? first : step,
        session,
        name: typeof name === 'string' ? name : '',
    };
}

/** The position of the shown session in the history. */
export class HistoryPlace {
    /** The newest step of this session to which the user can go forward. */
    private newest: number;

    constructor(private entry: Entry) {
        this.newest = entry.step;
    }

    get step(): number {
        return this.entry.step;
    }

    write(address: string, step: Step): void {
        if (address === window.location.search && entryOf(window.history.state)?.session === this.entry.session) return;
        try {
            if (step === 'push') this.begin(address, 'push');
            else window.history.replaceState(this.entry, '', address);
        } catch {
            // The browser may refuse a long address or frequent changes; the view works without the address.
        }
    }

    begin(address: string, step: Step): void {
        const next = step === 'push' ? { ...this.entry, step: this.entry.step + 1 } : this.entry;
        window.history[step === 'push' ? 'pushState' : 'replaceState'](next, '', address);
        this.entry = next;
        this.newest = next.step;
    }

    /** Takes note of a step to which the browser has gone. */
    moveTo(entry: Entry): void {
        this.entry = entry;
        this.newest = Math.max(this.newest, entry.step);
    }

    /** Goes back to the view before the last step. Returns false if this session has no earlier step. */
    undo(): boolean {
        if (this.entry.step <= this.entry.first) return false;
        window.history.back();
        return true;
    }

    /** Repeats the step that undo() undid. Returns false without such a step. */
    redo(): boolean {
        if (this.entry.step >= this.newest) return false;
        window.history.forward();
        return true;
    }
}
