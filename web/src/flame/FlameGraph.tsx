/**
 * The flame graph of the selected threads, with callees above their callers. In the inverted graph, callers are below
 * their callees.
 */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Session } from '../app/session';
import { pixelRatio } from '../base/canvas';
import { describeChange, describeNarrow, describeWeight, formatShare } from '../base/format';
import { plainText } from '../base/plain';
import type { MenuItems } from '../calltree/node_menu';
import type { NodePlace } from '../calltree/transform_offers';
import type { NodePath } from '../engine/api';
import type { FlameRects } from '../engine/charts';
import { useSession } from '../session/context';
import type { TreeNode } from '../table/tree_nodes';
import { EmptyTree } from '../ui/EmptyTree';
import { useSize } from '../ui/use';
import { act, menuItem } from '../window/windows';
import type { Band, Place } from './draw_rects';
import { AmountLines, type Amounts, FlameTooltip } from './FlameTooltip';
import { RectChart } from './RectChart';
import { rectPath, rectsOfPath, rowCount } from './rect_paths';

/** ms for which the mouse rests on a rect before the page requests details. */
const DETAILS_DELAY = 120;
/** A zoom to this part of the width or more shows the whole width. */
const ALL = 0.99999;

function whole(session: Session): number {
    const { summary } = session.tree;
    return summary.value?.rootTotal ?? 0;
}

function nodePlace(session: Session, rects: FlameRects, rect: number): NodePlace {
    const { inverted } = session.store;
    return {
        func: rects.func[rect] ?? -1,
        category: rects.category[rect] ?? 0,
        path: rectPath(rects, rect),
        inverted: inverted.value,
    };
}

function amountsOf(session: Session, rects: FlameRects, rect: number): Amounts {
    const self = rects.self[rect] ?? 0;
    const amounts = { total: rects.total[rect] ?? 0, self, whole: whole(session) };
    if (!session.tree.isChange.value) return amounts;
    const [base, changed] = [rects.baseTotal[rect] ?? 0, rects.newTotal[rect] ?? 0];
    // A rect of several functions has no sign.
    return {
        ...amounts,
        total: changed - base,
        sides: { base: { total: base, self: 0 }, new: { total: changed, self } },
    };
}

/** Describes the selected node, which may be too narrow for a rect. */
function describe(session: Session, node: TreeNode | null): string {
    const { info } = session;
    const { weightUnit } = session.filters;
    const { shownName } = session.names;
    if (!node) return '';
    const { interval } = info.value;
    const { total, self } = node;
    const name = plainText(shownName(node.func), 200);
    if (node.sides) {
        const [base, changed] = [node.sides.base.total, node.sides.new.total].map((weight) =>
            describeWeight(weight, weightUnit.value, 0),
        );
        return `${name}: base ${base}, new ${changed}, change ${describeChange(total, weightUnit.value)}`;
    }
    const amount = describeWeight(total, weightUnit.value, interval);
    return `${name}: ${formatShare(total, whole(session))} total, ${formatShare(self, whole(session))} self, ${amount}`;
}

function Aggregate({ rects, rect }: { rects: FlameRects; rect: number }): JSX.Element {
    const session = useSession();
    const { shownName } = session.names;
    const library = rects.library[rect] ?? -1;
    return (
        <>
            <p>
                {library >= 0 && `${plainText(shownName(library), 200)}: `}
                {describeNarrow(rects.count[rect] ?? 0)}
            </p>
            <AmountLines {...amountsOf(session, rects, rect)} />
            <p class="muted">Zoom in to see them.</p>
        </>
    );
}

