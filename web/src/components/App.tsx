/** The page: header, timeline, and below it the views of the selected threads with their sidebar. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { commitPreview, loading, openDialog, popRanges, setPreview, view } from '../state/store';
import { isTrackListOpen } from '../state/track_actions';
import { invert, undoTransforms } from '../state/tree';
import { menu, sidebarOpen, toggleSidebar, tooltip } from '../state/windows';
import { ContextMenu } from './ContextMenu';
import { Header } from './Header';
import { InfoDialog } from './InfoDialog';
import { KeysDialog } from './KeysDialog';
import { LoadFailure, LoadProgress } from './Loading';
import { Notice } from './Notice';
import { Panel } from './Panel';
import { Sidebar } from './Sidebar';
import { SidebarSplitter, TimelineSplitter } from './Splitter';
import { Timeline } from './Timeline';
import { TrackPicker } from './TrackPicker';
import { TooltipLayer } from './TooltipLayer';
import { Warning } from './Warning';

function isTyping(target: EventTarget | null): boolean {
    return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;
}

/** Keys that work wherever the focus is, text boxes and dialogs apart. */
function onGlobalKey(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (openDialog.value !== null || menu.value !== null || isTyping(event.target)) return;
    if (loading.value.phase !== 'ready') return;
    switch (event.key) {
        case '/':
            document.querySelector<HTMLInputElement>('#stack-search')?.focus();
            break;
        case '?':
            openDialog.value = 'keys';
            break;
        case 'i':
            void invert();
            break;
        case 's':
            toggleSidebar();
            break;
        case 'z':
            commitPreview();
            break;
        case 'Z':
            popRanges(Math.max(0, view.value.ranges.length - 1));
            break;
        case 'u':
            undoTransforms(Math.max(0, view.value.transforms.length - 1));
            break;
        case 'T':
            isTrackListOpen.value = true;
            break;
        case 'Escape':
            tooltip.value = null;
            setPreview(null);
            break;
        default:
            return;
    }
    event.preventDefault();
}

export function App(): JSX.Element {
    useEffect(() => {
        window.addEventListener('keydown', onGlobalKey);
        return () => window.removeEventListener('keydown', onGlobalKey);
    }, []);
    const state = loading.value;
    if (state.phase === 'loading') return <LoadProgress progress={state.progress} />;
    if (state.phase === 'failed') return <LoadFailure message={state.message} />;
    // It is about a row of the call tree.
    const hasSidebar = sidebarOpen.value && view.value.tab === 'calltree';
    return (
        <div class="page">
            <Header />
            <Warning />
            <main class="main">
                <Timeline />
                <TimelineSplitter />
                <div class="below">
                    <Panel />
                    {hasSidebar && <SidebarSplitter />}
                    {hasSidebar && <Sidebar />}
                </div>
            </main>
            <InfoDialog />
            <KeysDialog />
            <TrackPicker />
            <ContextMenu />
            <TooltipLayer />
            <Notice />
        </div>
    );
}
