/**
 * Text out of a profile is somebody else's: names may hold markup, control characters, marks that turn the reading
 * direction around, or a megabyte. The page only ever sets it as text nodes, so markup is harmless; this file makes the
 * invisible visible and puts a bound on the length.
 */

/** Longest text in a row, a tooltip, and the sidebar. */
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

/** `text` with everything invisible spelled out, and at most `limit` characters of it. */
export function plainText(text: string, limit: number): string {
    if (text.length <= limit) return text.replace(INVISIBLE, spellOut);
    return `${text.slice(0, limit).replace(INVISIBLE, spellOut)}…`;
}

/**
 * `text` for the clipboard: faithful, but with blanks for controls and ends of lines, so that a name stays in its line of a
 * table and means nothing to a terminal that it is pasted into.
 */
export function oneLine(text: string): string {
    return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ');
}

/** What a text that was cut by plainText() leaves out, in words; '' if it is all there. */
export function cutNote(text: string, limit: number): string {
    return text.length <= limit
        ? ''
        : `the first ${limit.toLocaleString('en-US')} of ${text.length.toLocaleString('en-US')} characters`;
}

/** A path without its directories. */
export function baseName(path: string): string {
    return path.slice(path.lastIndexOf('/') + 1);
}
