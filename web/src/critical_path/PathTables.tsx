/** The sentence and the tables of a critical path. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatShare, formatWeight } from '../base/format';
import { plainText, ROW_LIMIT } from '../base/plain';
import type { CriticalPath, PathPart, PathRow, PathState } from '../engine/critical_path';
import { useSession } from '../session/context';
import { rowOfKey } from '../ui/row_window';
import { ProfileText } from '../ui/text';

const SENTENCE_LIMIT = 4000;
const MOST_PARTS = 12; // number of parts that have functions: PATH_PARTS_NAMED of lib/tree/path_parts.h
const MOST_ROWS = 1000;
const PAGE = 10;
const STATES: Record<PathState, string> = {
    runs: 'Running',
    runnable: 'Runnable',
    waits: 'Waiting',
    unseen: 'Short waits',
    absent: 'Not alive',
};
/** Titles of columns. A title of numbers begins with "#". */
const PART_TITLES = ['#Share', '#Time (ms)', 'Thread', 'State', 'Object', 'Function', 'Meanwhile'];
const ROW_TITLES = ['#Start', '#Time (ms)', 'Thread', 'State', 'Where'];

function useThreadName(): (thread: number) => string {
    const { threadInfo } = useSession().store;
    return (thread) => threadInfo(thread)?.name ?? '';
}

const classOf = (title = ''): string => (title.startsWith('#') ? 'number' : '');

function Head({ titles }: { titles: readonly string[] }): JSX.Element {
    return (
        <thead>
            <tr>
                {titles.map((title) => (
                    <th key={title} scope="col" class={classOf(title)}>
                        {title.replace('#', '')}
                    </th>
                ))}
            </tr>
        </thead>
    );
}

function Cells({ titles, texts }: { titles: readonly string[]; texts: readonly string[] }): JSX.Element {
    return (
        <>
            {texts.map((text, column) => (
                <td key={column} class={classOf(titles[column])} title={plainText(text, ROW_LIMIT)}>
                    <ProfileText text={text || '—'} />
                </td>
            ))}
        </>
    );
}

function PartRow({ part, total }: { part: PathPart; total: number }): JSX.Element {
    const threadName = useThreadName();
    const { value: shown } = useSession().criticalPath.shownPath;
    const own = shown && 'thread' in shown ? shown.thread : -1;
    const { func = '', isEstimated, ms, object = '', state, thread, waitedFor = '', waiter } = part;
    const texts = [
        formatShare(ms, total),
        `${isEstimated ? 'about ' : ''}${formatWeight(ms, 'ms')}`,
        state === 'runnable' || state === 'unseen'
            ? ''
            : `${threadName(thread)}${thread === own ? ' (this thread)' : ''}`,
        STATES[state],
        object,
        func,
        waiter === undefined ? '' : `${threadName(waiter)} waits${waitedFor === '' ? '' : ` for ${waitedFor}`}`,
    ];
    return (
        <tr data-state={state}>
            <Cells titles={PART_TITLES} texts={texts} />
        </tr>
    );
}

const sumOf = (parts: readonly PathPart[]): number => parts.reduce((sum, { ms }) => sum + ms, 0);

function PartsTable({ parts }: CriticalPath): JSX.Element {
    const total = sumOf(parts);
    const rest = parts.slice(MOST_PARTS);
    const ofRest = [formatShare(sumOf(rest), total), formatWeight(sumOf(rest), 'ms'), '', '', '', ''];
    return (
        <table class="path-table" aria-label="Parts of the critical path">
            <Head titles={PART_TITLES} />
            <tbody>
                {parts.slice(0, MOST_PARTS).map((part, at) => (
                    <PartRow key={at} part={part} total={total} />
                ))}
                {rest.length > 0 && (
                    <tr>
                        <Cells titles={PART_TITLES} texts={[...ofRest, `${rest.length} smaller parts`]} />
                    </tr>
                )}
            </tbody>
        </table>
    );
}

/** Arrow keys select a row. Enter and a click open a row. */
function RowsTable({ rows }: { rows: readonly PathRow[] }): JSX.Element {
    const { axisText, criticalPath } = useSession();
    const threadName = useThreadName();
    const table = useRef<HTMLTableElement>(null);
    const [selected, setSelected] = useState(0);
    useLayoutEffect(() => table.current?.focus(), []); // the table needs the focus before the first key

    function onKeyDown(event: KeyboardEvent): void {
        const next = rowOfKey(event, selected, rows.length, PAGE);
        const row = rows[selected];
        if (next !== undefined) {
            setSelected(next);
            table.current?.tBodies[0]?.rows[next]?.scrollIntoView({ block: 'nearest' });
        } else if (event.key === 'Enter' && row) criticalPath.goToRow(row);
        else return;
        event.preventDefault();
        event.stopPropagation();
    }

    return (
        <table
            ref={table}
            class="path-table"
            // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: the browser lays out the columns of a table
            role="grid"
            aria-label="Segments of the critical path"
            aria-activedescendant={`path-row-${selected}`}
            tabIndex={0}
            onKeyDown={onKeyDown}
        >
            <Head titles={ROW_TITLES} />
            <tbody>
                {rows.map((row, at) => (
                    <tr
                        key={at}
                        id={`path-row-${at}`}
                        data-state={row.state}
                        aria-selected={at === selected}
                        onClick={() => criticalPath.goToRow(row)}
                    >
                        <Cells
                            titles={ROW_TITLES}
                            texts={[
                                axisText.placeText(row.from),
                                formatWeight(row.to - row.from, 'ms'),
                                threadName(row.thread),
                                STATES[row.state],
                                row.where,
                            ]}
                        />
                    </tr>
                ))}
            </tbody>
        </table>
    );
}

/** The table of segments gets the focus. */
export function PathTables({ path }: { path: CriticalPath }): JSX.Element {
    const rows = path.rows.slice(0, MOST_ROWS);
    const more = path.rows.length - rows.length;
    return (
        <>
            <p class="path-sentence">{plainText(path.sentence, SENTENCE_LIMIT)}</p>
            <PartsTable {...path} />
            <h3>Segments by time</h3>
            <div class="path-rows">
                <RowsTable rows={rows} />
            </div>
            {more > 0 && <p class="muted">{`Select a shorter range to see the other ${more} segments.`}</p>}
        </>
    );
}
