/** A cache of answers of the engine, which fetches missing answers in batches. */
import { signal } from '@preact/signals';

/** Limit of one request, so that the engine can answer other requests in between. */
const BATCH = 20_000;

export class BatchCache<Value> {
    /** Counts the batches that have arrived. A component that reads this signal renders again when a batch arrives. */
    readonly version = signal(0);
    private readonly known = new Map<number, Value>();
    /** The requests that have no answer yet. */
    private readonly pending = new Map<number, Promise<void>>();
    private era = 0;

    /** Above `most` entries, the cache drops the oldest. */
    constructor(
        private readonly ask: (keys: number[]) => Promise<readonly (readonly [number, Value])[]>,
        private readonly most = Number.POSITIVE_INFINITY,
    ) {}

    get(key: number): Value | undefined {
        return this.known.get(key);
    }

    /** Drops all entries and open requests, because the keys now have another meaning. */
    clear(): void {
        this.era++;
        this.known.clear();
        this.pending.clear();
    }

    /**
     * Fetches the missing entries of `keys`. Resolves when all entries exist, including entries of earlier requests.
     */
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
