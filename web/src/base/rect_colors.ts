/** The colors of rects: tints of the category colors on which text is readable in both themes. */
import type { Category } from '../engine/api';
import { styleColor } from './canvas';
import { canvasColors, NAME_COLORS } from './colors';

/** As style sheets write them: #rrggbb. */
export interface RectColors {
    fill: string;
    /** In every second row, so that rows keep apart. */
    oddFill: string;
    /** Under the mouse. */
    hover: string;
    /** The category's own color. */
    selected: string;
    selectedText: string;
    /** The same without room for a frame. */
    selectedNarrow: string;
    /** For what a search does not look for. */
    faint: string;
    /** For what stands for many that are too narrow. */
    aggregate: string;
}

export interface ChartColors {
    rects: RectColors[];
    /** Of names, by their slots: see NAME_SLOTS. */
    names: RectColors[];
    /** Of changes, by their levels from the most that is less to the most that is more: see changeLevel(). */
    changes: RectColors[];
    surface: string;
    /** On rects that are neither selected nor faint. */
    text: string;
    /** On the same, of what surrounds the own name of a function. */
    quietText: string;
    quiet: string;
    accent: string;
    line: string;
}

type Rgb = [number, number, number];

/** How much of the color a tint has in the light theme, where the rest is the surface. */
const TINT = { fill: 0.52, odd: 0.44, hover: 0.8, pale: 0.32, paleOdd: 0.26, palePressed: 0.44, faint: 0.14 };
/**
 * In the dark theme colors are dimmed instead, which keeps them pure: a mixture with a dark surface turns yellow into mud. Luminances, as
 * what all have and what they have of the color's own: what is lighter than others stays lighter, which does not take an eye for hues.
 */
const DIM = {
    fill: [0.045, 0.125],
    odd: [0.04, 0.105],
    hover: [0.07, 0.16],
    pale: [0.025, 0.08],
    paleOdd: [0.022, 0.07],
    palePressed: [0.04, 0.1],
    faint: [0.016, 0.012],
} as const;
/** A selected rect stands out; more than this glares. */
const BRIGHTEST = 0.38;
/** Less contrast to the rects beside it, and a selected rect without a frame is not found. */
const LEAST_CONTRAST = 1.5;
const DARK_TEXT: Rgb = [0x12, 0x17, 0x1d];
const LIGHT_TEXT: Rgb = [0xff, 0xff, 0xff];

type Use = keyof typeof TINT;

function parse(color: string): Rgb {
    const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color);
    return hex ? ([1, 2, 3].map((at) => Number.parseInt(hex[at] ?? '80', 16)) as Rgb) : [0x80, 0x80, 0x80];
}

