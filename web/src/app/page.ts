/**
 * The window: shows the session of one profile, and replaces it. The window disposes of the old session and its engine,
 * and keeps the origin of its profile, so that the back button opens it again.
 */
import { batch, signal } from '@preact/signals';
import { messageOf } from '../base/message';
import { NewestMap } from '../base/newest_map';
import { shapeOf } from '../calltree/tree_shape';
import type { ProfileInfo, Progress } from '../engine/api';
import { createEngine, type EngineWorker } from '../engine/client';
import { contained } from '../engine/contained';
import { type AnySource, type ComparedPart, type ComparedSource, isCompared, wholeFile } from '../engine/download';
import { isZip, listZip, type ZipEntry } from '../engine/zip';
import { followRecording } from '../live/live';
import { type AxisUnit, axisUnitOf, formatPlace, formatRange } from '../session/axis_text';
import { type Entry, entryOf, HistoryPlace, type Step } from '../session/history';
import type { ChosenPart } from '../session/session_base';
import { fetchNamed, fetchNamesProgress, nameServed } from '../source/symbol_api';
import { EMPTY_VIEW, encodeView } from '../view/codec';
import { COMPARED_PARAMETER, decodeCompared, encodeCompared } from '../view/compared_codec';
import { comparedGroups, nameOfGroups } from '../view/marker_groups';
import { closeAll, showNotice } from '../window/windows';
import { matchNumbers, renumberPath, renumberView } from './renumber';
import { createSession, type Session } from './session';

export type PageState =
    | { phase: 'loading'; progress: Progress | null }
    | { phase: 'failed'; message: string }
    | { phase: 'ready'; session: Session };

export const page = signal<PageState>({ phase: 'loading', progress: null });

/** The source of a profile. A File is a name, so the contents on the disk may change. */
interface Origin {
    session: string;
    name: string;
    source: AnySource;
    /** The file of the profile, or null if the server beside the page has the profile. */
    file: File | null;
}

const SERVED: Origin = { session: 'served', name: '', source: 'profile.json', file: null };

/** The limit of profiles to which the back button returns. */
const MOST_ORIGINS = 50;

/** The profiles that the user has opened most recently in this window. */
const origins = new NewestMap<string, Origin>(MOST_ORIGINS);

function originOf(session: string): Origin | undefined {
    return session === SERVED.session ? SERVED : origins.get(session);
}

/** Returns the query part of an address, with the comparison that the page has made. */
function wholeAddress(address: string, source: AnySource): string {
    const text = isCompared(source) ? encodeCompared(source, SERVED.source as string) : null;
    return text === null ? address : `${address}&${COMPARED_PARAMETER}=${encodeURIComponent(text)}`;
}

/** Returns the comparison of parts of the served profile that an address has, or null for none. */
function comparedIn(query: string): ComparedSource | null {
    const text = new URLSearchParams(query).get(COMPARED_PARAMETER);
    return text === null ? null : decodeCompared(text, SERVED.source as string);
}

let lastSerial = 0;

/** The position of the shown session in the history, or null if no session is shown. */
let place: HistoryPlace | null = null;

function shownSession(): Session | null {
    const state = page.peek();
    return state.phase === 'ready' ? state.session : null;
}

/**
 * Creates a session that loads its first rows, and does not show the session yet. `query`: the view in an address, or
 * '' for the first view.
 */
function prepare(
    { session: id, file, source }: Origin,
    engine: EngineWorker,
    profile: ProfileInfo,
    next: HistoryPlace,
    query: string,
): Session {
    return createSession({
        id,
        made: isCompared(source) ? source : null,
        serial: ++lastSerial,
        engine,
        info: profile,
        file,
        host: {
            write: (address, step) => next.write(wholeAddress(address, source), step),
            undo: () => next.undo(),
            redo: () => next.redo(),
            chooseFile,
            compareWith,
            compareRanges,
            compareParts,
            compareThreads,
            compareIntervals,
            fetchSymbols,
            matchFunctions,
        },
        query,
    });
}

