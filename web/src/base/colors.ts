/** Category colors: the profile names them, style/colors.css has their values for both themes. */
import type { Category } from '../engine/api';
import { styleColor } from './canvas';

/** The color names of the format, by how far down their area lies in a graph, lowest first: quiet ones carry the loud. */
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
 * Colors of names, neighbors as unlike as can be. A name has a slot: the color with the slot's number, or, from the second round on,
 * the same one pale.
 */
export const NAME_COLORS = ['blue', 'orange', 'green', 'purple', 'yellow', 'lightblue', 'magenta', 'red'] as const;
export const NAME_SLOTS = 2 * NAME_COLORS.length;

/** The CSS value for a slot's color; -1: of what has no name. */
export function slotColor(slot: number): string {
    const color = `var(--category-${NAME_COLORS[slot % NAME_COLORS.length] ?? 'grey'})`;
    return slot < NAME_COLORS.length ? color : `color-mix(in srgb, ${color} 56%, var(--surface))`;
}

function knownColor(category: Category | undefined): string {
    const name = (category?.color ?? 'grey').replace('gray', 'grey');
    return FROM_THE_BOTTOM.includes(name) ? name : 'grey';
}

/** The CSS value for a category's color. */
export function categoryColor(category: Category | undefined): string {
    return `var(--category-${knownColor(category)})`;
}

/** Positions of `categories` in the order in which their areas are stacked, lowest first. */
export function stackingOrder(categories: readonly number[], known: readonly Category[]): number[] {
    const rank = (at: number): number => FROM_THE_BOTTOM.indexOf(knownColor(known[categories[at] ?? -1]));
    return categories.map((_, at) => at).sort((a, b) => rank(a) - rank(b));
}

/** The colors as a canvas wants them, for the theme that is on now; null where nothing is drawn. */
export function canvasColors(categories: readonly number[], known: readonly Category[]): (string | null)[] {
    return categories.map((category) => {
        const name = knownColor(known[category]);
        return name === 'transparent' ? null : styleColor(`category-${name}`);
    });
}
