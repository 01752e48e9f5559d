/** Costs of lines and instructions as text, and as heat. */
import { describeWeight, formatShare, formatWeight } from '../text/format';
import { inPercent } from './settings';
import type { FiltersPart } from './filters';
import type { TreePart } from './tree';
import type { Given } from './given';

const HEAT_STEPS = 5;

/** 1 to HEAT_STEPS for what has heat, by its part of the most; else 0. The style sheets have a color for each. */
export function heatStep(heat: number, most: number): number {
    return heat <= 0 || most <= 0 ? 0 : Math.max(1, Math.ceil(Math.min(1, heat / most) * HEAT_STEPS));
}

export function createCostText(session: Given & { filters: FiltersPart; tree: TreePart }) {
    const { info } = session;
    const { weightUnit } = session.filters;
    const { summary } = session.tree;

    /** A cost as a column shows it: nothing for nothing. */
    function costText(weight: number): string {
        if (weight === 0) return '';
        const whole = summary.value?.rootTotal ?? 0;
        return inPercent.value ? formatShare(weight, whole) : formatWeight(weight, weightUnit.value);
    }

    /** Total and self in words. */
    function costTitle({ total, self }: { total: number; self: number }): string {
        const { interval } = info.value;
        const whole = summary.value?.rootTotal ?? 0;
        const words = (weight: number): string =>
            `${formatShare(weight, whole)} (${describeWeight(weight, weightUnit.value, interval)})`;
        return `Total ${words(total)}, self ${words(self)}`;
    }

    return {
        costText,
        costTitle,
    };
}

export type CostTextPart = ReturnType<typeof createCostText>;
