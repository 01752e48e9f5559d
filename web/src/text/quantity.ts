/** Values of counters as text, by the unit that the profile gives them. */
import { formatBytes, formatCount, formatDuration } from './format';
import { plainText } from './plain';

const MS_PER_HOUR = 3_600_000;
const MICROSECONDS = 1000;

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
    return `${short(value / scale)} ${prefix}${unit}`;
}

function short(value: number): string {
    const size = Math.abs(value);
    if (size >= 1000) return formatCount(value);
    return String(Number(value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)));
}

/** An amount: of bytes, of energy (pWh), of time (ms), of CPU time (cpu-us), or of whatever is counted. */
export function formatAmount(value: number, unit: string): string {
    if (unit === 'bytes') return formatBytes(Math.round(value));
    if (unit === 'pWh') return withPrefix(value * 1e-12, 'Wh');
    if (unit === 'ms') return formatDuration(value);
    if (unit === 'cpu-us') return formatDuration(value / MICROSECONDS);
    if (unit === 'percent') return `${short(value * 100)}%`;
    return unit === '' ? short(value) : `${short(value)} ${plainText(unit, 30)}`;
}

/** An amount per ms: energy as power, CPU time as a share of one CPU, bytes and counts per second. */
export function formatRate(perMs: number, unit: string): string {
    if (unit === 'pWh') return withPrefix(perMs * 1e-12 * MS_PER_HOUR, 'W');
    if (unit === 'percent') return `${short(perMs * 100)}%`;
    if (unit === 'cpu-us') return `${short((perMs / MICROSECONDS) * 100)}%`;
    return `${formatAmount(perMs * 1000, unit)}/s`;
}
