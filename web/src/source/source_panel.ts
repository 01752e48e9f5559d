/**
 * The panel below the views: the source file of a function beside its machine code, with the cost of each line and
 * instruction. The function or row of the panel is part of the view, and so of the address.
 */
import { batch, signal } from '@preact/signals';
import { plainText } from '../base/plain';
import type { NodePath } from '../engine/api';
import type { Step } from '../session/history';
import type { SourcePanelView } from '../view/source_codec';
import { preferAssembly, prefersAssembly } from '../window/settings';
import { act, copyText, showNotice } from '../window/windows';
import { callTarget } from './code_links';
import { createSourceState, followSource, type SourceSession, type SourceState } from './source_costs';
import { createSourceCursor } from './source_cursor';

/** The target of the source panel: a row of a tree, or a function with all its callers. */
export interface SourcePlace {
    func: number;
    path?: NodePath;
    inverted?: boolean;
    /** The line to scroll to; default: the costliest line of the function. */
    line?: number;
    /** The symbol whose code to show; default: the heaviest symbol of the function. */
    symbol?: number;
}

/** Opens and closes the panel for a function. */
function createOpening(session: SourceSession, { openings, shownSymbol, sourcePanel, symbols }: SourceState) {
    const { engine, info } = session;
    const { changeView, view } = session.store;
    /** The element that takes the focus when the panel closes. */
    let opener: HTMLElement | null = null;
    /** Whether the next code takes the focus. */
    const codeWantsFocus = signal(false);

    /** `from` is the user's element. If it is the code, the code keeps the focus, and going back returns there. */
    async function openSource(place: SourcePlace, from: 'view' | 'code' = 'view'): Promise<void> {
        const { func, path = [], inverted = false, line = 0, symbol = -1 } = place;
        const source = func < info.value.funcCount ? await engine.funcSource(func) : -1;
        const before = view.value.sourcePanel;
        const focused = document.activeElement;
        if (focused instanceof HTMLElement && !focused.closest('.source-panel')) opener = focused;
        const opened: SourcePanelView = {
            func,
            path,
            inverted,
            source,
            isOfRow: before?.isOfRow ?? false,
            assembly: (before?.assembly ?? prefersAssembly.value) || source < 0,
            symbol,
            full: before?.full ?? false,
        };
        batch(() => {
            changeView({ sourcePanel: opened, sourceLine: line }, before && from === 'view' ? 'replace' : 'push');
            if (from === 'view') openings.value++;
            else codeWantsFocus.value = true;
        });
    }

    function changeSourcePanel(change: Partial<SourcePanelView>, step: Step = 'replace'): void {
        const shown = view.value.sourcePanel;
        if (shown) changeView({ sourcePanel: { ...shown, ...change } }, step);
    }

    function closeSourcePanel(): void {
        if (!view.value.sourcePanel) return;
        changeView({ sourcePanel: null }, 'push');
        const focus = opener?.isConnected ? opener : document.querySelector<HTMLElement>('#view [tabindex="0"]');
        focus?.focus({ preventScroll: true });
    }

    /** Leaves the full screen, or else closes the source panel. */
    function leaveSourcePanel(): void {
        if (view.value.sourcePanel?.full) changeSourcePanel({ full: false });
        else closeSourcePanel();
    }

    function toggleAssembly(): void {
        const isOpen = !(sourcePanel.value?.assembly ?? false);
        preferAssembly(isOpen);
        changeSourcePanel({ assembly: isOpen });
    }

    /** Goes to the next or previous native symbol of the function. */
    function stepSymbol(by: 1 | -1): void {
        const all = symbols.value ?? [];
        const at = shownSymbol.value ? all.indexOf(shownSymbol.value) : -1;
        const next = all[(at + by + all.length) % all.length];
        if (next) changeSourcePanel({ symbol: next.symbol });
    }

    return {
        codeWantsFocus,
        openSource,
        changeSourcePanel,
        closeSourcePanel,
        leaveSourcePanel,
        toggleAssembly,
        stepSymbol,
    };
}

export function createSourcePanel(session: SourceSession) {
    const state = createSourceState(session);
    const { requests, selection, ...shown } = state;
    const { code, shownSyntax, sourceText } = shown;
    const opening = createOpening(session, state);
    followSource(session, state, () => opening.changeSourcePanel({ assembly: true }));
    const { revealHottest, ...cursor } = createSourceCursor(session, state);
    const { chosenInstruction, chosenLine } = cursor;

    /**
     * Opens the target of a call, or of a jump out of the function, and keeps the focus in the code. Returns false for
     * other instructions.
     */
    function followCall(index: number): boolean {
        const target = callTarget(code.value?.instructions[index]?.texts[0] ?? '');
        if (!target || !code.value) return false;
        act(
            session.engine.calleeAt(code.value.symbol, target.address).then((callee) => {
                if (!callee) return showNotice(`No sample in ${plainText(target.name, 100)} of this library`);
                return opening.openSource(callee, 'code');
            }),
        );
        return true;
    }

    /** Copies the selected instruction or line. Returns false without a selection. */
    function copyChosen(isInstruction: boolean): boolean {
        const text = isInstruction
            ? code.value?.instructions[chosenInstruction.value]?.texts[shownSyntax.value]
            : sourceText.value?.text?.split(/\r\n?|\n/)[chosenLine.value - 1];
        if (text === undefined) return false;
        act(copyText(text, isInstruction ? 'Instruction' : 'Line'));
        return true;
    }

    return { ...shown, ...opening, ...cursor, followCall, copyChosen };
}

export type SourcePanelPart = ReturnType<typeof createSourcePanel>;
