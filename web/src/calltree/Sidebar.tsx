/** The selected call node or function: its full name, its origin, and its figures by category and by line. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Session } from '../app/session';
import { categoryColor } from '../base/colors';
import { describeWeight, formatChange, formatReach, formatRelative, formatShare, formatWeight } from '../base/format';
import { baseName, cutNote, plainText, SIDEBAR_LIMIT } from '../base/plain';
import { ONE_AFTER_OTHER, type SelfOrTotal } from '../compare/certainty';
import { changeClass, changeColor, relativeText, verdictOf } from '../compare/change_columns';
import type { NodeDetails, Sides } from '../engine/api';
import type { KnownChange } from '../engine/changes';
import { useSession } from '../session/context';
import { shortName } from '../table/weight_columns';
import { FetchSymbols } from '../ui/FetchSymbols';
import { CutIcon } from '../ui/icons';
import { TRUNCATED_EXPLANATION } from '../ui/NameTooltip';
import { BreakingText, ProfileText } from '../ui/text';
import { sidebarWidth } from '../window/settings';
import { act } from '../window/windows';
import type { FunctionDetails, Neighbor } from './functions';

function Badges({ node }: { node: NodeDetails }): JSX.Element | null {
    if (node.inlined === 'no') return null;
    const text = node.inlined === 'yes' ? 'inlined' : 'some calls inlined';
    return (
        <p class="badges">
            <span class="badge">{text}</span>
            {node.inlinedInto !== '' && (
                <span class="muted">
                    into <ProfileText text={node.inlinedInto} limit={200} />
                </span>
            )}
        </p>
    );
}

function Origin({ node }: { node: NodeDetails }): JSX.Element {
    const { func } = node;
    return (
        <dl class="origin">
            {func.lib !== '' && (
                <div>
                    <dt>Library</dt>
                    <dd>
                        <ProfileText text={func.libPath || func.lib} limit={2000} />
                    </dd>
                </div>
            )}
            {func.file !== '' && (
                <div>
                    <dt>Source</dt>
                    <dd>
                        <ProfileText text={func.line > 0 ? `${func.file}:${func.line}` : func.file} limit={2000} />
                    </dd>
                </div>
            )}
        </dl>
    );
}

function Amount({ label, weight, whole }: { label: string; weight: number; whole: number }): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { weightUnit } = session.filters;
    const unit = weightUnit.value;
    const { interval } = info.value;
    return (
        <div class="amount">
            <dt>{label}</dt>
            <dd>
                <strong>{formatShare(weight, whole)}</strong>
                <span>
                    {describeWeight(weight, unit, interval)
                        .split(/(?<=,) /)
                        .flatMap((part) => [
                            <span key={part} class={unit.length > LONG_UNIT ? 'long' : undefined}>
                                {part}
                            </span>,
                            ' ',
                        ])}
                </span>
            </dd>
        </div>
    );
}

/** Units with more letters, such as names of events, may have a line of their own. */
const LONG_UNIT = 8;

/**
 * Shows total and self of both sides of a comparison, and their changes, and below the same of the view and of the wall
 * time.
 */
function ChangeAmounts({ node, sides }: { node: NodeDetails; sides: Sides }): JSX.Element {
    const session = useSession();
    const unit = session.filters.weightUnit.value;
    const { comparison, isOfAll } = session.comparison;
    const { baseTotal, newTotal } = session.tree.summary.value ?? {};
    const wallTime = unit === 'ms' && isOfAll.value ? comparison.value?.wallTime : undefined;
    const whole = (label: string, base: number, changed: number): JSX.Element => (
        <tr class="muted">
            <th scope="row">{label}</th>
            <td>{formatWeight(base, unit)}</td>
            <td>{formatWeight(changed, unit)}</td>
            <td>{formatChange(changed - base, unit)}</td>
            <td>{formatRelative(base, changed)}</td>
        </tr>
    );
    const line = (label: string, figure: 'total' | 'self'): JSX.Element => (
        <tr>
            <th scope="row">{label}</th>
            <td>{formatWeight(sides.base[figure], unit)}</td>
            <td>{formatWeight(sides.new[figure], unit)}</td>
            <td class={changeClass(node[figure])}>{formatChange(node[figure], unit)}</td>
            <td class={changeClass(node[figure])}>{relativeText(node, figure)}</td>
        </tr>
    );
    return (
        <table class="amounts-compared">
            <thead>
                <tr>
                    <th scope="col">{plainText(unit, 20)}</th>
                    <th scope="col">Base</th>
                    <th scope="col">New</th>
                    <th scope="col">Change</th>
                    <th scope="col">Change %</th>
                </tr>
            </thead>
            <tbody>
                {line('Total', 'total')}
                {line('Self', 'self')}
                {baseTotal !== undefined && newTotal !== undefined && whole('Whole view', baseTotal, newTotal)}
                {wallTime && whole('Wall time', wallTime.base, wallTime.new)}
            </tbody>
        </table>
    );
}

