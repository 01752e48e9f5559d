/** The selected line and instruction of the source panel. Each follows the other, the address and new data. */
import { batch, computed, signal, untracked } from '@preact/signals';
import { nextAround } from '../base/around';
import type { SourcePanelView } from '../view/source_codec';
import { act } from '../window/windows';
import { hottestOf, instructionsOfLine, linesOfInstruction } from './code_links';
import { firstLineOf, type SourceSession, type SourceState } from './source_costs';
import { hotInstructionsOf } from './source_heat';

function createCursor({ store }: SourceSession, state: SourceState) {
    const { code, hotLines, instructionCosts, sourceText } = state;
    const chosenLine = signal(0);
    const chosenInstruction = signal(-1);
    /** The line to which the source scrolls; a new object for each request. */
    const wantedLine = signal<{ source: number; line: number } | null>(null);
    /** The instruction to which the code scrolls. */
    const wantedInstruction = signal<{ index: number } | null>(null);
    const file = (): string => sourceText.value?.file ?? '';
    /** The instructions from the selected line. */
    const linkedInstructions = computed<ReadonlySet<number>>(() =>
        instructionsOfLine(code.value, chosenLine.value, file()),
    );

    function revealLine(line: number): void {
        if (sourceText.value) wantedLine.value = { source: sourceText.value.source, line };
    }

    function revealHottest(indexes: Iterable<number>): void {
        const index = hottestOf(indexes, instructionCosts.value);
        if (index >= 0) wantedInstruction.value = { index };
    }

    /** `reveal` also scrolls to the line. */
    function chooseLine(line: number, reveal = false): void {
        batch(() => {
            chosenLine.value = line;
            chosenInstruction.value = -1;
            if (reveal) revealLine(line);
            store.changeView({ sourceLine: line }, 'replace');
            revealHottest(linkedInstructions.value);
        });
    }

    function chooseInstruction(index: number): void {
        batch(() => {
            chosenInstruction.value = index;
            const line = linesOfInstruction(code.value, index, file()).pop() ?? 0;
            chosenLine.value = line;
            store.changeView({ sourceLine: line }, 'replace');
            if (line > 0) revealLine(line);
        });
    }

    return {
        chosenLine,
        chosenInstruction,
        wantedLine,
        wantedInstruction,
        linkedInstructions,
        revealHottest,
        linesOfInstruction: (index: number): number[] => linesOfInstruction(code.value, index, file()),
        chooseLine,
        chooseInstruction,
        /** Goes to the next or previous hot line, and continues at the other end. */
        stepHotLine(by: 1 | -1): void {
            const next = nextAround(hotLines.value, chosenLine.value, by);
            if (next !== undefined) chooseLine(next, true);
        },
        /** Goes to the next or previous hot instruction, and continues at the other end. */
        stepHotInstruction(by: 1 | -1): void {
            const next = nextAround(hotInstructionsOf(instructionCosts.value), chosenInstruction.value, by);
            if (next === undefined) return;
            chooseInstruction(next);
            wantedInstruction.value = { index: next };
        },
    };
}

type Cursor = ReturnType<typeof createCursor>;

function followView(session: SourceSession, state: SourceState, cursor: Cursor): void {
    const { effect } = session.lifetime;
    const { view } = session.store;
    const { code, instructionCosts, openings, sourcePanel, sourceText } = state;
    const { chooseLine, chosenInstruction, chosenLine, linkedInstructions, revealHottest, wantedLine } = cursor;

    async function goToFirstLine(opened: SourcePanelView): Promise<void> {
        if (opened.source < 0 || opened.func < 0) return;
        const line = view.peek().sourceLine || (await firstLineOf(session, opened));
        if (line <= 0 || sourcePanel.value?.source !== opened.source) return;
        batch(() => {
            chosenLine.value = line;
            chosenInstruction.value = -1;
            wantedLine.value = { source: opened.source, line };
        });
    }

    // A pasted address, back and forward open the panel at the same line as the key.
    let last = '';
    effect(() => {
        const shown = sourcePanel.value;
        if (!session.tree.summary.value) return;
        const key = shown ? JSON.stringify([shown.func, shown.path, shown.source, openings.value]) : '';
        if (shown && key !== last) {
            chosenInstruction.value = -1;
            act(goToFirstLine(shown));
        }
        last = key;
    });
    // Back and forward select the line of that step.
    effect(() => {
        const line = view.value.sourceLine;
        if (line > 0 && line !== chosenLine.peek() && sourceText.peek()) untracked(() => chooseLine(line, true));
    });
    // New code scrolls to the instructions of the selected line.
    effect(() => {
        if (!code.value || instructionCosts.value.size === 0 || chosenInstruction.peek() >= 0) return;
        const linked = linkedInstructions.peek();
        revealHottest(linked.size > 0 ? linked : instructionCosts.value.keys());
    });
}

export function createSourceCursor(session: SourceSession, state: SourceState): Cursor {
    const cursor = createCursor(session, state);
    followView(session, state, cursor);
    return cursor;
}
