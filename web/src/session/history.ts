/**
 * The steps of the browser's history. Each step belongs to a session, because its address has indexes of that profile.
 */

/** Whether a change of the view is a step of its own for the back button. */
export type Step = 'push' | 'replace';

/** What a step of the history says of itself. */
export interface Entry {
    step: number;
    /** The first step of its session that is not in another's. */
    first: number;
    session: string;
    /** The name of its profile, for a return after the profile is gone. */
    name: string;
}

/** null: a step of no session, such as that of an address that was typed. */
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

/** Where the session that is shown is in the history. */
export class HistoryPlace {
    /** The newest step of this session that can be gone forward to. */
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
            // An address may be too long for the browser, or it changes too often: the view works without.
        }
    }

    begin(address: string, step: Step): void {
        const next = step === 'push' ? { ...this.entry, step: this.entry.step + 1 } : this.entry;
        window.history[step === 'push' ? 'pushState' : 'replaceState'](next, '', address);
        this.entry = next;
        this.newest = next.step;
    }

    /** The browser has gone to another step of this session. */
    moveTo(entry: Entry): void {
        this.entry = entry;
        this.newest = Math.max(this.newest, entry.step);
    }

    /** Goes back to the view before the last step; false if there is none in this session. */
    undo(): boolean {
        if (this.entry.step <= this.entry.first) return false;
        window.history.back();
        return true;
    }

    /** Does again what undo() undid; false if there is nothing. */
    redo(): boolean {
        if (this.entry.step >= this.newest) return false;
        window.history.forward();
        return true;
    }
}
