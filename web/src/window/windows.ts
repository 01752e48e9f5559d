/** The open dialogs, menu, tooltip and notice of this window, and its calls of the browser. No state of a profile. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { messageOf } from '../base/message';
import { NODE_TABS, type Tab } from '../view/codec';

/** Whether a tab has a sidebar for its selected row. */
export function hasSidebar(tab: Tab): boolean {
    return NODE_TABS.has(tab) || tab === 'functions' || tab === 'marker-table';
}

/** px, as in the style sheets: the labels of the timeline, and the room at the right of its graphs. Charts over time have both. */
export const LABEL_WIDTH = 208;
export const GRAPH_MARGIN = 16;

/** Width of the graphs of the timeline in CSS pixels. */
export const graphWidth = signal(0);
/** The dialog that is open. */
export type DialogName = 'critical-path' | 'info' | 'keys' | 'share';
export const openDialog = signal<DialogName | null>(null);
/** Whether the command palette is open. */
export const isPaletteOpen = signal(false);
/** Whether the list of all tracks is open. */
export const isTrackListOpen = signal(false);
/** Whether the product's name is being changed. */
export const isRenaming = signal(false);

export interface Tooltip {
    x: number;
    y: number;
    content: ComponentChildren;
}

export const tooltip = signal<Tooltip | null>(null);

/** How often the tooltip was hidden. */
const hidings = signal(0);

/** Hides the tooltip, and has answers that are still on their way not show it again. */
export function hideTooltip(): void {
    hidings.value = hidings.peek() + 1;
    if (tooltip.peek()) tooltip.value = null;
}

/** Shows the tooltip, unless it was hidden since this function was asked for. */
export function tooltipShower(): (next: Tooltip) => void {
    const before = hidings.peek();
    return (next) => {
        if (hidings.peek() === before) tooltip.value = next;
    };
}

export interface MenuItem {
    label: string;
    /** Explains it, or why it is not enabled. */
    title: string;
    /** One character: it chooses the item while the menu is open. */
    keys: string;
    enabled: boolean;
    /** A line is drawn above it. */
    startsGroup: boolean;
    /** A heading above the item, for this item and the following items. */
    group?: string;
    /** At its end: the ending of a file. */
    detail?: string;
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
    /** The element that gets the focus back. */
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

/** Closes all dialogs, lists, the tooltip and the menu. */
export function closeAll(): void {
    openDialog.value = null;
    isPaletteOpen.value = false;
    isTrackListOpen.value = false;
    isRenaming.value = false;
    hideTooltip();
    menu.value = null;
}

/** ms that a notice stays, and one that something has failed. */
const NOTICE = 2500;
const ERROR_NOTICE = 10_000;

/** A short message that disappears by itself. Screen readers read it aloud. */
export const notice = signal('');
let noticeTimer = 0;

export function showNotice(text: string, duration = NOTICE): void {
    notice.value = text;
    window.clearTimeout(noticeTimer);
    noticeTimer = window.setTimeout(() => {
        notice.value = '';
    }, duration);
}

/** Runs an action of the user, and shows a notice if the action fails. */
export function act(done: Promise<unknown>): void {
    done.catch((error: unknown) => showNotice(messageOf(error), ERROR_NOTICE));
}

/** Makes the browser save the contents of an address. */
export function saveAddress(address: string, name: string): void {
    const link = document.createElement('a');
    link.href = address;
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
}

/** ms that the browser has to begin with it. */
const REVOKE_DELAY = 60_000;

export function saveBlob(blob: Blob, name: string): void {
    const address = URL.createObjectURL(blob);
    saveAddress(address, name);
    window.setTimeout(() => URL.revokeObjectURL(address), REVOKE_DELAY);
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
