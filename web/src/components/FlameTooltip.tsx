/** What a rect of a chart is: its name in full, its numbers, and the categories of its samples. */
import type { JSX } from 'preact';
import { categoryColor } from '../draw/colors';
import type { NodeDetails } from '../engine/api';
import { describeWeight, formatShare } from '../text/format';
import { NameTooltip } from './NameTooltip';
import { ProfileText } from './text';
import { useSession } from './session_context';

const MOST_CATEGORIES = 6;

export interface Amounts {
    total: number;
    self: number;
    whole: number;
}

function Categories({ list }: { list: NodeDetails['categoriesTotal'] }): JSX.Element | null {
    const session = useSession();
    const { info } = session;
    const { categoryName } = session.store;
    const whole = list.reduce((sum, part) => sum + Math.abs(part.weight), 0);
    if (whole === 0) return null;
    const { categories } = info.value;
    return (
        <ul class="tooltip-categories">
            {list.slice(0, MOST_CATEGORIES).map(({ category, weight }) => (
                <li key={category}>
                    <span class="category-square" style={{ background: categoryColor(categories[category]) }} />
                    <ProfileText text={categoryName(category)} limit={40} />
                    <span class="muted">{formatShare(weight, whole)}</span>
                </li>
            ))}
        </ul>
    );
}

export function AmountLines({ total, self, whole }: Amounts): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { weightUnit } = session.filters;
    const unit = weightUnit.value;
    const { interval } = info.value;
    return (
        <dl class="tooltip-amounts">
            <div>
                <dt>Total</dt>
                <dd>
                    <strong>{formatShare(total, whole)}</strong> {describeWeight(total, unit, interval)}
                </dd>
            </div>
            <div>
                <dt>Self</dt>
                <dd>
                    <strong>{formatShare(self, whole)}</strong> {describeWeight(self, unit, interval)}
                </dd>
            </div>
        </dl>
    );
}

interface FlameTooltipProps extends Amounts {
    func: number;
    /** null until the engine has answered. */
    details: NodeDetails | null;
}

export function FlameTooltip({ func, details, ...amounts }: FlameTooltipProps): JSX.Element {
    const { funcName } = useSession().names;
    const name = funcName(func);
    return (
        <>
            {name && <NameTooltip name={name} />}
            <AmountLines {...amounts} />
            {details && <Categories list={details.categoriesTotal} />}
            {name && name.file !== '' && (
                <p class="muted">
                    <ProfileText text={name.line > 0 ? `${name.file}:${name.line}` : name.file} limit={300} />
                </p>
            )}
        </>
    );
}