/** Shows a change with its interval, and whether the change exceeds noise. */
function Verdict({ change, known }: { change: number; known: KnownChange }): JSX.Element {
    const unit = useSession().filters.weightUnit.value;
    const noun = unit === 'bytes' ? '' : plainText(unit, 20);
    return (
        <>
            {`${formatChange(change, unit)} ${formatReach(known, unit)} ${noun}`.trimEnd()}:{' '}
            <strong>{verdictOf(known)}</strong>
        </>
    );
}

function OfFunction({ func, figure }: { func: number; figure: SelfOrTotal }): JSX.Element | null {
    const { judged, ofFunc } = useSession().certainty;
    const count = judged(figure);
    const own = ofFunc(func, figure);
    if (count === undefined) return null;
    // The interval of the function excludes 0, but the verdict tests all functions together, and some intervals exclude
    // 0 by chance.
    const isByChance = own?.isNoise && (own.low > 0 || own.high < 0);
    return (
        <div>
            <dt>{figure === 'self' ? 'Self' : 'Total'} of the function</dt>
            {own ? (
                <dd>
                    <Verdict change={(own.low + own.high) / 2} known={own} />
                    {isByChance && `: of ${count.toLocaleString('en-US')} functions, some differ this much by chance`}
                </dd>
            ) : (
                <dd>too few samples to tell from noise</dd>
            )}
        </div>
    );
}

/** Shows whether the change of the function and the change of the total exceed noise. */
function Certainty({ func }: { func: number }): JSX.Element | null {
    const session = useSession();
    const { areRuns, note, ofAll } = session.certainty;
    const { summary } = session.tree;
    const all = ofAll.value;
    if (!all) return null;
    const total = (summary.value?.newTotal ?? 0) - (summary.value?.baseTotal ?? 0);
    return (
        <dl class="certainty" title={note.value || undefined}>
            <OfFunction func={func} figure="total" />
            <OfFunction func={func} figure="self" />
            <div>
                <dt>Whole view</dt>
                <dd>
                    <Verdict change={total} known={all} />
                </dd>
                {!areRuns.value && <dd class="muted">One run per side: only large changes exceed noise.</dd>}
                {note.value === ONE_AFTER_OTHER && <dd class="muted">One side was recorded before the other.</dd>}
            </div>
        </dl>
    );
}

/** Formats a weight of the view, with a sign for a change. */
function Figure({ weight }: { weight: number }): JSX.Element {
    const session = useSession();
    const unit = session.filters.weightUnit.value;
    if (!session.tree.isChange.value) return <td>{formatWeight(weight, unit)}</td>;
    return <td class={changeClass(weight)}>{formatChange(weight, unit)}</td>;
}

/** Formats a weight with its share. A change has no share, because parts of a change may cancel each other. */
function Figures({ weight, whole }: { weight: number; whole: number }): JSX.Element {
    const { isChange } = useSession().tree;
    return (
        <>
            <td>{isChange.value ? '' : formatShare(weight, whole)}</td>
            <Figure weight={weight} />
        </>
    );
}

interface CategoriesProps {
    title: string;
    list: { category: number; weight: number }[];
}

