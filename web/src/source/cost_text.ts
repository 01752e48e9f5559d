/** Costs of lines and instructions as text, and as heat. */
import {
    describeChange,
    describeWeight,
    formatChange,
    formatRelative,
    formatShare,
    formatWeight,
} from '../base/format';
import type { TreePart } from '../calltree/tree';
import type { FiltersPart } from '../session/filters';
import type { SessionBase } from '../session/session_base';
import { inPercent } from '../window/settings';

const HEAT_STEPS = 5;

/** 1 to HEAT_STEPS for what has heat, by its part of the most; else 0. The style sheets have a color for each. */
export function heatStep(heat: number, most: number): number {
    return heat <= 0 || most <= 0 ? 0 : Math.max(1, Math.ceil(Math.min(1, heat / most) * HEAT_STEPS));
}

/** The class beside that of the heat: of a change, that it is less or more; else ''. */
export type Tone = '' | 'tone-less' | 'tone-more';

export function createCostText(session: SessionBase & { filters: FiltersPart; tree: TreePart }) {
    const { info } = session;
    const { weightUnit } = session.filters;
    const { isChange, summary } = session.tree;

    /** What one side of a comparison costs: nothing for nothing. */
    function sideText(weight: number): string {
        if (weight === 0) return '';
        const whole = summary.value?.rootTotal ?? 0;
        return inPercent.value ? formatShare(weight, whole) : formatWeight(weight, weightUnit.value);
    }

    /** A cost as a column shows it: nothing for nothing. */
    function costText(weight: number): string {
        if (weight === 0 || !isChange.value) return sideText(weight);
        const whole = summary.value?.rootTotal ?? 0;
        return inPercent.value ? formatRelative(whole, whole + weight) : formatChange(weight, weightUnit.value);
    }

    /** Total and self in words. */
    function costTitle({ total, self }: { total: number; self: number }): string {
        const { interval } = info.value;
        if (isChange.value) {
            const change = (weight: number): string => describeChange(weight, weightUnit.value);
            return `Total ${change(total)}, self ${change(self)}`;
        }
        const whole = summary.value?.rootTotal ?? 0;
        const words = (weight: number): string =>
            `${formatShare(weight, whole)} (${describeWeight(weight, weightUnit.value, interval)})`;
        return `Total ${words(total)}, self ${words(self)}`;
    }

    function toneOf(weight: number): Tone {
        if (!isChange.value) return '';
        return weight < 0 ? 'tone-less' : 'tone-more';
    }

    return {
        sideText,
        toneOf,
        costText,
        costTitle,
    };
}

export type CostTextPart = ReturnType<typeof createCostText>;
