/**
 * What the window shows: the session of one profile, and how another takes its place. A session that is left is disposed
 * of, with its engine; where its profile came from is kept, so that going back opens it again.
 */
import { batch, signal } from '@preact/signals';
import type { ProfileInfo, Progress } from '../engine/api';
import { createEngine, type EngineWorker } from '../engine/client';
import { wholeFile } from '../engine/download';
import { isZip, listZip, type ZipEntry } from '../engine/zip';
import { messageOf } from '../text/message';
import { type Entry, entryOf, HistoryPlace } from './history';
import { NewestMap } from './newest_map';
import { createSession, type Session } from './session';
import { fetchNamed } from './symbol_api';
import { closeAll } from './windows';

export type PageState =
    | { phase: 'loading'; progress: Progress | null }
    | { phase: 'failed'; message: string }
    | { phase: 'ready'; session: Session };

export const page = signal<PageState>({ phase: 'loading', progress: null });

/** Where a profile comes from. A file is no more than a name for what is on the disk. */
interface Origin {
    session: string;
    name: string;
    source: string | File | ZipEntry;
    /** null: the server beside the page has it. */
    file: File | null;
}

const SERVED: Origin = { session: 'served', name: '', source: 'profile.json', file: null };

/** Browsers go no further back than this. */
const MOST_ORIGINS = 50;

/** The last ones that were opened since the page was loaded. */
const origins = new NewestMap<string, Origin>(MOST_ORIGINS);

function originOf(session: string): Origin | undefined {
    return session === SERVED.session ? SERVED : origins.get(session);
}

/** Where the session that is shown is in the history; null: none is shown. */
let place: HistoryPlace | null = null;

function shownSession(): Session | null {
    const state = page.peek();
    return state.phase === 'ready' ? state.session : null;
}

/** A session that asks for its first rows, and is not shown yet. `query`: its view as an address says it, '' for its first one. */
function prepare(
    { session: id, file }: Origin,
    engine: EngineWorker,
    profile: ProfileInfo,
    next: HistoryPlace,
    query: string,
): Session {
    return createSession({
        id,
        engine,
        info: profile,
        file,
        host: {
            write: (address, step) => next.write(address, step),
            undo: () => next.undo(),
            redo: () => next.redo(),
            chooseFile,
        },
        query,
    });
}

/** Puts a session in the place of the one before. */
function show(session: Session, next: HistoryPlace): void {
    const before = shownSession();
    batch(() => {
        place = next;
        closeAll();
        page.value = { phase: 'ready', session };
    });
    before?.dispose();
}

/** ms: so long the first rows may take for the page to wait for them, rather than to be laid out and painted without them, too. */
const ROWS_TIMEOUT = 40;

function waitForRows(session: Session): Promise<void> {
    return Promise.race([
        session.tree.settled(),
        new Promise<void>((resolve) => {
            setTimeout(resolve, ROWS_TIMEOUT);
        }),
    ]);
}

/** Shows the profile that the server has beside the page, which `engine` loads already, as the address asks for it. */
export async function startPage(
    engine: EngineWorker,
    first: Promise<ProfileInfo>,
    followProgress: (onProgress: (progress: Progress) => void) => void,
): Promise<void> {
    window.addEventListener('popstate', onHistory);
    window.addEventListener('pagehide', () => shownSession()?.store.flushAddress());
    followProgress((progress) => {
        if (page.peek().phase === 'loading') page.value = { phase: 'loading', progress };
    });
    try {
        const profile = await first;
        if (shownSession()) return; // a file was opened meanwhile
        const entry = entryOf(window.history.state);
        const isOther = entry !== null && entry.session !== SERVED.session;
        const start = entry ?? { step: 0, first: 0, session: SERVED.session, name: SERVED.name };
        const next = new HistoryPlace({ ...start, session: SERVED.session, name: SERVED.name });
        const session = prepare(SERVED, engine, profile, next, isOther ? '' : window.location.search);
        await waitForRows(session);
        if (shownSession()) {
            session.dispose();
            return;
        }
        show(session, next);
        if (!isOther) return;
        next.begin(session.store.address(), 'replace');
        sayGone(entry);
    } catch (error) {
        if (page.peek().phase === 'loading') page.value = { phase: 'failed', message: messageOf(error) };
    }
}

// ---- the history ----

/** Goes back where the history was before it came to an entry that cannot be shown. */
function stayFrom(entry: Entry): void {
    if (place && entry.step !== place.step) window.history.go(place.step - entry.step);
}

function sayGone({ name }: Entry): void {
    opening.value = {
        phase: 'failed',
        name,
        message:
            'The page was reloaded since this file was opened, and browsers do not keep opened files. Open it again.',
    };
}

