/**
 * Encodes the panel with source and assembly as parts of the address, and decodes it. The Firefox Profiler has
 * `sourceViewIndex`, `assemblyView` and `bottomFullscreen`, too. prof adds `sourceFunc` and `sourceNode` (the function
 * or row of the panel) and `sourceCosts`.
 */

import { decodeIndex, decodeIndexes, encodeIndexes } from '../base/indexes';
import type { NodePath } from '../engine/api';

export interface SourcePanelView {
    /** The function of the panel, or -1 for only a file. */
    func: number;
    /** The row of the panel, or empty for the function with all its callers. */
    path: NodePath;
    /** Whether the path belongs to the inverted tree. */
    inverted: boolean;
    /** The source file, or -1 if unknown. */
    source: number;
    /** Whether the costs are those of the row alone, not of the function. */
    isOfRow: boolean;
    assembly: boolean;
    /** The native symbol of the function, or -1 for the heaviest. */
    symbol: number;
    full: boolean;
}

export function encodeSourcePanel(sourcePanel: SourcePanelView | null, query: URLSearchParams): void {
    if (!sourcePanel) return;
    if (sourcePanel.source >= 0) query.set('sourceViewIndex', String(sourcePanel.source));
    if (sourcePanel.func >= 0) query.set('sourceFunc', String(sourcePanel.func));
    if (sourcePanel.path.length > 0)
        query.set('sourceNode', `${sourcePanel.inverted ? 'i-' : ''}${encodeIndexes(sourcePanel.path)}`);
    if (sourcePanel.isOfRow) query.set('sourceCosts', 'node');
    if (sourcePanel.assembly) query.set('assemblyView', sourcePanel.symbol < 0 ? '' : String(sourcePanel.symbol));
    if (sourcePanel.full) query.set('bottomFullscreen', '');
}

/** Returns null if the panel is closed. */
export function decodeSourcePanel(query: URLSearchParams): SourcePanelView | null {
    const func = decodeIndex(query.get('sourceFunc'));
    const source = decodeIndex(query.get('sourceViewIndex'));
    if (func < 0 && source < 0) return null;
    const node = query.get('sourceNode') ?? '';
    const inverted = node.startsWith('i-');
    return {
        func,
        path: decodeIndexes(inverted ? node.slice(2) : node),
        inverted,
        source,
        isOfRow: query.get('sourceCosts') === 'node',
        assembly: query.has('assemblyView'),
        symbol: decodeIndex(query.get('assemblyView')),
        full: query.has('bottomFullscreen'),
    };
}
