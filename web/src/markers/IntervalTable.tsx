/**
 * The intervals of markers by name, and the histogram and states of the selected name. The page loads this file when
 * the user opens the view.
 */
import { computed } from '@preact/signals';
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { formatCount, formatDuration, formatMs, formatShare, formatWeight } from '../base/format';
import { STATE_REASONS, STATE_RUNNING } from '../engine/api';
import type { IntervalStats } from '../engine/markers';
import { useModel, useSession } from '../session/context';
import { stateBackground } from '../session/states';
import { copyPlainName, copyTableItems } from '../table/copies';
import { Table } from '../table/Table';
import { type Column, numberColumn, shownColumns } from '../table/table_columns';
import { nameColumn } from '../table/weight_columns';
import { Choices } from '../ui/Choices';
import { StateShares } from '../ui/StateShares';
import { ProfileText } from '../ui/text';
import { useRequest } from '../ui/use';
import { act, type MenuItem, menuItem } from '../window/windows';
import { SHARES } from './intervals';
import { EmptyMarkers } from './MarkerTable';

const TABLE = 'intervals';
const ORDER = 'total';
const NAME_LIMIT = 200;
const NONE: IntervalStats[] = [];

/** Returns the number of each column, by which the table sorts. */
const VALUES = {
    count: ({ count }) => count,
    p50: ({ p50_ms }) => p50_ms,
    p90: ({ p90_ms }) => p90_ms,
    p99: ({ p99_ms }) => p99_ms,
    longest: ({ longest }) => longest.ms,
    total: ({ total_ms }) => total_ms,
} satisfies Record<string, (stats: IntervalStats) => number>;

function intervalColumn(key: keyof typeof VALUES, title: string, hint: string, sparedBelow = 0): Column<IntervalStats> {
    const value = VALUES[key];
    const text = (stats: IntervalStats): string =>
        key === 'count'
            ? formatCount(stats.count)
            : key === 'total'
              ? formatWeight(stats.total_ms, 'ms')
              : formatMs(value(stats));
    return numberColumn({
        key,
        title,
        hint,
        width: 88,
        text,
        value,
        sparedBelow,
        ...(key !== 'count' && { describe: (stats: IntervalStats) => formatDuration(value(stats)) }),
    });
}

/** Returns the duration of each state in ms, by the number of the state. */
function sumsOf({ info, states }: Session, stats: IntervalStats): number[] {
    const { categories, idleCategory } = info.value;
    const sums: number[] = states.threadStates.value.map(() => 0);
    const reasons = categories[idleCategory]?.subcategories ?? [];
    sums[STATE_RUNNING] = stats.running_ms;
    for (const [name, ms] of Object.entries(stats.waits_ms))
        sums[STATE_REASONS + Math.max(0, reasons.indexOf(name))] = ms;
    const notSeen = reasons.indexOf('Not seen');
    const unseen = STATE_REASONS + (notSeen < 0 ? reasons.length : notSeen);
    sums[unseen] = (sums[unseen] ?? 0) + stats.unknown_ms;
    return sums;
}

function StateBar({ stats }: { stats: IntervalStats }): JSX.Element {
    const session = useSession();
    const sums = sumsOf(session, stats);
    const parts = [...session.states.threadStates.value]
        .sort((a, b) => a.rank - b.rank)
        .filter(({ state }) => (sums[state] ?? 0) > 0);
    const textOf = ({ name, state }: (typeof parts)[number]): string =>
        `${name} ${formatShare(sums[state] ?? 0, stats.total_ms)}`;
    return (
        <span class="interval-states" role="img" aria-label={parts.map(textOf).join(', ')}>
            {parts.map((part) => (
                <span
                    key={part.state}
                    title={textOf(part)}
                    style={{ flexGrow: sums[part.state] ?? 0, background: stateBackground(part) }}
                />
            ))}
        </span>
    );
}

interface Bucket {
    from: number;
    count: number;
}

/** Returns all buckets from the shortest to the longest, including empty buckets. */
function bucketsOf({ histogram }: IntervalStats): Bucket[] {
    const [first, last] = [histogram[0], histogram[histogram.length - 1]];
    if (!first || !last) return [];
    const counts = new Map(histogram.map(({ from_ms, count }) => [from_ms, count]));
    const length = Math.round(Math.log2(last.from_ms / first.from_ms)) + 1;
    return Array.from({ length }, (_, at) => {
        const from = first.from_ms * 2 ** at;
        return { from, count: counts.get(from) ?? 0 };
    });
}

/** Returns the height of a bar, high enough that a few intervals are visible beside thousands. */
const heightOf = (count: number, most: number): number => (count === 0 ? 0 : Math.max(0.06, count / most));

