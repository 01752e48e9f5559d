/** The bar above the table of waits: the grouping, and the sums. */
import type { JSX } from 'preact';
import { describeChange, formatDuration } from '../base/format';
import { reachText, verdictOf } from '../compare/change_columns';
import { useSession } from '../session/context';
import { Choices } from '../ui/Choices';
import { COMPARED_GROUPINGS, WAIT_GROUPINGS } from './wait_list';
import { namesWaker } from './wait_text';

const NO_WAKERS = '. This profile has no wakers: ‘sudo prof record’ records them.';

export function WaitGroupingChoice(): JSX.Element {
    const session = useSession();
    const { comparedBy, setGrouping } = session.waitList;
    const { view } = session.store;
    const isChange = session.tree.isChange.value;
    return (
        <Choices
            label="Group waits by"
            choices={isChange ? COMPARED_GROUPINGS : WAIT_GROUPINGS}
            value={isChange ? comparedBy.value : view.value.waitsBy}
            onChoose={setGrouping}
        />
    );
}

/** Shows "Off the CPU: base 1.2 s, new 3.6 s, +2.4 s (more than noise)". */
function ComparedCount(): JSX.Element {
    const session = useSession();
    const all = session.waitList.comparedWaits.value?.all;
    if (!all) return <span class="muted" />;
    const [base, changed] = [formatDuration(all.base), formatDuration(all.new)];
    const change = describeChange(all.new - all.base, 'ms');
    return (
        <span class="muted" role="status" title={`${reachText(all.known, 'ms')}. ${session.certainty.note.value}`}>
            {`Off the CPU: base ${base}, new ${changed}, ${change} (${verdictOf(all.known)})`}
        </span>
    );
}

/** Shows "Waited 1.2 s of 2 s, 30 ms of it runnable". */
export function WaitCount(): JSX.Element {
    const session = useSession();
    if (session.tree.isChange.value) return <ComparedCount />;
    const groups = session.waitList.waitGroups.value;
    if (!groups) return <span class="muted" />;
    const runnable = groups.runnable > 0 ? `, ${formatDuration(groups.runnable)} of it runnable` : '';
    return (
        <span class="muted" role="status">
            {`Off the CPU for ${formatDuration(groups.waited)} of ${formatDuration(groups.there)}${runnable}`}
            {namesWaker(session.store.view.value.waitsBy) && !session.info.value.hasWakers ? NO_WAKERS : ''}
        </span>
    );
}
