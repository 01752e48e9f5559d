/** A function's name in full, for rows that are too narrow for it. */
import type { JSX } from 'preact';
import { cutNote, TOOLTIP_LIMIT } from '../base/plain';
import type { FuncInfo } from '../engine/api';
import { ProfileText } from './text';

export const TRUNCATED_EXPLANATION =
    'The stack is truncated here: the callers could not be read. The numbers below are right, but their callers do not include them.';

const NOT_SAMPLED_EXPLANATION =
    'CPU time that the kernel counted and no sample covers: of threads that ended or waited before their next sample, of the kernel while it switched between threads or ended them, or of samples that were lost. Recording at a higher rate (prof record -r) samples more of the first.';

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
