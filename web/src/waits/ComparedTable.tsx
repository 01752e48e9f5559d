/** The waits of both sides of a comparison, matched by name. Enter shows the longest wait of a row. */
import { computed, signal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { formatCount } from '../base/format';
import { type ChangedRow, changeColumns } from '../compare/change_columns';
import type { ComparedWait } from '../engine/waits';
import { useModel, useSession } from '../session/context';
import { copyPlainName, copyTableItems } from '../table/copies';
import { Table } from '../table/Table';
import { type Column, numberColumn, shownColumns } from '../table/table_columns';
import { nameColumn } from '../table/weight_columns';
import { ProfileText } from '../ui/text';
import { type MenuItem, menuItem } from '../window/windows';
import { EmptyWaits, LinkCell, lengthOrNone, MAIN_TITLES } from './wait_parts';

const TABLE = 'compared-waits';
const USUAL_ORDER = 'total';
const NAME_LIMIT = 200;

type Row = ComparedWait & ChangedRow;
type Side = 'base' | 'new';

/** Returns whether the row has no change that exceeds noise. */
const isNoise = ({ known }: Row): boolean => known?.isNoise ?? true;

const whereOf = ({ where }: Row): string => (where ? `${where.function}${where.line ? `:${where.line}` : ''}` : '');

const longestOf = (row: Row, side: Side): number => row[side].longest?.ms ?? 0;

/** Returns the number of each column, by the name of the order. */
const VALUES: Record<string, (row: Row) => number> = {
    total: ({ total }) => Math.abs(total),
    baseTotal: (row) => row.base.ms,
    newTotal: (row) => row.new.ms,
    relative: ({ total, base }) => (base.ms > 0 ? total / base.ms : Number.MAX_VALUE),
    known: ({ known }) => (known ? known.high - known.low : -1),
    baseCount: (row) => row.base.count,
    newCount: (row) => row.new.count,
    baseLongest: (row) => longestOf(row, 'base'),
    newLongest: (row) => longestOf(row, 'new'),
};
const TEXTS: Record<string, (row: Row) => string> = { name: ({ name }) => name, kind: ({ reason }) => reason };

/** Compares two rows by a column, largest first, or texts from A to Z. Changes within the noise follow all others. */
function compareRows(column: string, a: Row, b: Row): number {
    const textOf = TEXTS[column];
    if (textOf) return textOf(a).localeCompare(textOf(b));
    const byVerdict = column === USUAL_ORDER ? Number(isNoise(a)) - Number(isNoise(b)) : 0;
    return byVerdict || (VALUES[column]?.(b) ?? 0) - (VALUES[column]?.(a) ?? 0);
}

function createComparedModel(session: Session) {
    const { comparedBy, comparedWaits, showInChart } = session.waitList;
    const selected = signal('');
    const reveal = signal(0);
    const sort = session.tables.sortOf(TABLE, USUAL_ORDER);

    const rows = computed<Row[]>(() => {
        const { column, reversed } = sort.value;
        const list = (comparedWaits.value?.list ?? []).map((wait) => ({
            ...wait,
            total: wait.new.ms - wait.base.ms,
            self: 0,
            sides: { base: { total: wait.base.ms, self: 0 }, new: { total: wait.new.ms, self: 0 } },
        }));
        list.sort((a, b) => compareRows(column, a, b));
        return reversed ? list.reverse() : list;
    });

    function goToLongest(row: Row, side: Side): void {
        const { longest } = row[side];
        if (longest) showInChart(longest.thread, [longest.from_ms, longest.to_ms]);
    }

    function countColumn(side: Side, title: string): Column<Row> {
        const text = (row: Row): string => {
            const { count } = row[side];
            if (!(count > 0)) return '—';
            const isMeanOfIntervals = (session.tree.summary.value?.newIntervals ?? 0) > 0;
            return isMeanOfIntervals ? count.toFixed(2) : formatCount(Math.max(1, Math.round(count)));
        };
        return numberColumn({
            key: `${side}Count`,
            title: `${title} count`,
            hint: 'Number of waits. Numbers of short waits are estimates.',
            width: 88,
            text,
            value: (row) => row[side].count,
            sparedBelow: 900,
        });
    }

    function longestColumn(side: Side, title: string): Column<Row> {
        const text = (row: Row): string => lengthOrNone(longestOf(row, side));
        return numberColumn({
            key: `${side}Longest`,
            title: `${title} longest (ms)`,
            hint: 'The longest wait in the range; a click shows it',
            width: 128,
            cell: (row) =>
                row[side].longest ? (
                    <LinkCell
                        title="Show it in the stack chart"
                        text={text(row)}
                        onClick={() => goToLongest(row, side)}
                    />
                ) : (
                    '—'
                ),
            text,
            value: (row) => longestOf(row, side),
            sparedBelow: 1400,
        });
    }

    const kind: Column<Row> = {
        key: 'kind',
        title: 'Kind',
        width: 112,
        isNumber: false,
        isText: true,
        sortedBy: 'kind',
        class: 'wait-kind',
        cell: ({ reason }) => reason,
        text: ({ reason }) => reason,
        sparedBelow: 640,
    };

    const columns = computed<Column<Row>[]>(() => [
        ...changeColumns<Row>(session, {
            by: 'total',
            knownOf: ({ known }) => known,
            alone: { unit: 'ms', whole: comparedWaits.value?.all.base ?? 0 },
        }).map((column) => ({ ...column, sortedBy: column.sortedBy || column.key })),
        countColumn('base', 'Base'),
        countColumn('new', 'New'),
        longestColumn('base', 'Base'),
        longestColumn('new', 'New'),
        ...(comparedBy.value === 'reason' ? [] : [kind]),
    ]);

    const main = computed(() =>
        nameColumn<Row>({
            title: MAIN_TITLES[comparedBy.value],
            cell: (row) => (
                <span class="tree-text in-list">
                    <ProfileText text={row.name} limit={NAME_LIMIT} />
                    <span class="tree-lib">
                        <ProfileText text={whereOf(row)} limit={NAME_LIMIT} />
                    </span>
                </span>
            ),
            text: (row) => `${row.name} (${whereOf(row)})`,
        }),
    );

    function copyItems(): MenuItem[] {
        return copyTableItems({
            rows: rows.value,
            columns: [...shownColumns(TABLE, columns.value, 0), main.value],
            prepare: async () => undefined,
        });
    }

    return { columns, copyItems, goToLongest, main, reveal, rows, selected, sort };
}

export function ComparedTable(): JSX.Element {
    const { comparedError, comparedWaits } = useSession().waitList;
    const model = useModel(createComparedModel);
    const { copyItems, goToLongest, reveal, selected } = model;
    const rows = model.rows.value;
    const goToEither = (row: Row): void => goToLongest(row, row.new.longest ? 'new' : 'base');
    const goItem = (row: Row, side: Side, title: string): MenuItem =>
        menuItem(title, () => goToLongest(row, side), { enabled: row[side].longest !== undefined });
    return (
        <Table
            name={TABLE}
            label="Waits"
            role="grid"
            rows={rows}
            columns={model.columns.value}
            main={model.main.value}
            sort={model.sort.value}
            usualSort={USUAL_ORDER}
            selectedAt={Math.max(
                0,
                rows.findIndex(({ name }) => name === selected.value),
            )}
            reveal={reveal.value}
            rowKey={({ name }) => name}
            rowClass={(row) => (isNoise(row) ? ' noise' : '')}
            onSelect={({ name }, scroll) => {
                selected.value = name;
                if (scroll) reveal.value++;
            }}
            onKey={() => false}
            onOpen={goToEither}
            onCopy={({ name }) => copyPlainName(name)}
            menuOf={(row) => ({
                items: [
                    goItem(row, 'new', 'Show the longest wait of the new side'),
                    goItem(row, 'base', 'Show the longest wait of the base'),
                    ...copyItems(),
                ],
            })}
            headMenu={copyItems}
            error={comparedError.value}
            empty={comparedWaits.value === null ? null : <EmptyWaits />}
        />
    );
}
