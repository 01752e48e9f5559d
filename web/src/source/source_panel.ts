/**
 * The panel below the views: the source file of a function beside its machine code, each line and each instruction with
 * what it costs. The view (and so the address) says for which function or row it was opened; what is shown is fetched
 * once and cached, and the costs follow the query of the tree.
 */
import { batch, computed, signal, untracked } from '@preact/signals';
import { nextAround } from '../base/around';
import { plainText } from '../base/plain';
import type { TreePart } from '../calltree/tree';
import type { NodePath } from '../engine/api';
import type { AddressCost, AddressCosts, FrameSelection, LineCosts, NativeSymbol } from '../engine/source';
import type { Given } from '../session/given';
import type { Step } from '../session/history';
import type { NamesPart } from '../session/names';
import { Request } from '../session/request';
import type { StorePart } from '../session/store';
import type { SourcePanelView } from '../view/source_codec';
import { preferAssembly, prefersAssembly, syntax } from '../window/settings';
import { act, copyText, showNotice } from '../window/windows';
import { heatOfLines, hotInstructionsOf, hotLinesOf } from './source_heat';
import type { Code, SourceText, SourceTextsPart } from './source_texts';

/** What the source panel can be opened for: a row of a tree, or a function wherever it is called. */
export interface SourcePlace {
    func: number;
    path?: NodePath;
    inverted?: boolean;
    /** To bring into view; else the costliest one of the function is. */
    line?: number;
    /** Whose code is shown; else the heaviest one of the function is. */
    symbol?: number;
}

function rowSelection({ func, path, inverted }: SourcePanelView): FrameSelection {
    if (path.length > 0) return { path, inverted };
    return func >= 0 ? { func } : null;
}

/** "call 0x1b30 <trace(Ray)>": calls and jumps of x86 and arm, with their target and its name. */
const CALL = /^(?:bnd |notrack )?(?:call[a-z]?|j[a-z]+|blx?|b)\s.*?(0x[0-9a-f]+)\s+<(.*)>/;

/** Of the shown lines, and which machine code the function has; null: not asked for. */
interface Costs {
    lines: LineCosts | null;
    symbols: NativeSymbol[] | null;
}

