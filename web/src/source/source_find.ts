/** Finds text in the source or the machine code of the source panel, like editors do. */
import { batch, computed, signal } from '@preact/signals';
import { nextAround } from '../base/around';
import type { SourcePanelPart } from './source_panel';

export type FindPane = 'source' | 'code';

/** Matches a line number such as ":12". */
const LINE = /^:(\d+)$/;

/** Returns the indexes of the lines that contain a text. */
function placesOf(lines: readonly string[], text: string): number[] {
    return lines.flatMap((line, at) => (line.includes(text) ? [at] : []));
}

/** Returns the pane with the focus first, else the pane with the last selection. */
function panesInOrder(hasInstruction: boolean): FindPane[] {
    const pane = document.activeElement?.closest('.source-pane, .code-pane');
    const isCode = pane ? pane.matches('.code-pane') : hasInstruction;
    return isCode ? ['code', 'source'] : ['source', 'code'];
}

/** Focuses a pane. */
function focusPane(pane: FindPane | null): void {
    const source = document.querySelector('.source-panel .source-editor')?.shadowRoot;
    const content =
        pane === 'code'
            ? document.querySelector<HTMLElement>('.source-panel .code')
            : source?.querySelector<HTMLElement>('.cm-content');
    content?.focus({ preventScroll: true });
}

export function createSourceFind(session: { sourcePanel: SourcePanelPart }) {
    const {
        chooseInstruction,
        chooseLine,
        chosenInstruction,
        chosenLine,
        code,
        linesOfInstruction,
        shownSyntax,
        sourcePanel,
        sourceText,
        wantedInstruction,
    } = session.sourcePanel;

    /** The searched pane, or null. */
    const wantedPane = signal<FindPane | null>(null);
    const findText = signal('');
    /** Increases with each request of the user for the search, which then focuses the text field. */
    const findOpenings = signal(0);

    function has(pane: FindPane): boolean {
        return pane === 'source'
            ? sourceText.value?.text != null
            : sourcePanel.value?.assembly === true && code.value !== null;
    }

    const findPane = computed<FindPane | null>(() => {
        const pane = wantedPane.value;
        return pane !== null && sourcePanel.value !== null && has(pane) ? pane : null;
    });

    const sourceLines = computed(() => (sourceText.value?.text ?? '').toLowerCase().split(/\r\n?|\n/));

    const instructionLines = computed(() =>
        (code.value?.instructions ?? []).map(({ address, texts }) =>
            `${address.toString(16)} ${texts[shownSyntax.value] ?? ''}`.toLowerCase(),
        ),
    );

    /** The lines, or the indexes of the instructions, with the searched text. */
    const found = computed<number[]>(() => {
        const text = findText.value.toLowerCase();
        const line = Number(LINE.exec(text)?.[1] ?? 0);
        const isSource = findPane.value === 'source';
        const lines = (isSource ? sourceLines : instructionLines).value;
        if (findPane.value === null || text === '') return [];
        if (line === 0) return placesOf(lines, text).map((at) => (isSource ? at + 1 : at));
        if (isSource) return [Math.min(line, lines.length)];
        return [...lines.keys()].filter((at) => linesOfInstruction(at).includes(line));
    });

    /** The user's position in the pane. */
    const place = computed(() => (findPane.value === 'source' ? chosenLine.value : chosenInstruction.value));

    /** The number of the position among the matches, from 1 on, or 0 for a position without a match. */
    const foundAt = computed(() => found.value.indexOf(place.value) + 1);

    function goTo(at: number | undefined): void {
        if (at === undefined) return;
        if (findPane.value === 'source') {
            chooseLine(at, true);
            return;
        }
        batch(() => {
            chooseInstruction(at);
            wantedInstruction.value = { index: at };
        });
    }

    /** Goes to the next or previous match, and continues at the other end. */
    function stepFound(by: 1 | -1): void {
        goTo(nextAround(found.value, place.value, by));
    }

    /** The position at the start of the search. Typing searches from this position. */
    let start = 0;

    function findWhileTyped(text: string): void {
        findText.value = text;
        goTo(found.value.find((place) => place >= start) ?? found.value[0]);
    }

    const paneToSearch = (): FindPane | null => panesInOrder(chosenInstruction.value >= 0).find(has) ?? null;

    const canFind = (): boolean => paneToSearch() !== null;

    function openFind(): void {
        batch(() => {
            wantedPane.value = paneToSearch();
            findOpenings.value++;
        });
        start = place.value;
    }

    function closeFind(): void {
        const pane = findPane.value;
        wantedPane.value = null;
        focusPane(pane);
    }

    /** Returns the text to mark in a pane, or ''. */
    function markedIn(pane: FindPane): string {
        return findPane.value === pane && !LINE.test(findText.value) ? findText.value : '';
    }

    return {
        findText,
        findOpenings,
        findPane,
        found,
        foundAt,
        stepFound,
        findWhileTyped,
        canFind,
        openFind,
        closeFind,
        markedIn,
    };
}

export type SourceFindPart = ReturnType<typeof createSourceFind>;
