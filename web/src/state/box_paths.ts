/** Boxes of charts as call nodes: their paths, and which of them a path is. */
import type { NodePath } from '../engine/api';
import type { Boxes } from '../engine/charts';

/** The funcs from the first row to a box. */
export function boxPath({ func, parent }: Boxes, box: number): NodePath {
    const path: NodePath = [];
    for (let at = box; at >= 0; at = parent[at] ?? -1) path.push(func[at] ?? -1);
    return path.reverse();
}

/** 1 for each box whose path this is. */
export function boxesOfPath({ func, parent, depth }: Boxes, path: NodePath): Uint8Array {
    const found = new Uint8Array(func.length);
    const isOnPath = new Uint8Array(func.length);
    for (let box = 0; box < func.length; box++) {
        const level = depth[box] ?? 0;
        const below = parent[box] ?? -1;
        if (func[box] === -1 || func[box] !== path[level] || (below < 0 ? level !== 0 : isOnPath[below] !== 1)) continue;
        isOnPath[box] = 1;
        if (level === path.length - 1) found[box] = 1;
    }
    return found;
}

export function rowCount({ depth }: Boxes): number {
    let deepest = -1;
    for (const one of depth) if (one > deepest) deepest = one;
    return deepest + 1;
}
