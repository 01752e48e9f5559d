/**
 * The tab whose view is drawn. A flame graph, a stack chart and the parts that the page loads later take the place of the
 * view before them only when they can be drawn. Until then the view before stays, so no frame is blank.
 */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { pixelRatio } from '../base/canvas';
import { useSession } from '../session/context';
import type { Tab } from '../view/codec';
import { graphWidth } from '../window/windows';
import { arePartsLoaded, loadParts } from './later';
import type { Session } from './session';

/** ms after which the chosen view is drawn in any case. */
const LONGEST_WAIT = 3000;
const LATER = new Set<Tab>(['summary', 'butterfly', 'marker-chart', 'waits', 'intervals', 'processes']);

function canDraw({ flame, stackChart, tree }: Session, tab: Tab): boolean {
    if (LATER.has(tab)) return arePartsLoaded();
    if (tree.summary.value === null) return true;
    if (tab === 'flame-graph') return flame.flame.value !== null || flame.flameError.value !== '';
    if (tab === 'stack-chart') return stackChart.stackChart.value !== null || stackChart.stackChartError.value !== '';
    return true;
}

/** Asks for what the view of a tab draws. Returns a function that ends the request. */
function prepare({ flame, stackChart }: Session, tab: Tab, onLoad: () => void): () => void {
    if (LATER.has(tab)) loadParts().then(onLoad, onLoad);
    const width = tab === 'flame-graph' ? (document.querySelector('#view')?.clientWidth ?? 0) : graphWidth.value;
    const pixels = { 'flame-graph': flame.flamePixels, 'stack-chart': stackChart.stackChartPixels }[tab as string];
    if (!pixels || pixels.value > 0) return () => {};
    pixels.value = Math.round(width * pixelRatio());
    return () => {
        pixels.value = 0;
    };
}

export function useDrawnTab(): Tab {
    const session = useSession();
    const { view } = session.store;
    const { tab } = view.value;
    const drawn = useRef(tab);
    const isLate = useRef(false);
    const [, render] = useState({});
    if (tab === drawn.current || isLate.current || canDraw(session, tab)) {
        drawn.current = tab;
        isLate.current = false;
    }
    const isWaiting = tab !== drawn.current;
    useLayoutEffect(() => {
        if (!isWaiting) return;
        const draw = (): void => {
            isLate.current = true;
            render({});
        };
        const end = prepare(session, tab, draw);
        const timer = setTimeout(draw, LONGEST_WAIT);
        return () => {
            clearTimeout(timer);
            isLate.current = false;
            if (view.peek().tab !== tab) end();
        };
    }, [tab, isWaiting]);
    return drawn.current;
}
