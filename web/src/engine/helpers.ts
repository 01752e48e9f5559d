/**
 * Workers that parse the long numeric columns of a large profile, beside the worker that parses the rest. They start
 * when a file turns out to be large. Only idle helpers get data, and the main worker parses the rest, so the queue of
 * data stays short, also on a machine without spare processors.
 */
import { workerAddress } from './contained';
import type { Answer, Run, Task } from './helper';
import type { WasmEngine } from './wasm';

const HELPER_URL = 'helper.js';
const MOST = 3;

export class Helpers {
    /** Whether a helper has received data. */
    haveHelped = false;
    private all: Worker[] | undefined;
    /**
     * The idle helpers. A helper is in this list once for each piece that it can take, because the next piece may
     * arrive while it parses one.
     */
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

    /** Passes the runs in a piece to an idle helper. The piece's buffer is then invalid here. */
    give(piece: Uint8Array<ArrayBuffer>, runs: Run[]): void {
        const { buffer, byteOffset } = piece;
        const task: Task = { buffer, runs: runs.map((run) => ({ ...run, offset: run.offset + byteOffset })) };
        this.haveHelped = true;
        const worker = this.waiting.shift();
        if (!worker) throw new Error('No helper waits');
        this.unread++;
        worker.postMessage(task, [buffer]);
    }

    /** Returns the buffer of a parsed piece, if any. */
    spare(): ArrayBuffer | undefined {
        return this.spares.pop();
    }

    /** Throws if a helper could not parse its data. */
    check(): void {
        if (this.failure) throw this.failure;
    }

    /** Resolves when all elements are in the engine. */
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
