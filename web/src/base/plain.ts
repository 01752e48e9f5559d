/**
 * Text of a profile is untrusted: names may contain markup, control characters, marks that reverse the reading
 * direction, or a megabyte. The page shows such text only in text nodes, so markup has no effect. This file makes
 * invisible characters visible and limits the length.
 */

/** Limits of a text in a row, in a tooltip, and in the sidebar. */
export const ROW_LIMIT = 400;
export const TOOLTIP_LIMIT = 1200;
export const SIDEBAR_LIMIT = 20_000;

/* Controls, format characters (zero-width ones, marks and overrides of the reading direction, the byte order mark), line
 * and paragraph separators, and surrogates without a partner. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

function spellOut(match: string): string {
    const code = match.codePointAt(0) ?? 0;
    if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
    return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, '0')}\u27e9`;
}

/** Returns at most `limit` characters of `text`, with names in place of invisible characters. */
export function plainText(text: string, limit: number): string {
    if (text.length <= limit) return text.replace(INVISIBLE, spellOut);
    return `${text.slice(0, limit).replace(INVISIBLE, spellOut)}…`;
}

/** Whether a function stands for frames or samples that the profile lacks: "(not sampled)". */
export function isPlaceholderName(name: string): boolean {
    return /^\((?:truncated|not sampled|\d+-\d+ frames omitted)\)$/.test(name);
}

/**
 * Returns `text` for the clipboard, unchanged except that blanks replace control characters and line ends. So a name
 * stays in its row of a table, and a terminal into which the user pastes it executes nothing.
 */
export function oneLine(text: string): string {
    return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ');
}

/** Describes the characters that plainText() omitted, or returns '' for a complete text. */
export function cutNote(text: string, limit: number): string {
    return text.length <= limit
        ? ''
        : `the first ${limit.toLocaleString('en-US')} of ${text.length.toLocaleString('en-US')} characters`;
}

/** Returns the last part of a path. */
export function baseName(path: string): string {
    return path.slice(path.lastIndexOf('/') + 1);
}
