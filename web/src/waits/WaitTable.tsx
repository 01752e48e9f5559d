/** The waits of the threads. Enter selects the longest wait of a group, in the stack chart of its thread. */

import { computed } from '@preact/signals';
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { formatCount, formatDuration, formatEstimate, formatMs, formatShare, formatWeight } from '../base/format';
import type { WaitGroup } from '../engine/waits';
import { useModel, useSession } from '../session/context';
import { copyPlainName, copyTableItems } from '../table/copies';
import { Table } from '../table/Table';
import { type Column, type NumberColumn, numberColumn, shownColumns } from '../table/table_columns';
import { nameColumn } from '../table/weight_columns';
import { ProfileText } from '../ui/text';
import { type MenuItem, menuItem } from '../window/windows';
import { ObjectPane } from './ObjectPane';
import { meanOf, WAIT_ORDER, WAIT_TABLE, WAIT_VALUES } from './wait_list';
import { EmptyWaits, LinkCell, lengthOrNone, MAIN_TITLES } from './wait_parts';
import { namesObject, namesWaker } from './wait_text';

const NAME_LIMIT = 200;
const CALLERS_IN_ROW = 4;
function Longest({ group }: { group: WaitGroup }): JSX.Element {
    const { axisText, waitList } = useSession();
    const { range } = group;
    if (!range) return <>—</>;
    return (
        <LinkCell
            title={`In ${waitList.threadName(group)} at ${axisText.placeText(range[0])}: show it in the stack chart (Enter)`}
            text={formatMs(group.longest)}
            onClick={() => waitList.goToLongest(group)}
        />
    );
}

function First({ group, text }: { group: WaitGroup; text: string }): JSX.Element {
    const { waitList } = useSession();
    if (Number.isNaN(group.first)) return <>{text}</>;
    return (
        <LinkCell
            title="Show the first wait in the stack chart"
            text={text}
            onClick={() => waitList.goToFirst(group)}
        />
    );
}

function waitColumn(
    key: keyof typeof WAIT_VALUES,
    title: string,
    width: number,
    more: Omit<NumberColumn<WaitGroup>, 'key' | 'title' | 'width' | 'value'>,
): Column<WaitGroup> {
    return numberColumn({ key, title, width, value: WAIT_VALUES[key], ...more });
}

const TIMES: readonly Column<WaitGroup>[] = [
    waitColumn('total', 'Total (ms)', 112, {
        hint: 'Totals of short waits are estimates',
        text: (group) => formatEstimate(group.total, group.totalError, 'ms'),
        describe: (group) => formatDuration(group.total),
    }),
    waitColumn('count', 'Count', 116, {
        hint: 'Number of waits. Numbers of short waits are estimates.',
        text: (group) =>
            group.count > 0 ? formatEstimate(Math.max(1, Math.round(group.count)), group.countError, '') : '—',
    }),
    waitColumn('longest', 'Longest (ms)', 104, {
        hint: 'The longest wait in the range; a click shows it',
        cell: (group) => <Longest group={group} />,
        text: (group) => lengthOrNone(group.longest),
    }),
    waitColumn('p99', 'P99 (ms)', 80, {
        hint: '99% of the waits are not longer',
        text: (group) => lengthOrNone(group.percentile99),
        sparedBelow: 720,
    }),
    waitColumn('mean', 'Mean (ms)', 88, {
        text: (group) => lengthOrNone(meanOf(group)),
        sparedBelow: 900,
    }),
    waitColumn('threads', 'Threads', 72, {
        hint: 'How many threads waited',
        text: (group) => formatCount(group.threads),
        sparedBelow: 960,
    }),
];

const RUNNABLE: Column<WaitGroup> = waitColumn('runnable', 'Runnable (ms)', 116, {
    hint: 'Ready to run, but another thread ran; part of the total',
    text: (group) => formatWeight(group.runnable, 'ms'),
});