/** Replaces the shown session. */
function show(session: Session, next: HistoryPlace): void {
    const before = shownSession();
    batch(() => {
        place = next;
        closeAll();
        page.value = { phase: 'ready', session };
    });
    before?.dispose();
}

/** ms: limit of the wait for the first rows. After this limit, the page draws the session without rows. */
const ROWS_TIMEOUT = 40;

function waitForRows(session: Session): Promise<void> {
    return Promise.race([
        session.tree.settled(),
        new Promise<void>((resolve) => {
            setTimeout(resolve, ROWS_TIMEOUT);
        }),
    ]);
}

/** Shows the profile of the server, which `engine` is already loading, with the view of the address. */
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
        if (shownSession()) return; // the user has opened a file meanwhile
        const compared = comparedIn(window.location.search);
        if (compared && (await openCompared(compared, window.location.search, 'replace'))) return engine.end();
        const entry = entryOf(window.history.state);
        const isOther = entry !== null && entry.session !== SERVED.session;
        const start = entry ?? { step: 0, first: 0, session: SERVED.session, name: SERVED.name };
        const next = new HistoryPlace({ ...start, session: SERVED.session, name: SERVED.name });
        const view = window.location.search || (contained?.view ?? '');
        const session = prepare(SERVED, engine, profile, next, isOther ? '' : view);
        await waitForRows(session);
        if (shownSession()) {
            session.dispose();
            return;
        }
        show(session, next);
        if (profile.isLive)
            followRecording(
                () => grow(session),
                () => showSaved(session),
            );
        if (!isOther) return;
        next.begin(session.store.address(), 'replace');
        sayGone(entry);
    } catch (error) {
        if (page.peek().phase === 'loading') page.value = { phase: 'failed', message: messageOf(error) };
    }
}

// ---- a running recording ----

/** Adds the new samples of the recording to the session. Functions and threads keep their numbers. */
async function grow(session: Session): Promise<void> {
    const { engine, info } = session;
    const part = `${SERVED.source as string}?added=`;
    const grown = await engine.grow(part + info.peek().addedNext).catch(() => engine.grow(part));
    if (grown) session.grow(grown);
}

/**
 * Shows the saved profile in a new session, with the view of the old session. The saved profile has functions and
 * threads in another order.
 */
async function showSaved(before: Session, origin = SERVED): Promise<void> {
    if (shownSession() !== before || !place) return;
    const engine = createEngine();
    const profile = await engine.load(origin.source, () => undefined);
    await before.tree.settled();
    const numbers = await matchNumbers(before, engine, profile);
    const view = renumberView(before.store.view.peek(), numbers);
    const query = encodeView(view, profile.rangeStart, profile.funcCount);
    const next = place;
    if (shownSession() !== before) {
        engine.end();
        return;
    }
    const session = prepare(origin, engine, profile, next, query);
    const { transforms, inverted } = session.store;
    session.tree.openNext(
        shapeOf(transforms.peek(), inverted.peek()),
        before.tree.pathsOfOpen().map((path) => renumberPath(path, numbers)),
    );
    await waitForRows(session);
    session.tables.scrollNext(before.tables.places);
    show(session, next);
    session.store.flushAddress();
}

// ---- the history ----

/** Returns from an entry of the history that the page cannot show to the entry before. */
function stayFrom(entry: Entry): void {
    if (place && entry.step !== place.step) window.history.go(place.step - entry.step);
}

