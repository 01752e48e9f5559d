/** The stack chart: the stack of each selected thread over time, aligned with the timeline. */

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { Session } from '../app/session';
import { pixelRatio } from '../base/canvas';
import { categoryColor } from '../base/colors';
import { formatCount } from '../base/format';
import { plainText } from '../base/plain';
import type { MenuItems } from '../calltree/node_menu';
import type { NodePlace } from '../calltree/transform_offers';
import type { StackRects } from '../engine/charts';
import { useSession } from '../session/context';
import { EmptyTree } from '../ui/EmptyTree';
import { NameTooltip } from '../ui/NameTooltip';
import { showSample } from '../ui/SampleTooltip';
import { ProfileText } from '../ui/text';
import { sideOfThread } from '../view/thread_sides';
import { act, GRAPH_MARGIN, graphWidth, LABEL_WIDTH, menuItem } from '../window/windows';
import { type Band, type Place, ROW_HEIGHT } from './draw_rects';
import { type PointerPlace, RectChart } from './RectChart';
import { rectPath, rectsOfPath, rowCount } from './rect_paths';
import { MOST_CHARTS, type ThreadChart } from './stack_chart';

/** The number of empty rows between the charts of two threads. */
const GAP_ROWS = 1;

function nodePlace(rects: StackRects, rect: number): NodePlace {
    return {
        func: rects.func[rect] ?? -1,
        category: rects.category[rect] ?? 0,
        path: rectPath(rects, rect),
        inverted: false,
    };
}

function duration(rects: StackRects, rect: number): number {
    return (rects.last[rect] ?? 0) - (rects.first[rect] ?? 0);
}

function timeAt(session: Session, clientX: number, chart: HTMLElement | null): number {
    const { shownRange } = session.axis;
    const [from, to] = shownRange();
    const left = (chart?.getBoundingClientRect().left ?? 0) + LABEL_WIDTH;
    return from + ((clientX - left) / Math.max(1, graphWidth.value)) * (to - from);
}