function SmallHistogram({ stats }: { stats: IntervalStats }): JSX.Element {
    const buckets = bucketsOf(stats);
    const most = Math.max(...buckets.map(({ count }) => count));
    return (
        <svg
            class="interval-histogram"
            viewBox={`0 0 ${buckets.length} 1`}
            preserveAspectRatio="none"
            aria-hidden="true"
        >
            {buckets.map(({ from, count }, at) => {
                const height = heightOf(count, most);
                return <rect key={from} x={at + 0.05} width={0.9} y={1 - height} height={height} />;
            })}
        </svg>
    );
}

/** A histogram of the durations. A click on a bar selects the intervals of this duration or longer. */
function Histogram({ stats }: { stats: IntervalStats }): JSX.Element {
    const { canSelect, showLonger } = useSession().intervals;
    const buckets = bucketsOf(stats);
    const most = Math.max(...buckets.map(({ count }) => count));
    const marksOf = (from: number): string =>
        Object.entries({ p50: stats.p50_ms, p90: stats.p90_ms, p99: stats.p99_ms })
            .filter(([, ms]) => ms >= from && ms < 2 * from)
            .map(([name]) => name)
            .join(' ');
    return (
        <div class="interval-bars" role="group" aria-label="Histogram of the durations">
            {buckets.map(({ from, count }) => (
                <button
                    key={from}
                    type="button"
                    disabled={!canSelect(stats)}
                    title={`${formatCount(count)} of ${formatDuration(from)} to ${formatDuration(2 * from)}. A click shows only intervals of ${formatDuration(from)} and longer.`}
                    onClick={() => act(showLonger(stats, from))}
                >
                    <span class="interval-mark">{marksOf(from)}</span>
                    <span class="interval-bar">
                        <span style={{ height: `${100 * heightOf(count, most)}%` }} />
                    </span>
                    <span class="interval-from">{formatDuration(from)}</span>
                </button>
            ))}
        </div>
    );
}

function Detail({ stats }: { stats: IntervalStats }): JSX.Element {
    const session = useSession();
    const { baseName, canSelect, compareSlowest, compareWithBase, setBase, showSlowest, slowestShare } =
        session.intervals;
    return (
        <section class="interval-detail" aria-label="Selected name">
            <div class="interval-steps">
                <strong>
                    <ProfileText text={stats.name} limit={NAME_LIMIT} />
                </strong>
                <span>Slowest</span>
                <Choices
                    label="Share of the slowest intervals"
                    choices={SHARES.map((value) => ({
                        value,
                        label: `${value}%`,
                        hint: `The slowest ${value}% of the intervals`,
                    }))}
                    value={slowestShare.value}
                    onChoose={(share) => {
                        slowestShare.value = share;
                    }}
                />
                <button
                    type="button"
                    class="button"
                    disabled={!canSelect(stats)}
                    title="Shows only these intervals in the call tree, the flame graph and the waits (Enter)"
                    onClick={() => showSlowest(stats)}
                >
                    Show only these
                </button>
                {!session.info.value.isLive && (
                    <button
                        type="button"
                        class="button"
                        disabled={!canSelect(stats)}
                        title="Opens a comparison with the other intervals, per interval (c)"
                        onClick={() => compareSlowest(stats)}
                    >
                        Compare with the others
                    </button>
                )}
                {!session.info.value.isLive && (
                    <button
                        type="button"
                        class="button"
                        disabled={!canSelect(stats)}
                        title="All intervals of this name as the base of a comparison (u)"
                        onClick={() => setBase(stats)}
                    >
                        Use as the base
                    </button>
                )}
                {baseName.value !== null && baseName.value !== stats.name && (
                    <button
                        type="button"
                        class="button primary"
                        disabled={!canSelect(stats)}
                        title="Opens a comparison of all intervals of both names, per interval (d)"
                        onClick={() => compareWithBase(stats)}
                    >
                        Compare with <ProfileText text={baseName.value} limit={40} />
                    </button>
                )}
            </div>
            <div class="interval-figures">
                <Histogram stats={stats} />
                <StateShares sums={sumsOf(session, stats)} />
            </div>
        </section>
    );
}

