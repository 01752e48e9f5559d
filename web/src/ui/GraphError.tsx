/** Where a graph of the timeline would be: why it is not there, or not the one that was asked for. */
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
