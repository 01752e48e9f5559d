/**
 * The bars between timeline and tree, tree and sidebar, and columns. The user drags them, moves them with arrow keys,
 * and resets them by double click.
 */
import type { JSX } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { startDrag } from '../base/drag';
import {
    isWide,
    setBesideWidth,
    setSidebarWidth,
    setSourcePanelHeight,
    setSourceShare,
    setTimelineHeight,
    sidebarWidth,
} from '../window/settings';

const USUAL_STEP = 16;
const LEAST_TIMELINE = 64;
const LEAST_PANEL = 160;
const LEAST_SOURCE_PANEL = 120;
const LEAST_SIDEBAR = 220;
const LEAST_PANE = 400;

interface SplitterProps {
    label: string;
    orientation: 'horizontal' | 'vertical';
    /** Returns the current size. */
    read: () => number;
    write: (size: number) => void;
    reset: () => void;
    /** 1 if moving right or down makes the part larger, else -1. */
    grows: 1 | -1;
    /** The distance in px that an arrow key moves the bar. */
    step?: number;
}

export function Splitter({
    label,
    orientation,
    read,
    write,
    reset,
    grows,
    step = USUAL_STEP,
}: SplitterProps): JSX.Element {
    const isHorizontal = orientation === 'horizontal';
    const [value, setValue] = useState(0);
    const change = (size: number): void => {
        write(size);
        setValue(read());
    };
    useLayoutEffect(() => setValue(read()), []);
    const onPointerDown = (event: PointerEvent): void => {
        if (event.button !== 0) return;
        const start = isHorizontal ? event.clientY : event.clientX;
        const size = read();
        startDrag(event, {
            onMove: (move) => change(size + grows * ((isHorizontal ? move.clientY : move.clientX) - start)),
        });
        event.preventDefault();
    };
    const onKeyDown = (event: KeyboardEvent): void => {
        const keys = isHorizontal ? ['ArrowUp', 'ArrowDown'] : ['ArrowLeft', 'ArrowRight'];
        const direction = keys.indexOf(event.key);
        if (direction < 0) return;
        change(read() + grows * (direction === 0 ? -step : step));
        event.preventDefault();
    };
    return (
        <div
            class={`splitter ${orientation}`}
            role="separator"
            aria-label={label}
            aria-orientation={orientation}
            aria-valuenow={Math.round(value)}
            tabIndex={0}
            onPointerDown={onPointerDown}
            onKeyDown={onKeyDown}
            onDblClick={reset}
        />
    );
}

export function TimelineSplitter(): JSX.Element {
    return (
        <Splitter
            label="Height of the timeline"
            orientation="horizontal"
            read={() => document.querySelector('.timeline')?.getBoundingClientRect().height ?? LEAST_TIMELINE}
            write={(size) =>
                setTimelineHeight(Math.max(LEAST_TIMELINE, Math.min(size, window.innerHeight - LEAST_PANEL)))
            }
            reset={() => setTimelineHeight(null)}
            grows={1}
        />
    );
}

export function SidebarSplitter(): JSX.Element {
    return (
        <Splitter
            label="Width of the sidebar"
            orientation="vertical"
            read={() => sidebarWidth.value}
            write={(size) => setSidebarWidth(Math.max(LEAST_SIDEBAR, Math.min(size, window.innerWidth * 0.6)))}
            reset={() => setSidebarWidth(null)}
            grows={-1}
        />
    );
}

/** The bar between a view and its neighbor in a wide window, which has the class `beside`. */
export function BesideSplitter({ label }: { label: string }): JSX.Element {
    return (
        <Splitter
            label={label}
            orientation="vertical"
            read={() => document.querySelector('.beside')?.getBoundingClientRect().width ?? LEAST_PANE}
            write={(size) => setBesideWidth(Math.max(LEAST_PANE, Math.min(size, window.innerWidth - 2 * LEAST_PANE)))}
            reset={() => setBesideWidth(null)}
            grows={-1}
        />
    );
}

export function SourcePanelSplitter(): JSX.Element {
    if (isWide.value) return <BesideSplitter label="Width of source and assembly" />;
    return (
        <Splitter
            label="Height of source and assembly"
            orientation="horizontal"
            read={() => document.querySelector('.source-panel')?.getBoundingClientRect().height ?? LEAST_SOURCE_PANEL}
            write={(size) =>
                setSourcePanelHeight(Math.max(LEAST_SOURCE_PANEL, Math.min(size, window.innerHeight - 2 * LEAST_PANEL)))
            }
            reset={() => setSourcePanelHeight(null)}
            grows={-1}
        />
    );
}

export function PanesSplitter({ hasSource }: { hasSource: boolean }): JSX.Element {
    const widthOf = (selector: string): number => document.querySelector(selector)?.getBoundingClientRect().width ?? 1;
    return (
        <Splitter
            label="Width of the source"
            orientation="vertical"
            read={() => widthOf('.source-pane')}
            write={(size) => setSourceShare(hasSource, size / widthOf('.source-panes'))}
            reset={() => setSourceShare(hasSource, null)}
            grows={1}
        />
    );
}
