/** The line under the header after prof has stopped, with the remaining features. */
import type { JSX } from 'preact';
import { Banner } from '../ui/Banner';
import { checkServer, hasStopped } from '../window/server';
import { act } from '../window/windows';

export function Stopped(): JSX.Element | null {
    if (!hasStopped.value) return null;
    return (
        <Banner
            isUrgent
            action={
                <button type="button" class="button" onClick={() => act(checkServer())}>
                    Check again
                </button>
            }
        >
            <strong>prof has stopped.</strong> Run <code>prof load FILE</code> again, with the file of this profile: the
            page goes on with it. Until then there is no source, no assembly and no reload.
        </Banner>
    );
}
