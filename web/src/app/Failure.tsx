/** The line under the header after a crash of the engine. */
import type { JSX } from 'preact';
import { useSession } from '../session/context';
import { Banner } from '../ui/Banner';
import { ProfileText } from '../ui/text';

export function Failure(): JSX.Element | null {
    const { failure, file } = useSession();
    if (failure.value === '') return null;
    return (
        <Banner
            isUrgent
            action={
                <button type="button" class="button small" onClick={() => window.location.reload()}>
                    Reload
                </button>
            }
        >
            <strong>The page has stopped working.</strong> <ProfileText text={failure.value} limit={300} />.{' '}
            {file ? 'Reload the page, then open the file again.' : 'Reload the page to return to this view.'}
        </Banner>
    );
}