function onHistory(event: PopStateEvent): void {
    const session = shownSession();
    if (!session || !place) return;
    const entry = entryOf(event.state) ?? { step: 0, first: 0, session: SERVED.session, name: SERVED.name };
    if (entry.session === session.id) {
        cancelOpening();
        place.moveTo(entry);
        session.store.readAddress(window.location.search);
        return;
    }
    const origin = originOf(entry.session);
    if (!origin) {
        sayGone(entry);
        stayFrom(entry);
        return;
    }
    const query = window.location.search;
    const onLoaded = (engine: EngineWorker, profile: ProfileInfo): void => {
        const next = new HistoryPlace(entry);
        show(prepare(origin, engine, profile, next, query), next);
    };
    void open(origin, onLoaded).then((isOpen) => {
        if (isOpen === false) stayFrom(entry);
    });
}

// ---- opening files ----

export type Opening =
    | { phase: 'reading'; name: string; progress: Progress | null }
    /** An archive with several files: one is to be chosen. */
    | { phase: 'choosing'; name: string; entries: ZipEntry[] }
    | { phase: 'failed'; name: string; message: string };

/** The file that is being opened; null: none is. */
export const opening = signal<Opening | null>(null);

/** The engine that is to have the profile that is being opened. */
let openingEngine: EngineWorker | null = null;
let openedCount = 0;

function fail(name: string, error: unknown): void {
    opening.value = { phase: 'failed', name, message: messageOf(error) };
}

function cancelOpening(): void {
    openingEngine?.end();
    openingEngine = null;
    if (opening.peek()?.phase === 'reading') opening.value = null;
}

/** Loads a profile without names, as samply saves it, with those that the server knows; it stays the source from then on. */
async function loadNamed(
    engine: EngineWorker,
    origin: Origin,
    source: File | ZipEntry,
    onProgress: (progress: Progress) => void,
): Promise<ProfileInfo> {
    const named = await fetchNamed(await wholeFile(source));
    const profile = await engine.load(named, onProgress);
    origin.source = named;
    return profile;
}

/** Loads a profile into an engine of its own, then shows it. Resolves to false if it cannot be loaded, to null if it was given up. */
async function open(
    origin: Origin,
    onLoaded: (engine: EngineWorker, profile: ProfileInfo) => void,
): Promise<boolean | null> {
    cancelOpening();
    const name = origin.name || 'the profile of the server';
    const engine = createEngine();
    openingEngine = engine;
    const onProgress = (progress: Progress | null): void => {
        if (engine === openingEngine) opening.value = { phase: 'reading', name, progress };
    };
    onProgress(null);
    try {
        let profile = await engine.load(origin.source, onProgress);
        if (!profile.symbolicated && typeof origin.source !== 'string') {
            onProgress({ phase: 'names', done: 0, total: 0 });
            profile = await loadNamed(engine, origin, origin.source, onProgress).catch(() => profile);
        }
        if (engine !== openingEngine) return null;
        openingEngine = null;
        opening.value = null;
        if (origin !== SERVED) origins.set(origin.session, origin);
        onLoaded(engine, profile);
        return true;
    } catch (error) {
        if (engine !== openingEngine) return null;
        cancelOpening();
        fail(name, error);
        return false;
    }
}

/** A name that no other session has, in this window or before it was reloaded. */
function newSessionId(): string {
    return `file-${Date.now().toString(36)}-${++openedCount}`;
}

async function openAsNext(source: File | ZipEntry, file: File): Promise<void> {
    const name = source === file ? file.name : `${file.name}: ${source.name}`;
    const origin: Origin = { session: newSessionId(), name, source, file };
    await open(origin, (engine, profile) => {
        shownSession()?.store.flushAddress();
        const step = place ? place.step + 1 : 0;
        const next = new HistoryPlace({ step: step - 1, first: step, session: origin.session, name });
        const session = prepare(origin, engine, profile, next, '');
        show(session, next);
        next.begin(session.store.address(), 'push');
    });
}

/** What archives have beside what one has put there. */
const OTHER_ENTRY = /(^|\/)(__MACOSX\/|\.)/;

/** Opens a file that was dropped or chosen. What it is, its first bytes say. */
export async function openFile(file: File): Promise<void> {
    if (opening.value?.phase === 'reading') return;
    opening.value = { phase: 'reading', name: file.name, progress: null };
    try {
        if (!(await isZip(file))) return await openAsNext(file, file);
        const entries = (await listZip(file)).filter((entry) => !OTHER_ENTRY.test(entry.name));
        const [first] = entries;
        if (!first) throw new Error('The zip archive contains no file');
        if (entries.length === 1) return await openAsNext(first, file);
        opening.value = { phase: 'choosing', name: file.name, entries };
    } catch (error) {
        fail(file.name, error);
    }
}

export async function openEntry(entry: ZipEntry): Promise<void> {
    await openAsNext(entry, entry.archive);
}

/** Asks for a file. */
export function chooseFile(): void {
    const input = document.createElement('input');
    input.type = 'file';
    input.hidden = true;
    input.onchange = () => {
        const [file] = input.files ?? [];
        input.remove();
        if (file) void openFile(file);
    };
    input.oncancel = () => input.remove();
    document.body.append(input);
    input.click();
}
