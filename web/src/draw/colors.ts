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
