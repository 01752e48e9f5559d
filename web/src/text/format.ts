/** Numbers and times as text. Everything is made for columns: few significant digits, the unit always said somewhere. */

export type WeightUnit = 'samples' | 'ms' | 'bytes';

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const groupedOneDecimal = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** Whole numbers with thousands separators: "1,234,567". */
export function formatCount(value: number): string {
    return grouped.format(value);
}

/** A share of `whole` in percent with one decimal: "12.3%". A share that is there but rounds to nothing is "<0.1%". */
export function formatShare(part: number, whole: number): string {
    if (whole === 0 || part === 0) return '0%';
    const percent = (100 * part) / whole;
    if (Math.abs(percent) < 0.05) return '<0.1%';
    return `${percent.toFixed(1)}%`;
}

/** A duration in the unit that gives one to four digits before the point: "1.25 s", "12.5 ms", "340 µs". */
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

/** A weight as a tree column shows it; the header says the unit. Nothing is an em dash, to keep the column calm. */
export function formatWeight(weight: number, unit: WeightUnit): string {
    if (weight === 0) return '—';
    if (unit === 'bytes') return formatBytes(weight);
    if (unit === 'ms') return groupedOneDecimal.format(weight);
    return Number.isInteger(weight) ? grouped.format(weight) : groupedOneDecimal.format(weight);
}

/** A weight in words, with its unit and, for samples, the time that they stand for. */
export function describeWeight(weight: number, unit: WeightUnit, interval: number): string {
    if (unit === 'bytes') return formatBytes(weight);
    if (unit === 'ms') return formatDuration(weight);
    const count = `${formatWeight(weight, unit).replace('—', '0')} ${Math.abs(weight) === 1 ? 'sample' : 'samples'}`;
    return weight === 0 || interval <= 0 ? count : `${count}, about ${formatDuration(weight * interval)}`;
}
