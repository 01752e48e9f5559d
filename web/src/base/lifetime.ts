/** Lifetimes: the cleanup functions that run at the end of a component or a session. */
import { effect } from '@preact/signals';

export class Lifetime {
    isOver = false;
    private readonly ends: (() => void)[] = [];

    /** Registers `end`, which is called at the end of the lifetime. */
    readonly onEnd = (end: () => void): void => {
        this.ends.push(end);
    };

    /** Runs now, and again whenever a signal that it reads changes, until the end of the lifetime. */
    readonly effect = (run: () => void): void => {
        this.ends.push(effect(run));
    };

    end(): void {
        this.isOver = true;
        for (const end of this.ends.splice(0).reverse()) end();
    }
}
