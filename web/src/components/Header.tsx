/** The top line: what was recorded, the ranges zoomed into, how far the figures can be trusted, and the page's own buttons. */
import type { JSX } from 'preact';
import type { ExtraSection } from '../engine/api';
import { fullRange, info, openDialog, popRanges, view } from '../state/store';
import { theme, toggleTheme } from '../state/theme';
import { formatDuration } from '../text/format';
import { plainText } from '../text/plain';
import { ChevronIcon, HelpIcon, InfoIcon, MoonIcon, SunIcon } from './icons';
import { ProfileText } from './text';

const LONGEST_PRODUCT = 120;

function Breadcrumb(): JSX.Element {
    const { ranges, preview } = view.value;
    const all = [fullRange.value, ...ranges];
    return (
        <nav class="breadcrumb" aria-label="Ranges zoomed into">
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

function trustSection(extra: readonly ExtraSection[]): ExtraSection | undefined {
    return extra.find((section) => section.label.trim().toLowerCase() === 'trust');
}

/** The two figures that decide whether the rest can be believed, in few words. */
function trustSummary(section: ExtraSection): { text: string; isGood: boolean } {
    const entry = (pattern: RegExp): string | undefined =>
        section.entries.find((candidate) => pattern.test(candidate.label))?.value;
    const complete = entry(/complete/i);
    const lost = entry(/lost/i);
    const parts: string[] = [];
    if (complete !== undefined) {
        const percent = /\d+(\.\d+)?\s*%/.exec(complete)?.[0];
        parts.push(percent ? `${percent} complete stacks` : `${plainText(complete, 24)} complete stacks`);
    }
    if (lost !== undefined) parts.push(`${plainText(lost, 24)} lost`);
    const percent = Number.parseFloat(/(\d+(\.\d+)?)\s*%/.exec(complete ?? '')?.[1] ?? '100');
    const isGood = percent >= 99 && Number.parseFloat((lost ?? '0').replace(/,/g, '')) === 0;
    return { text: parts.join(', ') || 'Trust figures', isGood };
}

function Trust(): JSX.Element | null {
    const section = trustSection(info.value.extra);
    if (!section) return null;
    const { text, isGood } = trustSummary(section);
    return (
        <button
            type="button"
            class={isGood ? 'trust good' : 'trust doubtful'}
            title="How far these figures can be trusted: open the recording's details"
            onClick={() => {
                openDialog.value = 'info';
            }}
        >
            <span class="trust-dot" aria-hidden="true" />
            {text}
        </button>
    );
}

export function Header(): JSX.Element {
    const isDark = theme.value === 'dark';
    return (
        <header class="header">
            <h1 class="product" title={plainText(info.value.product, 1000)}>
                <ProfileText text={info.value.product || 'prof'} limit={LONGEST_PRODUCT} />
            </h1>
            <Breadcrumb />
            <div class="header-end">
                <Trust />
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
                    aria-label={isDark ? 'Light colours' : 'Dark colours'}
                    title={isDark ? 'Light colours' : 'Dark colours'}
                    onClick={toggleTheme}
                >
                    {isDark ? <SunIcon /> : <MoonIcon />}
                </button>
            </div>
        </header>
    );
}
