/** The columns of a comparison: base, new side, and the signed change. */

import type { Session } from '../app/session';
import {
    describeChange,
    describeReach,
    describeWeight,
    formatChange,
    formatReach,
    formatRelative,
    formatWeight,
    NO_CHANGE,
} from '../base/format';
import type { Sides } from '../engine/api';
import type { KnownChange } from '../engine/changes';
import { type Column, NARROW, numberColumn, VERY_NARROW } from '../table/table_columns';
import type { WeightOrder } from '../table/tree_nodes';
import { ONE_RUN } from './certainty';

export interface ChangedRow {
    total: number;
    self: number;
    sides?: Sides;
}

type Figure = 'total' | 'self';

/** Returns the class of a figure that has increased or decreased, or ''. */
export function changeClass(change: number): string {
    return change === 0 ? 'none' : change < 0 ? 'less' : 'more';
}

/** Returns the CSS value for the bar of a change. */
export function changeColor(change: number): string {
    return `var(--change-${change < 0 ? 'less' : 'more'})`;
}

/**
 * Formats a change relative to the base: "+12.0%", "appeared" or "gone" for a function that only one side has, or "from
 * 0" for a function without self time in the base.
 */
export function relativeText({ sides }: ChangedRow, figure: Figure): string {
    if (!sides) return '';
    const [base, changed] = [sides.base[figure], sides.new[figure]];
    if (base === changed) return '—';
    if (sides.base.total === 0) return 'appeared';
    if (sides.new.total === 0) return 'gone';
    return base === 0 ? 'from 0' : formatRelative(base, changed);
}

/** Returns "more than noise" or its opposite, as `prof diff` prints it. */
export function verdictOf({ isNoise }: KnownChange): string {
    return isNoise ? 'not more than noise' : 'more than noise';
}

/** "95%: ±0.9 ms, more than noise" */
export function reachText(known: KnownChange, unit: string): string {
    return `95%: ${describeReach(known, unit)}, ${verdictOf(known)}`;
}

function title(text: string): string {
    return text[0]?.toUpperCase() + text.slice(1);
}

interface ChangeOptions<Row> {
    /** The weight with columns for both sides. The other weight has only a column for its change. */
    by: Figure;
    /** Whether the table is narrow, and shows only the changes at first. */
    isNarrow?: boolean;
    /** Returns the verdict on a weight of a row, or undefined if it is unknown. */
    knownOf?(row: Row, figure: Figure): KnownChange | undefined;
    /** For rows without callees: their unit, and the total of their shares. */
    alone?: { unit: string; whole: number };
}

export function changeColumns<Row extends ChangedRow>(
    session: Session,
    { by, isNarrow = false, knownOf, alone }: ChangeOptions<Row>,
): Column<Row>[] {
    const { info } = session;
    const unit = alone?.unit ?? session.filters.weightUnit.value;
    const { interval } = info.value;
    const whole = alone?.whole ?? session.tree.summary.value?.rootTotal ?? 0;
    const callees = (figure: Figure): string =>
        alone ? '' : `, ${figure === 'self' ? 'excluding' : 'including'} callees`;
    const other: Figure = by === 'total' ? 'self' : 'total';
    const of = by === 'total' ? '' : ' self';

    function sideColumn(side: keyof Sides): Column<Row> {
        const figure = (row: Row): number => row.sides?.[side][by] ?? 0;
        const order: WeightOrder = `${side}${by === 'total' ? 'Total' : 'Self'}`;
        return numberColumn({
            key: side,
            title: `${title(side)}${of} (${unit})`,
            hint: `Weight in the ${side === 'new' ? 'new side' : 'base'}${callees(by)}`,
            width: 104,
            sortedBy: order,
            class: `number side-${side}`,
            classOf: (row) => (figure(row) === 0 ? 'none' : ''),
            describe: (row) => describeWeight(figure(row), unit, interval),
            text: (row) => formatWeight(figure(row), unit),
            value: figure,
            sparedBelow: NARROW,
            ...(isNarrow ? { optional: 'hidden' as const } : {}),
        });
    }

    function changeColumn(figure: Figure, isMain: boolean): Column<Row> {
        return numberColumn({
            key: figure,
            title: isMain ? `${title(`${of} change`.trim())}` : title(`${figure} change`),
            hint: `New minus base${callees(figure)} (${unit})`,
            width: isMain ? 96 : 104,
            class: isMain ? 'number change' : 'number change other',
            classOf: (row) => (formatChange(row[figure], unit) === NO_CHANGE ? 'none' : changeClass(row[figure])),
            ...(isMain
                ? { bar: (row: Row) => (whole === 0 ? 0 : Math.min(1, Math.abs(row[figure] / whole))) }
                : { sparedBelow: NARROW }),
            describe: (row) => describeChange(row[figure], unit),
            text: (row) => formatChange(row[figure], unit),
            value: (row) => row[figure],
        });
    }

    const relative = numberColumn<Row>({
        key: 'relative',
        title: `${title(`${of} change`.trim())} %`,
        hint: 'Change in percent of the base',
        width: by === 'total' ? 88 : 104,
        sortedBy: '',
        class: 'number relative',
        classOf: (row) => (formatChange(row[by], unit) === NO_CHANGE ? 'none' : changeClass(row[by])),
        text: (row) => relativeText(row, by),
        sparedBelow: VERY_NARROW,
    });

    const columns = [sideColumn('base'), sideColumn('new'), changeColumn(by, true), relative];
    const known = (figure: Figure): Column<Row>[] =>
        knownOf ? [knownColumn(session, figure, figure === by, unit, knownOf)] : [];
    return [...columns, ...known(by), ...(alone ? [] : [changeColumn(other, false), ...known(other)])];
}

/** The column with the interval of the change, and whether the change exceeds noise. */
function knownColumn<Row extends ChangedRow>(
    session: Session,
    figure: Figure,
    isMain: boolean,
    unit: string,
    knownOf: (row: Row, figure: Figure) => KnownChange | undefined,
): Column<Row> {
    const text = (row: Row): string => {
        const known = knownOf(row, figure);
        if (!known) return '';
        return known.isNoise ? `noise ${formatReach(known, unit)}` : formatReach(known, unit);
    };
    const hint = `95% confidence interval of the change of ${figure} time. “noise”: the change does not exceed noise, judged together with all others. Empty: too few samples.`;
    return numberColumn({
        key: isMain ? 'known' : 'known-other',
        title: isMain ? '± 95%' : `${title(figure)} ± 95%`,
        hint: session.certainty.areRuns.value ? hint : `${hint} ${ONE_RUN}`,
        width: 112,
        sortedBy: '',
        class: 'number known',
        classOf: (row) => (knownOf(row, figure)?.isNoise ? 'noise' : ''),
        text,
        describe: (row) => {
            const known = knownOf(row, figure);
            if (!known) return '';
            return `${describeChange(known.low, unit)} to ${describeChange(known.high, unit)}: ${verdictOf(known)}`;
        },
        ...(isMain ? { sparedBelow: VERY_NARROW } : { sparedBelow: NARROW, optional: 'shown' as const }),
    });
}
