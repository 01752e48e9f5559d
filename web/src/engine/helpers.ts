/**
 * Workers that parse the long numeric columns of a large profile, beside the worker that parses the rest. They start
 * when a file turns out to be large. Only idle helpers get data, and the main worker parses the rest, so that no data
 * piles up, also on a machine without spare processors.
 */
import { workerAddress } from './contained';
import type { Answer, Run, Task } from './helper';
import type { WasmEngine } from './wasm';

const HELPER_URL = 'helper.js';
const MOST = 3;

export class Helpers {
    /** One of them has got data. */
    haveHelped = false;
    private all: Worker[] | undefined;
    /** Each is here as often as it may get data: the next piece is on its way while one is read. */
    private readonly waiting: Worker[] = [];
    private readonly spares: ArrayBuffer[] = [];
    private unread = 0;
    private failure: Error | undefined;
    private settled: (() => void) | undefined;

    constructor(
        private readonly compiled: WebAssembly.Module,
        private readonly engine: WasmEngine,
    ) {}

    start(): void {
        this.all ??= Array.from({ length: Math.min(navigator.hardwareConcurrency - 1, MOST) }, () => {
            const worker = new Worker(workerAddress(HELPER_URL, location.href), { name: 'helper' });
            worker.onmessage = ({ data }: MessageEvent<Answer | 'ready'>) => {
                if (data === 'ready') this.waiting.unshift(worker);
                else this.take(data);
                this.waiting.push(worker);
            };
            worker.onerror = (event) => {
                event.preventDefault();
                if (this.unread > 0) this.fail(event.message);
            };
            worker.postMessage(this.compiled);
            return worker;
        });
    }

    get areFree(): boolean {
        return this.waiting.length > 0;
    }

    /** Gives one that waits the runs in a piece, whose buffer is gone then. */
    give(piece: Uint8Array<ArrayBuffer>, runs: Run[]): void {
        const { buffer, byteOffset } = piece;
        const task: Task = { buffer, runs: runs.map((run) => ({ ...run, offset: run.offset + byteOffset })) };
        this.haveHelped = true;
        const worker = this.waiting.shift();
        if (!worker) throw new Error('No helper waits');
        this.unread++;
        worker.postMessage(task, [buffer]);
    }

    /** The buffer of a piece that was read. */
    spare(): ArrayBuffer | undefined {
        return this.spares.pop();
    }

    /** Throws if a helper could not read its data. */
    check(): void {
        if (this.failure) throw this.failure;
    }

    /** Resolves when all is in its place. */
    async settle(): Promise<void> {
        if (this.unread > 0 && !this.failure)
            await new Promise<void>((resolve) => {
                this.settled = resolve;
            });
        this.check();
    }

    end(): void {
        for (const worker of this.all ?? []) worker.terminate();
    }

    private take({ buffer, runs, elements }: Answer): void {
        try {
            for (const [index, run] of runs.entries()) this.engine.put(run, elements[index] ?? new Uint8Array(0));
        } catch (error) {
            this.fail(String(error));
        }
        this.spares.push(buffer);
        this.unread--;
        if (this.unread === 0) this.settled?.();
    }

    private fail(message: string): void {
        this.failure ??= new Error(message);
        this.settled?.();
    }
}
