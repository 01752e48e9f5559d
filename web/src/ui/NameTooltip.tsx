/** The full name of a function, for rows that are too narrow. */
import type { JSX } from 'preact';
import { cutNote, TOOLTIP_LIMIT } from '../base/plain';
import type { FuncInfo } from '../engine/api';
import { ProfileText } from './text';

export const TRUNCATED_EXPLANATION =
    'The stack is truncated here: prof could not read the callers. The numbers below are complete, but missing from the totals of those callers.';

const NOT_SAMPLED_EXPLANATION =
    'CPU time without a sample: of threads that ended or waited before their next sample, of the kernel while it switched between or ended threads, and of lost samples. A higher rate (prof record -r) reduces the first.';

export function NameTooltip({ name }: { name: FuncInfo }): JSX.Element {
    if (name.name === '(truncated)') return <p class="explanation">{TRUNCATED_EXPLANATION}</p>;
    if (name.name === '(not sampled)') return <p class="explanation">{NOT_SAMPLED_EXPLANATION}</p>;
    const note = cutNote(name.name, TOOLTIP_LIMIT);
    return (
        <>
            <div class="full-name">
                <ProfileText text={name.name} limit={TOOLTIP_LIMIT} />
            </div>
            {note !== '' && <p class="muted">{note}</p>}
            {name.lib !== '' && (
                <p class="muted">
                    <ProfileText text={name.libPath || name.lib} limit={300} />
                </p>
            )}
        </>
    );
}
