/** The command palette: the typed text and the matching entries. */
import { computed, signal, untracked } from '@preact/signals';
import { Request } from '../session/request';
import { isPaletteOpen, type MenuItem } from '../window/windows';
import {
    commandEntries,
    filterEntries,
    functionEntries,
    markerEntries,
    menuEntries,
    type NamedCount,
    type PaletteSession,
    requestMarkers,
    threadEntries,
    viewEntries,
} from './palette_entries';
import { matchingEntries, type PaletteEntry, textsOf, type Unscored, unmarked } from './palette_match';

interface Found {
    typed: string;
    entries: PaletteEntry[];
}

export function createPalette(session: PaletteSession) {
    const { engine } = session;
    const { effect } = session.lifetime;
    const { summary } = session.tree;
    const paletteText = signal('');
    const markersRequest = new Request<NamedCount[]>();
    const foundRequest = new Request<Found>();

    /** The menus of what is selected, and of the table that it is in, where the focus is or was last. */
    const selectionMenu = signal<(() => MenuItem[]) | null>(null);
    /** Requested once for each opened palette: a menu may ask the engine. */
    const menuItems = computed<MenuItem[]>(() =>
        isPaletteOpen.value ? untracked(() => selectionMenu.value?.() ?? []).filter((item) => item.enabled) : [],
    );

    /** What can be done, with its key. */
    function plainEntries(): Unscored[] {
        return [
            ...commandEntries(session),
            ...filterEntries(session),
            ...menuEntries(session, menuItems.value),
            ...viewEntries(session),
        ];
    }

    async function find(typed: string): Promise<Found | null> {
        const markers = markerEntries(session, markersRequest.value.value ?? []);
        const others = [...plainEntries(), ...threadEntries(session), ...markers];
        const functions = await functionEntries(session, typed);
        if (!functions) return null;
        const entries = [...others, ...functions];
        return { typed, entries: matchingEntries(entries, await engine.findTexts(typed, textsOf(entries))) };
    }

    const isTyped = computed(() => paletteText.value.trim() !== '');
    /** Without text: what can be done. Else the best of everything; until the engine answers, of what was typed before. */
    const paletteEntries = computed<PaletteEntry[]>(() => {
        if (!isPaletteOpen.value) return [];
        return (isTyped.value ? foundRequest.value.value?.entries : null) ?? plainEntries().map(unmarked);
    });

    /**
     * The entry that Enter runs: until the engine answers about the newest text, the first of the list stands for the best
     * that it will find. null: the list is empty.
     */
    async function chosen(entry: PaletteEntry | null): Promise<PaletteEntry | null> {
        const isFirst = entry === null || paletteEntries.peek()[0] === entry;
        if (!isFirst || !isTyped.peek()) return entry;
        const typed = paletteText.peek();
        const last = foundRequest.value.peek();
        const found = last?.typed === typed ? last : await find(typed);
        return found?.entries[0] ?? null;
    }

    effect(() => {
        if (isPaletteOpen.value) markersRequest.ask(() => requestMarkers(session));
        else {
            paletteText.value = '';
            foundRequest.clear();
        }
    });
    effect(() => {
        const typed = paletteText.value;
        markersRequest.value.value;
        summary.value;
        if (!isPaletteOpen.value) return;
        if (isTyped.value) foundRequest.ask(() => find(typed));
        else foundRequest.clear();
    });

    return {
        paletteText,
        selectionMenu,
        paletteEntries,
        chosen,
        /** The entries are those of what was typed before. */
        isPaletteBehind: computed(() => isTyped.value && foundRequest.value.value?.typed !== paletteText.value),
        paletteError: computed(() => foundRequest.error.value || markersRequest.error.value),
    };
}

export type PalettePart = ReturnType<typeof createPalette>;
