/**
 * The panel with source and assembly as parts of the address, and back. `sourceViewIndex`, `assemblyView` and
 * `bottomFullscreen` are those of the Firefox Profiler; `sourceFunc` and `sourceNode` (for which function, and which row,
 * it was opened) and `sourceCosts` are ours.
 */

import { decodeIndex, decodeIndexes, encodeIndexes } from '../base/indexes';
import type { NodePath } from '../engine/api';

export interface SourcePanelView {
    /** The function that it was opened for; -1: only a file. */
    func: number;
    /** The row that it was opened for; empty: the function wherever it is called. */
    path: NodePath;
    /** The path is one of the inverted tree. */
    inverted: boolean;
    /** The source file; -1: not known. */
    source: number;
    /** The costs are those of the row alone, or of the function and what it calls. */
    isOfRow: boolean;
    assembly: boolean;
    /** Which native symbol of the function; -1: the heaviest. */
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

/** null: it is closed. */
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
