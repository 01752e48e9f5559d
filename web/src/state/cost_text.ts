/** Costs of lines and instructions as text, and as heat. */
import { describeWeight, formatShare, formatWeight } from '../text/format';
import { weightUnit } from './filters';
import { inPercent } from './source_panel';
import { info } from './store';
import { summary } from './tree';

const HEAT_STEPS = 5;

/** 1 to HEAT_STEPS for what has heat, by its part of the most; else 0. The style sheets have a color for each. */
export function heatStep(heat: number, most: number): number {
    return heat <= 0 || most <= 0 ? 0 : Math.max(1, Math.ceil(Math.min(1, heat / most) * HEAT_STEPS));
}

/** A cost as a column shows it: nothing for nothing. */
export function costText(weight: number): string {
    if (weight === 0) return '';
    const whole = summary.value?.rootTotal ?? 0;
    return inPercent.value ? formatShare(weight, whole) : formatWeight(weight, weightUnit.value);
}

/** Total and self in words. */
export function costTitle({ total, self }: { total: number; self: number }): string {
    const { interval } = info.value;
    const whole = summary.value?.rootTotal ?? 0;
    const words = (weight: number): string =>
        `${formatShare(weight, whole)} (${describeWeight(weight, weightUnit.value, interval)})`;
    return `Total ${words(total)}, self ${words(self)}`;
}
