/**
 * Starts a page in one file (lib/export/html_page.h): unpacks its parts to blobs, and starts the page. Apart from that,
 * the page equals the served page: names in import statements become addresses of blobs, and engine/contained.ts
 * provides other files.
 */
import type { Contained } from './engine/contained';

type Bytes = Uint8Array<ArrayBuffer>;

// The constants of lib/export/html_page.h.
const FIRST_UNIT = 0x40;
const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;
const LONG_UNITS = 2 * (0xfffe - SURROGATES - FIRST_UNIT - 0x8000);

/** Decodes the bytes of a text. */
function decode(text: string): Bytes {
    const bytes = new Uint8Array(text.length * 2);
    let length = 0;
    let bits = 0; // the lowest `count` bits are not in `bytes` yet
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
    return bytes.subarray(0, length - 1); // without the byte that marks the end
}

function unpack(bytes: Bytes): Promise<ArrayBuffer> {
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

function addressOf(content: BlobPart, type: string): string {
    return URL.createObjectURL(new Blob([content], { type }));
}

/** Removes an element from the document, and returns its text. */
function take(element: HTMLElement): string {
    const text = element.textContent ?? '';
    element.remove();
    return text;
}

const IMPORT = /(\bimport\()?"\.\/([\w.-]+\.js)"/g;
const SCRIPT = 'text/javascript';

/** Unpacks the files of the page. Returns their blobs by name. */
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
 * Returns a function that gives scripts addresses and replaces their imports with addresses. Scripts find the addresses
 * of imports on demand when they run, because imported scripts import the importing script.
 */
function linker(scripts: Map<string, string>): (name: string) => string {
    const addresses = new Map<string, string>();
    const link = (name: string): string => {
        const text = scripts.get(name);
        if (text === undefined) return `./${name}`; // only the editor imports this file, which may be missing
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

/**
 * Returns the worker's script, which contains the script of the helpers, because a worker in a blob cannot load other
 * scripts.
 */
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
        licenses: addressOf(files.get('licenses.txt') ?? '', 'text/plain'),
        link,
    };
    (globalThis as { profContained?: Contained }).profContained = contained;
    const style = document.createElement('link');
    style.rel = 'stylesheet';
    // Without a charset, the browser reads the style sheet in the page's encoding, UTF-16.
    style.href = addressOf(files.get('style.css') ?? '', 'text/css; charset=utf-8');
    document.head.append(style);
    await import(link('engine.js'));
    await import(link('app.js'));
}

start().catch((error: unknown) => {
    const reason = typeof DecompressionStream === 'undefined' ? 'this browser is too old' : String(error);
    document.body.textContent = `prof cannot open this page: ${reason}.`;
});
