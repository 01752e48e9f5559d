/** The top line: the recording, the zoomed ranges, the data quality, and the buttons of the page. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { plainText } from '../base/plain';
import { nameOfScaledBy, scaleText } from '../compare/comparison';
import type { Comparison } from '../engine/api';
import { saveMenuItems } from '../save/save_menu';
import { useSession } from '../session/context';
import { trustSummary } from '../summary/trust';
import { ChevronIcon, HelpIcon, InfoIcon, MoonIcon, OpenIcon, SaveIcon, SunIcon } from '../ui/icons';
import { ProfileText } from '../ui/text';
import { theme, toggleTheme } from '../window/theme';
import { act, copyText, isRenaming, menu, openDialog, openMenu } from '../window/windows';
import { NormalizationSelect } from './FilterBar';

const LONGEST_PRODUCT = 120;
const LONGEST_COMMAND = 60;

function Breadcrumb(): JSX.Element {
    const session = useSession();
    const { lengthText, rangeText } = session.axisText;
    const { fullRange, popRanges, view } = session.store;
    const { ranges, preview } = view.value;
    const all = [fullRange.value, ...ranges];
    return (
        <nav class="breadcrumb" aria-label="Zoom history">
            <ol>
                {all.map((range, depth) => {
                    const label = depth === 0 ? `Full range (${lengthText(range[1] - range[0])})` : rangeText(range);
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
                        <span>{rangeText(preview)} selected</span>
                    </li>
                )}
            </ol>
        </nav>
    );
}

function Trust(): JSX.Element | null {
    const session = useSession();
    const { info } = session;
    const { trustSection, unnamedShare } = session.summaryView;
    const section = trustSection.value;
    if (!section || info.value.sampleCount === 0) return null;
    const { text, isGood, fix } = trustSummary(section, info.value.sampleCount, unnamedShare.value);
    return (
        <button
            type="button"
            class={isGood ? 'trust good' : 'trust doubtful'}
            title={fix === '' ? 'Data quality: show details' : fix}
            onClick={() => {
                openDialog.value = 'info';
            }}
        >
            <span class="trust-dot" aria-hidden="true" />
            {text}
        </button>
    );
}

/** Quotes the name of a file for a shell. */
function quoted(file: string): string {
    return /^[\w./+,=@%-]+$/.test(file) ? file : `'${file.replace(/'/g, "'\\''")}'`;
}

/** Reports that a profile has no symbols, with the command that finds the symbols. */
function NoNames(): JSX.Element | null {
    const session = useSession();
    if (session.info.value.symbolicated) return null;
    const command = `prof load ${quoted(session.file?.name ?? 'FILE')}`;
    return (
        <button
            type="button"
            class="trust doubtful"
            title="This profile was saved without symbols, and its addresses could not be resolved here. Click to copy the command that resolves them"
            onClick={() => act(copyText(command, 'Command'))}
        >
            <span class="trust-dot" aria-hidden="true" />
            <span>
                No symbols: run <code>{plainText(command, LONGEST_COMMAND)}</code>
            </span>
        </button>
    );
}

/**
 * The name of the profile. A double click edits the name, which the address, the title of the window and the saved file
 * contain.
 */
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
            aria-label="Profile name"
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

/** Returns the last part of a path. */
function fileOf(path: string): string {
    return path.slice(path.lastIndexOf('/', path.length - 2) + 1);
}

const SIDE_LIMIT = 40;

/** Names both sides of a comparison, and the quantity that is equal on both sides. */
function Compared({ of }: { of: Comparison }): JSX.Element {
    const session = useSession();
    const side = (label: string, name: string, runs: number): JSX.Element => (
        <span
            class="compared-side"
            title={plainText(`${label}: ${name}${runs > 1 ? `, the mean of ${runs} runs` : ''}`, 1000)}
        >
            <span class="muted">{label}</span> <ProfileText text={fileOf(name)} limit={SIDE_LIMIT} />
            {runs > 1 && <span class="muted"> (mean of {runs} runs)</span>}
        </span>
    );
    const { scaledBy } = session.comparison;
    const { summary } = session.tree;
    const chosen = scaledBy.value;
    const scale = scaleText(
        chosen === '' ? of : { ...of, scale: summary.value?.scale ?? 1, scaledBy: nameOfScaledBy(chosen) },
    );
    return (
        <h1 class="compared">
            {side('Base', of.base, of.baseRuns)}
            <ChevronIcon />
            {side('New', of.new, of.newRuns)}
            {scale !== '' && (
                <span class="muted" title="Multiplier of the new side">
                    {scale}
                </span>
            )}
        </h1>
    );
}

/** Opens the Save menu below the button. */
function SaveButton(): JSX.Element {
    const session = useSession();
    const button = useRef<HTMLButtonElement>(null);
    const isOpen = menu.value !== null && menu.value.owner === button.current;
    return (
        <button
            ref={button}
            type="button"
            class="button quiet"
            aria-haspopup="menu"
            aria-expanded={isOpen}
            title="Save the profile (Ctrl+S), a web page, an image or another format"
            onClick={() => {
                const { bottom, left: x } = button.current?.getBoundingClientRect() ?? { bottom: 0, left: 0 };
                if (isOpen) menu.value = null;
                else openMenu({ x, y: bottom + 4 }, saveMenuItems(session), button.current);
            }}
        >
            <SaveIcon /> Save
        </button>
    );
}

export function Header(): JSX.Element {
    const session = useSession();
    const { comparison } = session.comparison;
    const { host } = session;
    const isDark = theme.value === 'dark';
    return (
        <header class="header">
            {comparison.value ? <Compared of={comparison.value} /> : <Name />}
            {comparison.value && <NormalizationSelect />}
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
                <SaveButton />
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
