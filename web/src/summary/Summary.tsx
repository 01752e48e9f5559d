/** The summary on one screen: the heaviest rows of each list, each with a link to its view. */
import type { ComponentChildren, JSX } from 'preact';
import type { Session } from '../app/session';
import { categoryColor } from '../base/colors';
import { nameParts } from '../base/fold';
import {
    describeChange,
    describeWeight,
    formatChange,
    formatCount,
    formatDuration,
    formatRelative,
    formatShare,
    formatWeight,
} from '../base/format';
import { baseName, isPlaceholderName, plainText } from '../base/plain';
import { changeClass, reachText, verdictOf } from '../compare/change_columns';
import { wallTimeText } from '../compare/comparison';
import type { FuncRow, ThreadInfo, TreeSummary } from '../engine/api';
import type { HotLines } from '../engine/source';
import { useSession } from '../session/context';
import { shortName } from '../table/weight_columns';
import { EmptyTree } from '../ui/EmptyTree';
import { FetchSymbols } from '../ui/FetchSymbols';
import { ProfileText } from '../ui/text';
import { sideOfThread } from '../view/thread_sides';
import { openDialog } from '../window/windows';
import { MOST_ROWS, type SummaryLists, sharesText } from './summary_view';
import { trustFigure, trustSummary } from './trust';

const NAME_LIMIT = 160;
const MOST_PROBLEMS = 4;

interface RowProps {
    weight: number;
    whole: number;
    /** The amount as text, if it has another unit than the view. */
    amount: string;
    title: string;
    color?: string | undefined;
    /** Whether the row shows an amount in a list of changes. */
    isAmount?: boolean;
    onOpen: () => void;
    children: ComponentChildren;
}

function Row({ weight, whole, amount, title, color, isAmount, onOpen, children }: RowProps): JSX.Element {
    const part = whole === 0 ? 0 : Math.min(1, Math.abs(weight / whole));
    const isChange = useSession().tree.isChange.value && !isAmount;
    const sign = isChange ? ` ${changeClass(weight)}` : '';
    return (
        <li>
            <button type="button" class="summary-row" title={title} onClick={onOpen}>
                <span class={`share${sign}`}>
                    <span
                        class="share-bar"
                        style={{ transform: `scaleX(${part})`, ...(color && sign === '' ? { background: color } : {}) }}
                    />
                    <span>{isChange ? formatRelative(whole, whole + weight) : formatShare(weight, whole)}</span>
                </span>
                <span class="summary-amount">{amount}</span>
                <span class="summary-name">{children}</span>
            </button>
        </li>
    );
}

/** Returns a function that formats an amount of the view's weight, with a sign if it is a change. */
function useAmountText(): (weight: number) => string {
    const session = useSession();
    const unit = session.filters.weightUnit.value;
    const isChange = session.tree.isChange.value;
    return (weight) => (isChange ? formatChange(weight, unit) : formatWeight(weight, unit));
}

interface CardProps {
    name: string;
    title: string;
    note: string;
    children: ComponentChildren;
}

function Card({ name, title, note, children }: CardProps): JSX.Element {
    return (
        <section class={`card card-${name}`} aria-labelledby={`card-${name}`}>
            <h3 id={`card-${name}`}>{title}</h3>
            <p class="muted">{note}</p>
            {children}
        </section>
    );
}

function ListCard(props: CardProps): JSX.Element {
    return (
        <Card {...props}>
            <ol>{props.children}</ol>
        </Card>
    );
}

/** If the name does not fit, removes arguments first, then namespaces, then the end of the function's own name. */
function Name({ func, none }: { func: number; none: string }): JSX.Element {
    const { funcName, namesVersion } = useSession().names;
    namesVersion.value;
    const name = func < 0 ? undefined : funcName(func);
    const text = plainText(name ? shortName(name.name) || '(no name)' : none, NAME_LIMIT);
    const [scope, own, rest] = nameParts(text);
    return (
        <>
            <bdi class="scoped-name" dir="ltr">
                {scope !== '' && <span class="scope">{scope}</span>}
                <b>{own}</b>
                {rest !== '' && <span class="arguments">{rest}</span>}
            </bdi>
            {name && name.lib !== '' && (
                <span class="tree-lib">
                    <ProfileText text={name.lib} limit={60} />
                </span>
            )}
        </>
    );
}

