/** A question to the engine that is asked anew as the view changes: keys and the mouse are faster than a large profile answers. */
import { batch, type ReadonlySignal, type Signal, signal, untracked } from '@preact/signals';
import { messageOf } from '../base/message';
import { ClosedError } from '../engine/protocol';

/** An answer; null: there is none to this question, what is shown stays. */
export type Question<Answer> = () => Promise<Answer | null>;

export class Request<Answer> {
    /** The last answer; null before the first one. */
    readonly value: Signal<Answer | null> = signal(null);
    /** Why the last question has no answer, for the place where it would be; '' if it has one. */
    readonly error = signal('');
    readonly isPending: ReadonlySignal<boolean>;
    private readonly pending = signal(false);
    private newest: Question<Answer> | null = null;
    private era = 0;

    constructor() {
        this.isPending = this.pending;
    }

    /**
     * Asks now, or when what is under way is answered; of the questions that come meanwhile only the newest is asked then. An
     * effect that asks depends on nothing that the question reads.
     */
    ask(question: Question<Answer>): void {
        this.newest = question;
        if (!this.pending.peek()) void this.run();
    }

    /** Asks now: what is under way means nothing any more. For answers that may take long. */
    replace(question: Question<Answer>): void {
        this.era++;
        this.newest = question;
        void this.run();
    }

    /** What is under way means nothing any more, and nothing is shown. */
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
                // Of a query that was closed meanwhile nothing is wanted: the newer one brings its own questions.
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
