/**
 * The processes as a tree, with the lifetime of each process and its part of the critical path. The page loads this
 * file when the user opens the view.
 */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Session } from '../app/session';
import { formatDuration, formatWeight } from '../base/format';
import type { ProcessRow, ProcessTree } from '../engine/processes';
import { useModel, useSession } from '../session/context';
import { copyTableItems } from '../table/copies';
import { INDENT, Table } from '../table/Table';
import { type Column, numberColumn, shownColumns } from '../table/table_columns';
import { nameColumn } from '../table/weight_columns';
import { ChevronIcon } from '../ui/icons';
import { ProfileText } from '../ui/text';
import { useRequest } from '../ui/use';
import type { Range } from '../view/codec';
import { act, copyText, type MenuItem, menuItem } from '../window/windows';
import { nameOf, orderedProcesses, PROCESS_VALUES, pathOf, type ShownProcess, threadsOf } from './processes';

const TABLE = 'processes';
const ORDER = 'start';
const TEXT_LIMIT = 200;
const COMMAND_LIMIT = 4000;
/** The limit of indentation. Profiles of long process chains have deeper rows, which get this indentation. */
const DEEPEST = 40;
const SUCCESS = 'exit status 0';

function timeColumn(key: keyof typeof PROCESS_VALUES, title: string, hint: string): Column<ShownProcess> {
    const value = ({ row }: ShownProcess): number => PROCESS_VALUES[key](row);
    return numberColumn({
        key,
        title,
        hint,
        width: 88,
        text: (shown) => formatWeight(value(shown), 'ms'),
        value,
        describe: (shown) => formatDuration(value(shown)),
    });
}

/** Draws the lifetime, and above it the steps of the critical path. */
function Lifetime({ row, steps, range: [from, to] }: { row: ProcessRow; steps: Range[]; range: Range }): JSX.Element {
    const placeOf = (start: number, end: number): { left: string; width: string } => ({
        left: `${(100 * (start - from)) / (to - from)}%`,
        width: `${(100 * (end - start)) / (to - from)}%`,
    });
    return (
        <span class="lifetime">
            <span style={placeOf(row.from_ms, row.to_ms)} />
            {steps.map(([start, end]) => (
                <span key={start} class="on-path" style={placeOf(start, end)} />
            ))}
        </span>
    );
}

function ProcessName({ shown }: { shown: ShownProcess }): JSX.Element {
    const { row, isOpen } = shown;
    return (
        <span class="tree-text">
            <span class={isOpen ? 'twisty open' : 'twisty'}>{isOpen !== undefined && <ChevronIcon />}</span>
            <ProfileText text={nameOf(row)} limit={TEXT_LIMIT} />
            <span class="tree-lib">{row.pid}</span>
            {row.exit !== '' && row.exit !== SUCCESS && (
                <span class="process-failure">
                    <ProfileText text={row.exit} limit={TEXT_LIMIT} />
                </span>
            )}
        </span>
    );
}

function createProcessModel(session: Session) {
    const { axis, axisText, store } = session;
    const startOf = ({ row }: ShownProcess): string => ((row.from_ms - store.fullRange.value[0]) / 1000).toFixed(3);

    function columnsOf({ path }: ProcessTree): Column<ShownProcess>[] {
        const steps = pathOf(path);
        const range = axis.shownRange();
        return [
            {
                ...timeColumn('start', 'Start (s)', 'Start, after the start of the profile'),
                isText: true,
                cell: startOf,
                text: startOf,
            },
            timeColumn('wall', 'Lifetime (ms)', 'From the start to the end of the process'),
            timeColumn('cpu', 'CPU (ms)', 'CPU time of the process'),
            {
                ...timeColumn('tree', 'With children', 'CPU time of the process and its descendants, ms'),
                cell: ({ row }) => formatWeight(row.descendants > 0 ? row.tree_cpu_ms : 0, 'ms'),
            },
            timeColumn('path', 'On path (ms)', 'Time on the critical path, which a faster build must shorten'),
            {
                key: 'lifetime',
                title: 'Lifetime',
                hint: 'Lifetime in the shown range, with the critical path in a strong color',
                width: 280,
                isNumber: false,
                sortedBy: '',
                class: 'text-cell',
                sparedBelow: 900,
                cell: ({ row, index }) => <Lifetime row={row} steps={steps.get(index) ?? []} range={range} />,
                text: ({ row }) => `${axisText.placeText(row.from_ms)} to ${axisText.placeText(row.to_ms)}`,
            },
        ];
    }

    const main = nameColumn<ShownProcess>({
        title: 'Process',
        cell: (shown) => <ProcessName shown={shown} />,
        text: ({ row }) => row.command || nameOf(row),
    });

    const select = (threads: number[]): void => {
        if (threads.length > 0) store.changeView({ threads }, 'push');
    };
    const showTree = (threads: number[]): void => {
        if (threads.length > 0) store.changeView({ threads, tab: 'calltree', path: [] }, 'push');
    };
    return { columnsOf, main, select, showTree };
}

