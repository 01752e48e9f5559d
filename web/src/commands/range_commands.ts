/** Commands that go back, and commands that change the range. */
import { showNotice, tooltip } from '../window/windows';
import { type Command, command } from './command';
import type { CommandSession } from './commands';
import { differenceOf } from './steps';

function historyCommands({ host, store, treeChanges }: CommandSession): Command[] {
    const { view } = store;
    const { undoTransforms } = treeChanges;

    /** Shows a notice that names the changes of a step, after the browser has moved in its history. */
    function reportStep(verb: string): void {
        const before = view.value;
        const report = (): void => showNotice(`${verb}: ${differenceOf(before, view.value) || 'selection'}`);
        window.addEventListener('popstate', report, { once: true });
    }

    function undo(): void {
        if (host.undo()) reportStep('Undone');
        else showNotice('Nothing to undo');
    }

    function redo(): void {
        if (host.redo()) reportStep('Redone');
        else showNotice('Nothing to redo');
    }

    return [
        command('Undo', undo, { key: 'Ctrl+z' }),
        command('Redo', redo, { key: 'Ctrl+Z' }),
        command('Redo', redo, { key: 'Ctrl+y', isHidden: true }),
        command('Undo the last transform', () => undoTransforms(view.value.transforms.length - 1), {
            key: 'u',
            isOffered: () => view.value.transforms.length > 0,
        }),
        command('Undo all transforms', () => undoTransforms(0), { isOffered: () => view.value.transforms.length > 1 }),
    ];
}

export function rangeCommands(session: CommandSession): Command[] {
    const { commitPreview, fullRange, popRanges, selectedThreads, setPreview, view } = session.store;

    function zoomIn(): void {
        if (view.value.preview) commitPreview();
        else showNotice('Select a range first: drag in the timeline');
    }

    function clearSelection(): void {
        tooltip.value = null;
        if (view.value.preview) setPreview(null);
        else session.sourcePanel.leaveSourcePanel();
    }

    function showPath(): void {
        const [thread = 0] = selectedThreads.value;
        session.criticalPath.showPath(thread);
    }

    return [
        ...historyCommands(session),
        command('Zoom into the selection', zoomIn, { key: 'z' }),
        command('Zoom out one level', () => popRanges(view.value.ranges.length - 1), {
            key: 'Z',
            isOffered: () => view.value.ranges.length > 0,
        }),
        command('Zoom out to the full range', () => popRanges(0), { isOffered: () => view.value.ranges.length > 1 }),
        command('Select full range', () => setPreview(fullRange.value), {
            isOffered: () => view.value.preview === null && view.value.ranges.length === 0,
            isHidden: true,
        }),
        command('Add a note to the selected range', session.notes.addRange, { key: 'P' }),
        command('Critical path of the selected range', showPath, { isOffered: session.criticalPath.hasPaths }),
        command('Clear selection', clearSelection, { key: 'Escape', isHidden: true }),
    ];
}