/** The columns of the table, and copying it. */
function createIntervalTableModel(session: Session) {
    const sort = session.tables.sortOf(TABLE, ORDER);
    const shares = (stats: IntervalStats): string =>
        session.states.threadStates.value
            .map(({ name, state }) => ({ name, ms: sumsOf(session, stats)[state] ?? 0 }))
            .filter(({ ms }) => ms > 0)
            .map(({ name, ms }) => `${name} ${formatShare(ms, stats.total_ms)}`)
            .join(', ');
    const plain = { isNumber: false, sortedBy: '', class: 'text-cell' };
    const columns: Column<IntervalStats>[] = [
        intervalColumn('total', 'Total (ms)', 'Sum of the durations'),
        intervalColumn('count', 'Count', 'Number of intervals'),
        intervalColumn('p50', 'P50 (ms)', 'Half of the intervals are not longer'),
        intervalColumn('p90', 'P90 (ms)', '90% of the intervals are not longer', 900),
        intervalColumn('p99', 'P99 (ms)', '99% of the intervals are not longer'),
        intervalColumn('longest', 'Longest (ms)', 'The longest interval'),
        {
            ...plain,
            key: 'histogram',
            title: 'Durations',
            hint: 'Number of intervals by duration; each bar is of durations twice as long as the bar before',
            width: 104,
            sparedBelow: 1000,
            cell: (stats) => <SmallHistogram stats={stats} />,
            text: ({ histogram }) => histogram.map(({ from_ms, count }) => `${from_ms}: ${count}`).join(', '),
        },
        {
            ...plain,
            key: 'states',
            title: 'States',
            hint: 'What the threads of the markers did during the intervals',
            width: 144,
            cell: (stats) => <StateBar stats={stats} />,
            text: shares,
        },
    ];
    const main = nameColumn<IntervalStats>({
        title: 'Name',
        cell: ({ name }) => (
            <span class="tree-text in-list">
                <ProfileText text={name || '(no name)'} limit={NAME_LIMIT} />
            </span>
        ),
        text: ({ name }) => name,
    });

    function sorted(rows: readonly IntervalStats[]): IntervalStats[] {
        const { column, reversed } = sort.value;
        const numberOf = VALUES[column as keyof typeof VALUES] ?? VALUES.total;
        const result = [...rows].sort((a, b) =>
            column === 'name' ? a.name.localeCompare(b.name) : numberOf(b) - numberOf(a),
        );
        return reversed ? result.reverse() : result;
    }

    const query = computed(() => ({
        threads: session.store.selectedThreads.value,
        range: session.axis.shownRange(),
        search: session.markers.markerSearch.value,
    }));
    return { columns, main, query, sort, sorted };
}

export function IntervalTable(): JSX.Element {
    const session = useSession();
    const { columns, main, query, sort, sorted } = useModel(createIntervalTableModel);
    const {
        baseName,
        canSelect,
        compareSlowest,
        compareWithBase,
        goToLongest,
        selectedInterval,
        setBase,
        showSlowest,
    } = session.intervals;
    const wanted = query.value;
    const { value: answer, error } = useRequest(() => session.engine.intervals(wanted), [wanted]);
    const rows = sorted(answer.value ?? NONE);
    const selectedAt = Math.max(
        0,
        rows.findIndex(({ name }) => name === selectedInterval.value),
    );
    const selected = rows[selectedAt];
    const copyItems = (): MenuItem[] =>
        copyTableItems({ rows, columns: [...shownColumns(TABLE, columns, 0), main], prepare: async () => undefined });
    const canCompare = !session.info.value.isLive;
    const menuOf = (stats: IntervalStats): MenuItem[] => [
        menuItem('Show only the slowest intervals', () => showSlowest(stats), {
            keys: 'Enter',
            enabled: canSelect(stats),
        }),
        menuItem('Compare the slowest with the others', () => compareSlowest(stats), {
            keys: 'c',
            enabled: canSelect(stats) && canCompare,
        }),
        menuItem('Use as the base of a comparison', () => setBase(stats), {
            keys: 'u',
            enabled: canSelect(stats) && canCompare,
        }),
        menuItem('Compare with the base', () => compareWithBase(stats), {
            keys: 'd',
            enabled: canSelect(stats) && baseName.value !== null && baseName.value !== stats.name,
        }),
        menuItem('Show the longest interval', () => goToLongest(stats), { keys: 'l' }),
        ...(session.criticalPath.hasPaths()
            ? [
                  menuItem('Critical path of the longest interval', () => {
                      const { from_ms: from, ms, thread } = stats.longest;
                      session.criticalPath.showPath(thread, [from, from + ms]);
                  }),
              ]
            : []),
        ...copyItems(),
    ];
    return (
        <div class="view-parts">
            <div class="view-table">
                <Table
                    name={TABLE}
                    label="Intervals"
                    role="grid"
                    rows={rows}
                    columns={columns}
                    main={main}
                    sort={sort.value}
                    usualSort={ORDER}
                    selectedAt={selected ? selectedAt : -1}
                    reveal={0}
                    rowKey={({ name }) => name}
                    onSelect={({ name }) => {
                        selectedInterval.value = name;
                    }}
                    onKey={(event, stats) => {
                        if (!stats || !canSelect(stats)) return false;
                        if (event.key === 'c' && canCompare) compareSlowest(stats);
                        else if (event.key === 'u' && canCompare) setBase(stats);
                        else if (event.key === 'd' && baseName.value !== stats.name) compareWithBase(stats);
                        else if (event.key === 'l') goToLongest(stats);
                        else return false;
                        return true;
                    }}
                    onOpen={(stats) => canSelect(stats) && showSlowest(stats)}
                    onCopy={({ name }) => copyPlainName(name)}
                    menuOf={(stats) => ({ items: menuOf(stats) })}
                    headMenu={copyItems}
                    error={error.value}
                    empty={answer.value === null ? null : <EmptyMarkers />}
                />
            </div>
            {selected && <Detail stats={selected} />}
        </div>
    );
}
