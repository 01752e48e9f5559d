/** A button that makes the server look for missing names again. */
import type { JSX } from 'preact';
import { contained } from '../engine/contained';
import { useSession } from '../session/context';
import type { SessionBase } from '../session/session_base';
import { act } from '../window/windows';

/** Returns whether names are missing and the server can look for them. */
export function canFetchSymbols({ info, made }: Pick<SessionBase, 'info' | 'made'>): boolean {
    const { addressCount, comparison, isLive, resolvedCount } = info.value;
    return !contained && !made && !comparison && !isLive && resolvedCount < addressCount;
}

export function FetchSymbols(): JSX.Element | null {
    const session = useSession();
    if (!canFetchSymbols(session)) return null;
    return (
        <button
            type="button"
            class="button"
            title="Search debug files on this machine and on the servers in DEBUGINFOD_URLS, and show the profile again"
            onClick={() => act(session.host.fetchSymbols())}
        >
            Fetch symbols
        </button>
    );
}
