/**
 * Reads files in a zip archive: first the list at the end of the archive, then one file as a stream. The format is
 * APPNOTE.TXT 6.3.10 with the methods "stored" (0) and "deflated" (8), up to 4 GiB.
 */

/** A file in an archive. The page can send this object to the worker. */
export interface ZipEntry {
    archive: File;
    name: string;
    /** The offset of the file's local header, and its sizes before and after unpacking. */
    at: number;
    packedSize: number;
    size: number;
    method: number;
}

const END_SIZE = 22;
const LONGEST_COMMENT = 0xffff;
const LOCATOR64_SIZE = 20;
const END64_SIZE = 56;
const ENTRY_SIZE = 46;
const LOCAL_SIZE = 30;
const UNKNOWN = 0xffffffff; // the 64-bit extra field has the number
const ENCRYPTED = 1;
const MOST_ENTRIES = 100_000;
const LARGEST_LIST = 64 << 20;

const DAMAGED_ZIP = 'The zip archive is damaged or truncated';

async function bytesAt(file: File, from: number, length: number): Promise<DataView> {
    if (from < 0 || from + length > file.size) throw new Error(DAMAGED_ZIP);
    return new DataView(await file.slice(from, from + length).arrayBuffer());
}

/** Returns whether a file begins like a zip archive. */
export async function isZip(file: File): Promise<boolean> {
    if (file.size < END_SIZE) return false;
    const magic = (await bytesAt(file, 0, 4)).getUint32(0, true);
    return magic === 0x04034b50 || magic === 0x06054b50;
}

/** Reads a 64-bit number. A number above 2^53 loses digits, but is still after the end of every file. */
function number64(view: DataView, at: number): number {
    return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}

interface List {
    at: number;
    size: number;
}

/** Finds the list of files, whose offset is in the record at the end of the archive, before a comment. */
async function findList(file: File): Promise<List> {
    const length = Math.min(file.size, END_SIZE + LONGEST_COMMENT);
    const tail = await bytesAt(file, file.size - length, length);
    let at = length - END_SIZE;
    while (
        at >= 0 &&
        (tail.getUint32(at, true) !== 0x06054b50 || at + END_SIZE + tail.getUint16(at + 20, true) > length)
    )
        at--;
    if (at < 0) throw new Error(DAMAGED_ZIP);
    const list = { size: tail.getUint32(at + 12, true), at: tail.getUint32(at + 16, true) };
    const locatorAt = at - LOCATOR64_SIZE;
    if (locatorAt < 0 || tail.getUint32(locatorAt, true) !== 0x07064b50) return list;
    const end = await bytesAt(file, number64(tail, locatorAt + 8), END64_SIZE);
    if (end.getUint32(0, true) !== 0x06064b50) throw new Error(DAMAGED_ZIP);
    return { size: number64(end, 40), at: number64(end, 48) };
}

/** Reads the numbers that exceed 32 bits, in the order of the format: sizes, then the offset. */
function readExtra(view: DataView, at: number, length: number, entry: ZipEntry): void {
    for (let i = at; i + 4 <= at + length; ) {
        const size = view.getUint16(i + 2, true);
        if (view.getUint16(i, true) === 1) {
            let field = i + 4;
            const end = Math.min(i + 4 + size, at + length);
            const next = (now: number): number => {
                if (now !== UNKNOWN || field + 8 > end) return now;
                field += 8;
                return number64(view, field - 8);
            };
            entry.size = next(entry.size);
            entry.packedSize = next(entry.packedSize);
            entry.at = next(entry.at);
            return;
        }
        i += 4 + size;
    }
}

/** Lists the files of an archive. Rejects with a message for the user if the archive is invalid. */
export async function listZip(archive: File): Promise<ZipEntry[]> {
    const { at, size } = await findList(archive);
    if (size > LARGEST_LIST) throw new Error(DAMAGED_ZIP);
    const view = await bytesAt(archive, at, size);
    const decoder = new TextDecoder();
    const entries: ZipEntry[] = [];
    for (let i = 0; i + ENTRY_SIZE <= size && entries.length < MOST_ENTRIES; ) {
        if (view.getUint32(i, true) !== 0x02014b50) throw new Error(DAMAGED_ZIP);
        const nameLength = view.getUint16(i + 28, true);
        const extraLength = view.getUint16(i + 30, true);
        const end = i + ENTRY_SIZE + nameLength + extraLength + view.getUint16(i + 32, true);
        if (end > size) throw new Error(DAMAGED_ZIP);
        const name = decoder.decode(new Uint8Array(view.buffer, i + ENTRY_SIZE, nameLength));
        const entry: ZipEntry = {
            archive,
            name,
            method: view.getUint16(i + 10, true),
            packedSize: view.getUint32(i + 20, true),
            size: view.getUint32(i + 24, true),
            at: view.getUint32(i + 42, true),
        };
        readExtra(view, i + ENTRY_SIZE + nameLength, extraLength, entry);
        if (view.getUint16(i + 8, true) & ENCRYPTED) entry.method = -1;
        if (!name.endsWith('/')) entries.push(entry);
        i = end;
    }
    return entries;
}

/** Opens a file of an archive as a stream of unpacked bytes. */
export async function openZipEntry(entry: ZipEntry): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const { archive, at, packedSize, method } = entry;
    if (method === -1) throw new Error('The file in the zip archive is encrypted');
    if (method !== 0 && method !== 8)
        throw new Error(`The zip archive uses an unsupported compression (method ${method})`);
    const local = await bytesAt(archive, at, LOCAL_SIZE);
    if (local.getUint32(0, true) !== 0x04034b50) throw new Error(DAMAGED_ZIP);
    const from = at + LOCAL_SIZE + local.getUint16(26, true) + local.getUint16(28, true);
    if (from + packedSize > archive.size) throw new Error(DAMAGED_ZIP);
    const bytes = archive.slice(from, from + packedSize).stream() as ReadableStream<Uint8Array<ArrayBuffer>>;
    if (method === 0) return bytes;
    try {
        return bytes.pipeThrough(new DecompressionStream('deflate-raw'));
    } catch {
        throw new Error('This browser is too old to unpack a zip archive');
    }
}
