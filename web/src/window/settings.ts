/**
 * The settings that this browser stores: sizes, columns of tables, units. They belong to the window, not to a profile,
 * and are no part of the view. Signals of the window are here, in theme.ts and in windows.ts. All other signals belong
 * to a session.
 */
import { computed, effect, type Signal, signal } from '@preact/signals';
import type { Tab, View } from '../view/codec';

export function stored(key: string): string | null {
    try {
        return window.localStorage.getItem(`prof.${key}`);
    } catch {
        return null;
    }
}

export function store(key: string, value: string | null): void {
    try {
        if (value === null) window.localStorage.removeItem(`prof.${key}`);
        else window.localStorage.setItem(`prof.${key}`, value);
    } catch {
        // If the browser forbids storage, the setting lasts as long as the page.
    }
}

function storedNumber(key: string): number | null {
    const value = Number.parseFloat(stored(key) ?? '');
    return Number.isFinite(value) ? value : null;
}

// ---- sizes of the page's parts, px ----

/** Creates a stored size and its setter. `usual` is the default. */
function keptSize<Usual extends number | null>(
    key: string,
    usual: Usual,
): [Signal<number | Usual>, (size: number | null) => void] {
    const size = signal<number | Usual>(storedNumber(key) ?? usual);
    const set = (wanted: number | null): void => {
        size.value = wanted ?? usual;
        store(key, wanted === null ? null : String(Math.round(wanted)));
    };
    return [size, set];
}

/** The height of the timeline, or null for the height of its tracks, up to a part of the window. */
export const [timelineHeight, setTimelineHeight] = keptSize('timelineHeight', null);
/** The width in px up to which a window closes the sidebar by default, because names need the room. */
const SMALL_WINDOW = 1280;
export const [sidebarWidth, setSidebarWidth] = keptSize(
    'sidebarWidth',
    globalThis.innerWidth <= SMALL_WINDOW ? 256 : 320,
);

/** The width in px below which a window, such as one at 200 % zoom, closes the sidebar beside names. */
const ROOM_FOR_SIDEBAR = 900;

/** Beside the flame graph, which needs the width, the sidebar is closed by default. */
const sidebars = {
    'flame-graph': signal(stored('flameSidebar') === 'open'),
    others: signal((stored('sidebar') ?? (globalThis.innerWidth < ROOM_FOR_SIDEBAR ? 'closed' : 'open')) !== 'closed'),
};

function sidebarOf(tab: Tab): Signal<boolean> {
    return tab === 'flame-graph' ? sidebars['flame-graph'] : sidebars.others;
}

export function isSidebarOpen(tab: Tab): boolean {
    return sidebarOf(tab).value;
}

export function toggleSidebar(tab: Tab): void {
    const isOpen = !sidebarOf(tab).value;
    sidebarOf(tab).value = isOpen;
    if (tab === 'flame-graph') store('flameSidebar', isOpen ? 'open' : null);
    else store('sidebar', isOpen ? 'open' : 'closed');
}

// ---- two panes ----

/** Whether the window is wide enough for two panes: the call tree and its flame graph, or a view and the source. */
const roomForPanes = globalThis.matchMedia?.('(min-width: 1600px)');
export const isWide = signal(roomForPanes?.matches ?? false);
roomForPanes?.addEventListener('change', ({ matches }) => {
    isWide.value = matches;
});
const wantsFlame = signal(stored('flameBeside') !== 'closed');
/** The width of the right pane in px, or null for a part of the window. */
export const [besideWidth, setBesideWidth] = keptSize('besideWidth', null);

/** Returns whether the flame graph can be beside a view, and whether the user shows it there. */
export function offersFlame({ tab, sourcePanel }: Pick<View, 'tab' | 'sourcePanel'>): boolean {
    return isWide.value && tab === 'calltree' && sourcePanel === null;
}

export function showsFlame(view: Pick<View, 'tab' | 'sourcePanel'>): boolean {
    return offersFlame(view) && wantsFlame.value;
}

export function toggleFlame(): void {
    wantsFlame.value = !wantsFlame.value;
    store('flameBeside', wantsFlame.value ? null : 'closed');
}

// ---- rows of tables and listings ----

export const isCompact = signal(stored('rows') === 'compact');

/** The height of rows in tables and assembly, px, which is --row-height in the style sheets. */
export const rowHeight = computed(() => (isCompact.value ? 16 : 20));

export function toggleCompactRows(): void {
    isCompact.value = !isCompact.value;
    store('rows', isCompact.value ? 'compact' : null);
}

/** Sets the row height in the style sheets. */
export function followRowHeight(): void {
    effect(() => document.documentElement.style.setProperty('--row-height', `${rowHeight.value}px`));
}

/** The height of source and assembly, or null for a part of the window. */
export const [sourcePanelHeight, setSourcePanelHeight] = keptSize('sourcePanelHeight', null);

