/** The stack chart: what was on the stack of each selected thread over time, aligned with the timeline above. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { type Band, type Place, ROW_HEIGHT } from '../draw/boxes';
import { pixelRatio } from '../draw/canvas';
import { categoryColor } from '../draw/colors';
import type { StackBoxes } from '../engine/charts';
import { previewAxis, shownRange } from '../state/axis';
import { boxesOfPath, boxPath, rowCount } from '../state/box_paths';
import { saveItems } from '../state/exports';
import { fetchNames, funcName } from '../state/names';
import { type MenuItems, onNodeKey, placeMenu } from '../state/node_menu';
import {
    MOST_CHARTS,
    selectStackPath,
    stackChart,
    stackChartError,
    stackChartPixels,
    stackPath,
    type ThreadChart,
} from '../state/stack_chart';
import {
    changeView,
    committedRange,
    fullRange,
    info,
    inverted,
    selectedThreads,
    setPreview,
    threadInfo,
    view,
} from '../state/store';
import { type NodePlace, transformByKey } from '../state/transform_offers';
import { reveal } from '../state/tree';
import { GRAPH_MARGIN, graphWidth, hoverTime, LABEL_WIDTH, menuItem } from '../state/windows';
import { formatDuration } from '../text/format';
import { plainText } from '../text/plain';
import { BoxChart, type PointerPlace } from './BoxChart';
import { EmptyTree } from './EmptyTree';
import { NameTooltip } from './NameTooltip';
import { hideSample, showSample } from './SampleTooltip';
import { ProfileText } from './text';

/** Rows between the charts of two threads. */
const GAP_ROWS = 1;

function nodePlace(boxes: StackBoxes, box: number): NodePlace {
    return {
        func: boxes.func[box] ?? -1,
        category: boxes.category[box] ?? 0,
        path: boxPath(boxes, box),
        inverted: false,
    };
}

function duration(boxes: StackBoxes, box: number): number {
    return (boxes.last[box] ?? 0) - (boxes.first[box] ?? 0);
}

function timeAt(clientX: number, chart: HTMLElement | null): number {
    const [from, to] = shownRange();
    const left = (chart?.getBoundingClientRect().left ?? 0) + LABEL_WIDTH;
    return from + ((clientX - left) / Math.max(1, graphWidth.value)) * (to - from);
}

function BoxTooltip({ boxes, box }: { boxes: StackBoxes; box: number }): JSX.Element {
    const name = funcName(boxes.func[box] ?? -1);
    const category = info.value.categories[boxes.category[box] ?? -1];
    return (
        <>
            <div class="sample-head">
                <strong>{formatDuration(duration(boxes, box))}</strong>
                <span>from {formatDuration((boxes.first[box] ?? 0) - fullRange.value[0])} on</span>
                {category && (
                    <span>
                        <span class="category-square" style={{ background: categoryColor(category) }} />
                        <ProfileText text={category.name} limit={40} />
                    </span>
                )}
            </div>
            {name && <NameTooltip name={name} />}
        </>
    );
}

/** Whose rows these are, in the column of the timeline's labels. */
function ThreadLabel({ chart, band }: { chart: ThreadChart; band: Band }): JSX.Element {
    const thread = threadInfo(chart.thread);
    const height = (band.rows + GAP_ROWS) * ROW_HEIGHT;
    return (
        <div class="stack-label" style={{ top: `${band.firstRow * ROW_HEIGHT}px`, height: `${height}px` }}>
            <p>
                <strong>
                    <ProfileText text={thread?.name ?? ''} limit={100} />
                </strong>
                <span class="muted">
                    TID <ProfileText text={thread?.tid ?? ''} limit={20} />
                </span>
            </p>
        </div>
    );
}

function makeBands(charts: readonly ThreadChart[], span: [number, number], path: number[]): Band[] {
    let firstRow = 0;
    return charts.map(({ boxes }) => {
        const rows = rowCount(boxes);
        const band = { boxes, span, firstRow, rows, selected: boxesOfPath(boxes, path) };
        firstRow += Math.max(rows, 1) + GAP_ROWS;
        return band;
    });
}

function describe(bands: readonly Band[], charts: readonly ThreadChart[]): string {
    for (const [at, band] of bands.entries()) {
        const box = band.selected.indexOf(1);
        const boxes = charts[at]?.boxes;
        if (box < 0 || !boxes) continue;
        const name = plainText(funcName(boxes.func[box] ?? -1)?.name ?? '', 200);
        const count = band.selected.reduce((sum, one) => sum + one, 0);
        return `${name}: ${formatDuration(duration(boxes, box))}${count > 1 ? `, the first of ${count} boxes` : ''}`;
    }
    return '';
}

