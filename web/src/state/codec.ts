/**
 * The view as the query part of the page's address, and back. Keys and shapes are those of the Firefox Profiler where it
 * has the same thing (`thread`, `range`, `search`, `invertCallstack`); `path` (the selected call node), `preview` (the
 * range that is being chosen) and `tracks` are ours.
 *
 * Lists of indexes are written as digits of five bits, most significant first, one character each: `0` to `v` end a
 * number, `w` to `_` say that more digits follow. A number never begins with a zero digit, so a leading `w` is free to mean
 * "up to and including": `0w7` is 0 to 7, `5awxc` is 5, 10 to 44.
 */
import type { NodePath } from '../engine/api';

/** [start, end) in milliseconds after the profile's zero. */
export type Range = [number, number];

/** Everything that decides what is on the screen, sizes and colours apart. */
export interface View {
    /** Thread indexes; empty until a profile is there. */
    threads: number[];
    /** The ranges zoomed into, outermost first; each lies within the one before. */
    ranges: Range[];
    /** The range that is being chosen in the timeline. */
    preview: Range | null;
    search: string;
    inverted: boolean;
    /** The selected call node; empty for none. */
    path: NodePath;
    /** Whether tracks that do little are shown too. */
    allTracks: boolean;
}

export const EMPTY_VIEW: View = {
    threads: [],
    ranges: [],
    preview: null,
    search: '',
    inverted: false,
    path: [],
    allTracks: false,
};

const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_';
const RANGE_MARK = 'w';
const LONGEST_LIST = 100_000;

function encodeNumber(value: number): string {
    let text = DIGITS.charAt(value % 32);
    for (let rest = Math.floor(value / 32); rest > 0; rest = Math.floor(rest / 32))
        text = DIGITS.charAt(32 + (rest % 32)) + text;
    return text;
}

/** A list of indexes (whole, not negative) in any order; runs of consecutive numbers become ranges. */
export function encodeIndexes(list: readonly number[]): string {
    let text = '';
    for (let i = 0; i < list.length; ) {
        const first = list[i] ?? 0;
        let run = 1;
        while (list[i + run] === first + run) run++;
        text += encodeNumber(first);
        if (run > 2) text += RANGE_MARK + encodeNumber(first + run - 1);
        else if (run === 2) text += encodeNumber(first + 1);
        i += run;
    }
    return text;
}

/** The list that a text stands for; what cannot be read ends it. */
export function decodeIndexes(text: string): number[] {
    const list: number[] = [];
    let value = 0;
    let atStart = true;
    let isRange = false;
    for (const character of text) {
        const digit = DIGITS.indexOf(character);
        if (digit < 0 || list.length >= LONGEST_LIST) break;
        if (atStart && character === RANGE_MARK) {
            isRange = true;
            continue;
        }
        atStart = false;
        value = value * 32 + (digit % 32);
        if (digit >= 32) continue;
        const first = list[list.length - 1];
        if (isRange && first !== undefined)
            for (let i = first + 1; i < value && list.length < LONGEST_LIST; i++) list.push(i);
        list.push(value);
        value = 0;
        atStart = true;
        isRange = false;
    }
    return list.every(Number.isSafeInteger) ? list : [];
}

const UNITS: Record<string, number> = { m: 1, u: 1e3, n: 1e6 };

function unitFor(duration: number): string {
    if (duration >= 10_000) return 'm';
    return duration >= 10 ? 'u' : 'n';
}

/** `range` as start, unit and duration after `zero`: "1200m350", "15250u4000". */
export function encodeRange(range: Range, zero: number): string {
    const unit = unitFor(range[1] - range[0]);
    const scale = UNITS[unit] ?? 1;
    return `${Math.round((range[0] - zero) * scale)}${unit}${Math.max(1, Math.round((range[1] - range[0]) * scale))}`;
}

export function decodeRange(text: string, zero: number): Range | null {
    const match = /^(-?\d{1,15})([mun])(\d{1,15})$/.exec(text);
    if (!match) return null;
    const scale = UNITS[match[2] ?? 'm'] ?? 1;
    const start = zero + Number(match[1]) / scale;
    return [start, start + Number(match[3]) / scale];
}

/** `range` as it will be read back from the address, so that a reload shows the same numbers. */
export function roundRange(range: Range, zero: number): Range {
    return decodeRange(encodeRange(range, zero), zero) ?? range;
}

export function encodeView(view: View, zero: number): string {
    const query = new URLSearchParams();
    query.set('thread', encodeIndexes(view.threads));
    if (view.ranges.length > 0) query.set('range', view.ranges.map((range) => encodeRange(range, zero)).join('~'));
    if (view.preview) query.set('preview', encodeRange(view.preview, zero));
    if (view.search !== '') query.set('search', view.search);
    if (view.inverted) query.set('invertCallstack', '');
    if (view.path.length > 0) query.set('path', encodeIndexes(view.path));
    if (view.allTracks) query.set('tracks', 'all');
    return `?${query.toString().replace(/=(?=&|$)/g, '')}`;
}

export function decodeView(text: string, zero: number): View {
    const query = new URLSearchParams(text);
    const ranges: Range[] = [];
    for (const part of (query.get('range') ?? '').split('~')) {
        const range = decodeRange(part, zero);
        if (range) ranges.push(range);
    }
    return {
        threads: decodeIndexes(query.get('thread') ?? ''),
        ranges,
        preview: decodeRange(query.get('preview') ?? '', zero),
        search: query.get('search') ?? '',
        inverted: query.has('invertCallstack'),
        path: decodeIndexes(query.get('path') ?? ''),
        allTracks: query.get('tracks') === 'all',
    };
}
