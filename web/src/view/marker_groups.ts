/** The groups of markers whose samples the sides of a comparison count. */
import type { FilteredSides, Transform } from '../engine/api';

export interface MarkerGroup {
    /** The search that finds the markers. */
    text: string;
    /** The share (0 to 1) of the longest markers, or undefined for all. */
    slowest?: number | undefined;
}

/** Returns the groups that the transforms of a view select. A sample must be in a marker of each group. */
export function markerGroups(transforms: readonly Transform[]): MarkerGroup[] {
    return transforms
        .filter(({ kind, sides }) => kind === 'filter-samples' && !sides)
        .map(({ text = '', slowest }) => ({ text, slowest }));
}

function transformsOf(groups: readonly MarkerGroup[], sides: FilteredSides, areMeans: boolean): Transform[] {
    const slowest = groups.findIndex((group) => group.slowest);
    const counted = slowest < 0 ? groups.length - 1 : slowest;
    return groups.map((group, at) => {
        const made: Transform = {
            kind: 'filter-samples',
            index: -1,
            path: [],
            inverted: false,
            text: group.text,
            sides,
        };
        const share = group.slowest ?? (areMeans && at === counted ? 1 : 0);
        return share > 0 ? { ...made, slowest: share } : made;
    });
}

/** Returns the transforms of a comparison of these groups. If both sides have groups, all numbers are means per marker. */
export function comparedGroups(base: readonly MarkerGroup[], next: readonly MarkerGroup[]): Transform[] {
    const areMeans = base.length > 0 && next.length > 0;
    return [...transformsOf(base, 'base', areMeans), ...transformsOf(next, 'new', areMeans)];
}

/** Names the groups: "request, slowest 5% of name:send". */
export function nameOfGroups(groups: readonly MarkerGroup[]): string {
    return groups
        .map(({ text, slowest }) => {
            const name = /^name:"([^"]*)"$/.exec(text)?.[1] ?? text;
            return slowest ? `slowest ${Number((100 * slowest).toPrecision(3))}% of ${name}` : name;
        })
        .join(', ');
}
