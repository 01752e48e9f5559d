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

    /** The menu of the selected item, in the table that has or had the focus. */
    const selectionMenu = signal<(() => MenuItem[]) | null>(null);
    /** Requested once when the palette opens, because a menu may query the engine. */
    const menuItems = computed<MenuItem[]>(() =>
        isPaletteOpen.value ? untracked(() => selectionMenu.value?.() ?? []).filter((item) => item.enabled) : [],
    );

    /** Returns the available actions, with their keys. */
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
    /**
     * Without text, the available actions. With text, the best matches, which belong to the previous text until the
     * engine answers.
     */
    const paletteEntries = computed<PaletteEntry[]>(() => {
        if (!isPaletteOpen.value) return [];
        return (isTyped.value ? foundRequest.value.value?.entries : null) ?? plainEntries().map(unmarked);
    });

    /**
     * Resolves to the entry that Enter runs. Until the engine answers for the newest text, the first entry of the list
     * means its best match. null: the list is empty.
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
        /** Whether the entries belong to the previous text. */
        isPaletteBehind: computed(() => isTyped.value && foundRequest.value.value?.typed !== paletteText.value),
        paletteError: computed(() => foundRequest.error.value || markersRequest.error.value),
    };
}

export type PalettePart = ReturnType<typeof createPalette>;