export function StackChart(): JSX.Element {
    const answer = stackChart.value;
    const path = stackPath.value;
    const width = graphWidth.value;
    useEffect(() => {
        stackChartPixels.value = Math.round(width * pixelRatio());
    }, [width]);
    useEffect(
        () => () => {
            stackChartPixels.value = 0;
            hideSample();
        },
        [],
    );
    const charts = answer?.charts ?? [];
    const bands = useMemo(() => (answer ? makeBands(answer.charts, answer.span, path) : []), [answer, path]);
    const last = bands[bands.length - 1];
    const left = Math.max(0, selectedThreads.value.length - MOST_CHARTS);

    const boxesOf = (place: Place | null): StackBoxes | undefined => charts[place?.band ?? -1]?.boxes;
    const tooltipOf = (place: Place, show: (content: ComponentChildren) => void, pointer: PointerPlace): void => {
        const chart = charts[place.band];
        if (!chart) return;
        const func = chart.boxes.func[place.box] ?? -1;
        if (func !== -1) void fetchNames([func]).then(() => show(<BoxTooltip boxes={chart.boxes} box={place.box} />));
        else if (view.value.sameWidths) show(<p>Many stacks, each too narrow to be drawn.</p>);
        else showSample(chart.thread, timeAt(pointer.x, pointer.chart), pointer.x, pointer.y);
    };
    const chooseTime = (place: Place): void => {
        const boxes = boxesOf(place);
        if (boxes) setPreview([boxes.first[place.box] ?? 0, boxes.last[place.box] ?? 0]);
    };
    const onKey = (event: KeyboardEvent, place: Place | null): boolean => {
        const boxes = boxesOf(place);
        const isPlain = !event.altKey && !event.metaKey && !event.ctrlKey;
        if (isPlain && event.key === 'Backspace') setPreview(null);
        else if (!place || !boxes) return false;
        else if (isPlain && event.key === 'x') chooseTime(place);
        // The letter itself moves the chart.
        else if (isPlain && event.key === 'Delete') void transformByKey('d', nodePlace(boxes, place.box));
        else return onNodeKey(event, nodePlace(boxes, place.box));
        return true;
    };
    const menuOf = (place: Place): MenuItems => {
        const boxes = boxesOf(place);
        if (!boxes) return { items: [], later: Promise.resolve([]) };
        const node = nodePlace(boxes, place.box);
        const showInTree = (): void =>
            changeView({ tab: 'calltree', inverted: false, path: node.path, zoom: [], part: null }, 'push');
        const own = [
            menuItem('Choose its time', () => chooseTime(place), { keys: 'x', startsGroup: true }),
            menuItem('Show in the call tree', showInTree),
        ];
        return placeMenu(node, own, saveItems());
    };
    const message = stackChartError.value;
    return (
        <div class="chart-frame">
            <BoxChart
                label="Stack chart"
                bands={bands}
                rowCount={last ? last.firstRow + last.rows + GAP_ROWS : 0}
                fromBottom={false}
                axis={previewAxis}
                margins={[LABEL_WIDTH, GRAPH_MARGIN]}
                plotWidth={width}
                hasWasd={true}
                reveal={inverted.value ? path : reveal.value}
                description={describe(bands, charts)}
                onSelect={(place) => {
                    const boxes = boxesOf(place);
                    if (boxes) selectStackPath(boxPath(boxes, place.box));
                }}
                onOpen={chooseTime}
                onKey={onKey}
                menuOf={menuOf}
                otherItems={saveItems}
                tooltipOf={tooltipOf}
                onHover={(pointer) => {
                    const time = pointer && !view.value.sameWidths ? timeAt(pointer.x, pointer.chart) : null;
                    const [from, to] = committedRange.value;
                    hoverTime.value = time !== null && time >= from && time <= to ? time : null;
                }}
                empty={message !== '' ? <p class="empty">{message}</p> : answer === null ? null : <EmptyTree />}
            >
                {bands.map((band, at) => {
                    const chart = charts[at];
                    return chart && <ThreadLabel key={chart.thread} chart={chart} band={band} />;
                })}
            </BoxChart>
            {left > 0 && <div class="chart-note padded">{`The first ${MOST_CHARTS} of the selected threads`}</div>}
        </div>
    );
}
