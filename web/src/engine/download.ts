/** The bytes of a profile, uncompressed, as they arrive. */
import { messageOf } from '../base/message';
import type { Progress } from './api';
import { openZipEntry, type ZipEntry } from './zip';

const PROGRESS_MS = 40;
const PIECE_BYTES = 1 << 20;

/**
 * The location of a profile: an address, a file of the user, or a file in an archive. The page can post all of these to
 * the worker.
 */
export type ProfileSource = string | File | ZipEntry;

/** One side of a comparison: a profile, or a part of a profile. */
export interface ComparedPart {
    source: ProfileSource;
    /** Display name of the side. */
    name: string;
    /** ms after the start of the profile, or null for all. */
    range: [number, number] | null;
    /** For each thread, whether the comparison includes it, or null for all. */
    kept: boolean[] | null;
}

/** A comparison that the page makes of two profiles. */
export interface ComparedSource {
    base: ComparedPart;
    new: ComparedPart;
    /** Whether functions match without template arguments and compiler suffixes. */
    forgives: boolean;
}

export type AnySource = ProfileSource | ComparedSource;

export function isCompared(source: AnySource): source is ComparedSource {
    return typeof source === 'object' && 'base' in source;
}

export interface Body {
    stream: ReadableStream<Uint8Array<ArrayBuffer>>;
    /** Bytes that will arrive; 0 if unknown. */
    total: number;
    /** Whether the server will have new samples (live/live.ts). */
    isLive?: boolean;
}

type Piece = Uint8Array<ArrayBuffer>;

/**
 * Takes the next bytes, and the number of all bytes, or 0 if unknown. Returns a buffer that the caller may fill again.
 */
type Feed = (piece: Piece, total: number) => ArrayBuffer | undefined;

/**
 * Passes the bytes of a profile to `feed`, piece by piece. Decompresses a file whose first bytes are those of gzip,
 * whatever its name is, unless the browser has already decompressed the answer.
 */
export async function readProfile(
    { stream, total }: Body,
    feed: Feed,
    onProgress: (progress: Progress) => void,
): Promise<void> {
    const pieces = new Source(stream, total, onProgress);
    if (await pieces.startsWithGzipMagic()) await decompress(pieces, feed);
    else for (let piece = await pieces.next(); piece; piece = await pieces.next()) pieces.reuse(feed(piece, total));
    pieces.report();
}

export async function openSource(source: ProfileSource): Promise<Body> {
    if (typeof source === 'string') return fetchBody(source);
    if (!(source instanceof File)) return { stream: await openZipEntry(source), total: source.size };
    if (source.size === 0) throw new Error('The file is empty');
    return { stream: source.stream() as ReadableStream<Uint8Array<ArrayBuffer>>, total: source.size };
}

/** Returns all bytes of a file of the user, unchanged. */
export async function wholeFile(source: File | ZipEntry): Promise<Blob> {
    return source instanceof File ? source : new Response(await openZipEntry(source)).blob();
}

const GONE = 410;

/** The profile of a running recording, or null if the recording has ended and the server has the saved profile. */
export async function openGrowing(url: string): Promise<Body | null> {
    const response = await fetchProfile(url);
    return response.status === GONE ? null : bodyOf(response);
}

function fetchProfile(url: string): Promise<Response> {
    return fetch(url).catch((error: unknown) => {
        throw new Error(`Cannot fetch the profile: ${messageOf(error)}`);
    });
}

async function fetchBody(url: string): Promise<Body> {
    return bodyOf(await fetchProfile(url));
}

function bodyOf(response: Response): Body {
    if (!response.ok)
        throw new Error(`Cannot fetch the profile: the server answered ${response.status} ${response.statusText}`);
    if (!response.body) throw new Error('The profile is empty');
    return { stream: response.body, total: bytesToArrive(response.headers), isLive: response.headers.has('X-Live') };
}

