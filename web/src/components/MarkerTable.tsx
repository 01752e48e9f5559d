/** The markers of the view as a table. Enter selects the range of one, which all other views are about then. */
import type { JSX } from 'preact';
import type { MarkerRow } from '../engine/markers';
import { copyTableItems } from '../state/copies';
import {
    fetchMarkerRows,
    listedMarkers,
    MARKER_ORDER,
    MARKER_TABLE,
    markerDuration,
    markerReveal,
    markerRow,
    markerSearch,
    markerSort,
    markersError,
    markerTextsVersion,
    selectedMarker,
    selectMarker,
    selectMarkerRange,
} from '../state/markers';
import { markerLayout } from '../state/marker_chart';
import {
    changeView,
    fullRange,
    info,
    previewRange,
    selectedThreads,
    setPreview,
    threadInfo,
    view,
} from '../state/store';
import type { MenuItem } from '../state/windows';
import { formatCount } from '../text/format';
import { categoryColor } from '../draw/colors';
import { copyDescription, durationText, markerItems, onMarkerKey } from './marker_parts';
import { type Column, shownColumns, Table } from './Table';
import { ProfileText } from './text';

const NAME_LIMIT = 200;
const CHARACTER_WIDTH = 7;
const MARGIN = 40;

type Cell = (row: MarkerRow) => string;

/** A column over what has been fetched of a marker. */
function textColumn(
    column: Omit<Column<number>, 'cell' | 'text' | 'class' | 'sortedBy'> & { class?: string },
    text: Cell,
    draw?: (row: MarkerRow) => JSX.Element,
): Column<number> {
    return {
        ...column,
        class: column.class ?? (column.isNumber ? 'number' : 'text-cell'),
        sortedBy: column.key === 'thread' || column.key === 'category' ? '' : column.key,
        cell: (marker) => {
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

/** All with the same digits: starts are compared with one another. */
const startInMs: Cell = (row) => milliseconds.format(row.start - fullRange.value[0]);
const categoryName: Cell = (row) => info.value.categories[row.category]?.name ?? '';
const threadName: Cell = (row) => threadInfo(row.thread)?.name ?? '';

const columns: readonly Column<number>[] = [
    {
        // Down is from the first to the last.
        ...textColumn({ key: 'start', title: 'Start (ms)', width: 104, isNumber: true, isText: true }, startInMs),
        value: (marker) => (markerRow(marker)?.start ?? 0) - fullRange.value[0],
    },
    {
        ...textColumn({ key: 'duration', title: 'Duration', width: 96, isNumber: true }, durationText),
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
        { key: 'thread', title: 'Thread', width: 120, isNumber: false, optional: 'hidden' },
        threadName,
        (row) => <ProfileText text={threadName(row)} limit={NAME_LIMIT} />,
    ),
    textColumn(
        { key: 'category', title: 'Category', width: 112, isNumber: false, optional: 'hidden', spared: true },
        categoryName,
        (row) => <ProfileText text={categoryName(row)} limit={NAME_LIMIT} />,
    ),
    textColumn(
        { key: 'name', title: 'Name', width: 200, isNumber: false, isText: true },
        (row) => row.name,
        (row) => (
            <>
                <span class="category-square" style={{ background: categoryColor(info.value.categories[row.category]) }} />{' '}
                <ProfileText text={row.name || '(no name)'} limit={NAME_LIMIT} />
            </>
        ),
    ),
];

const main: Column<number> = {
    ...textColumn({ key: 'details', title: 'Details', width: 0, isNumber: false, isText: true }, (row) => row.label),
    class: 'tree-name',
    cell: (marker) => (
        <span class="tree-text in-list">
            <ProfileText text={markerRow(marker)?.label ?? ''} />
        </span>
    ),
};

function copyItems(): MenuItem[] {
    return copyTableItems({
        rows: listedMarkers.value ?? [],
        columns: [...shownColumns(MARKER_TABLE, columns, 0), main],
        prepare: fetchMarkerRows,
    });
}

export function EmptyMarkers(): JSX.Element {
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
                    <button type="button" class="button" onClick={() => changeView({ threads: busiest() }, 'push')}>
                        Show the thread with the most markers
                    </button>
                )}
            </p>
        </div>
    );
}

function busiest(): number[] {
    const [most] = [...info.value.threads].sort((a, b) => b.markerCount - a.markerCount);
    return most ? [most.index] : [];
}

export function MarkerTable(): JSX.Element {
    markerTextsVersion.value;
    const all = listedMarkers.value;
    const rows = all ?? [];
    const onRow = (marker: number, action: (row: MarkerRow) => void): void => {
        const row = markerRow(marker);
        if (row) action(row);
    };
    return (
        <Table
            name={MARKER_TABLE}
            label="Markers"
            role="grid"
            rows={rows}
            columns={columns}
            main={main}
            mainWidth={rows.slice(0, 500).reduce((most, marker) => Math.max(most, widthOf(marker)), 0)}
            sort={markerSort.value}
            usualSort={MARKER_ORDER}
            selectedAt={selectedMarker.value < 0 ? -1 : rows.indexOf(selectedMarker.value)}
            reveal={markerReveal.value}
            rowKey={(marker) => marker}
            onSelect={selectMarker}
            onKey={(event, marker) => {
                const row = marker === null ? undefined : markerRow(marker);
                return row !== undefined && onMarkerKey(event, row);
            }}
            onOpen={(marker) => onRow(marker, selectMarkerRange)}
            onCopy={(marker) => onRow(marker, copyDescription)}
            menuOf={(marker) => {
                const row = markerRow(marker);
                return { items: [...(row ? markerItems(row) : []), ...copyItems()] };
            }}
            headMenu={copyItems}
            tooltipOf={(marker, isCut) => {
                const row = markerRow(marker);
                return row && isCut ? <ProfileText text={row.label} limit={2000} /> : null;
            }}
            onVisible={(visible) => void fetchMarkerRows(visible)}
            error={markersError.value}
            empty={all === null ? null : <EmptyMarkers />}
        />
    );
}

function widthOf(marker: number): number {
    return MARGIN + Math.min(markerRow(marker)?.label.length ?? 0, 400) * CHARACTER_WIDTH;
}

/** For the head of the panel: how many there are. */
export function MarkerCount(): JSX.Element {
    const inChart = markerLayout.value?.rows.reduce((sum, row) => sum + row.count, 0);
    const count = view.value.tab === 'marker-chart' ? inChart : listedMarkers.value?.length;
    return <span class="muted">{count === undefined ? '' : `${formatCount(count)} ${count === 1 ? 'marker' : 'markers'}`}</span>;
}