function Categories({ title, list }: CategoriesProps): JSX.Element | null {
    const session = useSession();
    const { info } = session;
    const { categoryName } = session.store;
    const { isChange } = session.tree;
    const whole = list.reduce((sum, entry) => sum + Math.abs(entry.weight), 0);
    if (whole === 0) return null;
    const { categories } = info.value;
    return (
        <section>
            <h3>{title}</h3>
            <table class="bars">
                <tbody>
                    {list.map((entry) => (
                        <tr key={entry.category}>
                            <th scope="row">
                                <ProfileText text={categoryName(entry.category)} limit={60} />
                            </th>
                            <Figures weight={entry.weight} whole={whole} />
                            <td class="bar">
                                <span
                                    style={{
                                        transform: `scaleX(${Math.abs(entry.weight) / whole})`,
                                        background: isChange.value
                                            ? changeColor(entry.weight)
                                            : categoryColor(categories[entry.category]),
                                    }}
                                />
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

function showLine(session: Session, line: number): void {
    const { functionDetails } = session.functions;
    const { openSource } = session.sourcePanel;
    const { view } = session.store;
    const { placeOfNode } = session.transformOffers;
    const { details } = session.tree;
    const node = details.value?.node;
    const func = functionDetails.value?.func;
    if (view.value.tab === 'functions' && func !== undefined) act(openSource({ func, line }));
    else if (node) act(openSource({ ...placeOfNode(node), line }));
}

function Lines({ node }: { node: NodeDetails }): JSX.Element | null {
    const session = useSession();
    if (node.lines.length === 0) return null;
    const most = Math.max(...node.lines.map((line) => Math.abs(line.total)));
    const isOneFile = node.lines.every((line) => line.file === node.lines[0]?.file);
    return (
        <section>
            <h3>
                {isOneFile ? (
                    <ProfileText text={`Lines of ${baseName(node.lines[0]?.file ?? '')}`} limit={120} />
                ) : (
                    'Lines'
                )}
            </h3>
            <table class="bars lines">
                <thead>
                    <tr>
                        <th scope="col">Line</th>
                        <th scope="col">Total</th>
                        <th scope="col">Self</th>
                        <th scope="col">
                            <span class="offscreen">Share</span>
                        </th>
                    </tr>
                </thead>
                <tbody>
                    {node.lines.map((line) => (
                        <tr key={`${line.file.slice(-200)}:${line.line}`}>
                            <th scope="row">
                                <button
                                    type="button"
                                    class="link"
                                    title="Show this source line"
                                    onClick={() => showLine(session, line.line)}
                                >
                                    <ProfileText
                                        text={isOneFile ? String(line.line) : `${baseName(line.file)}:${line.line}`}
                                        limit={80}
                                    />
                                </button>
                            </th>
                            <Figure weight={line.total} />
                            <Figure weight={line.self} />
                            <td class="bar">
                                <span
                                    class="heat"
                                    style={{
                                        transform: `scaleX(${most > 0 ? Math.abs(line.total) / most : 0})`,
                                        ...(node.sides && { background: changeColor(line.total) }),
                                    }}
                                />
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

/** Shows the doubts about a node: truncated stacks and missing names. */
function TrustMarks({ node }: { node: NodeDetails }): JSX.Element | null {
    const isUnnamed = /^0x[0-9a-f]+$/i.test(node.func.name);
    const isWhole = node.sides !== undefined || node.truncated === 0 || node.func.name === '(truncated)';
    if (isWhole && !isUnnamed) return null;
    return (
        <div class="explanation">
            {!isWhole && (
                <p>
                    {formatShare(node.truncated, node.total)} of its samples have a truncated stack: some callers are
                    missing.
                </p>
            )}
            {isUnnamed && (
                <p>
                    No symbol found: this is the address in the library. <FetchSymbols />
                </p>
            )}
        </div>
    );
}

interface NeighborsProps {
    title: string;
    list: readonly Neighbor[];
    whole: number;
}

function Neighbors({ title, list, whole }: NeighborsProps): JSX.Element | null {
    const session = useSession();
    const { selectFunction } = session.functions;
    const { isChange } = session.tree;
    const { funcName, namesVersion, shownName } = session.names;
    namesVersion.value;
    if (list.length === 0) return null;
    return (
        <section>
            <h3>{isChange.value ? `Change: ${title.toLowerCase()}` : title}</h3>
            <table class="bars">
                <tbody>
                    {list.map((neighbor) => (
                        <tr key={neighbor.func}>
                            <th scope="row" class="neighbor">
                                <button
                                    type="button"
                                    class="link"
                                    title={plainText(funcName(neighbor.func)?.name ?? '', 1200)}
                                    onClick={() => selectFunction(neighbor.func, true)}
                                >
                                    <ProfileText text={shortName(shownName(neighbor.func))} limit={120} />
                                </button>
                            </th>
                            <Figures weight={neighbor.total} whole={whole} />
                            <td class="bar">
                                <span
                                    class="heat"
                                    style={{
                                        transform: `scaleX(${whole === 0 ? 0 : Math.min(1, Math.abs(neighbor.total / whole))})`,
                                        ...(isChange.value && { background: changeColor(neighbor.total) }),
                                    }}
                                />
                            </td>
                        </tr>
                    ))}
                </tbody>
            </table>
        </section>
    );
}

/** Limit of the characters that fit into three lines. A longer name is folded until the user expands it. */
const LONG_NAME = 100;

/** Shows the name, which breaks between its parts. A long name is folded until the user expands it. */
function FullName({ name }: { name: string }): JSX.Element {
    const [opened, setOpened] = useState('');
    const short = shortName(name);
    const isLong = short !== name || name.length > LONG_NAME;
    const isOpen = opened === name && name !== '';
    return (
        <>
            <h2 class={isLong && !isOpen ? 'full-name folded' : 'full-name'}>
                {name === '(truncated)' && <CutIcon />}
                <BreakingText text={(isOpen ? name : short) || '(no name)'} limit={SIDEBAR_LIMIT} />
            </h2>
            {isLong && (
                <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpened(isOpen ? '' : name)}>
                    {isOpen ? 'Less' : 'More'}
                </button>
            )}
        </>
    );
}

interface NodeContentProps {
    node: NodeDetails;
    func: number;
    /** Shown between amounts and lines. */
    children?: ComponentChildren;
}

function NodeContent({ node, func, children }: NodeContentProps): JSX.Element {
    const { summary } = useSession().tree;
    const isCut = node.func.name === '(truncated)';
    const note = cutNote(node.func.name, SIDEBAR_LIMIT);
    const whole = summary.value?.rootTotal ?? 0;
    return (
        <>
            <FullName name={node.func.name} />
            {note !== '' && <p class="muted">{note}; copying includes all</p>}
            {isCut && <p class="explanation">{TRUNCATED_EXPLANATION}</p>}
            <TrustMarks node={node} />
            <Badges node={node} />
            <Origin node={node} />
            {node.sides ? (
                <>
                    <ChangeAmounts node={node} sides={node.sides} />
                    <Certainty func={func} />
                </>
            ) : (
                <dl class="amounts">
                    <Amount label="Total" weight={node.total} whole={whole} />
                    <Amount label="Self" weight={node.self} whole={whole} />
                </dl>
            )}
            <Categories title={node.sides ? 'Change by category' : 'Total by category'} list={node.categoriesTotal} />
            <Categories
                title={node.sides ? 'Self change by category' : 'Self by category'}
                list={node.categoriesSelf}
            />
            {children}
            <Lines node={node} />
        </>
    );
}

function FunctionContent({ of }: { of: FunctionDetails }): JSX.Element {
    return (
        <NodeContent node={of.details} func={of.func}>
            <Neighbors title="Called by" list={of.callers} whole={of.details.total} />
            <Neighbors title="Calls" list={of.callees} whole={of.details.total} />
        </NodeContent>
    );
}

export function Sidebar(): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { weightUnit } = session.filters;
    const { functionDetails } = session.functions;
    const { view } = session.store;
    const { details, selected, summary } = session.tree;
    const isList = view.value.tab === 'functions';
    const ofFunction = isList ? functionDetails.value : null;
    const current = isList ? null : details.value;
    const hasSelection = isList ? ofFunction !== null : selected.value !== null;
    const unit = weightUnit.value;
    const { interval } = info.value;
    return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        <aside class="sidebar" aria-label="Selected function" tabIndex={0} style={{ width: `${sidebarWidth.value}px` }}>
            {hasSelection && current && <NodeContent node={current.details} func={current.node.func} />}
            {ofFunction && <FunctionContent of={ofFunction} />}
            {!hasSelection && summary.value && summary.value.rootTotal !== 0 && (
                <>
                    <h2>Nothing selected</h2>
                    <p class="muted">
                        {summary.value
                            ? `This view has ${describeWeight(summary.value.rootTotal, unit, interval)}. `
                            : ''}
                        Select a {isList ? 'function' : 'row'} to see its categories and lines.
                    </p>
                </>
            )}
        </aside>
    );
}