/**
 * Returns the number of bytes of an answer, or 0 if unknown. With a content encoding, Content-Length counts the encoded
 * bytes.
 */
function bytesToArrive(headers: Headers): number {
    const length = headers.has('Content-Encoding') ? null : headers.get('Content-Length');
    return Number(headers.get('X-Uncompressed-Length') ?? length ?? 0);
}

/**
 * Reads the bytes of an answer, and counts them. Browsers offer byte streams for answers and files. Reading such a
 * stream into reused buffers takes a third of the time, because most of the time goes into new buffers.
 */
class Source {
    private readonly reader: ReadableStreamDefaultReader<Piece> | undefined;
    private readonly byteReader: ReadableStreamBYOBReader | undefined;
    private buffer: ArrayBuffer | undefined;
    private peeked: Piece | undefined;
    private done = 0;
    private lastReport = 0;

    constructor(
        body: ReadableStream<Piece>,
        private readonly total: number,
        private readonly onProgress: (progress: Progress) => void,
    ) {
        try {
            this.byteReader = body.getReader({ mode: 'byob' });
        } catch {
            this.reader = body.getReader();
        }
    }

    /** Takes back the buffer of a read piece, for the next piece. */
    reuse(buffer: ArrayBuffer | undefined): void {
        if (buffer?.byteLength === PIECE_BYTES) this.buffer = buffer;
    }

    async startsWithGzipMagic(): Promise<boolean> {
        let start = new Uint8Array(0);
        while (start.length < 2) {
            const piece = await this.read();
            if (!piece) break;
            const longer = new Uint8Array(start.length + piece.length);
            longer.set(start);
            longer.set(piece, start.length);
            start = longer;
        }
        this.peeked = start;
        return start[0] === 0x1f && start[1] === 0x8b;
    }

    async next(): Promise<Piece | undefined> {
        const piece = this.peeked ?? (await this.read());
        this.peeked = undefined;
        if (performance.now() - this.lastReport > PROGRESS_MS) this.report();
        return piece;
    }

    report(): void {
        this.lastReport = performance.now();
        this.onProgress({ phase: 'download', done: this.done, total: this.total });
    }

    cancel(): void {
        (this.byteReader ?? this.reader)?.cancel().catch(() => undefined);
    }

    private async read(): Promise<Piece | undefined> {
        const result = await this.readSome().catch((error: unknown) => {
            throw new Error(`The download stopped: ${messageOf(error)}`);
        });
        if (!result || result.done) return undefined;
        this.done += result.value.length;
        return result.value;
    }

    private readSome(): Promise<ReadableStreamReadResult<Piece> | undefined> {
        if (!this.byteReader) return Promise.resolve(this.reader?.read());
        const buffer = this.buffer ?? new ArrayBuffer(PIECE_BYTES);
        this.buffer = undefined;
        return this.byteReader.read(new Uint8Array(buffer));
    }
}

async function decompress(source: Source, feed: Feed): Promise<void> {
    if (typeof DecompressionStream === 'undefined')
        throw new Error('This browser is too old to decompress the profile');
    const gunzip = new DecompressionStream('gzip');
    const writer = gunzip.writable.getWriter();
    let failure: unknown;
    const pump = async (): Promise<void> => {
        for (let piece = await source.next(); piece; piece = await source.next()) {
            await writer.write(piece);
            source.reuse(piece.buffer);
        }
        await writer.close();
    };
    const pumped = pump().catch((error: unknown) => {
        failure ??= error;
        writer.abort(error).catch(() => undefined);
    });
    try {
        const reader = gunzip.readable.getReader();
        for (;;) {
            const { value, done } = await reader.read().catch((error: unknown) => {
                throw failure instanceof Error
                    ? failure
                    : new Error(`The profile is damaged or truncated: ${messageOf(error)}`);
            });
            if (done) break;
            feed(value, 0);
        }
    } finally {
        source.cancel();
        writer.abort().catch(() => undefined);
        await pumped;
    }
}
