/** The metadata of the recording: the machine, the command, the date, and the data quality. */
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { formatCount, formatDuration } from '../base/format';
import { ONE_AFTER_OTHER } from '../compare/certainty';
import { scaleText, wallTimeText } from '../compare/comparison';
import type { Comparison } from '../engine/api';
import { useSession } from '../session/context';
import { FetchSymbols } from '../ui/FetchSymbols';
import { ProfileText } from '../ui/text';
import { trustSummary } from './trust';

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
        { label: 'Length', value: profile.timesAreOrder ? '' : formatDuration(end - start) },
        { label: 'Interval', value: profile.interval > 0 ? formatDuration(profile.interval) : '' },
        { label: 'Samples', value: formatCount(profile.sampleCount) },
        { label: 'Threads', value: formatCount(profile.threads.length) },
        { label: 'Symbols', value: profile.symbolicated ? '' : 'none: functions are addresses' },
    ];
    const known = new Set(entries.map((entry) => entry.label.toLowerCase()));
    return [...entries, ...profile.metadata.filter((entry) => !known.has(entry.label.toLowerCase()))].filter(
        (entry) => entry.value !== '',
    );
}

function comparisonEntries(session: Session, comparison: Comparison): Entry[] {
    const { hasWeight } = session.filters;
    const runs = (count: number): string => (count > 1 ? `, the mean of ${formatCount(count)} runs` : '');
    return [
        { label: 'Base', value: `${comparison.base}${runs(comparison.baseRuns)}` },
        { label: 'New', value: `${comparison.new}${runs(comparison.newRuns)}` },
        { label: 'Scale', value: scaleText(comparison) || 'none: both sides count as recorded' },
        ...(hasWeight('cpu-time') ? [{ label: 'Wall time', value: wallTimeText(comparison) }] : []),
        ...(comparison.isOneAfterOther ? [{ label: 'Order', value: ONE_AFTER_OTHER }] : []),
    ];
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

/** The entries about both sides of a comparison. Other entries are about the base. */
const OF_BOTH: ReadonlySet<string> = new Set(['Length', 'Samples', 'Threads', 'Symbols']);

export function Facts(): JSX.Element {
    const session = useSession();
    const { comparison, extra } = session.info.value;
    const trust = session.summaryView.trustSection.value;
    const entries = recordingEntries(session);
    const { fix } = trust ? trustSummary(trust, 0, session.summaryView.unnamedShare.value) : { fix: '' };
    return (
        <>
            {fix !== '' && (
                <p class="explanation">
                    {fix}. <FetchSymbols />
                </p>
            )}
            {comparison && <EntryTable title="Comparison" entries={comparisonEntries(session, comparison)} />}
            {comparison && (
                <EntryTable title="Both sides" entries={entries.filter(({ label }) => OF_BOTH.has(label))} />
            )}
            <EntryTable
                title={comparison ? 'Base' : 'Profile'}
                entries={entries.filter(({ label }) => !comparison || !OF_BOTH.has(label))}
            />
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
