/** A map with at most `most` entries, which drops the oldest entry. */
export class NewestMap<Key, Value> extends Map<Key, Value> {
    constructor(private readonly most: number) {
        super();
    }

    override set(key: Key, value: Value): this {
        this.delete(key); // the newest is last
        super.set(key, value);
        const [oldest] = this.keys();
        if (this.size > this.most && oldest !== undefined) this.delete(oldest);
        return this;
    }
}
