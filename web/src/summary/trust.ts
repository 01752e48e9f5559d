/**
 * The data quality of a recording in a few words, and a solution for missing symbols. Older versions of prof wrote
 * other labels.
 */

import { formatCount } from '../base/format';
import { plainText } from '../base/plain';
import type { ExtraSection, ProfileInfo } from '../engine/api';

/** Percentages below these limits, or a share of lost samples above, make the totals doubtful. */
const LEAST_COMPLETE = 95;
const LEAST_COVERED = 90;
const LEAST_NAMED = 80;
const LEAST_PYTHON = 95;
const MOST_LOST_SHARE = 0.01;

export interface TrustSummary {
    text: string;
    isGood: boolean;
    /** A way to get the missing symbols, or '' if most symbols are there. */
    fix: string;
}

function percentIn(text: string | undefined): number {
    return Number.parseFloat(/(\d+(\.\d+)?)\s*%/.exec(text ?? '')?.[1] ?? '100');
}

/** Formats "98.55 %" as "98.6%", but never rounds up to 100%. */
function shortPercent(value: number): string {
    return value === 100 ? '100%' : `${Math.min(value, 99.9).toFixed(1)}%`;
}

const LONGEST_FIGURE = 26;

/** Returns the number of an entry with grouped digits, without a long explanation. */
export function trustFigure(value: string): string {
    const brief = value.length > LONGEST_FIGURE ? /^[^(;]*?(?=,? of which| \(|;|$)/.exec(value)?.[0] : undefined;
    return (brief ?? value).replace(/^\d{4,}(?= \(|$)/, (digits) => formatCount(Number(digits)));
}

/**
 * Returns the data quality of a profile without such a section, which is the share of resolved addresses. Returns
 * undefined if most or no addresses are resolved; in the latter case, the header shows the command that resolves them.
 */
function ownTrust({
    addressCount,
    resolvedCount,
    symbolicated,
}: Pick<ProfileInfo, 'addressCount' | 'resolvedCount' | 'symbolicated'>): ExtraSection | undefined {
    const percent = (100 * resolvedCount) / addressCount;
    if (!symbolicated || !(percent < LEAST_NAMED)) return undefined;
    const value = `${resolvedCount} of ${addressCount} (${percent.toFixed(1)} %)`;
    return { label: 'Data quality', entries: [{ label: 'Addresses resolved', value }] };
}

/** Matches the current name of the section and the name of older versions. */
const SECTIONS = /^ *(data quality|trust) *$/i;

/** Returns the section about data quality from the recorder, else the page's own section. */
export function trustSectionOf(
    info: Pick<ProfileInfo, 'addressCount' | 'extra' | 'resolvedCount' | 'symbolicated'>,
): ExtraSection | undefined {
    return info.extra.find(({ label }) => SECTIONS.test(label)) ?? ownTrust(info);
}

/** `unnamed` is the share of time without function names, if known. */
export function trustSummary(section: ExtraSection, sampleCount: number, unnamed?: number): TrustSummary {
    const entry = (pattern: RegExp): string | undefined =>
        section.entries.find((candidate) => pattern.test(candidate.label))?.value;
    const complete = entry(/complete$|^complete/i);
    const lost = entry(/lost/i);
    const covered = Number.parseFloat(/\d+(\.\d+)?/.exec(entry(/covered/i) ?? '')?.[0] ?? '100');
    const named = unnamed === undefined ? percentIn(entry(/^addresses (resolved|named)/i)) : 100 * (1 - unnamed);
    const python = percentIn(entry(/with (their )?python frames/i));
    const parts: string[] = [];
    if (named < LEAST_NAMED)
        parts.push(
            unnamed === undefined
                ? `${shortPercent(named)} of addresses resolved`
                : `${shortPercent(100 * unnamed)} of the time without function names`,
        );
    if (covered < LEAST_COVERED) parts.push(`${covered.toFixed(0)}% of CPU time sampled`);
    if (python < LEAST_PYTHON) parts.push(`Python frames in ${shortPercent(python)} of Python samples`);
    if (complete !== undefined) {
        const percent = /\d\s*%/.test(complete) ? shortPercent(percentIn(complete)) : plainText(complete, 24);
        parts.push(`${percent} complete stacks`);
    }
    if (lost !== undefined) parts.push(`${plainText(lost, 24)} lost`);
    const countIn = (text: string | undefined): number => Number.parseFloat((text ?? '').replace(/,/g, '')) || 0;
    const lostCount = countIn(lost);
    return {
        text: parts.join(', ') || 'Data quality',
        isGood:
            named >= LEAST_NAMED &&
            percentIn(complete) >= LEAST_COMPLETE &&
            covered >= LEAST_COVERED &&
            python >= LEAST_PYTHON &&
            (lostCount === 0 || lostCount < (lostCount + sampleCount) * MOST_LOST_SHARE),
        fix:
            named < LEAST_NAMED
                ? 'Install debug symbols for the libraries that lack them (packages *-dbgsym or *-debuginfo) or set DEBUGINFOD_URLS, then run: prof symbolicate FILE'
                : '',
    };
}