/** The share of the left pane's width beside the assembly: with a source, and with a message instead of the source. */
const sourceShares = {
    source: signal(storedNumber('sourceShare') ?? 0.5),
    reason: signal(storedNumber('reasonShare') ?? 0.3),
};

export function sourceShare(hasSource: boolean): number {
    return sourceShares[hasSource ? 'source' : 'reason'].value;
}

/** Sets a share, or null for the default. */
export function setSourceShare(hasSource: boolean, wanted: number | null): void {
    const name = hasSource ? 'source' : 'reason';
    const share = wanted === null ? null : Math.max(0.2, Math.min(wanted, 0.8));
    sourceShares[name].value = share ?? (hasSource ? 0.5 : 0.3);
    store(`${name}Share`, share === null ? null : String(share));
}

// ---- source and assembly ----

export const inPercent = signal(stored('sourceUnit') !== 'weight');

export function toggleUnit(): void {
    inPercent.value = !inPercent.value;
    store('sourceUnit', inPercent.value ? null : 'weight');
}

export const syntax = signal(stored('assemblySyntax') ?? 'Intel');

export function chooseSyntax(name: string): void {
    syntax.value = name;
    store('assemblySyntax', name);
}

/** Whether the panel opens with assembly. */
export const prefersAssembly = signal(stored('assembly') === 'open');

export function preferAssembly(isPreferred: boolean): void {
    prefersAssembly.value = isPreferred;
    store('assembly', isPreferred ? 'open' : null);
}

// ---- the butterfly ----

/** Whether callers and callees are beside each other. */
export const isSideBySide = signal(stored('butterfly') === 'beside');

export function toggleSides(): void {
    isSideBySide.value = !isSideBySide.value;
    store('butterfly', isSideBySide.value ? 'beside' : null);
}

export const [listWidth, setListWidth] = keptSize('butterflyList', 360);

// ---- columns of tables, by the names of table and column ----

interface Layout {
    /** Widths in px by column. */
    widths: Record<string, number>;
    /** Columns that are shown or hidden against their default. */
    shown: Record<string, boolean>;
}

const layouts = new Map<string, ReturnType<typeof signal<Layout>>>();
const LEAST_WIDTH = 40;
const MOST_WIDTH = 1200;

function readLayout(table: string): Layout {
    const layout: Layout = { widths: {}, shown: {} };
    try {
        const saved: unknown = JSON.parse(stored(`table.${table}`) ?? '{}');
        if (typeof saved !== 'object' || saved === null) return layout;
        for (const [column, value] of Object.entries(saved)) {
            if (typeof value === 'number' && value >= LEAST_WIDTH && value <= MOST_WIDTH) layout.widths[column] = value;
            if (typeof value === 'boolean') layout.shown[column] = value;
        }
    } catch {
        // The stored setting is invalid, so the table has the default.
    }
    return layout;
}

function layoutOf(table: string): ReturnType<typeof signal<Layout>> {
    let layout = layouts.get(table);
    if (!layout) {
        layout = signal(readLayout(table));
        layouts.set(table, layout);
    }
    return layout;
}

function keepLayout(table: string, layout: Layout): void {
    layoutOf(table).value = layout;
    // Separate keys, because a column may have a width and a choice.
    const saved = { ...layout.widths, ...layout.shown };
    store(`table.${table}`, Object.keys(saved).length > 0 ? JSON.stringify(saved) : null);
}

export function columnWidth(table: string, column: string, usual: number): number {
    return layoutOf(table).value?.widths[column] ?? usual;
}

/** Sets the width of a column, or null for the default. */
export function setColumnWidth(table: string, column: string, width: number | null): void {
    const layout = layoutOf(table).value ?? { widths: {}, shown: {} };
    const { [column]: _, ...widths } = layout.widths;
    if (width !== null) widths[column] = Math.round(Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, width)));
    keepLayout(table, { ...layout, widths });
}

/** Returns whether an option of a table is on: an optional column, or another way to show a column. */
export function isShown(table: string, option: string, usual: boolean): boolean {
    return layoutOf(table).value?.shown[`show ${option}`] ?? usual;
}

export function setShown(table: string, option: string, wanted: boolean, usual: boolean): void {
    const layout = layoutOf(table).value ?? { widths: {}, shown: {} };
    const { [`show ${option}`]: _, ...shown } = layout.shown;
    if (wanted !== usual) shown[`show ${option}`] = wanted;
    keepLayout(table, { ...layout, shown });
}

// ---- names ----

/** Whether names are shown with `std::vector<…>` in place of `std::vector<int>` where room is short. */
export const foldsTemplates = signal(stored('foldTemplates') !== 'no');

export function toggleTemplates(): void {
    foldsTemplates.value = !foldsTemplates.value;
    store('foldTemplates', foldsTemplates.value ? null : 'no');
}
