/**
 * The note in views that count CPU time while the threads waited; names the object of the most waits, with a link to
 * all waits.
 */
import type { JSX } from 'preact';
import { formatDuration } from '../base/format';
import type { WaitGroup } from '../engine/waits';
import { useSession } from '../session/context';
import { ProfileText } from '../ui/text';
import type { Tab } from '../view/codec';

/** Views whose numbers are of CPU time. */
const COUNTING_TABS: ReadonlySet<Tab> = new Set<Tab>(['summary', 'calltree', 'functions', 'butterfly', 'flame-graph']);

const NAME_LIMIT = 50;

/** What the threads waited for most, and where. */
function TopWait({ group }: { group: WaitGroup }): JSX.Element {
    const { names, store, waitList } = useSession();
    names.namesVersion.value;
    const place = group.ownFunc < 0 ? '' : names.nameOf(group.ownFunc);
    return (
        <>
            {` and waited ${group.totalError > 0 ? 'about ' : ''}${formatDuration(group.total)} for `}
            <button
                type="button"
                class="link"
                onClick={() => waitList.goToObject(group.key, store.selectedThreads.value)}
            >
                <ProfileText text={waitList.objectOf(group)} limit={NAME_LIMIT} />
            </button>
            {place !== '' && (
                <>
                    {' in '}
                    <ProfileText text={place} limit={NAME_LIMIT} />
                    {group.ownLine > 0 && `:${group.ownLine}`}
                </>
            )}
        </>
    );
}

export function WaitNote(): JSX.Element | null {
    const session = useSession();
    const { mostlyWaiting, showOffCpu } = session.waitList;
    const { changeView, view } = session.store;
    const waiting = mostlyWaiting.value;
    if (!waiting || !COUNTING_TABS.has(view.value.tab)) return null;
    const threads = view.value.threads.length === 1 ? 'The thread' : 'The threads';
    return (
        <p class="wait-note" role="status">
            {`${threads} used ${formatDuration(waiting.ran)} of CPU in ${formatDuration(waiting.there)}`}
            {waiting.top && view.value.tab !== 'summary' && <TopWait group={waiting.top} />}
            {': '}
            <button type="button" class="link" title="Count off-CPU time (O)" onClick={showOffCpu}>
                show Off-CPU
            </button>
            {' or '}
            <button type="button" class="link" onClick={() => changeView({ tab: 'waits' }, 'push')}>
                all waits
            </button>
        </p>
    );
}
