/** Texts that are equal for call trees with the same rows. */
import type { Query, Transform } from '../engine/api';

/** The direction and the transforms of a tree: two trees with equal shapes have the same rows, whatever their range. */
export function shapeOf(transforms: readonly Transform[], isInverted: boolean): string {
    return JSON.stringify([isInverted, transforms]);
}

/** The transforms of a query, with the threads if the result depends on these: marker filters read the markers of the selected threads. */
export function textOfTransforms({ transforms, threads }: Pick<Query, 'transforms' | 'threads'>): string {
    const readsMarkers = transforms.some((transform) => transform.kind === 'filter-samples');
    return JSON.stringify([transforms, readsMarkers ? threads : []]);
}
