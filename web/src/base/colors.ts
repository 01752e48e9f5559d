/** Category colors: the profile names them, style/colors.css has their values for both themes. */
import type { Category } from '../engine/api';
import { styleColor } from './canvas';

/**
 * The color names of the format, in the order of their areas in a graph, lowest first. Areas of quiet colors are below
 * areas of loud colors.
 */
const FROM_THE_BOTTOM = [
    'darkgrey',
    'grey',
    'lightgreen',
    'magenta',
    'brown',
    'yellow',
    'purple',
    'green',
    'blue',
    'orange',
    'lightblue',
    'red',
    'lightred',
    'transparent',
];

/**
 * Colors of names. Adjacent colors differ as much as possible. A name has a slot: slot n has color n, and slots after
 * the last color have the same colors in a pale version.
 */
export const NAME_COLORS = ['blue', 'orange', 'green', 'purple', 'yellow', 'lightblue', 'magenta', 'red'] as const;
export const NAME_SLOTS = 2 * NAME_COLORS.length;

/** Returns the CSS value of a slot's color. Slot -1 is for functions without a name. */
export function slotColor(slot: number): string {
    const color = `var(--category-${NAME_COLORS[slot % NAME_COLORS.length] ?? 'grey'})`;
    return slot < NAME_COLORS.length ? color : `color-mix(in srgb, ${color} 56%, var(--surface))`;
}

function knownColor(category: Category | undefined): string {
    const name = (category?.color ?? 'grey').replace('gray', 'grey');
    return FROM_THE_BOTTOM.includes(name) ? name : 'grey';
}

/** Returns the CSS value of a category's color. */
export function categoryColor(category: Category | undefined): string {
    return `var(--category-${knownColor(category)})`;
}

/** Returns the positions of `categories` in the order of their areas, lowest first. */
export function stackingOrder(categories: readonly number[], known: readonly Category[]): number[] {
    const rank = (at: number): number => FROM_THE_BOTTOM.indexOf(knownColor(known[categories[at] ?? -1]));
    return categories.map((_, at) => at).sort((a, b) => rank(a) - rank(b));
}

/** Returns the colors for a canvas in the current theme, or null for a category that is not drawn. */
export function canvasColors(categories: readonly number[], known: readonly Category[]): (string | null)[] {
    return categories.map((category) => {
        const name = knownColor(known[category]);
        return name === 'transparent' ? null : styleColor(`category-${name}`);
    });
}
