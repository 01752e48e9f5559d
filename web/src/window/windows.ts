/**
 * The open dialogs, menu, tooltip and notice of this window, and its calls of the browser. This file has no state of a
 * profile.
 */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { messageOf } from '../base/message';
import { NODE_TABS, type Tab } from '../view/codec';

/** Whether a tab has a sidebar for its selected row. */
export function hasSidebar(tab: Tab): boolean {
    return NODE_TABS.has(tab) || tab === 'functions' || tab === 'marker-table';
}

/**
 * The width of the timeline's labels, and of the margin at the right of its graphs, px, as in the style sheets. Charts
 * over time have both.
 */
export const LABEL_WIDTH = 208;
export const GRAPH_MARGIN = 16;

/** The width of the timeline's graphs, CSS px. */
export const graphWidth = signal(0);
/** The name of the open dialog. */
export type DialogName = 'critical-path' | 'info' | 'keys' | 'share';
export const openDialog = signal<DialogName | null>(null);
/** Whether the command palette is open. */
export const isPaletteOpen = signal(false);
/** Whether the list of all tracks is open. */
export const isTrackListOpen = signal(false);
/** Whether the user is renaming the profile. */
export const isRenaming = signal(false);

export interface Tooltip {
    x: number;
    y: number;
    content: ComponentChildren;
}

export const tooltip = signal<Tooltip | null>(null);

/** The number of times the page hid the tooltip. */
const hidings = signal(0);

/** Hides the tooltip. Answers that arrive later do not show it again. */
export function hideTooltip(): void {
    hidings.value = hidings.peek() + 1;
    if (tooltip.peek()) tooltip.value = null;
}

/** Returns a function that shows a tooltip unless the page has hidden tooltips since this call. */
export function tooltipShower(): (next: Tooltip) => void {
    const before = hidings.peek();
    return (next) => {
        if (hidings.peek() === before) tooltip.value = next;
    };
}

export interface MenuItem {
    label: string;
    /** Explains the item, or why it is disabled. */
    title: string;
    /** The character that chooses the item while the menu is open. */
    keys: string;
    enabled: boolean;
    /** Whether the menu has a line above the item. */
    startsGroup: boolean;
    /** A heading above the item, for it and the following items. */
    group?: string;
    /** A text at the end of the item, such as the ending of a file. */
    detail?: string;
    /** Whether a choice is on, undefined for other items. */
    checked?: boolean;
    action: () => void;
}

export function menuItem(label: string, action: () => void, more: Partial<MenuItem> = {}): MenuItem {
    return { label, title: '', keys: '', enabled: true, startsGroup: false, action, ...more };
}

export interface Menu {
    /** A new id for each opened menu, whose items may change while it is open. */
    id: number;
    x: number;
    y: number;
    items: MenuItem[];
    /** The element that takes the focus when the menu closes. */
    owner: HTMLElement | null;
}

export const menu = signal<Menu | null>(null);
let menuCount = 0;

/** Opens a menu at a position of the window. The items of `later` replace its items when they arrive. */
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

/** ms for which a notice stays, and a notice of an error. */
const NOTICE = 2500;
const ERROR_NOTICE = 10_000;

/** A short message that disappears on its own. Screen readers read it aloud. */
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

/** ms that the browser has to start saving the file. */
const REVOKE_DELAY = 60_000;

export function saveBlob(blob: Blob, name: string): void {
    const address = URL.createObjectURL(blob);
    saveAddress(address, name);
    window.setTimeout(() => URL.revokeObjectURL(address), REVOKE_DELAY);
}

/** Puts text on the clipboard, also on pages from an insecure origin. */
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
