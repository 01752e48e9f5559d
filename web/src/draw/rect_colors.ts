/** The colors of rects: tints of the category colors, on which text can be read in both themes. */
import type { Category } from '../engine/api';
import { styleColor } from './canvas';
import { canvasColors } from './colors';

/** As style sheets write them: #rrggbb. */
export interface RectColors {
    fill: string;
    /** Under the mouse. */
    hover: string;
    /** The category's own color. */
    selected: string;
    selectedText: string;
    /** For what a search does not look for. */
    faint: string;
    /** For what stands for many that are too narrow. */
    aggregate: string;
}

export interface ChartColors {
    rects: RectColors[];
    surface: string;
    text: string;
    quiet: string;
    accent: string;
    line: string;
}

type Rgb = [number, number, number];

/** How much of the category's color a tint has, light and dark. */
const TINT = { light: 0.5, dark: 0.4 };
const HOVER = { light: 0.75, dark: 0.46 };
const FAINT = { light: 0.14, dark: 0.14 };
const AGGREGATE = { light: 0.28, dark: 0.24 };
const DARK_TEXT: Rgb = [0x12, 0x17, 0x1d];
const LIGHT_TEXT: Rgb = [0xff, 0xff, 0xff];

function parse(color: string): Rgb {
    const hex = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(color);
    return hex ? [1, 2, 3].map((at) => Number.parseInt(hex[at] ?? '80', 16)) as Rgb : [0x80, 0x80, 0x80];
}

function write(color: Rgb): string {
    return `#${color.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

function mix(color: Rgb, ground: Rgb, share: number): Rgb {
    return color.map((part, at) => part * share + (ground[at] ?? 0) * (1 - share)) as Rgb;
}

/** The relative luminance of WCAG 2. */
function luminance(color: Rgb): number {
    const [red, green, blue] = color.map((part) => {
        const value = part / 255;
        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    }) as Rgb;
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function contrast(a: Rgb, b: Rgb): number {
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
    return (light + 0.05) / (dark + 0.05);
}

function rectColors(color: Rgb, surface: Rgb, theme: 'light' | 'dark'): RectColors {
    const text = contrast(color, DARK_TEXT) >= contrast(color, LIGHT_TEXT) ? DARK_TEXT : LIGHT_TEXT;
    const tint = (shares: typeof TINT): string => write(mix(color, surface, shares[theme]));
    return {
        fill: tint(TINT),
        hover: tint(HOVER),
        selected: write(color),
        selectedText: write(text),
        faint: tint(FAINT),
        aggregate: tint(AGGREGATE),
    };
}

/** Of all categories, and one more for those that are unknown, for the theme that is on. */
export function chartColors(categories: readonly Category[], theme: 'light' | 'dark'): ChartColors {
    const surface = parse(styleColor('surface'));
    const colors = canvasColors([...categories.keys(), categories.length], categories);
    return {
        rects: colors.map((color) => rectColors(parse(color ?? styleColor('category-grey')), surface, theme)),
        surface: styleColor('surface'),
        text: styleColor('text'),
        quiet: styleColor('text-quiet'),
        accent: styleColor('accent'),
        line: styleColor('line'),
    };
}

/** Those of a category, which may be unknown. */
export function colorsOfCategory({ rects }: ChartColors, category: number): RectColors {
    return rects[category] ?? (rects.at(-1) as RectColors);
}