/** Creates the columns of the table and its actions. */
function createWaitTableModel(session: Session) {
    const { callersOf, entryOf, objectOf, reasonOf, sortedWaits, threadName, titleOf, waitGroups } = session.waitList;
    const { nameOf, namesVersion } = session.names;
    const { placeText } = session.axisText;
    const { view } = session.store;

    const share = (group: WaitGroup): number => {
        const there = waitGroups.value?.there ?? 0;
        return there > 0 ? group.total / there : 0;
    };

    const firstText = ({ first }: WaitGroup): string => (Number.isNaN(first) ? '—' : placeText(first));
    const first = waitColumn('first', 'First', 80, {
        hint: 'When the first wait began; a click shows it',
        cell: (group) => <First group={group} text={firstText(group)} />,
        text: firstText,
        sparedBelow: 1040,
    });
    const kind: Column<WaitGroup> = {
        key: 'kind',
        title: 'Kind',
        hint: 'The kind of the longest wait',
        width: 112,
        isNumber: false,
        isText: true,
        sortedBy: 'kind',
        class: 'wait-kind',
        cell: reasonOf,
        text: reasonOf,
        sparedBelow: 640,
    };

    const columns = computed<Column<WaitGroup>[]>(() => {
        const by = view.value.waitsBy;
        const hasRunnable = by !== 'reason' && !namesObject(by) && (waitGroups.value?.runnable ?? 0) > 0;
        return [
            numberColumn({
                key: 'share',
                title: 'Share',
                hint: 'Share of the lifetime of the threads',
                width: 76,
                sortedBy: '',
                class: 'share',
                text: (group) => formatShare(share(group), 1),
                value: share,
                bar: (group) => Math.min(1, share(group)),
            }),
            ...TIMES,
            first,
            ...(hasRunnable ? [RUNNABLE] : []),
            ...(by === 'reason' ? [] : [kind]),
        ];
    });

    const placeOf = (name: string, line: number): string => (line > 0 ? `${name}:${line}` : name);

    /** Adds the line to the function of the program that waits. */
    const withLine =
        (group: WaitGroup) =>
        (name: string, at: number): string =>
            at === 0 && name === nameOf(group.ownFunc) ? placeOf(name, group.ownLine) : name;

    /** Returns where the waker ended the wait, such as the function that released the lock, or '' if unknown. */
    const endOf = ({ wakerFunc, wakerLine }: WaitGroup): string =>
        wakerFunc < 0 ? '' : `ended in ${placeOf(nameOf(wakerFunc), wakerLine)}`;

    /** Returns the rest of the row: the properties of the longest wait that do not define the group. */
    function detailOf(group: WaitGroup): string {
        const by = view.value.waitsBy;
        const callers = callersOf(group, by);
        const entry = entryOf(group, by);
        const shown = (by === 'stack' ? callers.slice(1) : callers.map(withLine(group)))
            .slice(0, CALLERS_IN_ROW)
            .join(' ← ');
        const stack = [shown, entry && `via ${entry}`].filter((text) => text !== '').join(' ');
        const what = namesObject(by) || (by === 'reason' && group.func < 0) ? '' : objectOf(group);
        const who = by === 'thread' ? '' : threadName(group);
        const end = namesWaker(by) ? endOf(group) : '';
        const waker = namesWaker(by) || group.waker === '' ? '' : `, ended by ${group.waker}`;
        return [
            end,
            what,
            stack,
            group.range ? `longest in ${who || 'it'} at ${placeText(group.range[0])}${waker}` : '',
        ]
            .filter((text) => text !== '')
            .join(' · ');
    }

    const main = computed(() =>
        nameColumn<WaitGroup>({
            title: MAIN_TITLES[view.value.waitsBy],
            cell: (group) => {
                namesVersion.value;
                return (
                    <span class="tree-text in-list">
                        <ProfileText text={titleOf(group)} limit={NAME_LIMIT} />
                        <span class="tree-lib">
                            <ProfileText text={detailOf(group)} limit={400} />
                        </span>
                    </span>
                );
            },
            text: (group) => `${titleOf(group)} (${detailOf(group)})`,
        }),
    );

    function copyItems(): MenuItem[] {
        return copyTableItems({
            rows: sortedWaits.value,
            columns: [...shownColumns(WAIT_TABLE, columns.value, 0), main.value],
            prepare: async () => undefined,
        });
    }

    return { columns, main, copyItems };
}

export function WaitTable(): JSX.Element {
    const session = useSession();
    const { columns, copyItems, main } = useModel(createWaitTableModel);
    const {
        goToLongest,
        selectWait,
        selectedWait,
        showInTree,
        sortedWaits,
        titleOf,
        waitError,
        waitGroups,
        waitReveal,
        waitSort,
    } = session.waitList;
    const { view } = session.store;
    const rows = sortedWaits.value;
    const menuOf = (group: WaitGroup): MenuItem[] => [
        menuItem('Show the longest wait', () => goToLongest(group), { keys: 'Enter', enabled: group.range !== null }),
        menuItem('Show in the call tree', () => showInTree(group), { keys: 'w' }),
        ...copyItems(),
    ];
    const selectedAt = Math.max(
        0,
        rows.findIndex(({ key }) => key === selectedWait.value),
    );
    const selected = rows[selectedAt];
    const table = (
        <Table
            name={WAIT_TABLE}
            label="Waits"
            role="grid"
            rows={rows}
            columns={columns.value}
            main={main.value}
            sort={waitSort.value}
            usualSort={WAIT_ORDER}
            selectedAt={selectedAt}
            reveal={waitReveal.value}
            rowKey={({ key }) => key}
            onSelect={selectWait}
            onKey={(event, group) => {
                if (!group || event.key !== 'w') return false;
                showInTree(group);
                return true;
            }}
            onOpen={goToLongest}
            onCopy={(group) => copyPlainName(titleOf(group))}
            menuOf={(group) => ({ items: menuOf(group) })}
            headMenu={copyItems}
            error={waitError.value}
            empty={waitGroups.value === null ? null : <EmptyWaits />}
        />
    );
    return (
        <div class="wait-panes">
            <div class="wait-list">{table}</div>
            {selected && selected.func >= 0 && namesObject(view.value.waitsBy) && <ObjectPane object={selected.func} />}
        </div>
    );
}
