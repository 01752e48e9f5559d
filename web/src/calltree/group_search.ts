/** Makes the search that finds the functions of a group. */
import { FUNC_GROUPING } from '../engine/butterfly';

function escaped(text: string): string {
    return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

/**
 * A group of functions without a namespace or a file has the name of its library in brackets. Some names of libraries
 * have brackets themselves. A group of a pattern has the pattern as its name.
 */
export function groupSearch(name: string, by: string): string {
    if (!FUNC_GROUPING.includes(by)) return name;
    const [, lib] = /^\[(.*)\]$/.exec(name) ?? [];
    if (lib !== undefined) return `lib:/^\\[?${escaped(lib)}\\]?$/`;
    if (by === 'directory') return `file:/^${escaped(name)}\\/[^\\/]*$/`;
    return `/^[<&*]*(mut |dyn |const )*${escaped(name)}(::|\\.)/`;
}
