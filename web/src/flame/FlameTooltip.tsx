/** The tooltip of a rect: its full name, its numbers, and the categories of its samples. */
import type { JSX } from 'preact';
import { categoryColor } from '../base/colors';
import { describeChange, describeWeight, formatShare } from '../base/format';
import { changeClass, relativeText } from '../compare/change_columns';
import type { NodeDetails, Sides } from '../engine/api';
import { useSession } from '../session/context';
import { NameTooltip } from '../ui/NameTooltip';
import { ProfileText } from '../ui/text';

const MOST_CATEGORIES = 6;

export interface Amounts {
    total: number;
    self: number;
    /** Both sides of a comparison, in which total and self are changes. */
    sides?: Sides;
    whole: number;
}

function Categories({ list }: { list: NodeDetails['categoriesTotal'] }): JSX.Element | null {
    const session = useSession();
    const { info } = session;
    const { weightUnit } = session.filters;
    const { categoryName } = session.store;
    const { isChange } = session.tree;
    const whole = list.reduce((sum, part) => sum + Math.abs(part.weight), 0);
    if (whole === 0) return null;
    const { categories } = info.value;
    return (
        <ul class="tooltip-categories">
            {list.slice(0, MOST_CATEGORIES).map(({ category, weight }) => (
                <li key={category}>
                    <span class="category-square" style={{ background: categoryColor(categories[category]) }} />
                    <ProfileText text={categoryName(category)} limit={40} />
                    <span class="muted">
                        {isChange.value ? describeChange(weight, weightUnit.value) : formatShare(weight, whole)}
                    </span>
                </li>
            ))}
        </ul>
    );
}

/** Shows the numbers of both sides of a comparison, and the change. */
function ChangeLines({ total, self, sides }: { total: number; self: number; sides: Sides }): JSX.Element {
    const session = useSession();
    const { weightUnit } = session.filters;
    const unit = weightUnit.value;
    return (
        <dl class="tooltip-amounts">
            <div>
                <dt>Base</dt>
                <dd>{describeWeight(sides.base.total, unit, 0)}</dd>
            </div>
            <div>
                <dt>New</dt>
                <dd>{describeWeight(sides.new.total, unit, 0)}</dd>
            </div>
            <div>
                <dt>Change</dt>
                <dd>
                    <strong class={changeClass(total)}>{describeChange(total, unit)}</strong>{' '}
                    {total === 0 ? '' : relativeText({ total, self, sides }, 'total')}
                </dd>
            </div>
            <div>
                <dt>Self</dt>
                <dd class={changeClass(self)}>{describeChange(self, unit)}</dd>
            </div>
        </dl>
    );
}

export function AmountLines({ total, self, sides, whole }: Amounts): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { weightUnit } = session.filters;
    const unit = weightUnit.value;
    const { interval } = info.value;
    if (sides) return <ChangeLines total={total} self={self} sides={sides} />;
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
    /** null before the engine has answered. */
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
