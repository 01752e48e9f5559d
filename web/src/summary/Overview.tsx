/**
 * A headline, one bar that shows where the time went, and the best findings. A click on each opens the view that
 * explains it.
 */
import type { JSX } from 'preact';
import { slotColor } from '../base/colors';
import { formatDuration, formatShare } from '../base/format';
import { plainText } from '../base/plain';
import type { RunPart } from '../engine/findings';
import { STATE_REASONS } from '../engine/api';
import { useSession } from '../session/context';
import { stateBackground } from '../session/states';
import { ProfileText } from '../ui/text';

const MOST_FINDINGS = 3;
const NAME_LIMIT = 60;
const MOST_SENTENCE = 1000;
/** The bar combines parts below this share. */
const LEAST_PART = 0.015;

interface Segment {
    part: RunPart | null;
    name: string;
    ms: number;
    background: string;
}

const TITLES: Record<RunPart['kind'], (name: string) => string> = {
    cpu: (name) => `on CPU in ${name}`,
    wait: (name) => `waiting: ${name}`,
    runnable: () => 'ready to run without a CPU',
    unseen: () => 'in short waits, cause not seen',
};

/** Returns CPU time by library, then the time that threads waited for a CPU, then other waits. */
function useSegments(): Segment[] {
    const session = useSession();
    const { found } = session.overview;
    const states = session.states.threadStates.value;
    const { parts = [], whole_ms: whole = 0 } = found.value ?? {};
    const large = parts.filter(({ ms }) => ms >= whole * LEAST_PART);
    const order: RunPart['kind'][] = ['cpu', 'runnable', 'wait', 'unseen'];
    const sorted = order.flatMap((kind) => large.filter((part) => part.kind === kind));
    const segments = sorted.map((part, at): Segment => {
        const state = states[STATE_REASONS + (part.index ?? 0)];
        const isCpu = part.kind === 'cpu';
        return {
            part,
            name: part.name.replace(/^\[kernel\..*\]$/, 'kernel'),
            ms: part.ms,
            background: isCpu ? slotColor(at) : state ? stateBackground(state) : 'var(--state-other)',
        };
    });
    const rest = whole - large.reduce((sum, { ms }) => sum + ms, 0);
    return rest > whole * 0.001
        ? [...segments, { part: null, name: 'Other', ms: rest, background: 'var(--state-other)' }]
        : segments;
}

function Bar(): JSX.Element {
    const { overview } = useSession();
    const whole = overview.found.value?.whole_ms ?? 0;
    return (
        <ul class="run-bar" aria-label="Where the time of the threads went">
            {useSegments().map(({ part, name, ms, background }) => {
                const title = part ? TITLES[part.kind](name) : 'in smaller parts';
                const text = `${plainText(title, 200)}: ${formatShare(ms, whole)}, ${formatDuration(ms)}`;
                return (
                    <li key={`${part?.kind} ${name}`} style={{ flexGrow: ms }}>
                        <button
                            type="button"
                            title={text}
                            disabled={!part}
                            onClick={() => part && overview.openPart(part)}
                        >
                            <span class="run-ink" style={{ background }} />
                            <span class="run-name">
                                <ProfileText text={name} limit={NAME_LIMIT} />
                            </span>
                            <span class="run-share">{formatShare(ms, whole)}</span>
                        </button>
                    </li>
                );
            })}
        </ul>
    );
}

export function Overview(): JSX.Element | null {
    const { info, overview } = useSession();
    const found = overview.found.value;
    const hasTimes = found ? found.headline !== '' : info.value.weights[0]?.id === 'cpu-time';
    if (info.value.comparison || (!hasTimes && !found?.findings.length)) return null;
    return (
        <section class="overview" aria-label="Overview">
            {hasTimes && (
                <p class="headline">
                    <ProfileText text={found?.headline ?? ''} limit={MOST_SENTENCE} />
                </p>
            )}
            {hasTimes && <Bar />}
            <ol class="findings">
                {found?.findings.slice(0, MOST_FINDINGS).map((finding) => (
                    <li key={finding.kind}>
                        <button
                            type="button"
                            class="finding"
                            title={plainText(finding.sentence, MOST_SENTENCE)}
                            onClick={() => overview.openFinding(finding)}
                        >
                            <ProfileText text={finding.sentence} limit={MOST_SENTENCE} />
                        </button>
                    </li>
                ))}
            </ol>
        </section>
    );
}
