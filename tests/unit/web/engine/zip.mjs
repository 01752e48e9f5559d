// Files inside zip archives, made here byte by byte.
import { deflateRawSync } from 'node:zlib';
import { loadParts } from '../../../e2e/page_modules.mjs';
import { assertEqual, check } from '../../../e2e/page_tap.mjs';

const [{ isZip, listZip, openZipEntry }] = await loadParts(['engine/zip']);

const STORED = 0;
const DEFLATED = 8;
const BIG = 0xffffffff;

/** Little-endian numbers: pairs of their length in bytes and their value. */
function record(...fields) {
    const bytes = Buffer.alloc(fields.reduce((sum, [length]) => sum + length, 0));
    let at = 0;
    for (const [length, value] of fields) {
        if (length === 8) bytes.writeBigUInt64LE(BigInt(value), at);
        else bytes.writeUIntLE(value, at, length);
        at += length;
    }
    return bytes;
}

/** An archive of files: { name, text, method, flags, extra, is64 }. Names in the local headers have an extra field, too. */
function zip(files, { comment = '', is64 = false } = {}) {
    const parts = [];
    const list = [];
    let at = 0;
    for (const { name, text = '', method = STORED, flags = 0, before = Buffer.alloc(0), is64: isBig = false } of files) {
        const packed = method === DEFLATED ? deflateRawSync(text) : Buffer.from(text);
        const local = Buffer.concat([record([4, 0x04034b50], [2, 20], [2, flags], [2, method], [4, 0], [4, 0], [4, packed.length], [4, text.length], [2, name.length], [2, 3]), Buffer.from(name), Buffer.from('xyz'), packed]);
        const extra = Buffer.concat([before, isBig ? record([2, 1], [2, 24], [8, text.length], [8, packed.length], [8, at]) : Buffer.alloc(0)]);
        list.push(record([4, 0x02014b50], [2, 20], [2, 20], [2, flags], [2, method], [4, 0], [4, 0], [4, isBig ? BIG : packed.length], [4, isBig ? BIG : text.length], [2, name.length], [2, extra.length], [2, 1], [2, 0], [2, 0], [4, 0], [4, isBig ? BIG : at]), Buffer.from(name), extra, Buffer.from('c'));
        parts.push(local);
        at += local.length;
    }
    const entries = Buffer.concat(list);
    const end64 = is64 ? [record([4, 0x06064b50], [8, 44], [2, 45], [2, 45], [4, 0], [4, 0], [8, files.length], [8, files.length], [8, entries.length], [8, at]), record([4, 0x07064b50], [4, 0], [8, at + entries.length], [4, 1])] : [];
    const end = record([4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, is64 ? BIG : entries.length], [4, is64 ? BIG : at], [2, comment.length]);
    return new Blob([...parts, entries, ...end64, end, comment]);
}

const textOf = async (entry) => new Response(await openZipEntry(entry)).text();
const failure = (promise) => promise.then(() => 'none', (error) => error.message);
const DAMAGED = 'The zip archive is damaged or truncated';
const FILES = [{ name: 'directory/' }, { name: 'a.json', text: 'alpha' }, { name: 'b.json', text: 'beta '.repeat(50), method: DEFLATED }];

await check('an archive lists its files, and gives their bytes', async () => {
    for (const archive of [zip(FILES), zip(FILES, { comment: 'PK\x05\x06 is no end' }), zip(FILES, { is64: true }), zip(FILES.map((file) => ({ ...file, is64: true })))]) {
        const entries = await listZip(archive);
        assertEqual(entries.map(({ name, size }) => `${name} ${size}`).join(), 'a.json 5,b.json 250', 'the files');
        assertEqual(await textOf(entries[0]), 'alpha', 'the stored file');
        const unpacked = await textOf(entries[1]).catch((error) => error.message);
        if (unpacked !== 'This browser is too old to unpack a zip archive') assertEqual(unpacked, 'beta '.repeat(50), 'the deflated file');
    }
});

await check('other extra fields are skipped, and numbers that fit are kept', async () => {
    const [entry] = await listZip(zip([{ name: 'a', text: 'alpha', is64: true, before: record([2, 9], [2, 5], [4, 1], [1, 1]) }]));
    assertEqual([entry.size, entry.packedSize, entry.at, await textOf(entry)].join(), '5,5,0,alpha', 'the entry');
    const [plain] = await listZip(zip([{ name: 'b' }, { name: 'a', text: 'alpha', before: record([2, 1], [2, 8], [8, 77]) }].slice(1)));
    assertEqual([plain.size, plain.packedSize].join(), '5,5', 'sizes that need no extra field');
});

await check('archives are recognized by how they begin', async () => {
    assertEqual(await isZip(zip(FILES)), true, 'an archive');
    assertEqual(await isZip(zip([])), true, 'an empty archive');
    assertEqual(await isZip(new Blob([Buffer.alloc(100, 'x')])), false, 'another file');
    assertEqual(await isZip(new Blob(['PK\x03\x04'])), false, 'a file that is too short');
    assertEqual((await listZip(zip([]))).length, 0, 'files of an empty archive');
});

await check('encrypted files and other methods are named', async () => {
    const [encrypted, other] = await listZip(zip([{ name: 'a', flags: 1 }, { name: 'b', method: 12 }]));
    assertEqual(await failure(openZipEntry(encrypted)), 'The file in the zip archive is encrypted', 'an encrypted file');
    assertEqual(await failure(openZipEntry(other)), 'The zip archive uses an unsupported compression (method 12)', 'bzip2');
});

await check('damaged archives are called damaged, wherever they end', async () => {
    const archive = zip(FILES);
    for (let size = 0; size < archive.size; size++) assertEqual(await failure(listZip(archive.slice(0, size))), DAMAGED, `${size} bytes`);
    const [entry] = await listZip(archive);
    assertEqual(await failure(openZipEntry({ ...entry, at: 1 })), DAMAGED, 'a place without a header');
    assertEqual(await failure(openZipEntry({ ...entry, at: archive.size - 3 })), DAMAGED, 'a place at the end');
    assertEqual(await failure(openZipEntry({ ...entry, packedSize: archive.size })), DAMAGED, 'a size beyond the end');
    const bytes = Buffer.from(await archive.arrayBuffer());
    const listed = bytes.indexOf(Buffer.from('PK\x01\x02'));
    for (const [at, value] of [[listed, 0], [listed + 28, 0xff], [bytes.length - 6, 0xff], [bytes.length - 10, 0xff]]) {
        const broken = Buffer.from(bytes);
        broken[at] = value;
        assertEqual(await failure(listZip(new Blob([broken]))), DAMAGED, `byte ${at}`);
    }
});
