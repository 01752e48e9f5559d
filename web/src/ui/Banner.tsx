/** A line under the header with an error, and a button for the remedy. */
import type { ComponentChildren, JSX } from 'preact';
import { InfoIcon } from './icons';

interface BannerProps {
    /** It stops the work: it is read aloud at once. */
    isUrgent: boolean;
    /** The button. */
    action: JSX.Element;
    children: ComponentChildren;
}

export function Banner({ isUrgent, action, children }: BannerProps): JSX.Element {
    return (
        <div class={isUrgent ? 'warning stopped' : 'warning'} role={isUrgent ? 'alert' : 'status'}>
            <span class="warning-icon">
                <InfoIcon />
            </span>
            <p>{children}</p>
            {action}
        </div>
    );
}
