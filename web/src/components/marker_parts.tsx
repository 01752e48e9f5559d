/** What the views of markers share: menus, texts of times, and what a tooltip says of one. */
import type { JSX } from 'preact';
import { categoryColor } from '../draw/colors';
import type { MarkerDetails, MarkerRow } from '../engine/markers';
import { copyStack } from '../state/copies';
import { keepSamplesItem } from '../state/marker_filter';
import { chartQuery, markerDuration, selectMarkerRange, setPreviewEnd, setPreviewStart } from '../state/markers';
import { engine, fullRange, info, selectedThreads, threadInfo } from '../state/store';
import { copyText, type MenuItem, menuItem, showNotice } from '../state/windows';
import { formatDuration } from '../text/format';
import { oneLine } from '../text/plain';
import { ProfileText } from './text';

const FIELD_LIMIT = 300;
const MOST_FIELDS = 12;

export function startText(row: MarkerRow): string {
    return formatDuration(row.start - fullRange.value[0]);
}

export function durationText(row: MarkerRow): string {
    const duration = markerDuration(row);
    return duration === null ? '' : formatDuration(duration);
}

/** What is not known of its times; '' if all is. */
export function missingEnd(row: MarkerRow): string {
    if (row.kind === 'without start') return 'Started before the recording, or its start was lost.';
    return row.kind === 'without end' ? 'Not ended when the recording ended.' : '';
}

async function detailsOf(row: MarkerRow): Promise<MarkerDetails> {
    return engine.markerDetails(chartQuery.peek(), row.marker);
}

async function copyJson(row: MarkerRow): Promise<void> {
    const { name, start, end, payload } = await detailsOf(row);
    const category = info.value.categories[row.category]?.name ?? '';
    const data: unknown = payload === '' ? null : JSON.parse(payload);
    await copyText(`${JSON.stringify({ name, category, start, end, data }, null, 2)}\n`, 'Marker');
}

async function copyCause(row: MarkerRow): Promise<void> {
    const { cause } = await detailsOf(row);
    if (cause.length > 0) await copyStack(cause, false);
    else showNotice('This marker has no stack');
}

export function copyDescription(row: MarkerRow): void {
    void copyText(oneLine(row.label === '' ? row.name : `${row.name}: ${row.label}`), 'Description');
}

export function markerItems(row: MarkerRow): MenuItem[] {
    const isInstant = row.kind === 'instant';
    return [
        menuItem(isInstant ? 'Select the range around it' : 'Select its time range', () => selectMarkerRange(row), {
            keys: 'Enter',
            title: 'All views show only this range',
        }),
        menuItem('Start the selection at its start', () => setPreviewStart(row.start), { keys: '[' }),
        menuItem('End the selection at its end', () => setPreviewEnd(row.end), { keys: ']' }),
        keepSamplesItem(row.name),
        menuItem('Copy description', () => copyDescription(row), { keys: 'Ctrl+C', startsGroup: true }),
        menuItem('Copy as JSON', () => void copyJson(row)),
        menuItem('Copy its stack', () => void copyCause(row), {
            title: 'The stack that set the marker, if the profile has it',
        }),
    ];
}

/** Keys of the menu; false if it is another. */
export function onMarkerKey(event: KeyboardEvent, row: MarkerRow): boolean {
    if (event.ctrlKey || event.altKey || event.metaKey) return false;
    if (event.key === '[') setPreviewStart(row.start);
    else if (event.key === ']') setPreviewEnd(row.end);
    else return false;
    return true;
}

export function MarkerTooltip({ marker, count = 1 }: { marker: MarkerDetails; count?: number }): JSX.Element {
    const category = info.value.categories[marker.category];
    const shown = marker.fields.filter((field) => !field.hidden && field.value !== '');
    const note = missingEnd(marker);
    // Where it could be another.
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
                    <dd>{startText(marker)}</dd>
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
