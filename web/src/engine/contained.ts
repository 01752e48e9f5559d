/**
 * The locations of the page's files: beside the page on a server, or as blobs in one HTML file (shell.ts). A worker has
 * another origin than a page on the disk and cannot fetch its files, so the page passes them.
 */

/** What a page that is one file has. */
export interface Contained {
    /** Addresses of the workers' scripts, by the names that they have on a server. A worker has those that it starts. */
    workers: Record<string, string>;
    /** The rest has only the page: the engine, not compiled, ... */
    engine?: Blob;
    /** ... and the profile, packed. */
    profile?: File;
    /** Such a file without a profile: lib/export/html_page.h. */
    template?: string;
    /** The view that was saved, as the query part of an address; '' for the first one. */
    view?: string;
    /** The address of a script that the page imports on demand, by its name. */
    link?: (name: string) => string;
}

/** null: a server has the page. */
export const contained: Contained | null = (globalThis as { profContained?: Contained }).profContained ?? null;

/** The address of the script of a worker. `base`: a file beside it. */
export function workerAddress(name: string, base: string): string {
    return contained?.workers[name] ?? new URL(name, base).href;
}
