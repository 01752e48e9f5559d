/** The data of the source panel (text, code and costs), fetched for the view and the query of the tree. */
import { computed, signal, untracked } from '@preact/signals';
import type { TreePart } from '../calltree/tree';
import type { AddressCosts, FrameSelection, LineCosts, NativeSymbol } from '../engine/source';
import type { NamesPart } from '../session/names';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import type { SourcePanelView } from '../view/source_codec';
import { syntax } from '../window/settings';
import { costliestLine, costsOfInstructions } from './code_links';
import { heatOfLines, hotLinesOf } from './source_heat';
import type { Code, SourceText, SourceTextsPart } from './source_texts';

export type SourceSession = SessionBase & {
    names: NamesPart;
    sourceTexts: SourceTextsPart;
    store: StorePart;
    tree: TreePart;
};

function rowSelection({ func, path, inverted }: SourcePanelView): FrameSelection {
    if (path.length > 0) return { path, inverted };
    return func >= 0 ? { func } : null;
}

/** The costs of the shown lines, and the machine code of the function; null before the request. */
interface Costs {
    lines: LineCosts | null;
    symbols: NativeSymbol[] | null;
}

export function createSourceState(session: SourceSession) {
    const { view } = session.store;
    const sourcePanel = computed<SourcePanelView | null>(() => view.value.sourcePanel);
    const textRequest = new Request<SourceText>();
    const codeRequest = new Request<Code>();
    const costsRequest = new Request<Costs>();
    const codeCostsRequest = new Request<AddressCosts>();
    const sourceText = textRequest.value;
    const code = codeRequest.value;
    const lineCosts = computed(() => costsRequest.value.value?.lines ?? null);
    const symbols = computed(() => costsRequest.value.value?.symbols ?? null);
    const lineHeat = computed(() => heatOfLines(lineCosts.value));
    const mostHeat = computed(() => Math.max(0, ...lineHeat.value.values()));
    return {
        requests: { text: textRequest, code: codeRequest, costs: costsRequest, codeCosts: codeCostsRequest },
        sourcePanel,
        sourceText,
        /** Whether the panel has a source text or has requested one. */
        hasSource: computed(() => {
            const text = sourceText.value;
            return text ? text.text !== null : (sourcePanel.value?.source ?? -1) >= 0;
        }),
        code,
        codeProblem: codeRequest.error,
        lineCosts,
        symbols,
        sourceError: computed(() => costsRequest.error.value || codeCostsRequest.error.value),
        /** Increases when the user, not the address, opens the panel, which then takes the focus. */
        openings: signal(0),
        /** The frames whose costs the panel shows. */
        selection: computed<FrameSelection>(() => {
            const shown = sourcePanel.value;
            return shown?.isOfRow ? rowSelection(shown) : null;
        }),
        /** The index of the shown syntax among an instruction's texts. */
        shownSyntax: computed(() => Math.max(0, code.value?.syntaxes.indexOf(syntax.value) ?? 0)),
        /** The shown native symbol: the selected symbol, else the heaviest. */
        shownSymbol: computed<NativeSymbol | null>(() => {
            const all = symbols.value ?? [];
            return all.find((candidate) => candidate.symbol === sourcePanel.value?.symbol) ?? all[0] ?? null;
        }),
        lineHeat,
        mostHeat,
        hotLines: computed(() => hotLinesOf(lineHeat.value, mostHeat.value)),
        /** The costs by the index of the instruction. */
        instructionCosts: computed(() =>
            costsOfInstructions(code.value?.instructions ?? [], codeCostsRequest.value.value?.addresses ?? []),
        ),
    };
}

export type SourceState = ReturnType<typeof createSourceState>;

/** Fetches the panel's data when the view or the query of the tree changes. */
export function followSource(session: SourceSession, state: SourceState, showAssembly: () => void) {
    const { engine } = session;
    const { effect } = session.lifetime;
    const { codes, fetchCode, fetchText, texts } = session.sourceTexts;
    const { isChange, queryOf, summary } = session.tree;
    const { code, requests, selection, shownSymbol, sourcePanel, sourceText } = state;

    async function requestText(source: number): Promise<SourceText> {
        const text = await fetchText(source);
        // Without a source, the panel shows the machine code.
        if (text.text === null && sourcePanel.value?.source === source) showAssembly();
        return text;
    }

    function showText(source: number): void {
        const before = sourceText.peek();
        if (before?.source === source && before.text !== null) return;
        const cached = texts.get(source);
        if (!cached) requests.text.clear();
        requests.text.replace(() => (cached ? Promise.resolve(cached) : requestText(source)));
    }

    function showCode(symbol: NativeSymbol): void {
        const cached = codes.get(symbol.symbol);
        if (!cached) requests.code.clear();
        requests.code.replace(() => (cached ? Promise.resolve(cached) : fetchCode(symbol)));
    }

    async function requestCosts(shown: SourcePanelView): Promise<Costs> {
        const lines =
            shown.source < 0
                ? null
                : await engine.lineCosts(queryOf(), shown.source, -1, selection.value, isChange.peek());
        if (lines) await session.names.fetchNames(lines.inlined.map((call) => call.func));
        return { lines, symbols: shown.assembly && shown.func >= 0 ? await symbolsOf(shown) : null };
    }

    /** Returns the symbols of the row, then the other symbols of the function. */
    async function symbolsOf(shown: SourcePanelView): Promise<NativeSymbol[]> {
        const all = await engine.symbols(queryOf(), shown.func, null);
        const ofRow = await engine.symbols(queryOf(), shown.func, rowSelection(shown));
        const totals = new Map(ofRow.map((cost) => [cost.symbol, cost.total]));
        const weight = (symbol: NativeSymbol): number => totals.get(symbol.symbol) ?? 0;
        return all.sort((a, b) => weight(b) - weight(a) || b.total - a.total || a.symbol - b.symbol);
    }

    const shownSource = computed(() => sourcePanel.value?.source ?? -1);
    effect(() => {
        const { value: source } = shownSource;
        if (source >= 0) untracked(() => showText(source));
        else requests.text.clear();
    });
    effect(() => {
        const shown = sourcePanel.value;
        if (shown && summary.value) requests.costs.ask(() => requestCosts(shown));
    });
    const symbolOfCode = computed(() => (sourcePanel.value?.assembly ? (shownSymbol.value?.symbol ?? -1) : -1));
    effect(() => {
        const wanted = symbolOfCode.value;
        const symbol = shownSymbol.peek();
        if (wanted >= 0 && symbol) untracked(() => showCode(symbol));
        else requests.code.clear();
    });
    effect(() => {
        const [shown, frames] = [code.value, selection.value];
        if (!shown || !summary.value) return;
        const starts = shown.instructions.map((instruction) => instruction.address);
        requests.codeCosts.ask(() => engine.addressCosts(queryOf(), shown.symbol, frames, starts));
    });
}

/** Returns the costliest line of the function itself, in the row of the source panel, or 0 without lines. */
export async function firstLineOf(session: SourceSession, opened: SourcePanelView): Promise<number> {
    const { engine, tree } = session;
    const { func, source } = opened;
    const own = await engine.lineCosts(tree.queryOf(), source, func, rowSelection(opened));
    const line = costliestLine(own.lines);
    const [name] = line > 0 ? [] : await engine.funcs([func]);
    return line || (name?.line ?? 0);
}
