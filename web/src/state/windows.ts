/** What belongs to this window alone: sizes of its parts, the tooltip and the menu that are open, what the mouse is over. */
import { computed, signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { NODE_TABS, type Tab } from './codec';
import { onOtherProfile, store, stored } from './store';

function storedNumber(key: string): number | null {
    const value = Number.parseFloat(stored(key) ?? '');
    return Number.isFinite(value) ? value : null;
}

/** px; null: as high as its tracks, up to a part of the window. */
export const timelineHeight = signal<number | null>(storedNumber('timelineHeight'));
/** px */
export const sidebarWidth = signal<number>(storedNumber('sidebarWidth') ?? 320);
export const sidebarOpen = signal<boolean>(stored('sidebar') !== 'closed');

/** px, of source and assembly; null: a part of the window. */
export const sourcePanelHeight = signal<number | null>(storedNumber('sourcePanelHeight'));

export function setSourcePanelHeight(height: number | null): void {
    sourcePanelHeight.value = height;
    store('sourcePanelHeight', height === null ? null : String(Math.round(height)));
}

/** What the source takes of the width beside the assembly. */
export const sourceShare = signal<number>(storedNumber('sourceShare') ?? 0.5);

export function setSourceShare(share: number): void {
    sourceShare.value = Math.max(0.2, Math.min(share, 0.8));
    store('sourceShare', String(sourceShare.value));
}

export function setTimelineHeight(height: number | null): void {
    timelineHeight.value = height;
    store('timelineHeight', height === null ? null : String(Math.round(height)));
}

export function setSidebarWidth(width: number): void {
    sidebarWidth.value = width;
    store('sidebarWidth', String(Math.round(width)));
}

/** Whether a view has something to say of what is selected. */
export function hasSidebar(tab: Tab): boolean {
    return NODE_TABS.has(tab) || tab === 'functions' || tab === 'marker-table';
}

export function toggleSidebar(): void {
    sidebarOpen.value = !sidebarOpen.value;
    store('sidebar', sidebarOpen.value ? null : 'closed');
}

/** px, as in the style sheets: the labels of the timeline, and what is at the right of its graphs. Charts over time have them, too. */
export const LABEL_WIDTH = 208;
export const GRAPH_MARGIN = 16;

/** Width of the graphs of the timeline in CSS pixels. */
export const graphWidth = signal(0);
/** The time under the mouse, ms; null: it is elsewhere. */
export const hoverTime = signal<number | null>(null);
/** What the graphs have of each category when they are first drawn. */
const categoryAmounts = signal<ReadonlyMap<number, number>>(new Map());
const notedThreads = new Set<number>();

/** Categories of the graphs, the largest first. */
export const seenCategories = computed<number[]>(() =>
    [...categoryAmounts.value].sort(([a, one], [b, other]) => other - one || a - b).map(([category]) => category),
);

onOtherProfile(() => {
    categoryAmounts.value = new Map();
    notedThreads.clear();
});

/** A thread counts once: the order does not change with what is zoomed into. */
export function noteCategories(thread: number, amounts: ReadonlyMap<number, number>): void {
    const known = categoryAmounts.value;
    const isFirst = !notedThreads.has(thread);
    if (!isFirst && [...amounts.keys()].every((category) => known.has(category))) return;
    notedThreads.add(thread);
    const sums = new Map(known);
    for (const [category, amount] of amounts) sums.set(category, (known.get(category) ?? 0) + (isFirst ? amount : 0));
    categoryAmounts.value = sums;
}

export interface Tooltip {
    x: number;
    y: number;
    content: ComponentChildren;
}

export const tooltip = signal<Tooltip | null>(null);

export interface MenuItem {
    label: string;
    /** Explains it, or why it is not enabled. */
    title: string;
    /** One character: it chooses the item while the menu is open. */
    keys: string;
    enabled: boolean;
    /** A line is drawn above it. */
    startsGroup: boolean;
    /** It is a choice that is on or off. */
    checked?: boolean;
    action: () => void;
}

export function menuItem(label: string, action: () => void, more: Partial<MenuItem> = {}): MenuItem {
    return { label, title: '', keys: '', enabled: true, startsGroup: false, action, ...more };
}

export interface Menu {
    /** Another for each menu that is opened; its items may change while it is open. */
    id: number;
    x: number;
    y: number;
    items: MenuItem[];
    /** What gets the focus back. */
    owner: HTMLElement | null;
}

export const menu = signal<Menu | null>(null);
let menuCount = 0;

/** Opens a menu at a place of the window. Its items may be replaced by better ones that come `later`. */
export function openMenu(
    { x, y }: { x: number; y: number },
    items: MenuItem[],
    owner: HTMLElement | null,
    later?: Promise<MenuItem[]>,
): void {
    const opened: Menu = { id: ++menuCount, x, y, items, owner };
    menu.value = opened;
    void later?.then((better) => {
        if (menu.value?.id === opened.id) menu.value = { ...opened, items: better };
    });
}

/** A short message that goes away by itself, also read aloud. */
export const notice = signal('');
let noticeTimer = 0;

export function showNotice(text: string): void {
    notice.value = text;
    window.clearTimeout(noticeTimer);
    noticeTimer = window.setTimeout(() => {
        notice.value = '';
    }, 2500);
}

/** Has the browser save what is at an address. */
export function saveAddress(address: string, name: string): void {
    const link = document.createElement('a');
    link.href = address;
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
}

/** ms that the browser has to begin with it. */
const SAVE_PATIENCE = 60_000;

export function saveBlob(blob: Blob, name: string): void {
    const address = URL.createObjectURL(blob);
    saveAddress(address, name);
    window.setTimeout(() => URL.revokeObjectURL(address), SAVE_PATIENCE);
}

/** Puts text on the clipboard, also where the page is not served from a secure origin. */
export async function copyText(text: string, what: string): Promise<void> {
    try {
        await navigator.clipboard.writeText(text);
    } catch {
        const area = document.createElement('textarea');
        area.value = text;
        area.setAttribute('aria-hidden', 'true');
        area.className = 'offscreen';
        const focused = document.activeElement;
        document.body.append(area);
        area.select();
        const isCopied = document.execCommand('copy');
        area.remove();
        if (focused instanceof HTMLElement) focused.focus();
        if (!isCopied) {
            showNotice('The browser denied access to the clipboard');
            return;
        }
    }
    showNotice(`${what} copied`);
}
