/**
 * The sentence and the tables of a critical path. This file is loaded on demand, so it imports nothing that the page loads
 * at first: a module in both would become a third file.
 */
import type { CriticalPath, PathPart, PathRow, PathState } from '../engine/critical_path';

const MOST_PARTS = 12; // those that have functions: PATH_PARTS_NAMED of lib/tree/path_parts.h
const MOST_ROWS = 1000;
const PAGE = 10;
const STATES: Record<PathState, string> = {
    runs: 'Running',
    runnable: 'Runnable',
    waits: 'Waiting',
    unseen: 'Short waits',
    absent: 'Not alive',
};

export interface PathTexts {
    plain: (text: string) => string;
    /** A time of the profile, from its start. */
    place: (time: number) => string;
    share: (part: number, whole: number) => string;
    time: (ms: number) => string;
    threadName: (thread: number) => string;
    onOpen: (row: PathRow) => void;
}

function element<Name extends keyof HTMLElementTagNameMap>(
    name: Name,
    className: string,
    text = '',
): HTMLElementTagNameMap[Name] {
    const made = document.createElement(name);
    made.className = className;
    made.textContent = text;
    return made;
}

/** The state of a row, of which it has the color, and the texts of its cells. */
type PathCells = [state: PathState | '', cells: string[]];

/** A table with a column for each title. Those of numbers begin with "#". */
function tableOf(label: string, titles: readonly string[], rows: readonly PathCells[]): HTMLTableElement {
    const table = element('table', 'path-table');
    table.setAttribute('aria-label', label);
    const classOf = (column: number): string => (titles[column]?.startsWith('#') ? 'number' : '');
    const head = table.createTHead().insertRow();
    titles.forEach((title, column) => {
        const cell = element('th', classOf(column), title.replace('#', ''));
        cell.scope = 'col';
        head.append(cell);
    });
    const body = table.createTBody();
    for (const [state, cells] of rows) {
        const row = body.insertRow();
        if (state !== '') row.dataset.state = state;
        cells.forEach((text, column) => {
            const cell = row.insertCell();
            const isolated = element('bdi', '', text);
            isolated.dir = 'ltr';
            cell.className = classOf(column);
            cell.title = text;
            cell.append(isolated);
        });
    }
    return table;
}

function partCells(part: PathPart, total: number, { plain, share, threadName, time }: PathTexts): PathCells {
    const { func = '', ms, object = '', state, thread, waiter } = part;
    const waitedFor =
        waiter === undefined ? object : `${threadName(waiter)} waits${object === '' ? '' : ` for ${object}`}`;
    const cells = [
        share(ms, total),
        time(ms),
        state === 'runs' || state === 'absent' ? plain(threadName(thread)) : '—',
        STATES[state],
        plain(state === 'waits' ? func : waitedFor) || '—',
        plain(state === 'waits' ? '' : func) || '—',
    ];
    return [state, cells];
}

function partsTable({ parts }: CriticalPath, texts: PathTexts): HTMLTableElement {
    const total = parts.reduce((sum, { ms }) => sum + ms, 0);
    const rest = parts.slice(MOST_PARTS);
    const cells = parts.slice(0, MOST_PARTS).map((part) => partCells(part, total, texts));
    if (rest.length > 0) {
        const ms = rest.reduce((sum, part) => sum + part.ms, 0);
        cells.push(['', [texts.share(ms, total), texts.time(ms), '—', '—', '—', `${rest.length} smaller parts`]]);
    }
    return tableOf(
        'Parts of the critical path',
        ['#Share', '#Time (ms)', 'Thread', 'State', 'Waited for', 'Function'],
        cells,
    );
}

/** The place that a key leads to; null: another key. */
function placeOfKey(key: string, at: number, count: number): number | null {
    const steps: Record<string, number> = {
        ArrowUp: -1,
        ArrowDown: 1,
        PageUp: -PAGE,
        PageDown: PAGE,
        Home: -count,
        End: count,
    };
    const step = steps[key];
    return step === undefined ? null : Math.min(count - 1, Math.max(0, at + step));
}

/** Arrows choose a row. Enter and a click open a row. */
function makeWalkable(table: HTMLTableElement, rows: readonly PathRow[], onOpen: (row: PathRow) => void): void {
    const elements = [...(table.tBodies[0]?.rows ?? [])];
    let selected = 0;
    const select = (at: number): void => {
        elements[selected]?.setAttribute('aria-selected', 'false');
        selected = at;
        elements[at]?.setAttribute('aria-selected', 'true');
        table.setAttribute('aria-activedescendant', `path-row-${at}`);
    };
    const open = (at: number): void => {
        const row = rows[at];
        if (row) onOpen(row);
    };
    elements.forEach((row, at) => {
        row.id = `path-row-${at}`;
        row.addEventListener('click', () => open(at));
    });
    table.setAttribute('role', 'grid');
    table.tabIndex = 0;
    select(0);
    table.addEventListener('keydown', (event) => {
        if (event.ctrlKey || event.altKey || event.metaKey) return;
        const next = placeOfKey(event.key, selected, elements.length);
        if (next !== null) {
            select(next);
            elements[next]?.scrollIntoView({ block: 'nearest' });
        } else if (event.key === 'Enter') open(selected);
        else return;
        event.preventDefault();
        event.stopPropagation();
    });
}

function rowsTable(rows: readonly PathRow[], texts: PathTexts): HTMLTableElement {
    const { place, plain, threadName, time } = texts;
    const cells = rows.map(
        ({ from, state, thread, to, where }): PathCells => [
            state,
            [place(from), time(to - from), plain(threadName(thread)), STATES[state], plain(where) || '—'],
        ],
    );
    const table = tableOf('Segments of the critical path', ['#Start', '#Time (ms)', 'Thread', 'State', 'Where'], cells);
    makeWalkable(table, rows, texts.onOpen);
    return table;
}

/** Fills an element with the path, and gives the focus to the segments. */
export function drawPath(holder: HTMLElement, path: CriticalPath, texts: PathTexts): void {
    const rows = path.rows.slice(0, MOST_ROWS);
    const table = rowsTable(rows, texts);
    const scroller = element('div', 'path-rows');
    const more = path.rows.length - rows.length;
    scroller.append(table);
    holder.replaceChildren(
        element('p', 'path-sentence', path.sentence),
        partsTable(path, texts),
        element('h3', '', 'Segments by time'),
        scroller,
        element('p', 'muted', more > 0 ? `Select a shorter range to see the other ${more} segments.` : ''),
    );
    table.focus();
}