function fullName(session: Session, func: number): string {
    const { funcName } = session.names;
    const name = funcName(func);
    return plainText(`${name?.name ?? ''}${name?.lib ? ` (${name.lib})` : ''}`, 1200);
}

function FunctionCard({ lists, whole }: { lists: SummaryLists; whole: number }): JSX.Element {
    const session = useSession();
    const { isChange } = session.tree;
    const amountText = useAmountText();
    const { openCenter } = session.summaryView;
    return (
        <ListCard
            name="functions"
            title="Functions"
            note={`Top ${formatCount(lists.functions.length)} of ${formatCount(lists.functionCount)} by ${isChange.value ? 'change of ' : ''}self time`}
        >
            {lists.functions.map((row) => (
                <Row
                    key={row.func}
                    weight={row.self}
                    whole={whole}
                    amount={amountText(row.self)}
                    title={fullName(session, row.func)}
                    onOpen={() => openCenter({ kind: 'function', index: row.func })}
                >
                    <Name func={row.func} none="" />
                </Row>
            ))}
        </ListCard>
    );
}

/** The tolerance of a comparison between a sum and one of its parts, because of rounding. */
const ROUNDING = 1e-9;

/** Shows the end of each path, which distinguishes files; the title has the whole path. */
function LineCard({ hot, whole }: { hot: HotLines; whole: number }): JSX.Element {
    const session = useSession();
    const { isChange } = session.tree;
    const amountText = useAmountText();
    const { openLine } = session.summaryView;
    const unknown = whole - hot.known;
    return (
        <ListCard
            name="lines"
            title={isChange.value ? 'Lines' : 'Hottest lines'}
            note={
                isChange.value
                    ? 'By change of self time'
                    : Math.abs(unknown) > Math.abs(whole) * ROUNDING
                      ? `By self time; ${formatShare(unknown, whole)} has no line number`
                      : 'By self time'
            }
        >
            {hot.lines.map((row) => (
                <Row
                    key={`${row.file}:${row.line}`}
                    weight={row.self}
                    whole={whole}
                    amount={amountText(row.self)}
                    title={plainText(`${row.file}:${row.line}\n${fullName(session, row.func)}`, 1200)}
                    onOpen={() => openLine(row)}
                >
                    <ProfileText text={`${baseName(row.file)}:${row.line}`} limit={80} />
                    <span class="summary-function">
                        <Name func={row.func} none="" />
                    </span>
                </Row>
            ))}
        </ListCard>
    );
}

interface GroupCardProps {
    kind: 'library' | 'category';
    title: string;
    rows: FuncRow[];
    whole: number;
    children: (row: FuncRow) => ComponentChildren;
}

/** Libraries or categories. A row without a library has no link. */
function GroupCard({ kind, title, rows, whole, children }: GroupCardProps): JSX.Element {
    const session = useSession();
    const { categories } = session.info.value;
    const amountText = useAmountText();
    const { openCenter } = session.summaryView;
    const note = session.tree.isChange.value ? 'By change of self time' : 'By self time';
    return (
        <ListCard name={title.toLowerCase()} title={title} note={note}>
            {rows.map((row) => (
                <Row
                    key={row.func}
                    weight={row.self}
                    whole={whole}
                    amount={amountText(row.self)}
                    title={`On the stack for ${formatShare(row.total, whole)}`}
                    {...(kind === 'category' && { color: categoryColor(categories[row.func]) })}
                    onOpen={() => {
                        if (row.func >= 0) openCenter({ kind, index: row.func });
                    }}
                >
                    {children(row)}
                </Row>
            ))}
        </ListCard>
    );
}

