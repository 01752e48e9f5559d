/**
 * A comparison of two profiles: the names of its sides, and the side that the view counts (the change from base to new,
 * or one side alone).
 */
import { computed } from '@preact/signals';
import { describeReach, describeWeight, formatRelative } from '../base/format';
import { plainText } from '../base/plain';
import type { Compared, Comparison, ScaledBy } from '../engine/api';
import { COMPARED } from '../engine/layout';
import type { Choice } from '../session/filters';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';

export const COMPARED_CHOICES: readonly Choice<Compared>[] = [
    { value: 'change', label: 'Change', hint: 'New minus base' },
    { value: 'base', label: 'Base', hint: 'Only the base' },
    { value: 'new', label: 'New', hint: 'Show only the new side' },
];

const SCALED_LIMIT = 60;

/** Returns the quantity that is equal on both sides, as text, or '' without a scale. */
export function scaleText({ scale, scaledBy }: Comparison): string {
    if (scaledBy === '') return '';
    return `new × ${Number(scale.toPrecision(4))} for the same ${plainText(scaledBy, SCALED_LIMIT)}`;
}

/** Returns the duration of a run: "129 ms to 135 ms, +5.0% (95%: ±23.3 ms)". */
export function wallTimeText({ baseRuns, newRuns, wallTime }: Comparison): string {
    const { base, new: changed } = wallTime;
    const relative = formatRelative(base, changed);
    const reach = baseRuns > 1 && newRuns > 1 ? ` (95%: ${describeReach(wallTime, 'ms')})` : '';
    const times = `${describeWeight(base, 'ms', 0)} to ${describeWeight(changed, 'ms', 0)}`;
    return `${times}${base === changed || relative === '' ? '' : `, ${relative}`}${reach}`;
}

const BY: Record<string, string> = { samples: 'samples', 'cpu-time': 'CPU time', 'wall-time': 'wall time' };

/** Returns "CPU time", "function parse", or '' for no quantity. */
export function nameOfScaledBy(scaledBy: ScaledBy): string {
    if (scaledBy === 'none') return '';
    return BY[scaledBy] ?? scaledBy.replace('function:', 'function ');
}

export function createComparison(session: SessionBase & { store: StorePart }) {
    const { info } = session;
    const { changeView, selectedThreads, view } = session.store;

    /** The comparison, or null if the profile is none. */
    const comparison = computed<Comparison | null>(() => info.value.comparison ?? null);
    const compared = computed<Compared | null>(() => comparison.value && view.value.compared);

    /** Whether the view has all samples of the profile. */
    const isOfAll = computed(() => {
        const { preview, ranges, search, transforms } = view.value;
        const hasAllThreads = selectedThreads.value.length === info.value.threads.length;
        return hasAllThreads && !preview && ranges.length === 0 && search === '' && transforms.length === 0;
    });

    function setCompared(wanted: Compared): void {
        if (wanted !== view.value.compared) changeView({ compared: wanted }, 'push');
    }

    const scaledBy = computed<ScaledBy | ''>(() => (comparison.value ? view.value.scaledBy : ''));

    /** Sets the quantity that is equal on both sides. '': the quantity of the file. */
    function setScaledBy(wanted: ScaledBy | ''): void {
        if (wanted !== view.value.scaledBy) changeView({ scaledBy: wanted }, 'push');
    }

    /** The quantities that can be equal on both sides, without functions. */
    const scaledByChoices = computed<Choice<ScaledBy | ''>[]>(() => {
        const recorded = comparison.value?.scaledBy ?? '';
        const hasTimes = info.value.weights.some(({ id }) => id === 'cpu-time');
        const others: ScaledBy[] = [
            ...(recorded === '' ? [] : ['none' as const]),
            'samples',
            ...(hasTimes ? ['cpu-time' as const] : []),
            'wall-time',
            ...(scaledBy.value.startsWith('function:') ? [scaledBy.value as ScaledBy] : []),
        ];
        const labelOf = (name: string): string => (name === '' ? 'Not normalized' : `Same ${plainText(name, 40)}`);
        const hint = 'Scales the new side until both sides have the same amount';
        return [
            { value: '', label: labelOf(recorded), hint: recorded === '' ? 'Both sides count as recorded' : hint },
            ...others.map((by) => ({ value: by, label: labelOf(nameOfScaledBy(by)), hint })),
        ];
    });

    /** Shows the next choice: change, base, new side. */
    function nextCompared(): void {
        const next = COMPARED[(COMPARED.indexOf(view.value.compared) + 1) % COMPARED.length];
        if (next) setCompared(next);
    }

    return { comparison, compared, isOfAll, setCompared, nextCompared, scaledBy, setScaledBy, scaledByChoices };
}

export type ComparisonPart = ReturnType<typeof createComparison>;