function write(color: Rgb): string {
    return `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

function mix(color: Rgb, ground: Rgb, share: number): Rgb {
    return color.map((part, at) => part * share + (ground[at] ?? 0) * (1 - share)) as Rgb;
}

function linear(part: number): number {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function gamma(value: number): number {
    return 255 * (value <= 0.0031308 ? 12.92 * value : 1.055 * value ** (1 / 2.4) - 0.055);
}

/** The relative luminance of WCAG 2. */
function luminance(color: Rgb): number {
    const [red, green, blue] = color.map(linear) as Rgb;
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The same hue, not lighter than `most`. */
function dimmed(color: Rgb, most: number): Rgb {
    const factor = Math.min(1, most / Math.max(luminance(color), 0.001));
    return color.map((part) => gamma(linear(part) * factor)) as Rgb;
}

export function contrast(a: Rgb, b: Rgb): number {
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
    return (light + 0.05) / (dark + 0.05);
}

function rectColors(color: Rgb, surface: Rgb, theme: 'light' | 'dark', isPale = false): RectColors {
    const tint = (use: Use): string => {
        if (theme === 'light') return write(mix(color, surface, TINT[use]));
        return write(dimmed(color, DIM[use][0] + DIM[use][1] * luminance(color)));
    };
    const selected = theme === 'light' ? color : dimmed(color, BRIGHTEST);
    const fill = tint(isPale ? 'pale' : 'fill');
    const isSeen = contrast(selected, parse(fill)) >= LEAST_CONTRAST;
    return {
        fill,
        oddFill: tint(isPale ? 'paleOdd' : 'odd'),
        hover: tint(isPale ? 'palePressed' : 'hover'),
        selected: write(selected),
        selectedNarrow: write(isSeen ? selected : theme === 'light' ? DARK_TEXT : LIGHT_TEXT),
        selectedText: write(contrast(selected, DARK_TEXT) >= contrast(selected, LIGHT_TEXT) ? DARK_TEXT : LIGHT_TEXT),
        faint: tint('faint'),
        aggregate: tint('pale'),
    };
}

/** What stands behind in a graph; null: the same colors, transparent, which the dark theme would turn into mud. */
export function faintColors(colors: readonly (string | null)[], theme: 'light' | 'dark'): (string | null)[] | null {
    if (theme === 'light') return null;
    return colors.map((color) => color && rectColors(parse(color), [0, 0, 0], theme).fill);
}

// ---- changes ----

/** From which part of the largest change on a change has the next level. */
const CHANGE_STEPS = [0.02, 0.1, 0.25, 0.5];
export const MOST_LEVEL = CHANGE_STEPS.length;
export const CHANGE_LEVELS = Array.from({ length: 2 * MOST_LEVEL + 1 }, (_, at) => at - MOST_LEVEL);
/** How much of the color the levels have; the rest is that of no change. */
const LEVEL_SHARES = [0, 0.3, 0.55, 0.78, 1];

/** What a change is of the largest one: below 0 where it is less, 0 where it is next to nothing, MOST_LEVEL at the most. */
export function changeLevel(change: number, largest: number): number {
    const share = largest === 0 ? 0 : change / largest;
    const level = CHANGE_STEPS.filter((step) => Math.abs(share) >= step).length;
    return share < 0 ? -level : level;
}

/** What a level is, in words: "10% to 25% more". */
export function describeLevel(level: number): string {
    const percent = (step: number | undefined): string => `${Math.round(100 * (step ?? 0))}%`;
    if (level === 0) return `Noise, or less than ${percent(CHANGE_STEPS[0])} of the largest change`;
    const [from, to] = [CHANGE_STEPS[Math.abs(level) - 1], CHANGE_STEPS[Math.abs(level)]];
    const share = `${percent(from)} ${to === undefined ? 'and more' : `to ${percent(to)}`} of the largest change`;
    return `${level < 0 ? 'Less' : 'More'} in the new side, ${share}`;
}

/** The CSS value for the color of a level. */
export function levelColor(level: number): string {
    const share = 100 * (LEVEL_SHARES[Math.abs(level)] ?? 0);
    return `color-mix(in srgb, var(--change-${level < 0 ? 'less' : 'more'}) ${share}%, var(--change-same))`;
}

function changeColors(level: number, surface: Rgb): RectColors {
    const same = parse(styleColor('change-same'));
    const full = parse(styleColor(level < 0 ? 'change-less' : 'change-more'));
    const strong = level === 0 ? 'change-same-strong' : level < 0 ? 'change-less-strong' : 'change-more-strong';
    const selected = parse(styleColor(strong));
    const fill = mix(full, same, LEVEL_SHARES[Math.abs(level)] ?? 0);
    return {
        fill: write(fill),
        oddFill: write(fill),
        hover: write(mix(selected, fill, 0.35)),
        selected: write(selected),
        selectedNarrow: write(selected),
        selectedText: write(contrast(selected, DARK_TEXT) >= contrast(selected, LIGHT_TEXT) ? DARK_TEXT : LIGHT_TEXT),
        faint: write(mix(fill, surface, 0.3)),
        aggregate: write(mix(fill, surface, 0.7)),
    };
}

/** Of all categories, and one more for those that are unknown, for the theme that is on. */
export function chartColors(categories: readonly Category[], theme: 'light' | 'dark'): ChartColors {
    const surface = parse(styleColor('surface'));
    const colors = canvasColors([...categories.keys(), categories.length], categories);
    const names = NAME_COLORS.map((name) => parse(styleColor(`category-${name}`)));
    return {
        rects: colors.map((color) => rectColors(parse(color ?? styleColor('category-grey')), surface, theme)),
        names: [false, true].flatMap((isPale) => names.map((color) => rectColors(color, surface, theme, isPale))),
        changes: CHANGE_LEVELS.map((level) => changeColors(level, surface)),
        surface: styleColor('surface'),
        text: theme === 'light' ? styleColor('text') : write(LIGHT_TEXT),
        quietText: styleColor('rect-text-quiet'),
        quiet: styleColor('text-quiet'),
        accent: styleColor('accent'),
        line: styleColor('line'),
    };
}

/** Those of a level of change. */
export function colorsOfChange({ changes, rects }: ChartColors, level: number): RectColors {
    return changes[level + MOST_LEVEL] ?? (rects.at(-1) as RectColors);
}

/** Those of a slot of names; of none: as of an unknown category. */
export function colorsOfName({ names, rects }: ChartColors, slot: number): RectColors {
    return names[slot] ?? (rects.at(-1) as RectColors);
}

/** Those of a category, which may be unknown. */
export function colorsOfCategory({ rects }: ChartColors, category: number): RectColors {
    return rects[category] ?? (rects.at(-1) as RectColors);
}
