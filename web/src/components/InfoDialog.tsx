/** Everything the profile says about its recording: the machine, the command, the date, and how far it can be trusted. */
import type { JSX } from 'preact';
import { formatCount, formatDuration } from '../text/format';
import { Dialog } from './Dialog';
import { trustSummary } from '../state/trust';
import { ProfileText } from './text';
import { useSession } from './session_context';
import type { Session } from '../state/session';

interface Entry {
    label: string;
    value: string;
}

function recordingEntries(session: Session): Entry[] {
    const { info } = session;
    const { fullRange } = session.store;
    const profile = info.value;
    const [start, end] = fullRange.value;
    const entries: Entry[] = [
        { label: 'Program', value: profile.product },
        { label: 'Recorded', value: profile.startTime > 0 ? new Date(profile.startTime).toLocaleString() : '' },
        { label: 'Length', value: formatDuration(end - start) },
        { label: 'Interval', value: profile.interval > 0 ? formatDuration(profile.interval) : '' },
        { label: 'Samples', value: formatCount(profile.sampleCount) },
        { label: 'Threads', value: formatCount(profile.threads.length) },
        { label: 'Symbols', value: profile.symbolicated ? '' : 'not symbolicated: names are addresses' },
    ];
    const known = new Set(entries.map((entry) => entry.label.toLowerCase()));
    return [...entries, ...profile.metadata.filter((entry) => !known.has(entry.label.toLowerCase()))].filter(
        (entry) => entry.value !== '',
    );
}

function EntryTable({ title, entries }: { title: string; entries: Entry[] }): JSX.Element {
    return (
        <section>
            <h3>
                <ProfileText text={title} />
            </h3>
            <table class="facts">
                <tbody>
                    {entries.map((entry, at) => (
                        <tr key={`${at}:${entry.label.slice(0, 80)}`}>
                            <th scope="row">
                                <ProfileText text={entry.label} />
                            </th>
                            <td>
                                <ProfileText text={entry.value} limit={4000} />
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
    const { extra } = session.info.value;
    const trust = session.summaryView.trustSection.value;
    const { fix } = trust ? trustSummary(trust, 0) : { fix: '' };
    return (
        <>
            {fix !== '' && <p class="explanation">{fix}.</p>}
            <EntryTable title="Profile" entries={recordingEntries(session)} />
            {[...extra, ...(trust && !extra.includes(trust) ? [trust] : [])].map((section, at) => (
                <EntryTable
                    key={`${at}:${section.label.slice(0, 80)}`}
                    title={section.label}
                    entries={section.entries}
                />
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
