/** A cache of answers of the engine, which fetches missing answers in batches. */
import { signal } from '@preact/signals';

/** As many are asked for at once: other questions come between. */
const BATCH = 20_000;

export class BatchCache<Value> {
    /** Counts the batches that have come; reading it makes a component draw again when more is known. */
    readonly version = signal(0);
    private readonly known = new Map<number, Value>();
    /** Answers on their way. */
    private readonly pending = new Map<number, Promise<void>>();
    private era = 0;

    /** Beyond `most` the oldest are dropped. */
    constructor(
        private readonly ask: (keys: number[]) => Promise<readonly (readonly [number, Value])[]>,
        private readonly most = Number.POSITIVE_INFINITY,
    ) {}

    get(key: number): Value | undefined {
        return this.known.get(key);
    }

    /** Forgets all, also what is on its way: the keys mean other things. */
    clear(): void {
        this.era++;
        this.known.clear();
        this.pending.clear();
    }

    /** Gets what is not known of `keys`; resolves when all is known, also through earlier requests. */
    async fetch(keys: Iterable<number>): Promise<void> {
        const unknown = [...new Set(keys)].filter((key) => !this.known.has(key));
        const missing = unknown.filter((key) => !this.pending.has(key));
        for (let at = 0; at < missing.length; at += BATCH) {
            const batch = missing.slice(at, at + BATCH);
            const answer = this.load(batch);
            for (const key of batch) this.pending.set(key, answer);
        }
        await Promise.all(new Set(unknown.map((key) => this.pending.get(key))));
    }

    add(values: readonly (readonly [number, Value])[]): void {
        if (values.length === 0) return;
        for (const [key, value] of values) this.known.set(key, value);
        for (const key of this.known.keys()) {
            if (this.known.size <= this.most) break;
            this.known.delete(key);
        }
        this.version.value++;
    }

    private async load(keys: number[]): Promise<void> {
        const { era } = this;
        try {
            const answer = await this.ask(keys);
            if (era === this.era) this.add(answer);
        } finally {
            if (era === this.era) for (const key of keys) this.pending.delete(key);
        }
    }
}
