/** Everything the profile says about its recording: the machine, the command, the date, and how far it can be trusted. */
import type { JSX } from 'preact';
import { formatCount, formatDuration } from '../text/format';
import { Dialog } from './Dialog';
import { ProfileText } from './text';
import { useSession } from './session_context';
import type { Session } from '../state/session';

interface Fact {
    label: string;
    value: string;
}

function recordingFacts(session: Session): Fact[] {
    const { info } = session;
    const { fullRange } = session.store;
    const profile = info.value;
    const [start, end] = fullRange.value;
    const facts: Fact[] = [
        { label: 'Program', value: profile.product },
        { label: 'Recorded', value: profile.startTime > 0 ? new Date(profile.startTime).toLocaleString() : '' },
        { label: 'Length', value: formatDuration(end - start) },
        { label: 'Interval', value: profile.interval > 0 ? formatDuration(profile.interval) : '' },
        { label: 'Samples', value: formatCount(profile.sampleCount) },
        { label: 'Threads', value: formatCount(profile.threads.length) },
        { label: 'Symbols', value: profile.symbolicated ? '' : 'not symbolicated: names are addresses' },
    ];
    const known = new Set(facts.map((fact) => fact.label.toLowerCase()));
    return [...facts, ...profile.facts.filter((fact) => !known.has(fact.label.toLowerCase()))].filter(
        (fact) => fact.value !== '',
    );
}

function FactTable({ title, facts }: { title: string; facts: Fact[] }): JSX.Element {
    return (
        <section>
            <h3>
                <ProfileText text={title} />
            </h3>
            <table class="facts">
                <tbody>
                    {facts.map((fact, at) => (
                        <tr key={`${at}:${fact.label.slice(0, 80)}`}>
                            <th scope="row">
                                <ProfileText text={fact.label} />
                            </th>
                            <td>
                                <ProfileText text={fact.value} limit={4000} />
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

function Facts(): JSX.Element {
    const session = useSession();
    const { info } = session;
    return (
        <>
            <FactTable title="Profile" facts={recordingFacts(session)} />
            {info.value.extra.map((section, at) => (
                <FactTable key={`${at}:${section.label.slice(0, 80)}`} title={section.label} facts={section.entries} />
            ))}
        </>
    );
}

export function InfoDialog(): JSX.Element {
    return (
        <Dialog name="info" title="Recording">
            <Facts />
        </Dialog>
    );
}