export function FlameGraph(): JSX.Element {
    const session = useSession();
    const { saveItems } = session.exports;
    const { flame, flameAxis, flameError, flamePixels, isZoomed, zoomInto, zoomOut } = session.flame;
    const { fetchNames } = session.names;
    const { onNodeKey, placeMenu } = session.nodeMenu;
    const { changeView, inverted, view } = session.store;
    const { reveal, selected } = session.tree;
    const frame = useRef<HTMLDivElement>(null);
    const size = useSize(frame);
    const answer = flame.value;
    const { path } = view.value;
    const rects = answer?.rects ?? null;
    useEffect(() => {
        if (size.width > 0) flamePixels.value = Math.round(size.width * pixelRatio());
    }, [size.width]);
    useEffect(
        () => () => {
            flamePixels.value = 0;
        },
        [],
    );

    const marked = useMemo(() => (rects ? rectsOfPath(rects, path) : new Uint8Array()), [rects, path]);
    const rows = useMemo(() => (rects ? rowCount(rects) : 0), [rects]);
    const bands: Band[] = useMemo(
        () => (answer ? [{ rects: answer.rects, span: answer.part, firstRow: 0, rows, selected: marked }] : []),
        [answer, rows, marked],
    );
    const wanted = useRef(0);
    const tooltipOf = ({ rect }: Place, show: (content: ComponentChildren) => void): void => {
        window.clearTimeout(wanted.current);
        if (!rects) return;
        const func = rects.func[rect] ?? -1;
        if (func === -1) {
            show(<Aggregate rects={rects} rect={rect} />);
            return;
        }
        const amounts = amountsOf(session, rects, rect);
        act(fetchNames([func]).then(() => show(<FlameTooltip func={func} details={null} {...amounts} />)));
        wanted.current = window.setTimeout(() => {
            act(
                detailsOf(session, rectPath(rects, rect)).then((details) => {
                    if (details) show(<FlameTooltip func={func} details={details} {...amounts} />);
                }),
            );
        }, DETAILS_DELAY);
    };
    const open = ({ rect }: Place): void => {
        if (rects && rects.func[rect] !== -1) zoomInto(rectPath(rects, rect));
        else if (rects) flameAxis.show(aggregateSpan(session, rects, rect));
    };
    const onKey = (event: KeyboardEvent, place: Place | null): boolean => {
        const isPlain = !event.altKey && !event.metaKey && !event.ctrlKey;
        if (isPlain && event.key === 'Backspace') zoomOut(false);
        else if (isPlain && event.key === 'Escape') return zoomOut(true);
        else if (!place || !rects) return false;
        else if (isPlain && event.key === 'z') open(place);
        else return onNodeKey(event, nodePlace(session, rects, place.rect));
        return true;
    };
    const menuOf = ({ rect }: Place): MenuItems => {
        if (!rects) return { items: [], later: Promise.resolve([]) };
        const place = nodePlace(session, rects, rect);
        const own = [
            menuItem('Zoom into this node', () => zoomInto(place.path), { keys: 'z', startsGroup: true }),
            menuItem('Zoom out', () => zoomOut(false), { keys: '⌫', enabled: isZoomed.value }),
            menuItem('Show in the call tree', () => changeView({ tab: 'calltree', path: place.path }, 'push')),
        ];
        return placeMenu(place, own, saveItems());
    };
    const message = flameError.value;
    return (
        <div class="chart-frame" ref={frame}>
            <RectChart
                label="Flame graph"
                bands={bands}
                rowCount={rows}
                fromBottom={!inverted.value}
                axis={flameAxis}
                margins={[0, 0]}
                hasWasd={false}
                moves
                reveal={`${reveal.value} ${answer?.zoom}`}
                description={describe(session, selected.value)}
                onSelect={({ rect }) => rects && changeView({ path: rectPath(rects, rect) }, 'replace')}
                onOpen={open}
                onKey={onKey}
                menuOf={menuOf}
                otherItems={saveItems}
                tooltipOf={tooltipOf}
                empty={message !== '' ? <p class="empty">{message}</p> : answer === null ? null : <EmptyTree />}
            />
            <ZoomNote />
        </div>
    );
}

/** Says that the graph shows a part of the width, with a button to show all. */
function ZoomNote(): JSX.Element | null {
    const { flameAxis, zoomOut } = useSession().flame;
    const [from, to] = flameAxis.shown();
    if (to - from > ALL) return null;
    return (
        <div class="chart-note">
            <span>{`${formatShare(to - from, 1)} of the width`}</span>
            <button type="button" class="button" title="Zoom out (Esc)" onClick={() => zoomOut(true)}>
                Show all
            </button>
        </div>
    );
}

/** Returns the part of the width that a rect of several functions takes. */
function aggregateSpan(session: Session, rects: FlameRects, rect: number): [number, number] {
    const { flame } = session.flame;
    const [from, to] = flame.value?.part ?? [0, 1];
    const at = (share: number): number => from + (to - from) * share;
    return [at(rects.start[rect] ?? 0), at(rects.end[rect] ?? 1)];
}

async function detailsOf(session: Session, path: NodePath): ReturnType<typeof engine.details> {
    const { engine } = session;
    const query = session.tree.queryOf();
    const node = await engine.find(query, path, false);
    return engine.details(query, node);
}
