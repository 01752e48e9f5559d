/** Parts that both tables of waits share. */
import type { JSX } from 'preact';
import { formatMs } from '../base/format';
import type { WaitGrouping } from '../engine/waits';
import { useSession } from '../session/context';

export const MAIN_TITLES: Record<WaitGrouping, string> = {
    reason: 'Reason',
    object: 'Waited for',
    stack: 'Called from',
    thread: 'Thread',
    waker: 'Ended by',
    'object-waker': 'Waited for',
};

export const lengthOrNone = (ms: number): string => (ms > 0 ? formatMs(ms) : '—');

/** A cell with a link to the stack chart. */
export function LinkCell({ title, text, onClick }: { title: string; text: string; onClick: () => void }): JSX.Element {
    return (
        <button type="button" class="link" tabIndex={-1} title={title} onClick={onClick}>
            {text}
        </button>
    );
}

export function EmptyWaits(): JSX.Element {
    const session = useSession();
    const { search } = session.store;
    const sentence = !session.info.value.hasWaits
        ? 'This profile has no waits. prof record records them, except with --off-cpu=no.'
        : search.value.trim() !== ''
          ? 'No wait of the selected threads in this range matches the filter.'
          : 'The selected threads did not wait in this range.';
    return (
        <div class="empty" role="status">
            <h2>No waits</h2>
            <p>{sentence}</p>
        </div>
    );
}