function sayGone({ name }: Entry): void {
    opening.value = {
        phase: 'failed',
        name,
        message: 'Browsers forget opened files when a page reloads. Open the file again.',
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
    /** The archive contains several files, and the user selects one. */
    | { phase: 'choosing'; name: string; entries: ZipEntry[] }
    | { phase: 'failed'; name: string; message: string };

/** The file that the page is opening, or null for none. */
export const opening = signal<Opening | null>(null);

/** The engine that loads the file of `opening`. */
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

/** Returns the side of a comparison with the symbols that the server finds, if the side is a file. */
async function namedPart(part: ComparedPart): Promise<ComparedPart> {
    if (typeof part.source === 'string') return part;
    return { ...part, source: await fetchNamed(await wholeFile(part.source)).catch(() => part.source) };
}

/** Returns a profile without symbols, such as samply's, with the symbols that the server finds. */
async function namedSource(source: AnySource): Promise<AnySource> {
    if (typeof source === 'string') return source;
    if (!isCompared(source)) return fetchNamed(await wholeFile(source));
    const [base, next] = await Promise.all([namedPart(source.base), namedPart(source.new)]);
    return { ...source, base, new: next };
}

/** Loads the open profile again, with symbols. Later loads use the same source. */
async function loadNamed(
    engine: EngineWorker,
    origin: Origin,
    onProgress: (progress: Progress) => void,
): Promise<ProfileInfo> {
    const named = await namedSource(origin.source);
    const profile = await engine.load(named, onProgress);
    origin.source = named;
    return profile;
}

/**
 * Loads a profile into a new engine, and shows the profile. Resolves to false after a failure, and to null if the user
 * has canceled.
 */
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
            profile = await loadNamed(engine, origin, onProgress).catch(() => profile);
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

/** Returns a name that no other session has, even before the window was reloaded. */
function newSessionId(): string {
    return `file-${Date.now().toString(36)}-${++openedCount}`;
}

async function openAsNext(source: File | ZipEntry, file: File): Promise<void> {
    const name = source === file ? file.name : `${file.name}: ${source.name}`;
    await openNext({ session: newSessionId(), name, source, file });
}

/** Opens the next profile. `query`: the first view, as in an address, or '' for the default view of the profile. */
async function openNext(origin: Origin, query = '', step: Step = 'push'): Promise<boolean | null> {
    const { name } = origin;
    return open(origin, (engine, profile) => {
        shownSession()?.store.flushAddress();
        const first = place ? place.step + 1 : 0;
        const next = new HistoryPlace({ step: first - 1, first, session: origin.session, name });
        const session = prepare(origin, engine, profile, next, query);
        show(session, next);
        next.begin(wholeAddress(session.store.address(), origin.source), step);
    });
}

/** Files that programs for archives add. */
const OTHER_ENTRY = /(^|\/)(__MACOSX\/|\.)/;

/** Opens a file that the user has dropped or selected. The first bytes of the file determine its format. */
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

// ---- comparing ----

function nameOfCompared({ base, new: next }: ComparedSource): string {
    return `${base.name} and ${next.name}`;
}

function openCompared(source: ComparedSource, query = '', step: Step = 'push'): Promise<boolean | null> {
    return openNext({ session: newSessionId(), name: nameOfCompared(source), source, file: null }, query, step);
}

/** Returns the shown profile as a side of a comparison, or null if the profile is a comparison. */
function shownPart(): ComparedPart | null {
    const session = shownSession();
    const origin = session && originOf(session.id);
    if (!session || !origin || isCompared(origin.source) || session.info.peek().comparison) return null;
    const name = origin.name || session.profile.profileName.peek();
    return { source: origin.source, name, range: null, kept: null };
}

/** Compares the profile with another one, the base. */
async function compareFile(file: File): Promise<void> {
    const next = shownPart();
    if (!next || opening.value?.phase === 'reading') return;
    if (await isZip(file)) fail(file.name, new Error('Unpack the zip archive to compare with a profile in it'));
    else {
        const base = { source: file, name: file.name, range: null, kept: null };
        await openCompared({ base, new: next, forgives: false });
    }
}

function compareWith(): void {
    askForFile((file) => void compareFile(file));
}

/** "220 ms at 120 ms", "samples 121–340" */
function rangeName(range: [number, number], unit: AxisUnit): string {
    return unit === 'ms' ? `${formatRange(range, unit)} at ${formatPlace(range[0], unit)}` : formatRange(range, unit);
}

/** Compares two ranges of the profile, ms after its start. */
function compareRanges(base: [number, number], next: [number, number]): void {
    const whole = shownPart();
    const session = shownSession();
    if (!whole || !session) return;
    const unit = axisUnitOf(session.info.peek());
    const named = (range: [number, number]): ComparedPart => ({
        ...whole,
        range,
        name: `${rangeName(range, unit)} of ${whole.name}`,
    });
    void openCompared({ base: named(base), new: named(next), forgives: false });
}

/** Compares two parts of the profile, each with a range (ms after the start of the profile), threads and markers. */
function compareParts(base: ChosenPart, next: ChosenPart): void {
    const whole = shownPart();
    const session = shownSession();
    if (!whole || !session) return;
    const { hasWaits, threads } = session.info.peek();
    const unit = axisUnitOf(session.info.peek());
    const part = ({ range, threads: chosen, name: ofThreads, markers }: ChosenPart): ComparedPart => {
        const kept = new Set(chosen);
        const name = markers.length > 0 ? nameOfGroups(markers) : ofThreads;
        return {
            ...whole,
            range,
            kept: threads.map((thread) => kept.has(thread.index)),
            name: `${name}${range ? `, ${rangeName(range, unit)},` : ''} of ${whole.name}`,
        };
    };
    const transforms = comparedGroups(base.markers, next.markers);
    const weight = hasWaits ? 'time' : session.store.view.peek().weight; // markers last in wall time
    const query =
        transforms.length > 0 ? encodeView({ ...EMPTY_VIEW, transforms, tab: 'functions', weight }, 0, 0) : '';
    void openCompared({ base: part(base), new: part(next), forgives: false }, query);
}

/** Compares threads of the profile with the others. */
function compareThreads(isNew: boolean[], names: [base: string, next: string]): void {
    const whole = shownPart();
    if (!whole) return;
    const base = { ...whole, name: `${names[0]} of ${whole.name}`, kept: isNew.map((is) => !is) };
    const next = { ...whole, name: `${names[1]} of ${whole.name}`, kept: isNew };
    void openCompared({ base, new: next, forgives: false });
}

/** Compares intervals of these threads with the other intervals. Both sides have all of these threads. */
function compareIntervals(kept: boolean[], names: [base: string, next: string], query: string): void {
    const whole = shownPart();
    if (!whole) return;
    const [base, next] = names.map((name) => ({ ...whole, name: `${name} of ${whole.name}`, kept })) as [
        ComparedPart,
        ComparedPart,
    ];
    void openCompared({ base, new: next, forgives: false }, query);
}

function matchFunctions(forgives: boolean): void {
    const session = shownSession();
    const source = session && originOf(session.id)?.source;
    if (source && isCompared(source)) void openCompared({ ...source, forgives });
}

// ---- symbols ----

/** ms between two requests for the progress of the server's downloads. */
const DOWNLOAD_POLL = 400;

async function fetchSymbols(): Promise<void> {
    const session = shownSession();
    const origin = session && originOf(session.id);
    if (!session || !origin || isCompared(origin.source) || opening.value) return;
    const name = origin.name || session.profile.profileName.peek();
    const showProgress = (progress: Progress): void => {
        opening.value = { phase: 'reading', name, progress };
    };
    showProgress({ phase: 'names', done: 0, total: 0 });
    const poll = setInterval(() => void fetchNamesProgress().then(showProgress, () => undefined), DOWNLOAD_POLL);
    try {
        if (origin === SERVED) showNotice(await nameServed());
        else origin.source = await fetchNamed(await wholeFile(origin.source as File));
        await showSaved(session, origin);
    } catch (error) {
        showNotice(messageOf(error));
    } finally {
        clearInterval(poll);
        opening.value = null;
    }
}

// ---- choosing files ----

/** Lets the user select a profile to open. */
export function chooseFile(): void {
    askForFile((file) => void openFile(file));
}

function askForFile(take: (file: File) => void): void {
    const input = document.createElement('input');
    input.type = 'file';
    input.hidden = true;
    input.onchange = () => {
        const [file] = input.files ?? [];
        input.remove();
        if (file) take(file);
    };
    input.oncancel = () => input.remove();
    document.body.append(input);
    input.click();
}
