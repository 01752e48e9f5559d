/** The text that a table copies: a name, a stack, or the expanded rows. */

import { formatCount } from '../base/format';
import { oneLine } from '../base/plain';
import { type TableFormat, tableText } from '../base/table_text';
import type { NodePath } from '../engine/api';
import type { NamesPart } from '../session/names';
import { act, copyText, type MenuItem, menuItem, showNotice } from '../window/windows';
import type { Column } from './table_columns';

const LONGEST_STACK = 100_000;
const MOST_ROWS = 10_000;

export function copyPlainName(name: string): void {
    act(copyText(oneLine(name), 'Name'));
}

export interface CopiedTable<Row> {
    rows: readonly Row[];
    columns: readonly Column<Row>[];
    /** Fetches the data for the texts of rows. */
    prepare(rows: readonly Row[]): Promise<void>;
}

async function copyTable<Row>({ rows, columns, prepare }: CopiedTable<Row>, format: TableFormat): Promise<void> {
    const copied = rows.slice(0, MOST_ROWS);
    await prepare(copied);
    const text = tableText(
        {
            titles: columns.map((column) => column.title),
            numbers: columns.map((column) => column.isNumber),
            rows: copied.map((row) =>
                columns.map((column) => {
                    const text = column.text(row);
                    return column.value ? { text, value: column.value(row) } : { text };
                }),
            ),
        },
        format,
    );
    await copyText(text, 'Table');
    if (copied.length < rows.length) showNotice(`Only the first ${formatCount(MOST_ROWS)} rows were copied`);
}

const FORMATS: [TableFormat, string][] = [
    ['text', 'Copy table as text'],
    ['markdown', 'Copy table as Markdown'],
    ['csv', 'Copy table as CSV'],
];

export function copyTableItems<Row>(table: CopiedTable<Row>): MenuItem[] {
    return FORMATS.map(([format, label], at) =>
        menuItem(label, () => act(copyTable(table, format)), {
            title: 'The expanded rows with the visible columns',
            startsGroup: at === 0,
        }),
    );
}

export function createCopies(session: { names: NamesPart }) {
    const { fetchNames, funcName, nameOf } = session.names;

    async function copyName(func: number): Promise<void> {
        await fetchNames([func]);
        await copyText(oneLine(nameOf(func)), 'Name');
    }

    /** Copies where the debug info defines a function: "/src/app.c:12". */
    async function copySource(func: number): Promise<void> {
        await fetchNames([func]);
        const name = funcName(func);
        await copyText(
            oneLine(name && name.line > 0 ? `${name.file}:${name.line}` : (name?.file ?? '')),
            'Source path',
        );
    }

    /** Copies one function per line, leaf first. */
    async function copyStack(path: NodePath, isLeafFirst: boolean): Promise<void> {
        const shown = path.slice(0, LONGEST_STACK);
        await fetchNames(shown);
        const ordered = isLeafFirst ? shown : shown.reverse();
        const lines = ordered.map((func) => {
            const name = funcName(func);
            return oneLine(name?.lib ? `${name.name} [${name.lib}]` : (name?.name ?? ''));
        });
        await copyText(`${lines.join('\n')}\n`, 'Stack');
    }

    return {
        copyName,
        copySource,
        copyStack,
    };
}

export type CopiesPart = ReturnType<typeof createCopies>;
