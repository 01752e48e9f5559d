/** Reads both sides of a comparison from columns. */
import type { SideColumns, Sides } from './api';

/** Returns both sides of one row. */
export function sidesAt({ baseTotal, baseSelf, newTotal, newSelf }: SideColumns, row: number): Sides {
    return {
        base: { total: baseTotal[row] ?? 0, self: baseSelf[row] ?? 0 },
        new: { total: newTotal[row] ?? 0, self: newSelf[row] ?? 0 },
    };
}