export function createSourcePanel(
    session: Given & { names: NamesPart; sourceTexts: SourceTextsPart; store: StorePart; tree: TreePart },
) {
    const { engine, info } = session;
    const { effect } = session.lifetime;
    const { fetchNames } = session.names;
    const { codes, fetchCode, fetchText, texts } = session.sourceTexts;
    const { changeView, view } = session.store;
    const { isChange, queryOf, summary } = session.tree;

    const sourcePanel = computed<SourcePanelView | null>(() => view.value.sourcePanel);
    const textRequest = new Request<SourceText>();
    const { value: sourceText } = textRequest;
    /** Whether its text is there, or on its way. */
    const hasSource = computed(() => {
        const text = sourceText.value;
        return text ? text.text !== null : (sourcePanel.value?.source ?? -1) >= 0;
    });
    const codeRequest = new Request<Code>();
    const { value: code, error: codeProblem } = codeRequest;
    const costsRequest = new Request<Costs>();
    const lineCosts = computed(() => costsRequest.value.value?.lines ?? null);
    const symbols = computed(() => costsRequest.value.value?.symbols ?? null);
    const codeCostsRequest = new Request<AddressCosts>();
    const { value: addressCosts } = codeCostsRequest;
    const sourceError = computed(() => costsRequest.error.value || codeCostsRequest.error.value);

    /** The line that is chosen, and which are those of the chosen instruction. */
    const chosenLine = signal(0);
    const chosenInstruction = signal(-1);
    /** A line to bring into view; another object each time. */
    const wantedLine = signal<{ source: number; line: number } | null>(null);
    /** An instruction to bring into view. */
    const wantedInstruction = signal<{ index: number } | null>(null);

    /** Which of the texts of an instruction is shown. */
    const shownSyntax = computed(() => Math.max(0, code.value?.syntaxes.indexOf(syntax.value) ?? 0));

    /** Which frames the costs are of. */
    const selection = computed<FrameSelection>(() => {
        const shown = sourcePanel.value;
        return shown?.isOfRow ? rowSelection(shown) : null;
    });

    /** The native symbol that is shown: the chosen one, else the heaviest. */
    const shownSymbol = computed<NativeSymbol | null>(() => {
        const all = symbols.value ?? [];
        return all.find((candidate) => candidate.symbol === sourcePanel.value?.symbol) ?? all[0] ?? null;
    });

    // ---- what the user does ----

    /** How to go back to the view that it was opened from. */
    let opener: HTMLElement | null = null;

    /** `from`: where the user is, and stays if it is the code; going back then comes back there. */
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

    /** Counts how often it was opened by the user, not by the address: the keyboard then goes to the source panel. */
    const openings = signal(0);

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

    /** One step out: of the full screen, or of the source panel. */
    function leaveSourcePanel(): void {
        if (view.value.sourcePanel?.full) changeSourcePanel({ full: false });
        else closeSourcePanel();
    }

    function toggleAssembly(): void {
        const isOpen = !(sourcePanel.value?.assembly ?? false);
        preferAssembly(isOpen);
        changeSourcePanel({ assembly: isOpen });
    }

    /** Goes to the next or the previous native symbol of the function. */
    function stepSymbol(by: 1 | -1): void {
        const all = symbols.value ?? [];
        const at = shownSymbol.value ? all.indexOf(shownSymbol.value) : -1;
        const next = all[(at + by + all.length) % all.length];
        if (next) changeSourcePanel({ symbol: next.symbol });
    }

    const lineHeat = computed(() => heatOfLines(lineCosts.value));
    const mostHeat = computed(() => Math.max(0, ...lineHeat.value.values()));
    const hotLines = computed(() => hotLinesOf(lineHeat.value, mostHeat.value));

    /** Goes to the next or the previous hot line, around the end. */
    function stepHotLine(by: 1 | -1): void {
        const next = nextAround(hotLines.value, chosenLine.value, by);
        if (next !== undefined) chooseLine(next, true);
    }

    // ---- linking lines and instructions ----

    /** The lines of the shown file that an instruction comes from, the innermost last. */
    function linesOfInstruction(index: number): number[] {
        const file = sourceText.value?.file ?? '';
        const places = code.value?.places[index] ?? [];
        return file === ''
            ? []
            : places.filter((place) => place.file === file && place.line > 0).map((place) => place.line);
    }

    /** The instructions that come from the chosen line. */
    const linkedInstructions = computed<ReadonlySet<number>>(() => {
        const { value: line } = chosenLine;
        const linked = new Set<number>();
        if (line > 0 && code.value)
            for (let i = 0; i < code.value.instructions.length; i++)
                if (linesOfInstruction(i).includes(line)) linked.add(i);
        return linked;
    });

    /** `reveal`: brings the line itself into view, too. */
    function chooseLine(line: number, reveal = false): void {
        batch(() => {
            chosenLine.value = line;
            chosenInstruction.value = -1;
            if (reveal && sourceText.value) wantedLine.value = { source: sourceText.value.source, line };
            changeView({ sourceLine: line }, 'replace');
            const [first] = linkedInstructions.value;
            if (first !== undefined) wantedInstruction.value = { index: hottestOf(linkedInstructions.value) };
        });
    }

    function chooseInstruction(index: number): void {
        batch(() => {
            chosenInstruction.value = index;
            const lines = linesOfInstruction(index);
            chosenLine.value = lines[lines.length - 1] ?? 0;
            changeView({ sourceLine: chosenLine.value }, 'replace');
            if (sourceText.value && chosenLine.value > 0)
                wantedLine.value = { source: sourceText.value.source, line: chosenLine.value };
        });
    }

    /** The costs of instructions by their index. */
    const instructionCosts = computed<ReadonlyMap<number, AddressCost>>(() => {
        const at = new Map((code.value?.instructions ?? []).map((instruction, index) => [instruction.address, index]));
        const costs = new Map<number, AddressCost>();
        for (const cost of addressCosts.value?.addresses ?? []) {
            const index = at.get(cost.address);
            if (index !== undefined) costs.set(index, cost);
        }
        return costs;
    });

    function hottestOf(indexes: Iterable<number>): number {
        let best = -1;
        let most = -1;
        for (const index of indexes) {
            const cost = instructionCosts.value.get(index);
            const heat = cost ? cost.self * 1e6 + cost.total : 0;
            if (heat > most) [best, most] = [index, heat];
        }
        return best;
    }

    /** Goes to the next or the previous hot instruction, around the end. */
    function stepHotInstruction(by: 1 | -1): void {
        const next = nextAround(hotInstructionsOf(instructionCosts.value), chosenInstruction.value, by);
        if (next === undefined) return;
        chooseInstruction(next);
        wantedInstruction.value = { index: next };
    }

    /** Opens what an instruction calls or jumps to outside of its function; the code keeps the keyboard. False: it does neither. */
    function followCall(index: number): boolean {
        const [, address, name = ''] = CALL.exec(code.value?.instructions[index]?.texts[0] ?? '') ?? [];
        if (address === undefined || !code.value) return false;
        act(
            engine.calleeAt(code.value.symbol, Number(address)).then((callee) => {
                if (!callee) return showNotice(`No sample is in ${plainText(name, 100)} of this library`);
                return openSource(callee, 'code');
            }),
        );
        return true;
    }

    /** The code that is shown next gets the keyboard. */
    const codeWantsFocus = signal(false);

    /** Copies the chosen instruction, or line; false if there is none. */
    function copyChosen(isInstruction: boolean): boolean {
        const text = isInstruction
            ? code.value?.instructions[chosenInstruction.value]?.texts[shownSyntax.value]
            : sourceText.value?.text?.split(/\r\n?|\n/)[chosenLine.value - 1];
        if (text === undefined) return false;
        act(copyText(text, isInstruction ? 'Instruction' : 'Line'));
        return true;
    }

    // ---- fetching ----

    async function askText(source: number): Promise<SourceText> {
        const text = await fetchText(source);
        // Without a source the machine code is what there is to see.
        if (text.text === null && sourcePanel.value?.source === source) changeSourcePanel({ assembly: true });
        return text;
    }

    function showText(source: number): void {
        const before = sourceText.peek();
        if (before?.source === source && before.text !== null) return;
        const known = texts.get(source);
        if (!known) textRequest.clear();
        textRequest.replace(() => (known ? Promise.resolve(known) : askText(source)));
    }

    function showCode(symbol: NativeSymbol): void {
        const known = codes.get(symbol.symbol);
        if (!known) codeRequest.clear();
        codeRequest.replace(() => (known ? Promise.resolve(known) : fetchCode(symbol)));
    }

    /** The costliest line of the function itself, in the row that the source panel was opened for; 0: there is none. */
    async function costliestLine(opened: SourcePanelView): Promise<number> {
        const { func, source } = opened;
        const own = await engine.lineCosts(queryOf(), source, func, rowSelection(opened));
        const lines = own.lines.filter((cost) => cost.line > 0);
        const size = Math.abs;
        const [first] = lines.sort(
            (a, b) => size(b.total) - size(a.total) || size(b.self) - size(a.self) || a.line - b.line,
        );
        const [name] = first ? [] : await engine.funcs([func]);
        return first?.line ?? name?.line ?? 0;
    }

    async function goToFirstLine(opened: SourcePanelView): Promise<void> {
        if (opened.source < 0 || opened.func < 0) return;
        const line = view.peek().sourceLine || (await costliestLine(opened));
        if (line <= 0 || sourcePanel.value?.source !== opened.source) return;
        batch(() => {
            chosenLine.value = line;
            chosenInstruction.value = -1;
            wantedLine.value = { source: opened.source, line };
        });
    }

    async function askCosts(shown: SourcePanelView): Promise<Costs> {
        const lines =
            shown.source < 0
                ? null
                : await engine.lineCosts(queryOf(), shown.source, -1, selection.value, isChange.peek());
        if (lines) await fetchNames(lines.inlined.map((call) => call.func));
        return { lines, symbols: shown.assembly && shown.func >= 0 ? await symbolsOf(shown) : null };
    }

    async function askCodeCosts(shown: Code, wanted: FrameSelection): Promise<AddressCosts> {
        const starts = shown.instructions.map((instruction) => instruction.address);
        return engine.addressCosts(queryOf(), shown.symbol, wanted, starts);
    }

    /** The symbols of the row first, then those that the function has elsewhere. */
    async function symbolsOf(shown: SourcePanelView): Promise<NativeSymbol[]> {
        const all = await engine.symbols(queryOf(), shown.func, null);
        const ofRow = new Map(
            (await engine.symbols(queryOf(), shown.func, rowSelection(shown))).map((cost) => [cost.symbol, cost.total]),
        );
        const weight = (symbol: NativeSymbol): number => ofRow.get(symbol.symbol) ?? 0;
        return all.sort((a, b) => weight(b) - weight(a) || b.total - a.total || a.symbol - b.symbol);
    }

    /** Keeps what is shown in step with the view and the tree's query. */
    function follow(): void {
        const shownSource = computed(() => sourcePanel.value?.source ?? -1);
        effect(() => {
            const { value: source } = shownSource;
            if (source >= 0) untracked(() => showText(source));
            else textRequest.clear();
        });
        effect(() => {
            const shown = sourcePanel.value;
            if (shown && summary.value) costsRequest.ask(() => askCosts(shown));
        });
        const symbolOfCode = computed(() => (sourcePanel.value?.assembly ? (shownSymbol.value?.symbol ?? -1) : -1));
        effect(() => {
            const wanted = symbolOfCode.value;
            const symbol = shownSymbol.peek();
            if (wanted >= 0 && symbol) untracked(() => showCode(symbol));
            else codeRequest.clear();
        });
        effect(() => {
            const [shown, wanted] = [code.value, selection.value];
            if (shown && summary.value) codeCostsRequest.ask(() => askCodeCosts(shown, wanted));
        });
        // A pasted address, back and forward open it at the same place as the key does.
        let last = '';
        effect(() => {
            const shown = sourcePanel.value;
            if (!summary.value) return;
            const key = shown ? JSON.stringify([shown.func, shown.path, shown.source, openings.value]) : '';
            if (shown && key !== last) {
                chosenInstruction.value = -1;
                act(goToFirstLine(shown));
            }
            last = key;
        });
        // Back and forward go to the line that was chosen then.
        effect(() => {
            const line = view.value.sourceLine;
            if (line > 0 && line !== chosenLine.peek() && sourceText.peek()) untracked(() => chooseLine(line, true));
        });
        // New code shows what belongs to the line that is chosen.
        effect(() => {
            if (!code.value || instructionCosts.value.size === 0) return;
            if (chosenInstruction.peek() >= 0) return;
            const linked = linkedInstructions.peek();
            const index = hottestOf(linked.size > 0 ? linked : instructionCosts.value.keys());
            if (index >= 0) wantedInstruction.value = { index };
        });
    }

    follow();
    return {
        sourcePanel,
        sourceText,
        hasSource,
        lineCosts,
        symbols,
        code,
        codeProblem,
        sourceError,
        chosenLine,
        chosenInstruction,
        wantedLine,
        wantedInstruction,
        shownSyntax,
        shownSymbol,
        openSource,
        openings,
        changeSourcePanel,
        closeSourcePanel,
        leaveSourcePanel,
        toggleAssembly,
        stepSymbol,
        lineHeat,
        mostHeat,
        hotLines,
        stepHotLine,
        linesOfInstruction,
        linkedInstructions,
        chooseLine,
        chooseInstruction,
        instructionCosts,
        stepHotInstruction,
        followCall,
        codeWantsFocus,
        copyChosen,
    };
}

export type SourcePanelPart = ReturnType<typeof createSourcePanel>;
