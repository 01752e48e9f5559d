/** The top line: what was recorded, the ranges zoomed into, how far the figures can be trusted, and the page's own buttons. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ExtraSection } from '../engine/api';
import { theme, toggleTheme } from '../state/theme';
import { formatDuration } from '../text/format';
import { plainText } from '../text/plain';
import { ChevronIcon, HelpIcon, InfoIcon, MoonIcon, OpenIcon, SaveIcon, SunIcon } from './icons';
import { ProfileText } from './text';
import { copyText, isRenaming, openDialog } from '../state/windows';
import { useSession } from './session_context';
import type { Session } from '../state/session';

const LONGEST_PRODUCT = 120;
const LONGEST_COMMAND = 60;
/** Below this percentage of complete stacks, or above this share of lost samples, the totals deserve a doubt. */
const LEAST_COMPLETE = 95;
const LEAST_COVERED = 90;
const MOST_LOST_SHARE = 0.01;

function Breadcrumb(): JSX.Element {
    const { fullRange, popRanges, view } = useSession().store;
    const { ranges, preview } = view.value;
    const all = [fullRange.value, ...ranges];
    return (
        <nav class="breadcrumb" aria-label="Zoom history">
            <ol>
                {all.map((range, depth) => {
                    const duration = formatDuration(range[1] - range[0]);
                    const label = depth === 0 ? `Full range (${duration})` : duration;
                    const isLast = depth === all.length - 1;
                    return (
                        <li key={`${depth}:${range[0]}`}>
                            {depth > 0 && <ChevronIcon />}
                            {isLast && !preview ? (
                                <span aria-current="location">{label}</span>
                            ) : (
                                <button type="button" class="link" onClick={() => popRanges(depth)}>
                                    {label}
                                </button>
                            )}
                        </li>
                    );
                })}
                {preview && (
                    <li class="muted">
                        <ChevronIcon />
                        <span>{formatDuration(preview[1] - preview[0])} selected</span>
                    </li>
                )}
            </ol>
        </nav>
    );
}

/** "98.55 %" as the page writes it: "98.6%"; rounding does not make it a hundred. */
function shortPercent(text: string): string {
    const value = Number.parseFloat(text);
    return value === 100 ? '100%' : `${Math.min(value, 99.9).toFixed(1)}%`;
}

/** The figures that decide whether the rest can be believed, in few words. */
function trustSummary(session: Session, section: ExtraSection): { text: string; isGood: boolean } {
    const { info } = session;
    const entry = (pattern: RegExp): string | undefined =>
        section.entries.find((candidate) => pattern.test(candidate.label))?.value;
    const complete = entry(/complete/i);
    const lost = entry(/lost/i);
    const covered = Number.parseFloat(/\d+(\.\d+)?/.exec(entry(/covered/i) ?? '')?.[0] ?? '100');
    const parts: string[] = [];
    if (covered < LEAST_COVERED) parts.push(`${covered.toFixed(0)}% of CPU time sampled`);
    if (complete !== undefined) {
        const percent = /\d+(\.\d+)?\s*%/.exec(complete)?.[0];
        parts.push(percent ? `${shortPercent(percent)} complete stacks` : `${plainText(complete, 24)} complete stacks`);
    }
    if (lost !== undefined) parts.push(`${plainText(lost, 24)} lost`);
    const percent = Number.parseFloat(/(\d+(\.\d+)?)\s*%/.exec(complete ?? '')?.[1] ?? '100');
    const lostCount = Number.parseFloat((lost ?? '0').replace(/,/g, '')) || 0;
    const isGood =
        percent >= LEAST_COMPLETE && covered >= LEAST_COVERED && lostCount <= info.value.sampleCount * MOST_LOST_SHARE;
    return { text: parts.join(', ') || 'Recording quality', isGood };
}

