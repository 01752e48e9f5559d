/** The page: header, timeline, and below it the views of the selected threads with their sidebar. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { COMMANDS, keyName } from '../state/commands';
import { changeView, isPaletteOpen, loading, openDialog, view } from '../state/store';
import { sourcePanel } from '../state/source_panel';
import { opening } from '../state/open';
import { isTrackListOpen } from '../state/track_actions';
import { isMarkerView } from '../state/markers';
import { hasSidebar, menu, sidebarOpen } from '../state/windows';
import { ContextMenu } from './ContextMenu';
import { Header } from './Header';
import { InfoDialog } from './InfoDialog';
import { KeysDialog } from './KeysDialog';
import { LoadFailure, LoadProgress } from './Loading';
import { MarkerSidebar } from './MarkerSidebar';
import { Notice } from './Notice';
import { OpeningLayer } from './Opening';
import { Palette } from './Palette';
import { Panel, VIEWS } from './Panel';
import { Sidebar } from './Sidebar';
import { SourcePanel } from './SourcePanel';
import { SourcePanelSplitter, SidebarSplitter, TimelineSplitter } from './Splitter';
import { Stopped } from './Stopped';
import { Timeline } from './Timeline';
import { TrackPicker } from './TrackPicker';
import { TooltipLayer } from './TooltipLayer';
import { Warning } from './Warning';

function isTyping(target: EventTarget | null): boolean {
    return target instanceof HTMLElement && target.closest('input:not([type=checkbox]), textarea, select, [contenteditable]') !== null;
}

/** Keys that work wherever the focus is, text fields and dialogs apart; a digit goes to a view. */
function onGlobalKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || loading.value.phase === 'loading' || opening.value !== null) return;
    if (openDialog.value !== null || menu.value !== null || isPaletteOpen.value || isTrackListOpen.value) return;
    const name = keyName(event);
    const command = COMMANDS.find((one) => one.key === name && name !== null);
    const tab = /^[1-9]$/.test(name ?? '') ? VIEWS[Number(name) - 1]?.name : undefined;
    if (isTyping(event.target) && !command?.isEverywhere) return;
    if (loading.value.phase === 'failed' && !command?.needsNoProfile) return;
    if (command?.isOffered()) command.run();
    else if (tab && tab !== view.value.tab) changeView({ tab }, 'push');
    else if (!tab) return;
    event.preventDefault();
}

export function App(): JSX.Element {
    useEffect(() => {
        window.addEventListener('keydown', onGlobalKey);
        return () => window.removeEventListener('keydown', onGlobalKey);
    }, []);
    return (
        <>
            <Page />
            <OpeningLayer />
        </>
    );
}

function Page(): JSX.Element {
    const state = loading.value;
    if (state.phase === 'loading') return <LoadProgress progress={state.progress} />;
    if (state.phase === 'failed') return <LoadFailure message={state.message} />;
    const isSidebarShown = sidebarOpen.value && hasSidebar(view.value.tab);
    return (
        <div class="page">
            <Header />
            <Stopped />
            <Warning />
            <main class="main">
                <Timeline />
                <TimelineSplitter />
                <div class="below">
                    <Panel />
                    {isSidebarShown && <SidebarSplitter />}
                    {isSidebarShown && (isMarkerView.value ? <MarkerSidebar /> : <Sidebar />)}
                </div>
                {sourcePanel.value && <SourcePanelSplitter />}
                <SourcePanel />
            </main>
            <InfoDialog />
            <KeysDialog />
            <Palette />
            <TrackPicker />
            <ContextMenu />
            <TooltipLayer />
            <Notice />
        </div>
    );
}
