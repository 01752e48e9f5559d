/** The markers of the view as a table. Enter selects the range of a marker for all views. */
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { categoryColor } from '../base/colors';
import { formatCount } from '../base/format';
import type { MarkerRow } from '../engine/markers';
import { useModel, useSession } from '../session/context';
import { copyTableItems } from '../table/copies';
import { Table } from '../table/Table';
import { type Column, NARROW, shownColumns } from '../table/table_columns';
import { ProfileText } from '../ui/text';
import type { MenuItem } from '../window/windows';
import { act } from '../window/windows';
import { actionOfKey, copyDescription, durationText, markerItems } from './marker_parts';
import { MARKER_ORDER, MARKER_TABLE, markerDuration } from './markers';

const NAME_LIMIT = 200;
const CHARACTER_WIDTH = 7;
const MARGIN = 40;

type Cell = (row: MarkerRow) => string;

/** Makes a column of the texts that the page has fetched for markers. */
function textColumn(
    session: Session,
    column: Omit<Column<number>, 'cell' | 'text' | 'class' | 'sortedBy'> & { class?: string },
    text: Cell,
    draw?: (row: MarkerRow) => JSX.Element,
): Column<number> {
    const { markerRow, markerTextsVersion } = session.markers;
    return {
        ...column,
        class: column.class ?? (column.isNumber ? 'number' : 'text-cell'),
        sortedBy: column.key === 'thread' || column.key === 'category' ? '' : column.key,
        cell: (marker) => {
            // Only this cell depends on the texts, so an arriving text renders only the cell again.
            markerTextsVersion.value;
            const row = markerRow(marker);
            return row ? (draw?.(row) ?? text(row)) : '…';
        },
        text: (marker) => {
            const row = markerRow(marker);
            return row ? text(row) : '';
        },
    };
}

const milliseconds = new Intl.NumberFormat('en-US', { minimumFractionDigits: 3, maximumFractionDigits: 3 });

/** All starts have the same number of digits, so that the user can compare them. */
function startInMs(session: Session, row: MarkerRow): string {
    const { fullRange } = session.store;
    return milliseconds.format(row.start - fullRange.value[0]);
}
function categoryName(session: Session, row: MarkerRow): string {
    const { info } = session;
    return info.value.categories[row.category]?.name ?? '';
}
function threadName(session: Session, row: MarkerRow): string {
    const { threadInfo } = session.store;
    return threadInfo(row.thread)?.name ?? '';
}

/** Creates the columns of the table and its actions. */
function createMarkerTableModel(session: Session) {
    const { info } = session;
    const { fetchMarkerRows, listedMarkers, markerRow, markerTextsVersion } = session.markers;
    const { fullRange } = session.store;

    const columns: readonly Column<number>[] = [
        {
            // Descending order is from the first to the last text.
            ...textColumn(
                session,
                { key: 'start', title: 'Start (ms)', width: 104, isNumber: true, isText: true },
                (row) => startInMs(session, row),
            ),
            value: (marker) => (markerRow(marker)?.start ?? 0) - fullRange.value[0],
        },
        {
            ...textColumn(session, { key: 'duration', title: 'Duration', width: 96, isNumber: true }, durationText),
            describe: (marker) => {
                const row = markerRow(marker);
                const duration = row && markerDuration(row);
                return typeof duration === 'number' ? `${duration} ms` : 'No duration';
            },
            value: (marker) => {
                const row = markerRow(marker);
                return (row && markerDuration(row)) ?? 0;
            },
        },
        textColumn(
            session,
            { key: 'thread', title: 'Thread', width: 120, isNumber: false, optional: 'hidden' },
            (row) => threadName(session, row),
            (row) => <ProfileText text={threadName(session, row)} limit={NAME_LIMIT} />,
        ),
        textColumn(
            session,
            {
                key: 'category',
                title: 'Category',
                width: 112,
                isNumber: false,
                optional: 'hidden',
                sparedBelow: NARROW,
            },
            (row) => categoryName(session, row),
            (row) => <ProfileText text={categoryName(session, row)} limit={NAME_LIMIT} />,
        ),
        textColumn(
            session,
            { key: 'name', title: 'Name', width: 200, isNumber: false, isText: true },
            (row) => row.name,
            (row) => (
                <>
                    <span
                        class="category-square"
                        style={{ background: categoryColor(info.value.categories[row.category]) }}
                    />{' '}
                    <ProfileText text={row.name || '(no name)'} limit={NAME_LIMIT} />
                </>
            ),
        ),
    ];

    const main: Column<number> = {
        ...textColumn(
            session,
            { key: 'details', title: 'Details', width: 0, isNumber: false, isText: true },
            (row) => row.label,
        ),
        class: 'tree-name',
        cell: (marker) => {
            markerTextsVersion.value;
            return (
                <span class="tree-text in-list">
                    <ProfileText text={markerRow(marker)?.label ?? ''} />
                </span>
            );
        },
    };

    function copyItems(): MenuItem[] {
        return copyTableItems({
            rows: listedMarkers.value ?? [],
            columns: [...shownColumns(MARKER_TABLE, columns, 0), main],
            prepare: fetchMarkerRows,
        });
    }

    return { columns, main, copyItems };
}