function ThreadCard({ rows, whole }: { rows: FuncRow[]; whole: number }): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { weightUnit } = session.filters;
    const { selectedThreads } = session.store;
    const { openThread } = session.summaryView;
    const { comparison, threads } = info.value;
    const side = (thread: ThreadInfo): string => {
        const name = sideOfThread(comparison, thread);
        return name === '' ? '' : `${name} · `;
    };
    const chosen = selectedThreads.value.length;
    const some = `${formatCount(chosen)} of ${formatCount(threads.length)} selected`;
    const listed = chosen === threads.length ? 'All threads' : some;
    const hasProcesses = threads.some(({ pid }) => pid !== threads[0]?.pid);
    return (
        <ListCard
            name="threads"
            title="Threads"
            note={rows.length < chosen ? `Top ${rows.length} of ${formatCount(chosen)}` : listed}
        >
            {rows.map((row) => {
                const thread = threads[row.func];
                return (
                    <Row
                        key={row.func}
                        weight={Math.abs(row.total)}
                        whole={whole}
                        amount={formatWeight(Math.abs(row.total), weightUnit.value)}
                        title="Show in the call tree"
                        isAmount
                        onOpen={() => openThread(row.func)}
                    >
                        <ProfileText text={thread?.name ?? ''} limit={NAME_LIMIT} />
                        <span class="tree-lib">
                            <ProfileText
                                text={`${thread && side(thread)}${hasProcesses ? `${thread?.processName ?? ''} · ` : ''}TID ${thread?.tid ?? ''}`}
                                limit={80}
                            />
                        </span>
                    </Row>
                );
            })}
        </ListCard>
    );
}

function WaitCard({ rows, whole }: { rows: FuncRow[]; whole: number }): JSX.Element {
    const session = useSession();
    const { openWait } = session.summaryView;
    return (
        <ListCard
            name="waits"
            title="Off-CPU time"
            note={rows.length > 0 ? `${formatDuration(whole)} not running` : 'Almost none'}
        >
            {rows.map((row) => (
                <Row
                    key={row.func}
                    weight={row.self}
                    whole={whole}
                    amount={formatDuration(row.self)}
                    title={fullName(session, row.func)}
                    onOpen={() => openWait(row.func)}
                >
                    <Name func={row.func} none="" />
                </Row>
            ))}
        </ListCard>
    );
}

/** The causes of waits in a profile with recorded waits, with their number and longest duration. */
function WaitedForCard(): JSX.Element | null {
    const session = useSession();
    const { store } = session;
    const { goToGroup, objectOf, reasonOf, topWaits, waitOverview } = session.waitList;
    const { namesVersion } = session.names;
    namesVersion.value;
    const all = waitOverview.value;
    if (session.tree.isChange.value) return <ChangedWaitsCard />;
    if (!all || topWaits.value.length === 0) return null;
    return (
        <ListCard
            name="waits"
            title="Waited for"
            note={`Off the CPU for ${formatDuration(all.waited)} of ${formatDuration(all.there)}`}
        >
            {topWaits.value.map((group) => (
                <Row
                    key={group.key}
                    weight={group.total}
                    whole={all.there}
                    amount={formatDuration(group.total)}
                    isAmount
                    title={`${reasonOf(group)}, ${formatCount(group.count)} times; show in Waits`}
                    onOpen={() => goToGroup(group.key, store.selectedThreads.value, 'object')}
                >
                    <ProfileText text={objectOf(group)} limit={NAME_LIMIT} />
                    <span class="tree-lib">
                        {`${formatCount(group.count)} ×${group.longest > 0 ? `, longest ${formatDuration(group.longest)}` : ''}`}
                    </span>
                </Row>
            ))}
        </ListCard>
    );
}

/** The waits with the largest changes between the sides of a comparison. */
function ChangedWaitsCard(): JSX.Element | null {
    const { store, waitList } = useSession();
    const waits = waitList.comparedWaits.value;
    if (!waits) return null;
    const { base, new: changed, known } = waits.all;
    return (
        <ListCard
            name="waits"
            title="Waited for"
            note={`By change of off-CPU time, ${describeChange(changed - base, 'ms')} in all, ${verdictOf(known)}`}
        >
            {waits.list.slice(0, MOST_ROWS).map((wait) => (
                <Row
                    key={wait.name}
                    weight={wait.new.ms - wait.base.ms}
                    whole={base}
                    amount={formatChange(wait.new.ms - wait.base.ms, 'ms')}
                    title="Show in Waits"
                    onOpen={() => store.changeView({ tab: 'waits', waitsBy: 'object' }, 'push')}
                >
                    <ProfileText text={wait.name} limit={NAME_LIMIT} />
                </Row>
            ))}
        </ListCard>
    );
}

