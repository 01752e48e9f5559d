/** Menus, texts of times, and tooltips, which all views of markers share. */
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { categoryColor } from '../base/colors';
import { formatDuration } from '../base/format';
import { oneLine } from '../base/plain';
import type { MarkerDetails, MarkerRow } from '../engine/markers';
import { useSession } from '../session/context';
import { ProfileText } from '../ui/text';
import { act, copyText, type MenuItem, menuItem, showNotice } from '../window/windows';
import { markerDuration } from './markers';

const FIELD_LIMIT = 300;
const MOST_FIELDS = 12;

export function startText(session: Session, row: MarkerRow): string {
    return session.axisText.placeText(row.start);
}

export function durationText(row: MarkerRow): string {
    const duration = markerDuration(row);
    return duration === null ? '' : formatDuration(duration);
}

/** Says which of the marker's times are missing, or returns '' if none is. */
export function missingEnd(row: MarkerRow): string {
    if (row.kind === 'without start') return 'Started before the recording, or its start was lost.';
    return row.kind === 'without end' ? 'Still running when the recording ended.' : '';
}

async function detailsOf(session: Session, row: MarkerRow): Promise<MarkerDetails> {
    const { engine } = session;
    const { chartQuery } = session.markers;
    return engine.markerDetails(chartQuery.peek(), row.marker);
}

async function copyJson(session: Session, row: MarkerRow): Promise<void> {
    const { info } = session;
    const { name, start, end, payload } = await detailsOf(session, row);
    const category = info.value.categories[row.category]?.name ?? '';
    const data: unknown = payload === '' ? null : JSON.parse(payload);
    await copyText(`${JSON.stringify({ name, category, start, end, data }, null, 2)}\n`, 'Marker');
}

async function copyCause(session: Session, row: MarkerRow): Promise<void> {
    const { copyStack } = session.copies;
    const { cause } = await detailsOf(session, row);
    if (cause.length > 0) await copyStack(cause, false);
    else showNotice('This marker has no stack');
}

export function copyDescription(row: MarkerRow): void {
    act(copyText(oneLine(row.label === '' ? row.name : `${row.name}: ${row.label}`), 'Description'));
}

export function markerItems(session: Session, row: MarkerRow): MenuItem[] {
    const { showPath } = session.criticalPath;
    const { keepSamplesItem } = session.markerFilter;
    const { selectMarkerRange, setPreviewEnd, setPreviewStart } = session.markers;
    const isInstant = row.kind === 'instant';
    return [
        menuItem(isInstant ? 'Select the range around it' : 'Select its time range', () => selectMarkerRange(row), {
            keys: 'Enter',
            title: 'All views show only this range',
        }),
        menuItem('Start the selection at its start', () => setPreviewStart(row.start), { keys: '[' }),
        menuItem('End the selection at its end', () => setPreviewEnd(row.end), { keys: ']' }),
        ...(session.criticalPath.hasPaths() && row.end > row.start
            ? [
                  menuItem('Critical path of its time range', () => showPath(row.thread, [row.start, row.end]), {
                      title: 'What its thread did or waited for, also in other threads',
                  }),
              ]
            : []),
        keepSamplesItem(row.name),
        menuItem('Copy description', () => copyDescription(row), { keys: 'Ctrl+C', startsGroup: true }),
        menuItem('Copy as JSON', () => act(copyJson(session, row))),
        menuItem('Copy its stack', () => act(copyCause(session, row)), {
            title: 'The stack at which the marker was set, if it was recorded',
        }),
    ];
}

/** Returns the action on a marker that a key of the menu starts, or null for another key. */
export function actionOfKey(session: Session, event: KeyboardEvent): ((row: MarkerRow) => void) | null {
    const { selectMarkerRange, setPreviewEnd, setPreviewStart } = session.markers;
    if (event.altKey || event.metaKey) return null;
    if (event.ctrlKey) return event.key === 'c' ? copyDescription : null;
    if (event.key === 'Enter') return selectMarkerRange;
    if (event.key === '[') return (row) => setPreviewStart(row.start);
    if (event.key === ']') return (row) => setPreviewEnd(row.end);
    return null;
}

export function MarkerTooltip({ marker, count = 1 }: { marker: MarkerDetails; count?: number }): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { selectedThreads, threadInfo } = session.store;
    const category = info.value.categories[marker.category];
    const shown = marker.fields.filter((field) => !field.hidden && field.value !== '');
    const note = missingEnd(marker);
    // Name the thread only if markers of several threads are possible.
    const isOneOfMany = selectedThreads.value.length > 1;
    const thread = isOneOfMany ? threadInfo(marker.thread) : undefined;
    return (
        <>
            <div class="sample-head">
                <strong>{durationText(marker) || 'instant'}</strong>
                <span>
                    <ProfileText text={marker.title || marker.name} limit={FIELD_LIMIT} />
                </span>
            </div>
            <dl class="marker-fields">
                <div>
                    <dt>Start</dt>
                    <dd>{startText(session, marker)}</dd>
                </div>
                {category && (
                    <div>
                        <dt>Category</dt>
                        <dd>
                            <span class="category-square" style={{ background: categoryColor(category) }} />{' '}
                            <ProfileText text={category.name} limit={40} />
                        </dd>
                    </div>
                )}
                {thread && (
                    <div>
                        <dt>Thread</dt>
                        <dd>
                            <ProfileText text={`${thread.name} (TID ${thread.tid})`} limit={80} />
                        </dd>
                    </div>
                )}
                {shown.slice(0, MOST_FIELDS).map((field) => (
                    <div key={field.key}>
                        <dt>
                            <ProfileText text={field.label} limit={40} />
                        </dt>
                        <dd>
                            <ProfileText text={field.value} limit={FIELD_LIMIT} />
                        </dd>
                    </div>
                ))}
            </dl>
            {note !== '' && <p class="muted">{note}</p>}
            {count > 1 && <p class="muted">{`and ${count - 1} more here: zoom in to see them`}</p>}
        </>
    );
}
