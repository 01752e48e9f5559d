/** Runs one action at a time; requests that arrive meanwhile lead to one more run at its end. */
export class Repeater {
    private running: Promise<void> | null = null;
    private isRequested = false;

    constructor(private readonly action: () => Promise<void>) {}

    get isRunning(): boolean {
        return this.running !== null;
    }

    request(): void {
        this.isRequested = true;
        this.running ??= this.run().finally(() => {
            this.running = null;
        });
    }

    /** Drops the request that waits for the end of the current run. */
    cancel(): void {
        this.isRequested = false;
    }

    /** Resolves when no run is active or requested. */
    async settled(): Promise<void> {
        while (this.running) await this.running;
    }

    private async run(): Promise<void> {
        await null; // other handlers of the same event may still request a run
        while (this.isRequested) {
            this.isRequested = false;
            await this.action();
        }
    }
}
