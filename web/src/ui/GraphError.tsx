/** The message in place of a missing or outdated graph of the timeline. */
import type { JSX } from 'preact';
import { ProfileText } from './text';

export function GraphError({ sentence }: { sentence: string }): JSX.Element | null {
    if (sentence === '') return null;
    return (
        <p class="graph-error" role="alert">
            <ProfileText text={sentence} limit={300} />
        </p>
    );
}
