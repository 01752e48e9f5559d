/**
 * Whether the prof behind the page still runs. It serves source files, machine code and names when they are asked for,
 * and the page itself after a reload. The page asks when its user comes back to it, and not all the time: another
 * program may listen on the port of a prof that has stopped.
 */
import { signal } from '@preact/signals';
import { contained } from '../engine/contained';

export const hasStopped = signal(false);

/** The sentence for actions that need the server. */
export const STOPPED = 'prof has stopped. Run `prof load FILE` again';

/** The same where the page is a file of its own. */
export const NO_SERVER = 'A saved page has no source and assembly. `prof load FILE` shows them';

/** An answer of the server. Throws with a sentence if there is none. */
export async function askServer(path: string, request: RequestInit): Promise<Response> {
    if (contained) throw new Error(NO_SERVER);
    const response = await fetch(new URL(path, document.baseURI), request).catch(() => null);
    // Another prof may serve another profile there: it does not know the address.
    hasStopped.value = !response || response.status === 404;
    if (!response || hasStopped.value) throw new Error(STOPPED);
    return response;
}

/** Asks whether it is still there. */
export async function checkServer(): Promise<void> {
    await askServer('.', { method: 'HEAD', cache: 'no-store' }).catch(() => undefined);
}

export function followServer(): void {
    if (contained) return;
    window.addEventListener('focus', () => void checkServer());
}