function RectTooltip({ rects, rect }: { rects: StackRects; rect: number }): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { funcName } = session.names;
    const { lengthText, placeText } = session.axisText;
    const name = funcName(rects.func[rect] ?? -1);
    const category = info.value.categories[rects.category[rect] ?? -1];
    return (
        <>
            <div class="sample-head">
                <strong>{lengthText(duration(rects, rect))}</strong>
                <span>at {placeText(rects.first[rect] ?? 0)}</span>
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

/** The name of the rows' thread, in the column of the timeline's labels. */
function ThreadLabel({ chart, band }: { chart: ThreadChart; band: Band }): JSX.Element {
    const session = useSession();
    const { threadInfo } = session.store;
    const thread = threadInfo(chart.thread);
    const side = thread ? sideOfThread(session.info.value.comparison, thread) : '';
    const height = (band.rows + GAP_ROWS) * ROW_HEIGHT;
    return (
        <div class="stack-label" style={{ top: `${band.firstRow * ROW_HEIGHT}px`, height: `${height}px` }}>
            <p>
                <strong>
                    <ProfileText text={thread?.name ?? ''} limit={100} />
                </strong>
                <span class="muted">
                    {side === '' ? '' : `${side} · `}TID <ProfileText text={thread?.tid ?? ''} limit={20} />
                </span>
            </p>
        </div>
    );
}

function makeBands(charts: readonly ThreadChart[], span: [number, number], path: number[]): Band[] {
    let firstRow = 0;
    return charts.map(({ rects }) => {
        const rows = rowCount(rects);
        const band = { rects, span, firstRow, rows, selected: rectsOfPath(rects, path) };
        firstRow += Math.max(rows, 1) + GAP_ROWS;
        return band;
    });
}

function describe(session: Session, bands: readonly Band[], charts: readonly ThreadChart[]): string {
    const { shownName } = session.names;
    for (const [at, band] of bands.entries()) {
        const rect = band.selected.indexOf(1);
        const rects = charts[at]?.rects;
        if (rect < 0 || !rects) continue;
        const name = plainText(shownName(rects.func[rect] ?? -1), 200);
        const count = band.selected.reduce((sum, isSelected) => sum + isSelected, 0);
        return `${name}: ${session.axisText.lengthText(duration(rects, rect))}${count > 1 ? `, the first of ${count} occurrences` : ''}`;
    }
    return '';
}

export function StackChart(): JSX.Element {
    const session = useSession();
    const { previewAxis } = session.axis;
    const { saveItems } = session.exports;
    const { endHover, hoverTime } = session.hover;
    const { fetchNames } = session.names;
    const { onNodeKey, placeMenu } = session.nodeMenu;
    const { selectStackPath, stackChart, stackChartError, stackChartPixels, stackPath } = session.stackChart;
    const { changeView, committedRange, inverted, selectedThreads, setPreview, view } = session.store;
    const { transformByKey } = session.transformOffers;
    const { reveal } = session.tree;
    const answer = stackChart.value;
    const path = stackPath.value;
    const width = graphWidth.value;
    useEffect(() => {
        stackChartPixels.value = Math.round(width * pixelRatio());
    }, [width]);
    useEffect(
        () => () => {
            stackChartPixels.value = 0;
            endHover();
        },
        [],
    );
    const charts = answer?.charts ?? [];
    const bands = useMemo(() => (answer ? makeBands(answer.charts, answer.span, path) : []), [answer, path]);
    const last = bands[bands.length - 1];
    const chosen = selectedThreads.value.length;

    const rectsOf = (place: Place | null): StackRects | undefined => charts[place?.band ?? -1]?.rects;
    const tooltipOf = (place: Place, show: (content: ComponentChildren) => void, pointer: PointerPlace): void => {
        const chart = charts[place.band];
        if (!chart) return;
        const func = chart.rects.func[place.rect] ?? -1;
        if (func !== -1)
            act(fetchNames([func]).then(() => show(<RectTooltip rects={chart.rects} rect={place.rect} />)));
        else if (view.value.sameWidths) show(<p>Stacks too narrow to draw.</p>);
        else showSample(session, chart.thread, timeAt(session, pointer.x, pointer.chart), pointer.x, pointer.y);
    };
    const chooseTime = (place: Place): void => {
        const rects = rectsOf(place);
        if (rects) setPreview([rects.first[place.rect] ?? 0, rects.last[place.rect] ?? 0]);
    };
    const onKey = (event: KeyboardEvent, place: Place | null): boolean => {
        const rects = rectsOf(place);
        const isPlain = !event.altKey && !event.metaKey && !event.ctrlKey;
        if (isPlain && event.key === 'Backspace') setPreview(null);
        else if (!place || !rects) return false;
        else if (isPlain && event.key === 'x') chooseTime(place);
        // The letter d moves this chart, so Delete drops the function instead.
        else if (isPlain && event.key === 'Delete') act(transformByKey('d', nodePlace(rects, place.rect)));
        else return onNodeKey(event, nodePlace(rects, place.rect));
        return true;
    };
    const menuOf = (place: Place): MenuItems => {
        const rects = rectsOf(place);
        if (!rects) return { items: [], later: Promise.resolve([]) };
        const node = nodePlace(rects, place.rect);
        const showInTree = (): void =>
            changeView({ tab: 'calltree', inverted: false, path: node.path, zoom: [], part: null }, 'push');
        const own = [
            menuItem('Select its time range', () => chooseTime(place), { keys: 'x', startsGroup: true }),
            menuItem('Show in the call tree', showInTree),
        ];
        return placeMenu(node, own, saveItems());
    };
    const message = stackChartError.value;
    return (
        <div class="chart-frame">
            <RectChart
                label="Stack chart"
                bands={bands}
                rowCount={last ? last.firstRow + last.rows + GAP_ROWS : 0}
                fromBottom={false}
                axis={previewAxis}
                margins={[LABEL_WIDTH, GRAPH_MARGIN]}
                plotWidth={width}
                hasWasd={true}
                reveal={inverted.value ? path : reveal.value}
                description={describe(session, bands, charts)}
                onSelect={(place) => {
                    const rects = rectsOf(place);
                    if (rects) selectStackPath(rectPath(rects, place.rect));
                }}
                onOpen={chooseTime}
                onKey={onKey}
                menuOf={menuOf}
                otherItems={saveItems}
                tooltipOf={tooltipOf}
                onHover={(pointer) => {
                    const time = pointer && !view.value.sameWidths ? timeAt(session, pointer.x, pointer.chart) : null;
                    const [from, to] = committedRange.value;
                    hoverTime.value = time !== null && time >= from && time <= to ? time : null;
                }}
                empty={message !== '' ? <p class="empty">{message}</p> : answer === null ? null : <EmptyTree />}
            >
                {bands.map((band, at) => {
                    const chart = charts[at];
                    return chart && <ThreadLabel key={chart.thread} chart={chart} band={band} />;
                })}
            </RectChart>
            {chosen > MOST_CHARTS && (
                <div class="chart-note padded">{`The ${MOST_CHARTS} busiest of the ${formatCount(chosen)} selected threads`}</div>
            )}
        </div>
    );
}