export function EmptyMarkers(): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { markerSearch } = session.markers;
    const { changeView, previewRange, selectedThreads, setPreview, threadInfo } = session.store;
    const threads = selectedThreads.value.map(threadInfo);
    const count = threads.reduce((sum, thread) => sum + (thread?.markerCount ?? 0), 0);
    const others = info.value.markerCount - count;
    const reason =
        markerSearch.value !== '' && count > 0
            ? 'No marker of the selected threads matches the filter.'
            : count > 0
              ? 'The selected range contains no markers; the full range does.'
              : info.value.markerCount === 0
                ? 'This profile contains no markers'
                : `The selected threads have no markers; other threads have ${formatCount(others)}.`;
    return (
        <div class="empty">
            <h2>No markers</h2>
            <p>{reason}</p>
            <p>
                {markerSearch.value !== '' && (
                    <button type="button" class="button" onClick={() => changeView({ markerSearch: '' }, 'push')}>
                        Clear the search
                    </button>
                )}{' '}
                {previewRange.value && (
                    <button type="button" class="button" onClick={() => setPreview(null, 'push')}>
                        Show the full range
                    </button>
                )}{' '}
                {count === 0 && others > 0 && (
                    <button
                        type="button"
                        class="button"
                        onClick={() => changeView({ threads: busiest(session) }, 'push')}
                    >
                        Show the thread with the most markers
                    </button>
                )}
            </p>
        </div>
    );
}

function busiest(session: Session): number[] {
    const { info } = session;
    const [most] = [...info.value.threads].sort((a, b) => b.markerCount - a.markerCount);
    return most ? [most.index] : [];
}

export function MarkerTable(): JSX.Element {
    const session = useSession();
    const { columns, copyItems, main } = useModel(createMarkerTableModel);
    const {
        fetchMarkerRows,
        listedMarkers,
        markerReveal,
        markerRow,
        markerSort,
        markerTextsVersion,
        markersError,
        selectMarker,
        selectMarkerRange,
        selectedMarker,
    } = session.markers;
    markerTextsVersion.value;
    const all = listedMarkers.value;
    const rows = all ?? [];
    const textsOf = async (marker: number): Promise<MarkerRow | undefined> => {
        await fetchMarkerRows([marker]);
        return markerRow(marker);
    };
    const onRow = async (marker: number, action: (row: MarkerRow) => void): Promise<void> => {
        const row = await textsOf(marker);
        if (row) action(row);
    };
    const itemsOf = (row: MarkerRow | undefined): MenuItem[] => [
        ...(row ? markerItems(session, row) : []),
        ...copyItems(),
    ];
    return (
        <Table
            name={MARKER_TABLE}
            label="Markers"
            role="grid"
            rows={rows}
            columns={columns}
            main={main}
            mainWidth={rows.slice(0, 500).reduce((most, marker) => Math.max(most, widthOf(session, marker)), 0)}
            sort={markerSort.value}
            usualSort={MARKER_ORDER}
            selectedAt={selectedMarker.value < 0 ? -1 : rows.indexOf(selectedMarker.value)}
            reveal={markerReveal.value}
            rowKey={(marker) => marker}
            onSelect={selectMarker}
            onKey={(event, marker) => {
                const action = marker === null ? null : actionOfKey(session, event);
                if (marker !== null && action) act(onRow(marker, action));
                return action !== null;
            }}
            onOpen={(marker) => act(onRow(marker, selectMarkerRange))}
            onCopy={(marker) => act(onRow(marker, copyDescription))}
            menuOf={(marker) => {
                const row = markerRow(marker);
                return row ? { items: itemsOf(row) } : { items: itemsOf(row), later: textsOf(marker).then(itemsOf) };
            }}
            headMenu={copyItems}
            tooltipOf={(marker, isCut) => {
                const row = markerRow(marker);
                return row && isCut ? <ProfileText text={row.label} limit={2000} /> : null;
            }}
            onVisible={(visible) => act(fetchMarkerRows(visible))}
            error={markersError.value}
            empty={all === null ? null : <EmptyMarkers />}
        />
    );
}

function widthOf(session: Session, marker: number): number {
    const { markerRow } = session.markers;
    return MARGIN + Math.min(markerRow(marker)?.label.length ?? 0, 400) * CHARACTER_WIDTH;
}

/** The number of markers, for the head of the panel. */
export function MarkerCount(): JSX.Element {
    const session = useSession();
    const { markerLayout } = session.markerChart;
    const { listedMarkers } = session.markers;
    const { view } = session.store;
    const inChart = markerLayout.value?.rows.reduce((sum, row) => sum + row.count, 0);
    const count = view.value.tab === 'marker-chart' ? inChart : listedMarkers.value?.length;
    return (
        <span class="muted">
            {count === undefined ? '' : `${formatCount(count)} ${count === 1 ? 'marker' : 'markers'}`}
        </span>
    );
}