function TrustCard(): JSX.Element | null {
    const session = useSession();
    const { trustSection } = session.summaryView;
    const section = trustSection.value;
    if (!section) return null;
    const isProblem = (label: string): boolean => /^(symbols|hint|limit)/i.test(label);
    const figures = section.entries.filter((entry) => !isProblem(entry.label));
    const problems = section.entries.filter((entry) => isProblem(entry.label));
    const { fix } = trustSummary(section, 0, session.summaryView.unnamedShare.value);
    return (
        <Card name="trust" title="Data quality" note="How complete the recording is">
            <dl>
                {figures.slice(0, MOST_ROWS).map((entry) => (
                    <div key={`${entry.label}:${entry.value}`} title={plainText(entry.value, 1000)}>
                        <dt>
                            <ProfileText text={entry.label} limit={100} />
                        </dt>
                        <dd>
                            <ProfileText text={trustFigure(entry.value)} limit={140} />
                        </dd>
                    </div>
                ))}
            </dl>
            {problems.slice(0, MOST_PROBLEMS).map((entry) => (
                <p key={entry.value} class="problem">
                    <ProfileText text={entry.value} limit={400} />
                </p>
            ))}
            {fix !== '' && <p class="problem">{fix}</p>}
            {fix !== '' && <FetchSymbols />}
            <button
                type="button"
                class="link"
                onClick={() => {
                    openDialog.value = 'info';
                }}
            >
                Recording details
            </button>
        </Card>
    );
}

/** The total change, and the function with the largest change. */
function ChangeHead({ first, totals }: { first: FuncRow | undefined; totals: TreeSummary | null }): JSX.Element {
    const session = useSession();
    const { note, ofAll, ofFunc } = session.certainty;
    const { comparison } = session.info.value;
    const { funcName } = session.names;
    const unit = session.filters.weightUnit.value;
    const all = ofAll.value;
    const largest = first && ofFunc(first.func, 'self');
    const [base, changed] = [totals?.baseTotal ?? 0, totals?.newTotal ?? 0];
    return (
        <div class="summary-head">
            <h2>What has changed?</h2>
            <p>
                {`${describeWeight(base, unit, 0)} in the base, ${describeWeight(changed, unit, 0)} in the new side: `}
                <strong class={changeClass(changed - base)}>{describeChange(changed - base, unit)}</strong>
                {base !== 0 && ` (${formatRelative(base, changed)})`}
                {all && `, ${reachText(all, unit)}`}
                {'. '}
                {comparison &&
                    unit === 'ms' &&
                    session.comparison.isOfAll.value &&
                    `Wall time: ${wallTimeText(comparison)}. `}
                {first && (
                    <>
                        Largest change of self time:{' '}
                        <strong>
                            <ProfileText text={shortName(funcName(first.func)?.name ?? '')} limit={NAME_LIMIT} />
                        </strong>
                        {` (${describeChange(first.self, unit)}${largest ? `, ${reachText(largest, unit)}` : ''}).`}
                    </>
                )}
            </p>
            {note.value !== '' && <p class="muted summary-note">{note.value}</p>}
            <div class="summary-actions">
                <button type="button" class="button" onClick={() => window.print()}>
                    Print
                </button>
            </div>
        </div>
    );
}

function inRange(session: Session, range: [number, number]): string {
    const { rangeText, unit } = session.axisText;
    return unit.value === 'ms' ? ` in ${rangeText(range)} of the recording` : ' in the selected range';
}

