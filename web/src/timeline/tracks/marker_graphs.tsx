/** The track of the values of a kind of marker: overlaid graphs, and the marker under the mouse. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Session } from '../../app/session';
import { pixelRatio } from '../../base/canvas';
import type { MarkerGraph, MarkerGraphKind } from '../../engine/markers';
import { MarkerTooltip } from '../../markers/marker_parts';
import { useSession } from '../../session/context';
import { GraphError } from '../../ui/GraphError';
import { LifeShade } from '../../ui/LifeShade';
import { useRequest, useSeen } from '../../ui/use';
import { THREAD_HEIGHT, type TrackRow } from '../../view/tracks';
import { theme } from '../../window/theme';
import { graphWidth } from '../../window/windows';
import { counterScale, drawCounter, graphColor } from '../draw_counter';
import type { TrackKind } from './kind';

/** The distance from a marker within which the mouse finds the marker, px. */
const NEAR = 3;

interface GraphProps {
    row: TrackRow;
    schema: number;
    at: number;
    graph: MarkerGraphKind;
}

function Graph({ row, schema, at, graph }: GraphProps): JSX.Element {
    const session = useSession();
    const { engine } = session;
    const { drawnGraphs } = session.hover;
    const { committedRange } = session.store;
    const canvas = useRef<HTMLCanvasElement>(null);
    const isSeen = useSeen(canvas);
    const [from, to] = committedRange.value;
    const width = graphWidth.value;
    const height = row.height - 1;
    const pixels = Math.round(width * pixelRatio());
    const colors = theme.value;
    const request = useRequest(
        isSeen && pixels > 0 ? () => engine.markerGraph(row.thread, schema, at, [from, to], pixels) : null,
        [row.key, at, isSeen, from, to, pixels],
    );
    const drawn = request.value.value;
    useLayoutEffect(() => {
        if (!canvas.current || !drawn) return;
        drawnGraphs.set(`${row.key}.${at}`, drawn);
        canvas.current.dataset.theme = colors;
        drawCounter(
            canvas.current,
            drawn.values,
            counterScale(drawn.values, graph.isBar),
            graphColor(graph.color),
            width,
            height,
        );
    }, [drawn, width, colors]);
    return (
        <>
            <GraphError sentence={request.error.value} />
            <canvas ref={canvas} class="track-canvas" style={{ height: `${height}px` }} />
        </>
    );
}

function MarkerGraphs({ row }: { row: TrackRow }): JSX.Element {
    const session = useSession();
    const { info } = session;
    const graphs = info.value.markerGraphs[row.index];
    return (
        <div class="track-graph layered">
            <LifeShade thread={row.thread} />
            {graphs?.graphs.map((graph, at) => (
                <Graph key={at} row={row} schema={graphs.schema} at={at} graph={graph} />
            ))}
        </div>
    );
}

// ---- the tooltip ----

/** Returns the marker at a pixel of a graph, or the nearest marker within a few pixels, or -1. */
function markerNear({ markers }: MarkerGraph, pixel: number): number {
    const reach = NEAR * pixelRatio();
    for (let distance = 0; distance <= reach; distance++)
        for (const place of [pixel - distance, pixel + distance])
            if ((markers[place] ?? -1) >= 0) return markers[place] ?? -1;
    return -1;
}

function showMarkerTooltip(session: Session, { key, index }: TrackRow, time: number, x: number, y: number): void {
    const { engine, info } = session;
    const { drawnGraphs, tellOf } = session.hover;
    const { committedRange } = session.store;
    const graphs = info.value.markerGraphs[index];
    const [from, to] = committedRange.value;
    const found = (graphs?.graphs ?? [])
        .map((_, at) => drawnGraphs.get(`${key}.${at}`))
        .map((graph) =>
            graph ? markerNear(graph, Math.floor(((time - from) / (to - from)) * graph.values.length)) : -1,
        )
        .find((marker) => marker >= 0);
    tellOf(
        x,
        y,
        graphs && found !== undefined
            ? async () => {
                  const marker = await engine.threadMarkerDetails(graphs.thread, found);
                  return { content: <MarkerTooltip marker={marker} count={1} /> };
              }
            : null,
    );
}

/** Tracks below their threads. */
export const MARKER_GRAPHS: TrackKind = {
    id: 'graph',
    name: 'graph',
    seeds: ({ markerGraphs }, threads) => {
        const byThread = new Map(threads.map((seed) => [seed.thread, seed]));
        return markerGraphs.flatMap((kind, index) => {
            const seed = byThread.get(kind.thread);
            if (!seed) return [];
            return {
                ...seed,
                key: `g${index}`,
                kind: 'graph',
                index,
                below: seed.key,
                title: kind.name,
                detail: kind.graphs.map((graph) => graph.label).join(', '),
                words: `markers\n${seed.title}\n${seed.words}`,
                members: [],
                isLead: false,
                activity: 0,
                height: THREAD_HEIGHT,
            };
        });
    },
    Graph: MarkerGraphs,
    showTooltip: showMarkerTooltip,
};