function Trust(): JSX.Element | null {
    const session = useSession();
    const { info } = session;
    const { trustSection } = session.summaryView;
    const section = trustSection.value;
    if (!section || info.value.sampleCount === 0) return null;
    const { text, isGood } = trustSummary(session, section);
    return (
        <button
            type="button"
            class={isGood ? 'trust good' : 'trust doubtful'}
            title="Recording quality: show details"
            onClick={() => {
                openDialog.value = 'info';
            }}
        >
            <span class="trust-dot" aria-hidden="true" />
            {text}
        </button>
    );
}

/** A name of a file as a shell takes it. */
function quoted(file: string): string {
    return /^[\w./+,=@%-]+$/.test(file) ? file : `'${file.replace(/'/g, "'\\''")}'`;
}

/** That a profile is without names, and the command that shows it with them. */
function NoNames(): JSX.Element | null {
    const session = useSession();
    if (session.info.value.symbolicated) return null;
    const command = `prof load ${quoted(session.file?.name ?? 'FILE')}`;
    return (
        <button
            type="button"
            class="trust doubtful"
            title="This profile has addresses instead of names, and prof could not look them up for the page. Click to copy the command that does"
            onClick={() => void copyText(command, 'Command')}
        >
            <span class="trust-dot" aria-hidden="true" />
            <span>
                No names: run <code>{plainText(command, LONGEST_COMMAND)}</code>
            </span>
        </button>
    );
}

/** What the profile is called; a double click changes it, for the address, the window's title and the file that is saved. */
function Name(): JSX.Element {
    const session = useSession();
    const { file } = session;
    const { profileName, renameProfile } = session.profile;
    const input = useRef<HTMLInputElement>(null);
    useLayoutEffect(() => {
        if (isRenaming.value) input.current?.select();
    }, [isRenaming.value]);
    const name = profileName.value;
    if (!isRenaming.value)
        return (
            <h1
                class="product"
                title={plainText(file ? `${name}\nfrom the file ${file.name}` : name, 1000)}
                onDblClick={() => {
                    isRenaming.value = true;
                }}
            >
                <ProfileText text={name} limit={LONGEST_PRODUCT} />
            </h1>
        );
    return (
        <input
            ref={input}
            class="product"
            type="text"
            aria-label="Name of the profile"
            value={name}
            onBlur={(event) => renameProfile(event.currentTarget.value)}
            onKeyDown={(event) => {
                if (event.key === 'Enter') renameProfile(event.currentTarget.value);
                else if (event.key === 'Escape') isRenaming.value = false;
                else return;
                event.preventDefault();
                event.stopPropagation();
            }}
        />
    );
}

export function Header(): JSX.Element {
    const session = useSession();
    const { host } = session;
    const { saveProfile } = session.profile;
    const isDark = theme.value === 'dark';
    return (
        <header class="header">
            <Name />
            <Breadcrumb />
            <div class="header-end">
                <NoNames />
                <Trust />
                <button
                    type="button"
                    class="button quiet square"
                    aria-label="Open a file"
                    title="Open a file (o), or drop one anywhere"
                    onClick={host.chooseFile}
                >
                    <OpenIcon />
                </button>
                <button
                    type="button"
                    class="button quiet square"
                    aria-label="Save the profile"
                    title="Save the profile (Ctrl+S)"
                    onClick={() => void saveProfile()}
                >
                    <SaveIcon />
                </button>
                <button
                    type="button"
                    class="button quiet"
                    onClick={() => {
                        openDialog.value = 'info';
                    }}
                >
                    <InfoIcon /> Recording
                </button>
                <button
                    type="button"
                    class="button quiet square"
                    aria-label="Keys"
                    title="Keys (?)"
                    onClick={() => {
                        openDialog.value = 'keys';
                    }}
                >
                    <HelpIcon />
                </button>
                <button
                    type="button"
                    class="button quiet square"
                    aria-label={isDark ? 'Light theme' : 'Dark theme'}
                    title={isDark ? 'Light theme' : 'Dark theme'}
                    onClick={toggleTheme}
                >
                    {isDark ? <SunIcon /> : <MoonIcon />}
                </button>
            </div>
        </header>
    );
}
