/**
 * Begins a page in one file (lib/export/html_page.h): unpacks its parts, and starts the page from blobs. The page is
 * equal to the served page; the names in its import statements become the addresses of blobs, and other files come from
 * engine/contained.ts.
 */
import type { Contained } from './engine/contained';

type Bytes = Uint8Array<ArrayBuffer>;

// As lib/export/html_page.h has them.
const FIRST_UNIT = 0x40;
const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;
const LONG_UNITS = 2 * (0xfffe - SURROGATES - FIRST_UNIT - 0x8000);

/** Bytes of the code units that stand for them. */
function decode(text: string): Bytes {
    const bytes = new Uint8Array(text.length * 2);
    let length = 0;
    let bits = 0; // the lowest `count` are not in the bytes yet
    let count = 0;
    for (let at = 0; at < text.length; at++) {
        const unit = text.charCodeAt(at);
        if (unit < FIRST_UNIT) continue; // the end of a line
        const number = unit - FIRST_UNIT - (unit < FIRST_SURROGATE ? 0 : SURROGATES);
        if (number < LONG_UNITS) {
            bits = (bits << 16) | number;
            count += 16;
        } else {
            bits = (bits << 15) | (number - LONG_UNITS / 2);
            count += 15;
        }
        bytes[length++] = bits >>> (count - 8);
        count -= 8;
        if (count >= 8) {
            count -= 8;
            bytes[length++] = bits >>> count;
        }
    }
    while (length > 0 && bytes[length - 1] === 0) length--;
    return bytes.subarray(0, length - 1); // without the byte at the end
}

function unpack(bytes: Bytes): Promise<ArrayBuffer> {
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

function addressOf(content: BlobPart, type: string): string {
    return URL.createObjectURL(new Blob([content], { type }));
}

/** Takes an element out of the document. */
function take(element: HTMLElement): string {
    const text = element.textContent ?? '';
    element.remove();
    return text;
}

const IMPORT = /(\bimport\()?"\.\/([\w.-]+\.js)"/g;
const SCRIPT = 'text/javascript';

/** The files of the page, unpacked, by their names and kinds. */
async function unpackFiles(): Promise<Map<string, Blob>> {
    const files = new Map<string, Blob>();
    const unpackOne = async (element: HTMLElement): Promise<void> => {
        const { name = '', kind = '' } = element.dataset;
        files.set(name, new Blob([await unpack(decode(take(element)))], { type: kind }));
    };
    await Promise.all([...document.querySelectorAll<HTMLElement>('script[data-name]')].map(unpackOne));
    return files;
}

/**
 * The addresses of scripts whose imports are addresses, too. Imports on demand find theirs when they run, because what they
 * load imports the script that loads it.
 */
function linker(scripts: Map<string, string>): (name: string) => string {
    const addresses = new Map<string, string>();
    const link = (name: string): string => {
        const text = scripts.get(name);
        if (text === undefined) return `./${name}`; // what only the editor needs may be left out
        const address =
            addresses.get(name) ??
            addressOf(
                text.replace(IMPORT, (_, call: string | undefined, other: string) =>
                    call ? `${call}profContained.link("${other}")` : JSON.stringify(link(other)),
                ),
                SCRIPT,
            );
        addresses.set(name, address);
        return address;
    };
    return link;
}

/** The worker with the script of its own workers in it: it can start no others. */
function workerText(worker: string, helper: string): string {
    const blob = `new Blob([${JSON.stringify(helper)}],{type:${JSON.stringify(SCRIPT)}})`;
    return `globalThis.profContained={workers:{"helper.js":URL.createObjectURL(${blob})}};\n${worker}`;
}

async function start(): Promise<void> {
    const element = document.querySelector<HTMLElement>('#profile');
    if (!element) throw new Error('it contains no profile');
    element.replaceWith(document.createComment('profile'));
    const template = `\ufeff<!doctype html>\n${document.documentElement.outerHTML}\n`;
    const profile = new File([decode(take(element))], 'profile.json.gz', { type: 'application/gzip' });
    const files = await unpackFiles();
    const scripts = new Map<string, string>();
    for (const [name, blob] of files) if (blob.type === SCRIPT) scripts.set(name, await blob.text());
    const worker = addressOf(workerText(scripts.get('worker.js') ?? '', scripts.get('helper.js') ?? ''), SCRIPT);
    const link = linker(scripts);
    const contained: Contained = {
        workers: { 'worker.js': worker },
        engine: files.get('engine.wasm') ?? new Blob(),
        profile,
        template,
        view: element.dataset.view ?? '',
        link,
    };
    (globalThis as { profContained?: Contained }).profContained = contained;
    const style = document.createElement('link');
    style.rel = 'stylesheet';
    // Without a charset it would be taken for UTF-16, as the page.
    style.href = addressOf(files.get('style.css') ?? '', 'text/css; charset=utf-8');
    document.head.append(style);
    await import(link('engine.js'));
    await import(link('app.js'));
}

start().catch((error: unknown) => {
    const reason = typeof DecompressionStream === 'undefined' ? 'this browser is too old' : String(error);
    document.body.textContent = `prof cannot open this page: ${reason}.`;
});
