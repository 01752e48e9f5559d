/** The time of threads in each state as a list with colors, longest first. */
import type { JSX } from 'preact';
import { formatDuration, formatShare } from '../base/format';
import { useSession } from '../session/context';
import { stateBackground } from '../session/states';
import { ProfileText } from './text';

const MOST_STATES = 6;

/** `sums` has the time of each state, ms. */
export function StateShares({ sums }: { sums: ArrayLike<number> }): JSX.Element {
    const { threadStates } = useSession().states;
    const whole = Array.from(sums).reduce((total, sum) => total + sum, 0);
    const parts = threadStates.value
        .map((known) => ({ known, ms: sums[known.state] ?? 0 }))
        .filter(({ ms }) => ms > 0)
        .sort((a, b) => b.ms - a.ms);
    return (
        <dl class="marker-fields wide state-shares">
            {parts.slice(0, MOST_STATES).map(({ known, ms }) => (
                <div key={known.state}>
                    <dt>
                        <span class="category-square" style={{ background: stateBackground(known) }} />{' '}
                        <ProfileText text={known.name} limit={30} />
                    </dt>
                    <dd>{`${formatShare(ms, whole)}, ${formatDuration(ms)}`}</dd>
                </div>
            ))}
        </dl>
    );
}
