/**
 * Checks whether the prof that serves the page still runs. prof serves source files, machine code and names on request,
 * and the page after a reload. The page checks when its user comes back, and not at intervals, because another program
 * may listen on the port of a stopped prof.
 */
import { signal } from '@preact/signals';
import { contained } from '../engine/contained';

export const hasStopped = signal(false);

/** The message of actions that need the server. */
export const STOPPED = 'prof has stopped. Run `prof load FILE` again';

/** The same message in a saved page. */
export const NO_SERVER = 'A saved page has no source and assembly. `prof load FILE` shows them';

/** Returns an answer of the server, or throws a message for the user. */
export async function askServer(path: string, request: RequestInit): Promise<Response> {
    if (contained) throw new Error(NO_SERVER);
    const response = await fetch(new URL(path, document.baseURI), request).catch(() => null);
    // Another prof on this port serves another profile, and does not know the address.
    hasStopped.value = !response || response.status === 404;
    if (!response || hasStopped.value) throw new Error(STOPPED);
    return response;
}

/** Checks whether the server still runs. */
export async function checkServer(): Promise<void> {
    await askServer('.', { method: 'HEAD', cache: 'no-store' }).catch(() => undefined);
}

export function followServer(): void {
    if (contained) return;
    window.addEventListener('focus', () => void checkServer());
}
