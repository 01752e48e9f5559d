/** A table as text for other programs: aligned columns, Markdown, and CSV. */

import { oneLine } from './plain';

export type TableFormat = 'text' | 'markdown' | 'csv';

export interface TableCell {
    /** The text that the page shows. */
    text: string;
    /** The number of the cell, for programs. */
    value?: number;
}

export interface TableText {
    titles: string[];
    /** Whether a column has numbers, which are right-aligned. */
    numbers: boolean[];
    rows: TableCell[][];
}

function width(text: string): number {
    return [...text].length;
}

function padded(text: string, to: number, isNumber: boolean): string {
    const room = ' '.repeat(Math.max(0, to - width(text)));
    return isNumber ? room + text : text + room;
}

function asText({ titles, numbers, rows }: TableText): string {
    const lines = [titles, ...rows.map((row) => row.map((cell) => cell.text))];
    const widths = titles.map((_, at) => lines.reduce((most, line) => Math.max(most, width(line[at] ?? '')), 0));
    return lines
        .map((line) =>
            line
                .map((text, at) => padded(text, widths[at] ?? 0, numbers[at] ?? false))
                .join('  ')
                .trimEnd(),
        )
        .join('\n');
}

/** Keeps the indentation of a tree, because Markdown removes blanks. */
function asMarkdown({ titles, numbers, rows }: TableText): string {
    const escaped = (text: string): string =>
        text.replace(/[\\`*_{}[\]<>|#~&]/g, '\\$&').replace(/^ +/, (blanks) => '&nbsp;'.repeat(blanks.length));
    const line = (cells: string[]): string => `| ${cells.join(' | ')} |`;
    return [
        line(titles.map(escaped)),
        line(numbers.map((isNumber) => (isNumber ? '---:' : '---'))),
        ...rows.map((row) => line(row.map((cell) => escaped(cell.text)))),
    ].join('\n');
}

/** Writes RFC 4180. Names are untrusted, so texts that a spreadsheet would evaluate as a formula are marked as text. */
function asCsv({ titles, rows }: TableText): string {
    const quoted = (text: string): string => {
        const harmless = /^\s*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
        return /[",\r\n]/.test(harmless) || harmless !== harmless.trim()
            ? `"${harmless.replace(/"/g, '""')}"`
            : harmless;
    };
    const cell = ({ text, value }: TableCell): string => (value === undefined ? quoted(text) : String(value));
    return [titles.map(quoted), ...rows.map((row) => row.map(cell))].map((line) => line.join(',')).join('\r\n');
}

export function tableText(table: TableText, format: TableFormat): string {
    const writers = { text: asText, markdown: asMarkdown, csv: asCsv };
    const rows = table.rows.map((row) => row.map((cell) => ({ ...cell, text: oneLine(cell.text) })));
    return `${writers[format]({ ...table, rows })}\n`;
}
