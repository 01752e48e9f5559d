/** Says why there is little to see where numbers are of CPU time and the threads waited; and leads to the objects of the waits. */
import type { JSX } from 'preact';
import { formatDuration } from '../base/format';
import { useSession } from '../session/context';
import type { Tab } from '../view/codec';

/** Views whose numbers are of CPU time. */
const COUNTING_TABS: ReadonlySet<Tab> = new Set<Tab>(['summary', 'calltree', 'functions', 'butterfly', 'flame-graph']);

export function WaitNote(): JSX.Element | null {
    const session = useSession();
    const { mostlyWaiting, showOffCpu } = session.waitList;
    const { changeView, view } = session.store;
    const waiting = mostlyWaiting.value;
    if (!waiting || !COUNTING_TABS.has(view.value.tab)) return null;
    const threads = view.value.threads.length === 1 ? 'The thread' : 'The threads';
    return (
        <p class="wait-note" role="status">
            {`${threads} used ${formatDuration(waiting.ran)} of CPU in ${formatDuration(waiting.there)}:`}
            <button type="button" class="link" title="Count off-CPU time (O)" onClick={showOffCpu}>
                show Off-CPU
            </button>
            or
            <button type="button" class="link" onClick={() => changeView({ tab: 'waits' }, 'push')}>
                what they waited for
            </button>
        </p>
    );
}
