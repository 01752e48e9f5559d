/**
 * The pane below the waits: the threads that wait for the object of the selected row, the threads that end the waits,
 * and their work meanwhile.
 */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { formatCount, formatMs, formatShare, formatWeight } from '../base/format';
import type { PathState } from '../engine/critical_path';
import type { ObjectWaits, SiteWaits } from '../engine/waits';
import { useSession } from '../session/context';
import { ProfileText } from '../ui/text';
import { useRequest } from '../ui/use';

/** The number of rows in a table before the user expands it. */
const FEW_ROWS = 4;
const MOST_PARTS = 6;
/** The minimum share of a part. */
const LEAST_PART = 0.005;
const TEXT_LIMIT = 400;
const STATES: Record<PathState, string> = {
    runs: 'runs',
    runnable: 'runnable',
    waits: 'waits',
    unseen: 'short waits',
    absent: 'no thread',
};

/** The number of waiting threads over the range. */
function Strip({ waits }: { waits: ObjectWaits }): JSX.Element {
    const { axisText } = useSession();
    const most = Math.max(...waits.waiting, Number.MIN_VALUE);
    const bars = waits.waiting.map((count, at) => `M${at} 1v${-count / most}h1V1z`).join('');
    const label = `${most.toFixed(1)} threads wait at most, from ${axisText.placeText(waits.from_ms)} to ${axisText.placeText(waits.to_ms)}`;
    return (
        <svg
            class="wait-strip"
            viewBox={`0 0 ${waits.waiting.length} 1`}
            preserveAspectRatio="none"
            role="img"
            aria-label={label}
        >
            <title>{label}</title>
            <path d={bars} />
        </svg>
    );
}

function siteText({ where, callers }: SiteWaits): string {
    const place = where ? `${where.function}${where.line ? `:${where.line}` : ''}` : '';
    return [place, ...callers].filter((text) => text !== '').join(' ← ');
}

/** Formats a thread such as "worker (7)", or the common name of several threads. */
function wakerText({ waker = '(unknown)', threads }: SiteWaits): string {
    return threads > 1 ? waker.replace(/ \(\d+\)(, in a soft interrupt)?$/, '') : waker;
}

function Sites({ title, rows, waits }: { title: string; rows: SiteWaits[]; waits: ObjectWaits }): JSX.Element {
    const { waitList } = useSession();
    const [isWhole, setWhole] = useState(false);
    const isOfWakers = rows === waits.wakers;
    const more = isWhole ? 0 : rows.length - FEW_ROWS;
    const hasHeld = rows.some(({ held_ms: held }) => held !== undefined);
    const held = waits.is_estimated ? 'Held (ms) ≤' : 'Held (ms)';
    return (
        <table aria-label={title}>
            <thead>
                <tr>
                    <th>Share</th>
                    <th>Total (ms)</th>
                    <th>Count</th>
                    <th>Longest (ms)</th>
                    {hasHeld && (
                        <th title="Mean time for which the thread held the lock while others waited">{held}</th>
                    )}
                    <th>Threads</th>
                    <th class="text">{title}</th>
                </tr>
            </thead>
            <tbody>
                {rows.slice(0, isWhole ? undefined : FEW_ROWS).map((row, at) => {
                    const { longest } = row;
                    const site = siteText(row);
                    const text = isOfWakers ? [wakerText(row), site].filter((part) => part !== '').join(', ') : site;
                    return (
                        <tr key={at}>
                            <td>{formatShare(row.total_ms, waits.total_ms)}</td>
                            <td>{formatWeight(row.total_ms, 'ms')}</td>
                            <td>{formatCount(Math.max(1, row.count))}</td>
                            <td>
                                {longest && (
                                    <button
                                        type="button"
                                        class="link"
                                        title="Show the longest wait in the stack chart"
                                        onClick={() =>
                                            waitList.showInChart(longest.thread, [longest.from_ms, longest.to_ms])
                                        }
                                    >
                                        {formatMs(longest.ms)}
                                    </button>
                                )}
                            </td>
                            {hasHeld && <td>{row.held_ms === undefined ? '—' : formatMs(row.held_ms)}</td>}
                            <td>{formatCount(row.threads)}</td>
                            <td class="text" title={text}>
                                <ProfileText text={text || '(unknown)'} limit={TEXT_LIMIT} />
                            </td>
                        </tr>
                    );
                })}
                {more > 0 && (
                    <tr>
                        <td class="text" colSpan={hasHeld ? 7 : 6}>
                            <button type="button" class="link" onClick={() => setWhole(true)}>
                                {`Show ${more} more`}
                            </button>
                        </td>
                    </tr>
                )}
            </tbody>
        </table>
    );
}

function Meanwhile({ parts }: { parts: ObjectWaits['meanwhile'] }): JSX.Element {
    const { threadInfo } = useSession().store;
    const whole = parts.reduce((sum, { ms }) => sum + ms, 0);
    const title = 'During the longest waits (critical path)';
    return (
        <table aria-label={title}>
            <thead>
                <tr>
                    <th>Share</th>
                    <th class="text">{title}</th>
                </tr>
            </thead>
            <tbody>
                {parts
                    .slice(0, MOST_PARTS)
                    .filter(({ ms }) => ms >= LEAST_PART * whole)
                    .map(({ ms, state, thread, function: func, object }, at) => {
                        const who = state === 'runs' || state === 'waits' ? threadInfo(thread)?.name : '';
                        const does = object === 'sleep' ? ['sleeps'] : [STATES[state], object && `for ${object}`];
                        const text = [who, ...does, func && `in ${func}`].filter(Boolean).join(' ');
                        return (
                            <tr key={at}>
                                <td>{formatShare(ms, whole)}</td>
                                <td class="text" title={text}>
                                    <ProfileText text={text} limit={TEXT_LIMIT} />
                                </td>
                            </tr>
                        );
                    })}
            </tbody>
        </table>
    );
}

export function ObjectPane({ object }: { object: number }): JSX.Element | null {
    const { engine, info, tree, waitList } = useSession();
    const request = useRequest(() => engine.objectWaits(tree.queryOf(), object), [object, waitList.waitGroups.value]);
    const waits = request.value.value;
    if (!waits) return null;
    return (
        <section class="wait-pane" aria-label="Waits for the selected object">
            <header>
                <h2>
                    <ProfileText text={waits.object} limit={TEXT_LIMIT} />
                </h2>
                <Strip waits={waits} />
            </header>
            <Sites title="Threads wait in" rows={waits.waiters} waits={waits} />
            {waits.wakers.length > 0 && <Sites title="Waits end in" rows={waits.wakers} waits={waits} />}
            {waits.meanwhile.length > 0 && <Meanwhile parts={waits.meanwhile} />}
            {!info.value.hasWakers && (
                <p class="muted">This profile has no wakers. ‘sudo prof record’ records who ends the waits.</p>
            )}
        </section>
    );
}
