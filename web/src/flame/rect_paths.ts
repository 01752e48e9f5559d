/** Converts rects to paths of call nodes, and paths to rects. */
import type { NodePath } from '../engine/api';
import type { Rects } from '../engine/charts';

/** Returns the functions from the first row to a rect. */
export function rectPath({ func, parent }: Rects, rect: number): NodePath {
    const path: NodePath = [];
    for (let at = rect; at >= 0; at = parent[at] ?? -1) path.push(func[at] ?? -1);
    return path.reverse();
}

/** Returns 1 for each rect of this path, else 0. */
export function rectsOfPath({ func, parent, depth }: Rects, path: NodePath): Uint8Array {
    const found = new Uint8Array(func.length);
    const isOnPath = new Uint8Array(func.length);
    for (let rect = 0; rect < func.length; rect++) {
        const level = depth[rect] ?? 0;
        const below = parent[rect] ?? -1;
        if (func[rect] === -1 || func[rect] !== path[level] || (below < 0 ? level !== 0 : isOnPath[below] !== 1))
            continue;
        isOnPath[rect] = 1;
        if (level === path.length - 1) found[rect] = 1;
    }
    return found;
}

export function rowCount({ depth }: Rects): number {
    let deepest = -1;
    for (const level of depth) if (level > deepest) deepest = level;
    return deepest + 1;
}
