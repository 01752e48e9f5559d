/**
 * A question to the engine that the page repeats when the view changes. Keys and the mouse can be faster than the
 * answers of a large profile.
 */
import { batch, type ReadonlySignal, type Signal, signal, untracked } from '@preact/signals';
import { messageOf } from '../base/message';
import { ClosedError } from '../engine/protocol';

/** Asks the engine. null as answer means that the question has no answer, and the page keeps the old one. */
export type Question<Answer> = () => Promise<Answer | null>;

export class Request<Answer> {
    /** The last answer, null before the first answer. */
    readonly value: Signal<Answer | null> = signal(null);
    /**
     * The reason why the last question failed, which the page shows in place of the answer; '' if the question
     * succeeded.
     */
    readonly error = signal('');
    readonly isPending: ReadonlySignal<boolean>;
    private readonly pending = signal(false);
    private newest: Question<Answer> | null = null;
    private era = 0;

    constructor() {
        this.isPending = this.pending;
    }

    /**
     * Asks now, or after the current answer. Meanwhile, a newer question replaces a waiting question. The calling
     * effect does not depend on signals that the question reads.
     */
    ask(question: Question<Answer>): void {
        this.newest = question;
        if (!this.pending.peek()) void this.run();
    }

    /** Asks now, and drops the current question. For answers that may take long. */
    replace(question: Question<Answer>): void {
        this.era++;
        this.newest = question;
        void this.run();
    }

    /** Drops the current question and the last answer. */
    clear(): void {
        this.era++;
        this.newest = null;
        batch(() => {
            this.pending.value = false;
            this.value.value = null;
            this.error.value = '';
        });
    }

    private async run(): Promise<void> {
        const { era } = this;
        this.pending.value = true;
        for (let question = this.newest; question; question = this.newest) {
            this.newest = null;
            const [answer, error] = await untracked(question).then(
                (answer): [Answer | null, string] => [answer, ''],
                // An error about a closed query is irrelevant, because the newer query asks its own questions.
                (thrown: unknown): [null, string] => [null, thrown instanceof ClosedError ? '' : messageOf(thrown)],
            );
            if (era !== this.era) return;
            batch(() => {
                if (answer !== null) this.value.value = answer;
                this.error.value = error;
            });
        }
        this.pending.value = false;
    }
}
