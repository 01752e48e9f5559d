/**
 * Numbers, times and amounts of any unit as text, like lib/tree/quantity.h for the terminal. The texts are for columns:
 * few significant digits, with the unit in the header.
 */
import { plainText } from './plain';

const UNIT_LIMIT = 30;

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const groupedOneDecimal = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Formats an integer with thousands separators: "1,234,567". */
export function formatCount(value: number): string {
    return grouped.format(value);
}

/** Formats a share of `whole` in percent with one decimal: "12.3%". A positive share that rounds to 0 is "<0.1%". */
export function formatShare(part: number, whole: number): string {
    if (whole === 0 || part === 0) return '0%';
    const percent = (100 * part) / whole;
    if (Math.abs(percent) < 0.05) return '<0.1%';
    return `${percent.toFixed(1)}%`;
}

/** Formats a duration in the unit that has one to four digits before the point: "1.25 s", "12.5 ms", "340 µs". */
export function formatDuration(ms: number): string {
    const size = Math.abs(ms);
    if (size === 0) return '0 ms';
    if (size >= 120_000) {
        const seconds = Math.round(ms / 1000);
        return `${Math.floor(seconds / 60)} min ${String(Math.abs(seconds % 60)).padStart(2, '0')} s`;
    }
    if (size >= 1000) return `${trimDigits(ms / 1000)} s`;
    if (size >= 1) return `${trimDigits(ms)} ms`;
    if (size >= 0.001) return `${trimDigits(ms * 1000)} µs`;
    return `${trimDigits(ms * 1e6)} ns`;
}

function trimDigits(value: number): string {
    const size = Math.abs(value);
    const decimals = size >= 100 ? 0 : size >= 10 ? 1 : 2;
    return String(Number(value.toFixed(decimals)));
}

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function formatBytes(bytes: number): string {
    let value = bytes;
    let unit = 0;
    while (Math.abs(value) >= 1024 && unit < BYTE_UNITS.length - 1) {
        value /= 1024;
        unit++;
    }
    return unit === 0 ? `${value} B` : `${trimDigits(value)} ${BYTE_UNITS[unit]}`;
}

/** Formats a weight for a tree column, whose header has the unit. A weight of 0 is an em dash. */
export function formatWeight(weight: number, unit: string): string {
    if (weight === 0) return '—';
    if (unit === 'bytes') return formatBytes(weight);
    if (unit !== 'ms' && Number.isInteger(weight)) return grouped.format(weight);
    // 641.4499999999, a sum of times, is 641.45 in JSON, and 641.5 everywhere
    return groupedOneDecimal.format(Math.round(weight * 1e6) / 1e6);
}

// ---- changes ----

/** A minus sign with the width of the plus sign. */
const MINUS = '−';

/** The text of a change that rounds to 0. */
export const NO_CHANGE = '—';

/** Formats a change of a weight with its sign: "+1,234", "−0.3". A change that rounds to 0 is an em dash. */
export function formatChange(change: number, unit: string): string {
    const text = formatWeight(Math.abs(change), unit);
    return /[1-9]/.test(text) ? `${change < 0 ? MINUS : '+'}${text}` : NO_CHANGE;
}

/** Formats a change in words, with the unit: "+12.5 ms", "no change". */
export function describeChange(change: number, unit: string): string {
    const text = describeWeight(Math.abs(change), unit, 0);
    return /[1-9]/.test(text) ? `${change < 0 ? MINUS : '+'}${text}` : 'no change';
}

/** Formats half of a change's confidence interval: "±12.5". */
export function formatReach({ low, high }: { low: number; high: number }, unit: string): string {
    return high > low ? `±${formatWeight((high - low) / 2, unit)}` : '±0';
}

/** Formats half of a 95 % interval with the unit: "±12.5 ms". */
export function describeReach({ low, high }: { low: number; high: number }, unit: string): string {
    return high > low ? `±${describeWeight((high - low) / 2, unit, 0)}` : '±0';
}

