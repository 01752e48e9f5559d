/** A line under the header with an error, and a button for the solution. */
import type { ComponentChildren, JSX } from 'preact';
import { InfoIcon } from './icons';

interface BannerProps {
    /** Whether the error stops the work, so that screen readers read it at once. */
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
