/** A short message at the edge of the window, which screen readers also read. */
import type { JSX } from 'preact';
import { notice } from '../window/windows';

export function Notice(): JSX.Element {
    return (
        <div class={notice.value === '' ? 'notice' : 'notice visible'} role="status">
            {notice.value}
        </div>
    );
}
