/** Warnings of the reader about the profile, in a line under the header that the user can close. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useSession } from '../session/context';
import { Banner } from '../ui/Banner';
import { CloseIcon } from '../ui/icons';
import { ProfileText } from '../ui/text';

export function Warning(): JSX.Element | null {
    const session = useSession();
    const { info } = session;
    const [isClosed, setClosed] = useState(false);
    const text = info.value.metadata.find(({ label }) => label === 'Warning')?.value;
    if (!text || isClosed) return null;
    return (
        <Banner
            isUrgent={false}
            action={
                <button
                    type="button"
                    class="button quiet square small"
                    aria-label="Dismiss"
                    title="Close this warning (the recording details still list it)"
                    onClick={() => setClosed(true)}
                >
                    <CloseIcon />
                </button>
            }
        >
            <ProfileText text={text} limit={1000} />
        </Banner>
    );
}