function Head({ lists, whole }: { lists: SummaryLists; whole: number }): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { weightUnit } = session.filters;
    const { funcName } = session.names;
    const { categoryName, selectedThreads, view } = session.store;
    const { chooseAllThreads } = session.summaryView;
    const { interval, threads } = info.value;
    const chosen = selectedThreads.value.length;
    const [largest] = lists.functions;
    const { isChange, summary } = session.tree;
    if (isChange.value) return <ChangeHead first={largest} totals={summary.value} />;
    const first = lists.functions.find(({ func }) => !isPlaceholderName(funcName(func)?.name ?? ''));
    const range = view.value.preview ?? view.value.ranges[view.value.ranges.length - 1];
    const among = chosen === 1 ? 'one thread' : `${formatCount(chosen)} threads`;
    const isTime = weightUnit.value === 'ms' || !info.value.timesAreOrder;
    const time = range ? inRange(session, range) : '';
    return (
        <div class="summary-head">
            <h2>{`Where did the ${isTime ? 'time' : plainText(weightUnit.value, NAME_LIMIT)} go?`}</h2>
            <p>
                {describeWeight(whole, weightUnit.value, interval)} of {among}
                {time}:{' '}
                <ProfileText text={sharesText(lists.categories, whole, (row) => categoryName(row.func))} limit={300} />.{' '}
                {first && (
                    <>
                        Most self time:{' '}
                        <strong>
                            <ProfileText text={shortName(funcName(first.func)?.name ?? '')} limit={NAME_LIMIT} />
                        </strong>
                        {` (${formatShare(first.self, whole)}).`}
                    </>
                )}
            </p>
            <div class="summary-actions">
                {chosen < threads.length && (
                    <button type="button" class="button" onClick={chooseAllThreads}>
                        All {formatCount(threads.length)} threads
                    </button>
                )}
                <button type="button" class="button" onClick={() => window.print()}>
                    Print
                </button>
            </div>
        </div>
    );
}

/** Arrow keys move between the entries. */
function onKey(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    const rows = [...event.currentTarget.querySelectorAll<HTMLElement>('.summary-row')];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + step))]?.focus();
    event.preventDefault();
}

export function Summary(): JSX.Element {
    const session = useSession();
    const { summaryError, summaryLists } = session.summaryView;
    const { summary } = session.tree;
    const { funcCount, hasWaits } = session.info.value;
    const lists = summaryLists.value;
    const whole = summary.value?.rootTotal ?? 0;
    if (summaryError.value !== '')
        return (
            <p class="empty" role="alert">
                {summaryError.value}
            </p>
        );
    if (summary.value && whole === 0)
        return (
            <div class="summary">
                <EmptyTree />
                {hasWaits && <WaitedForCard />}
                {!hasWaits && lists?.waits && lists.waits.length > 0 && (
                    <WaitCard rows={lists.waits} whole={lists.waited} />
                )}
            </div>
        );
    if (!lists) return <div class="summary" />;
    return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        <div class="summary" role="group" aria-label="Summary" tabIndex={0} onKeyDown={onKey}>
            <Head lists={lists} whole={whole} />
            <div class="cards">
                <div class="cards-column">
                    <FunctionCard lists={lists} whole={whole} />
                    {lists.hot && <LineCard hot={lists.hot} whole={whole} />}
                    {hasWaits && <WaitedForCard />}
                    {!hasWaits && lists.waits && <WaitCard rows={lists.waits} whole={lists.waited} />}
                </div>
                <div class="cards-column">
                    <GroupCard
                        kind="category"
                        title="Categories"
                        rows={lists.categories.slice(0, MOST_ROWS)}
                        whole={whole}
                    >
                        {(row) => <ProfileText text={session.store.categoryName(row.func)} limit={NAME_LIMIT} />}
                    </GroupCard>
                    <GroupCard kind="library" title="Libraries" rows={lists.libraries} whole={whole}>
                        {(row) => <Name func={row.func < 0 ? -1 : funcCount + row.func} none="(no library)" />}
                    </GroupCard>
                    <ThreadCard rows={lists.threads} whole={whole} />
                </div>
                <div class="cards-column">
                    <TrustCard />
                </div>
            </div>
        </div>
    );
}
