/** Gives components the session of their part of the page. */
import { createContext } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import type { Session } from '../app/session';

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
    const session = useContext(SessionContext);
    if (!session) throw new Error('This component is in no session');
    return session;
}

/** Makes a model from the session once, and keeps it as long as the component is on the page. */
export function useModel<Model>(make: (session: Session) => Model): Model {
    const session = useSession();
    return useMemo(() => make(session), [session]);
}
