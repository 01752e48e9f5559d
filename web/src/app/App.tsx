/** The page of one session: header, timeline, and the views of the selected threads with their sidebar. */
import { Panel } from './Panel';

// The views precede the other parts in the bundle: gzip finds similar modules side by side, and saves 400 bytes.

import type { JSX } from 'preact';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import { plainText } from '../base/plain';
import { Sidebar } from '../calltree/Sidebar';
import { keyName, OPEN_KEY } from '../commands/command';
import { Palette } from '../commands/Palette';
import { LiveBar } from '../live/LiveBar';
import { MarkerSidebar } from '../markers/MarkerSidebar';
import { SessionContext, useSession } from '../session/context';
import type { StorePart } from '../session/store';
import { Overview } from '../summary/Overview';
import { SourcePanel } from '../source/SourcePanel';
import { Timeline } from '../timeline/Timeline';
import { TrackPicker } from '../timeline/TrackPicker';
import { ContextMenu } from '../ui/ContextMenu';
import { Dialog } from '../ui/Dialog';
import { Notice } from '../ui/Notice';
import { focusView } from '../ui/SearchInput';
import { SidebarSplitter, SourcePanelSplitter, TimelineSplitter } from '../ui/Splitter';
import { TooltipLayer } from '../ui/TooltipLayer';
import { offeredTabs, TAB_TITLES, type Tab } from '../view/codec';
import { isSidebarOpen } from '../window/settings';
import { hasSidebar, isPaletteOpen, isTrackListOpen, menu, openDialog } from '../window/windows';
import { Failure } from './Failure';
import { Header } from './Header';
import { LoadFailure, LoadProgress } from './Loading';
import { later } from './later';
import { OpeningLayer } from './Opening';
import { chooseFile, opening, page } from './page';
import { Stopped } from './Stopped';
import type { Session } from './session';
import { TabBar } from './TabBar';
import { Warning } from './Warning';

const PathView = later('PathView');
const ShareForm = later('ShareForm');
const Facts = later('Facts');
const Keys = later('Keys');
const TITLE_LIMIT = 100;

function isTyping(target: EventTarget | null): boolean {
    return (
        target instanceof HTMLElement &&
        target.closest('input:not([type=checkbox]), textarea, select, [contenteditable]') !== null
    );
}

/**
 * Focuses the view, unless another element has the focus. After this step, keys work in the view even if the source
 * panel had the focus.
 */
function goToView(store: StorePart, tab: Tab): void {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    if (tab === store.view.value.tab) focusView();
    else store.changeView({ tab }, 'push');
}

/** Handles the keys that work everywhere except in text fields and dialogs. A digit opens a view, 0 the tenth view. */
function onSessionKey({ commands, info, store }: Session, event: KeyboardEvent): void {
    if (event.defaultPrevented || opening.value !== null) return;
    if (openDialog.value !== null || menu.value !== null || isPaletteOpen.value || isTrackListOpen.value) return;
    const name = keyName(event);
    const command = commands.commands.find(({ key, isOffered }) => name !== null && key === name && isOffered());
    const tab = /^[0-9]$/.test(name ?? '')
        ? offeredTabs(info.value, store.view.value)[(Number(name) + 9) % 10]
        : undefined;
    if (isTyping(event.target) && !command?.isEverywhere) return;
    if (command) command.run();
    else if (tab) goToView(store, tab);
    else return;
    event.preventDefault();
}

/** Without a profile, opening a file is the only command. */
function onKeyWithout(event: KeyboardEvent): void {
    if (event.defaultPrevented || opening.value !== null || keyName(event) !== OPEN_KEY) return;
    chooseFile();
    event.preventDefault();
}

function useKeys(onKey: ((event: KeyboardEvent) => void) | null, of: unknown): void {
    // Adds the listener before the browser shows the session, so that the first pressed key counts.
    useLayoutEffect(() => {
        if (!onKey) return;
        window.addEventListener('keydown', onKey);
        return () => window.removeEventListener('keydown', onKey);
    }, [of]);
}

export function App(): JSX.Element {
    const state = page.value;
    useKeys(state.phase === 'failed' ? onKeyWithout : null, state.phase);
    return (
        <>
            {state.phase === 'loading' && <LoadProgress progress={state.progress} />}
            {state.phase === 'failed' && <LoadFailure message={state.message} />}
            {state.phase === 'ready' && (
                <SessionContext.Provider key={state.session.serial} value={state.session}>
                    <Page />
                </SessionContext.Provider>
            )}
            <OpeningLayer />
        </>
    );
}

function Page(): JSX.Element {
    const session = useSession();
    const { view } = session.store;
    const { tab } = view.value;
    const title = `${plainText(session.profile.profileName.value, TITLE_LIMIT)} · ${TAB_TITLES[tab]} – prof`;
    useKeys((event) => onSessionKey(session, event), session);
    useEffect(() => {
        document.title = title;
    }, [title]);
    const isSidebarShown = isSidebarOpen(tab) && hasSidebar(tab);
    const hasSourcePanel = view.value.sourcePanel !== null;
    return (
        <div class="page">
            <Header />
            <LiveBar />
            <Stopped />
            <Failure />
            <Warning />
            <Overview />
            <main class="main">
                <Timeline />
                <TimelineSplitter />
                <TabBar />
                <div class="below">
                    <Panel />
                    {isSidebarShown && <SidebarSplitter />}
                    {isSidebarShown && (session.markers.isMarkerView.value ? <MarkerSidebar /> : <Sidebar />)}
                </div>
                {hasSourcePanel && <SourcePanelSplitter />}
                <SourcePanel />
            </main>
            <Dialog name="info" title="Recording">
                <Facts />
            </Dialog>
            <Dialog name="keys" title="Keys">
                <Keys />
            </Dialog>
            <Dialog name="critical-path" title="Critical path">
                <PathView />
            </Dialog>
            <Dialog name="share" title="Save without personal data">
                <ShareForm />
            </Dialog>
            <Palette />
            <TrackPicker />
            <ContextMenu />
            <TooltipLayer />
            <Notice />
        </div>
    );
}
