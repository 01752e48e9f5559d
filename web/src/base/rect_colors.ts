/** The colors of rects: tints of the category colors on which text is readable in both themes. */
import type { Category } from '../engine/api';
import { styleColor } from './canvas';
import { canvasColors, NAME_COLORS } from './colors';

/** The colors of one rect, as #rrggbb. */
export interface RectColors {
    fill: string;
    /** The color in every second row, which separates the rows. */
    oddFill: string;
    /** The color below the mouse. */
    hover: string;
    /** The category's own color, for the selected rect. */
    selected: string;
    selectedText: string;
    /** The color of a selected rect that is too narrow for a frame. */
    selectedNarrow: string;
    /** The color of rects that a search does not match. */
    faint: string;
    /** The color of a rect that stands for several narrow rects. */
    aggregate: string;
}

export interface ChartColors {
    rects: RectColors[];
    /** Colors of names, indexed by slot: see NAME_SLOTS. */
    names: RectColors[];
    /** Colors of changes, indexed by level, from the largest decrease to the largest increase: see changeLevel(). */
    changes: RectColors[];
    surface: string;
    /** The color of text on rects that are neither selected nor faint. */
    text: string;
    /** The color of the text around a function's own name. */
    quietText: string;
    quiet: string;
    accent: string;
    line: string;
}

type Rgb = [number, number, number];

/** The share of the color in a tint of the light theme. The rest is the color of the surface. */
const TINT = { fill: 0.52, odd: 0.44, hover: 0.8, pale: 0.32, paleOdd: 0.26, palePressed: 0.44, faint: 0.14 };
/**
 * Limits of the luminance in the dark theme, where mixtures with the dark surface turn yellow into brown. A color gets
 * the luminance of its kind of rect and a part of its own luminance, so light colors stay lighter than dark colors,
 * also for people with color blindness.
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
/** The limit of a selected rect's luminance, above which the rect dazzles. */
const BRIGHTEST = 0.38;
/** The minimum contrast of a selected rect to adjacent rects, below which users do not find a rect without a frame. */
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

/** Returns the relative luminance, as WCAG 2 defines it. */
function luminance(color: Rgb): number {
    const [red, green, blue] = color.map(linear) as Rgb;
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the color with the same hue and a luminance of at most `most`. */
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

/**
 * Returns the colors of the faint part of a graph. null: draw the same colors with transparency, which the dark theme
 * does not allow.
 */
export function faintColors(colors: readonly (string | null)[], theme: 'light' | 'dark'): (string | null)[] | null {
    if (theme === 'light') return null;
    return colors.map((color) => color && rectColors(parse(color), [0, 0, 0], theme).fill);
}

// ---- changes ----

/** The shares of the largest change at which the levels of change begin. */
const CHANGE_STEPS = [0.02, 0.1, 0.25, 0.5];
export const MOST_LEVEL = CHANGE_STEPS.length;
export const CHANGE_LEVELS = Array.from({ length: 2 * MOST_LEVEL + 1 }, (_, at) => at - MOST_LEVEL);
/** The share of the color in each level. The rest is the color of no change. */
const LEVEL_SHARES = [0, 0.3, 0.55, 0.78, 1];

/**
 * Returns the level of a change relative to the largest change: negative for a decrease, 0 for nearly no change, at
 * most MOST_LEVEL.
 */
export function changeLevel(change: number, largest: number): number {
    const share = largest === 0 ? 0 : change / largest;
    const level = CHANGE_STEPS.filter((step) => Math.abs(share) >= step).length;
    return share < 0 ? -level : level;
}

/** Describes a level: "10% to 25% more". */
export function describeLevel(level: number): string {
    const percent = (step: number | undefined): string => `${Math.round(100 * (step ?? 0))}%`;
    if (level === 0) return `Noise, or less than ${percent(CHANGE_STEPS[0])} of the largest change`;
    const [from, to] = [CHANGE_STEPS[Math.abs(level) - 1], CHANGE_STEPS[Math.abs(level)]];
    const share = `${percent(from)} ${to === undefined ? 'and more' : `to ${percent(to)}`} of the largest change`;
    return `${level < 0 ? 'Less' : 'More'} in the new side, ${share}`;
}

/** Returns the CSS value of a level's color. */
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

/** Returns the colors of all categories, and of unknown categories, for the current theme. */
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

/** Returns the colors of a level of change. */
export function colorsOfChange({ changes, rects }: ChartColors, level: number): RectColors {
    return changes[level + MOST_LEVEL] ?? (rects.at(-1) as RectColors);
}

/** Returns the colors of a slot of names, or of an unknown category for no slot. */
export function colorsOfName({ names, rects }: ChartColors, slot: number): RectColors {
    return names[slot] ?? (rects.at(-1) as RectColors);
}

/** Returns the colors of a category, which may be unknown. */
export function colorsOfCategory({ rects }: ChartColors, category: number): RectColors {
    return rects[category] ?? (rects.at(-1) as RectColors);
}
