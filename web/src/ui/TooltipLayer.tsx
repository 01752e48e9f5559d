/**
 * The only tooltip of the page, inside the window. It disappears with its subject, and when the user opens another view
 * or scrolls.
 */
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { useSession } from '../session/context';
import { hideTooltip, tooltip } from '../window/windows';

const DISTANCE = 16;
const MARGIN = 8;

export function TooltipLayer(): JSX.Element | null {
    const element = useRef<HTMLDivElement>(null);
    const current = tooltip.value;
    // A selection under the mouse moves nothing else, so the tooltip stays.
    const { marker: _, path, preview, sourceLine, ...shown } = useSession().store.view.value;
    useEffect(hideTooltip, [JSON.stringify(shown)]);
    useEffect(() => {
        window.addEventListener('scroll', hideTooltip, true);
        return () => window.removeEventListener('scroll', hideTooltip, true);
    }, []);
    useLayoutEffect(() => {
        const tooltipElement = element.current;
        if (!tooltipElement || !current) return;
        const { width, height } = tooltipElement.getBoundingClientRect();
        const right = current.x + DISTANCE;
        const x = right + width + MARGIN <= window.innerWidth ? right : Math.max(MARGIN, current.x - DISTANCE - width);
        const below = current.y + DISTANCE;
        const y =
            below + height + MARGIN <= window.innerHeight ? below : Math.max(MARGIN, current.y - DISTANCE - height);
        tooltipElement.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
    }, [current]);
    if (!current) return null;
    return (
        <div ref={element} class="tooltip" role="tooltip">
            {current.content}
        </div>
    );
}