function Sentences({ tree }: { tree: ProcessTree }): JSX.Element | null {
    const { store } = useSession();
    const { alone_ms, idle_ms, parallel_ms, sentence, serial } = tree;
    const times = [parallel_ms, alone_ms, idle_ms].map(formatDuration);
    if (alone_ms + parallel_ms === 0) return null;
    return (
        <p class="process-sentences">
            {sentence !== '' && (
                <button
                    type="button"
                    class="finding"
                    title="Selects this time"
                    onClick={() => store.setPreview([serial.from_ms, serial.to_ms], 'push')}
                >
                    <ProfileText text={sentence} limit={TEXT_LIMIT} />
                </button>
            )}
            <span class="muted">{`Several threads run for ${times[0]}, one for ${times[1]}, none for ${times[2]}.`}</span>
        </p>
    );
}

export function ProcessTable(): JSX.Element {
    const session = useSession();
    const { columnsOf, main, select, showTree } = useModel(createProcessModel);
    const { axis, info, store, tables } = session;
    const [from, to] = axis.shownRange();
    const request = useRequest(() => session.engine.processes(from, to), [from, to, info.value.sampleCount]);
    const selected = useSignal('');
    const closed = useSignal<ReadonlySet<string>>(new Set());
    const sort = tables.sortOf(TABLE, ORDER).value;
    const tree = request.value.value;
    if (!tree) return <p class="empty">{request.error.value}</p>;
    const columns = columnsOf(tree);
    const rows = orderedProcesses(tree.processes, sort, closed.value);
    const all = ({ index }: ShownProcess): number[] => threadsOf(tree.processes, index);
    const setOpen = ({ row, isOpen }: ShownProcess, opens: boolean): boolean => {
        if (isOpen === undefined || isOpen === opens) return false;
        const others = new Set(closed.value);
        if (opens) others.delete(row.pid);
        else others.add(row.pid);
        closed.value = others;
        return true;
    };
    const menuOf = (shown: ShownProcess): MenuItem[] => [
        menuItem('Show in the call tree, with descendants', () => showTree(all(shown)), { keys: 'Enter' }),
        menuItem('Select the threads of this process only', () => select(shown.row.threads)),
        menuItem('Select its lifetime', () => store.setPreview([shown.row.from_ms, shown.row.to_ms], 'push'), {
            keys: 'x',
        }),
        menuItem('Copy the command line', () => act(copyText(main.text(shown), 'Command line')), { keys: 'Ctrl+C' }),
        ...copyTableItems({
            rows,
            columns: [...shownColumns(TABLE, columns, 0), main],
            prepare: async () => undefined,
        }),
    ];
    return (
        <div class="view-parts">
            <Sentences tree={tree} />
            <div class="view-table">
                <Table
                    name={TABLE}
                    label="Processes"
                    role="treegrid"
                    rows={rows}
                    columns={columns}
                    main={main}
                    sort={sort}
                    usualSort={ORDER}
                    selectedAt={rows.findIndex(({ row }) => row.pid === selected.value)}
                    reveal={0}
                    indentOf={({ level }) => Math.min(level - 1, DEEPEST) * INDENT}
                    rowKey={({ index }) => index}
                    rowState={({ level, isOpen }) => (isOpen === undefined ? { level } : { level, isOpen })}
                    onSelect={(shown, isOfKeyboard) => {
                        selected.value = shown.row.pid;
                        if (!isOfKeyboard) select(all(shown));
                    }}
                    onKey={({ key }, shown) => {
                        if (!shown) return false;
                        if (key === 'ArrowRight' || key === 'ArrowLeft') return setOpen(shown, key === 'ArrowRight');
                        if (key !== 'x') return false;
                        store.setPreview([shown.row.from_ms, shown.row.to_ms], 'push');
                        return true;
                    }}
                    onOpen={(shown) => showTree(all(shown))}
                    onToggle={(shown) => setOpen(shown, !shown.isOpen)}
                    onCopy={(shown) => act(copyText(main.text(shown), 'Command line'))}
                    menuOf={(shown) => ({ items: menuOf(shown) })}
                    tooltipOf={(shown) => <ProfileText text={main.text(shown)} limit={COMMAND_LIMIT} />}
                    error={request.error.value}
                    empty={null}
                />
            </div>
        </div>
    );
}
