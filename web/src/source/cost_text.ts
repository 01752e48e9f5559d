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

/**
 * Returns a step from 1 to HEAT_STEPS by the part of `most`, or 0 without heat. The style sheets have a color for each
 * step.
 */
export function heatStep(heat: number, most: number): number {
    return heat <= 0 || most <= 0 ? 0 : Math.max(1, Math.ceil(Math.min(1, heat / most) * HEAT_STEPS));
}

/** The class for the sign of a change, besides the class for heat; '' without a change. */
export type Tone = '' | 'tone-less' | 'tone-more';

export function createCostText(session: SessionBase & { filters: FiltersPart; tree: TreePart }) {
    const { info } = session;
    const { weightUnit } = session.filters;
    const { isChange, summary } = session.tree;

    /** Formats the cost on one side of a comparison, 0 as ''. */
    function sideText(weight: number): string {
        if (weight === 0) return '';
        const whole = summary.value?.rootTotal ?? 0;
        return inPercent.value ? formatShare(weight, whole) : formatWeight(weight, weightUnit.value);
    }

    /** Formats a cost for a column, 0 as ''. */
    function costText(weight: number): string {
        if (weight === 0 || !isChange.value) return sideText(weight);
        const whole = summary.value?.rootTotal ?? 0;
        return inPercent.value ? formatRelative(whole, whole + weight) : formatChange(weight, weightUnit.value);
    }

    /** Describes total and self in words. */
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
