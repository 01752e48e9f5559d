/** The dialog of the critical path: its thread, its range, and the places that its rows open. */
import { signal } from '@preact/signals';
import type { PathRow } from '../engine/critical_path';
import type { AxisPart } from '../session/axis';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import type { Range } from '../view/codec';
import { openDialog } from '../window/windows';

export function createCriticalPath({ axis, info, store }: SessionBase & { axis: AxisPart; store: StorePart }) {
    const { changeView, committedRange, setPreview } = store;
    /** The path of the dialog, of a range, or of the slowest intervals of a query. */
    const shownPath = signal<{ thread: number; range: Range } | { query: number } | null>(null);

    function showPath(thread: number, [from, to] = axis.shownRange()): void {
        shownPath.value = { thread, range: [from, to] };
        openDialog.value = 'critical-path';
    }

    function showSlowestPaths(query: number): void {
        shownPath.value = { query };
        openDialog.value = 'critical-path';
    }

    /** Selects the thread and the range of a row. */
    function goToRow({ thread, from, to }: PathRow): void {
        const [first, last] = committedRange.value;
        openDialog.value = null;
        changeView({ threads: [thread], ...(from < first || to > last ? { ranges: [] } : {}) }, 'push');
        setPreview([from, to]);
    }

    return { hasPaths: (): boolean => info.value.hasWaits, shownPath, showPath, showSlowestPaths, goToRow };
}

export type CriticalPathPart = ReturnType<typeof createCriticalPath>;