/** Formats a change in percent of the base: "+12.3%", "−4.0%", or '' for a base of 0. */
export function formatRelative(base: number, changed: number): string {
    if (base === 0) return '';
    const percent = (100 * (changed - base)) / Math.abs(base);
    const text = Math.abs(percent) >= 1000 ? grouped.format(Math.abs(percent)) : Math.abs(percent).toFixed(1);
    return /[1-9]/.test(text) ? `${percent < 0 ? MINUS : '+'}${text}%` : '0%';
}

/** Formats a weight in words, with its unit and, for samples, the time that the samples stand for. */
export function describeWeight(weight: number, unit: string, interval: number): string {
    if (unit === 'bytes') return formatBytes(weight);
    if (unit === 'ms') return formatDuration(weight);
    const noun = unit === 'samples' && Math.abs(weight) === 1 ? 'sample' : plainText(unit, UNIT_LIMIT);
    const count = `${weight === 0 ? '0' : formatWeight(weight, unit)} ${noun}`;
    return weight === 0 || interval <= 0 || unit !== 'samples'
        ? count
        : `${count}, about ${formatDuration(weight * interval)}`;
}

/** Describes a rect of a flame graph that stands for several functions. */
export function describeNarrow(count: number): string {
    return `${formatCount(count)} narrow ${count === 1 ? 'function' : 'functions'}`;
}

// ---- amounts of counters ----

const MS_PER_HOUR = 3_600_000;
const MICROSECONDS = 1000;

function inShort(value: number): string {
    return Math.abs(value) >= 1000 ? formatCount(value) : trimDigits(value);
}

function withPrefix(value: number, unit: string): string {
    const size = Math.abs(value);
    const steps: [number, string][] = [
        [1e3, 'k'],
        [1, ''],
        [1e-3, 'm'],
        [1e-6, 'µ'],
        [1e-9, 'n'],
    ];
    if (size === 0) return `0 ${unit}`;
    const [scale, prefix] = steps.find(([least]) => size >= least) ?? [1e-9, 'n'];
    return `${inShort(value / scale)} ${prefix}${unit}`;
}

/** Formats an amount of bytes, energy (pWh), time (ms), CPU time (cpu-us, cpu-ms) or any counted unit. */
export function formatAmount(value: number, unit: string): string {
    if (unit === 'bytes') return formatBytes(Math.round(value));
    if (unit === 'pWh') return withPrefix(value * 1e-12, 'Wh');
    if (unit === 'ms' || unit === 'cpu-ms') return formatDuration(value);
    if (unit === 'cpu-us') return formatDuration(value / MICROSECONDS);
    if (unit === 'percent') return `${inShort(value * 100)}%`;
    return unit === '' ? inShort(value) : `${inShort(value)} ${plainText(unit, UNIT_LIMIT)}`;
}

/** Formats an amount per ms: energy as power, CPU time as a share of one CPU, bytes and counts per second. */
export function formatRate(perMs: number, unit: string): string {
    if (unit === 'pWh') return withPrefix(perMs * 1e-12 * MS_PER_HOUR, 'W');
    if (unit === 'percent' || unit === 'cpu-ms') return `${inShort(perMs * 100)}%`;
    if (unit === 'cpu-us') return `${inShort((perMs / MICROSECONDS) * 100)}%`;
    return `${formatAmount(perMs * 1000, unit)}/s`;
}

/**
 * Formats a value, or an estimate as "about 3,400", rounded to the decimal place of its error, like format_estimate()
 * of tree/quantity.c.
 */
export function formatEstimate(value: number, error: number, unit: string): string {
    const isTime = unit === 'ms';
    if (!(error >= (isTime ? 0.05 : 0.5)) || value === 0)
        return isTime ? formatWeight(value, unit) : formatCount(value);
    const place = 10 ** Math.floor(Math.min(Math.log10(error), Math.log10(Math.abs(value))));
    const rounded = Math.round(value / place) * place;
    return `about ${isTime && error < 1 ? formatWeight(rounded, unit) : formatCount(rounded)}`;
}

/** Formats ms with three digits. */
export function formatMs(ms: number): string {
    return ms >= 100 ? formatCount(Math.round(ms)) : ms.toFixed(ms >= 10 ? 1 : ms >= 1 ? 2 : 3);
}
