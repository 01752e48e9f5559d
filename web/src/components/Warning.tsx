/** What the reader of the profile could not make sense of: a line under the header, until it is closed. */
import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { info, onOtherProfile } from '../state/store';
import { CloseIcon, InfoIcon } from './icons';
import { ProfileText } from './text';

const isClosed = signal(false);

onOtherProfile(() => {
    isClosed.value = false;
});

export function Warning(): JSX.Element | null {
    const text = info.value.facts.find((fact) => fact.label === 'Warning')?.value;
    if (!text || isClosed.value) return null;
    return (
        <div class="warning" role="status">
            <span class="warning-icon"><InfoIcon /></span>
            <p>
                <ProfileText text={text} limit={1000} />
            </p>
            <button
                type="button"
                class="button quiet square small"
                aria-label="Dismiss"
                title="Close (the recording details keep it)"
                onClick={() => {
                    isClosed.value = true;
                }}
            >
                <CloseIcon />
            </button>
        </div>
    );
}
