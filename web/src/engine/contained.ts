/**
 * The locations of the page's files: beside the page on a server, or as blobs in one HTML file (shell.ts). A worker has
 * another origin than a page on the disk and cannot fetch its files, so the page passes them.
 */

/** The files of a page in one HTML file. */
export interface Contained {
    /**
     * Addresses of the scripts of workers, by their names on a server. A worker has the addresses of the workers that
     * it starts.
     */
    workers: Record<string, string>;
    /** Only the page has the other members: the engine, not compiled, ... */
    engine?: Blob;
    /** ... the profile, compressed ... */
    profile?: File;
    /** ... and the template of such a page, without a profile: lib/export/html_page.h. */
    template?: string;
    /** The saved view, as the query part of an address, or '' for the first view. */
    view?: string;
    /** The address of the licenses of prof. */
    licenses?: string;
    /** Returns the address of a script that the page imports on demand. */
    link?: (name: string) => string;
}

/** null if the page comes from a server. */
export const contained: Contained | null = (globalThis as { profContained?: Contained }).profContained ?? null;

/** Returns the address of a worker's script. `base`: address of a file beside it. */
export function workerAddress(name: string, base: string): string {
    return contained?.workers[name] ?? new URL(name, base).href;
}
