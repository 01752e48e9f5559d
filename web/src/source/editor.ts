/**
 * The source view: a read-only CodeMirror with the costs of lines in gutters. The page loads this file and its imports
 * for the first source file. The editor is in a shadow root, where the page's Content-Security-Policy permits its style
 * sheets. Colors are the page's variables.
 */
import { HighlightStyle, type LanguageSupport, syntaxHighlighting } from '@codemirror/language';
import {
    Compartment,
    EditorState,
    type Extension,
    RangeSet,
    RangeSetBuilder,
    StateEffect,
    StateField,
} from '@codemirror/state';
import {
    type BlockInfo,
    Decoration,
    type DecorationSet,
    EditorView,
    GutterMarker,
    gutter,
    highlightSpecialChars,
    lineNumbers,
    MatchDecorator,
    ViewPlugin,
    WidgetType,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Tone } from './cost_text';

/** The shown costs of a line. */
export interface LineMark {
    total: string;
    self: string;
    /** The costs in words. */
    title: string;
    /** The heat from 0 to 5, and its class: see source/cost_text.ts. */
    heat: number;
    tone: Tone;
    /** The names of calls that the compiler inlined into the line, and the same with costs. */
    inlined: string;
    inlinedTitle: string;
}

export interface EditorCalls {
    /** Called when the user clicks a line, or goes to it with the arrow keys. */
    onChoose(line: number): void;
}

// ---- marks in the state ----

const setMarks = StateEffect.define<ReadonlyMap<number, LineMark>>();
const setChosen = StateEffect.define<number>();

class CostMarker extends GutterMarker {
    constructor(
        readonly text: string,
        readonly title: string,
        readonly heat: string,
    ) {
        super();
        this.elementClass = heat;
    }

    override eq(other: CostMarker): boolean {
        return other.text === this.text && other.title === this.title && other.heat === this.heat;
    }

    override toDOM(): Node {
        const element = document.createElement('span');
        element.textContent = this.text;
        element.title = this.title;
        return element;
    }
}

class InlinedWidget extends WidgetType {
    constructor(
        readonly text: string,
        readonly title: string,
    ) {
        super();
    }

    override eq(other: InlinedWidget): boolean {
        return other.text === this.text && other.title === this.title;
    }

    override toDOM(): HTMLElement {
        const element = document.createElement('span');
        element.className = 'inlined';
        element.textContent = this.text;
        element.title = this.title;
        return element;
    }

    override ignoreEvent(): boolean {
        return false;
    }
}

interface Marks {
    total: RangeSet<GutterMarker>;
    self: RangeSet<GutterMarker>;
    lines: DecorationSet;
}

const NO_MARKS: Marks = { total: RangeSet.empty, self: RangeSet.empty, lines: Decoration.none };

function buildMarks(state: EditorState, marks: ReadonlyMap<number, LineMark>): Marks {
    const total = new RangeSetBuilder<GutterMarker>();
    const self = new RangeSetBuilder<GutterMarker>();
    const lines = new RangeSetBuilder<Decoration>();
    for (const [number, mark] of [...marks].sort((a, b) => a[0] - b[0])) {
        if (number < 1 || number > state.doc.lines) continue;
        const line = state.doc.line(number);
        const heat = mark.heat > 0 ? `heat-${mark.heat} ${mark.tone}`.trim() : '';
        total.add(line.from, line.from, new CostMarker(mark.total, mark.title, heat));
        self.add(line.from, line.from, new CostMarker(mark.self, mark.title, heat));
        if (mark.heat > 0)
            lines.add(line.from, line.from, Decoration.line({ class: heat, attributes: { title: mark.title } }));
        if (mark.inlined !== '')
            lines.add(
                line.to,
                line.to,
                Decoration.widget({ widget: new InlinedWidget(mark.inlined, mark.inlinedTitle), side: 1 }),
            );
    }
    return { total: total.finish(), self: self.finish(), lines: lines.finish() };
}

const marksField = StateField.define<Marks>({
    create: () => NO_MARKS,
    update(value, transaction) {
        for (const effect of transaction.effects)
            if (effect.is(setMarks)) return buildMarks(transaction.state, effect.value);
        return value;
    },
    provide: (field) => EditorView.decorations.from(field, (marks) => marks.lines),
});

const chosenField = StateField.define<DecorationSet>({
    create: () => Decoration.none,
    update(value, transaction) {
        for (const effect of transaction.effects)
            if (effect.is(setChosen)) {
                const { doc } = transaction.state;
                if (effect.value < 1 || effect.value > doc.lines) return Decoration.none;
                return Decoration.set(Decoration.line({ class: 'chosen' }).range(doc.line(effect.value).from));
            }
        return value;
    },
    provide: (field) => EditorView.decorations.from(field),
});

/** Marks the matches of an expression in the visible lines. */
function marksOfFound(expression: RegExp): Extension {
    const decorator = new MatchDecorator({ regexp: expression, decoration: Decoration.mark({ tagName: 'mark' }) });
    return ViewPlugin.define(
        (view) => ({
            found: decorator.createDeco(view),
            update(update) {
                this.found = decorator.updateDeco(update, this.found);
            },
        }),
        { decorations: (plugin) => plugin.found },
    );
}

type Choose = (view: EditorView, line: BlockInfo) => boolean;

function costGutter(column: 'total' | 'self', click: Choose): Extension {
    return gutter({
        class: `cost-gutter ${column}`,
        markers: (view) => view.state.field(marksField)[column],
        initialSpacer: () => new CostMarker('', '', ''),
        domEventHandlers: { click },
    });
}

// ---- styles ----

/** The rules for the color of a change, because the page's style sheets do not affect the shadow root. */
function toneRules(tone: 'less' | 'more'): Record<string, string> {
    const steps = [1, 2, 3, 4, 5].flatMap((step) => [String(step), `line-${step}`]);
    return Object.fromEntries(steps.map((step) => [`--heat-${step}`, `var(--${tone}-${step})`]));
}

const theme = EditorView.theme({
    '.tone-less': toneRules('less'),
    '.tone-more': toneRules('more'),
    '&': { height: '100%', backgroundColor: 'var(--surface)', color: 'var(--text)', fontSize: 'var(--type)' },
    '&.cm-focused': { outline: 'none' },
    '.cm-scroller': { fontFamily: 'var(--code-font)', lineHeight: '20px', overflow: 'auto' },
    '.cm-content': { padding: '0 0 40px', cursor: 'default' },
    '.cm-line': { padding: '0 8px' },
    '.cm-gutters': {
        backgroundColor: 'var(--surface-quiet)',
        color: 'var(--text-quiet)',
        borderRight: '1px solid var(--line)',
        fontVariantNumeric: 'tabular-nums',
    },
    '.cost-gutter': { width: '64px', fontFamily: 'var(--text-font)', color: 'var(--text)' },
    '.cost-gutter .cm-gutterElement': {
        padding: '0 8px',
        textAlign: 'right',
        whiteSpace: 'nowrap',
        overflow: 'hidden',
    },
    '.cost-gutter.self': { borderRight: '1px solid var(--line)' },
    '.cm-lineNumbers': { minWidth: '48px' },
    '.cm-lineNumbers .cm-gutterElement': { padding: '0 8px 0 4px' },
    '.cm-line.heat-1': { backgroundColor: 'var(--heat-line-1)' },
    '.cm-gutterElement.heat-1': { backgroundColor: 'var(--heat-1)' },
    '.cm-line.heat-2': { backgroundColor: 'var(--heat-line-2)' },
    '.cm-gutterElement.heat-2': { backgroundColor: 'var(--heat-2)' },
    '.cm-line.heat-3': { backgroundColor: 'var(--heat-line-3)' },
    '.cm-gutterElement.heat-3': { backgroundColor: 'var(--heat-3)' },
    '.cm-line.heat-4': { backgroundColor: 'var(--heat-line-4)' },
    '.cm-gutterElement.heat-4': { backgroundColor: 'var(--heat-4)' },
    '.cm-line.heat-5': { backgroundColor: 'var(--heat-line-5)' },
    '.cm-gutterElement.heat-5': { backgroundColor: 'var(--heat-5)' },
    '.chosen': { boxShadow: 'inset 0 0 0 1px var(--accent-line)' },
    '&.cm-focused .chosen': { boxShadow: 'inset 0 0 0 1px var(--accent), inset 3px 0 0 var(--accent)' },
    '.inlined': {
        marginLeft: '24px',
        padding: '0 8px',
        border: '1px solid var(--line-strong)',
        borderRadius: '8px',
        color: 'var(--text-quiet)',
        fontFamily: 'var(--text-font)',
        fontSize: 'var(--type-small)',
    },
    mark: { borderRadius: '2px', backgroundColor: 'var(--mark)', color: 'var(--mark-text)' },
    'mark > span': { color: 'inherit' },
    '.cm-specialChar': { color: 'var(--doubtful)' },
});

const highlighting = HighlightStyle.define([
    { tag: [tags.keyword, tags.modifier, tags.controlKeyword, tags.operatorKeyword], color: 'var(--code-keyword)' },
    { tag: [tags.string, tags.character, tags.special(tags.string)], color: 'var(--code-string)' },
    { tag: [tags.comment, tags.lineComment, tags.blockComment], color: 'var(--code-comment)' },
    { tag: [tags.number, tags.bool, tags.null], color: 'var(--code-number)' },
    { tag: [tags.typeName, tags.className, tags.namespace], color: 'var(--code-type)' },
    {
        tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName))],
        color: 'var(--code-function)',
    },
    { tag: [tags.processingInstruction, tags.macroName, tags.meta], color: 'var(--code-meta)' },
]);

/** The page loads each language with its first file. */
const LANGUAGES: [RegExp, () => Promise<LanguageSupport>][] = [
    [
        /\.(c|h|cc|cpp|cxx|c\+\+|hh|hpp|hxx|h\+\+|inl|ipp|tcc|cu|m|mm)$|\/include\/c\+\+\//i,
        async () => (await import('@codemirror/lang-cpp')).cpp(),
    ],
    [/\.rs$/, async () => (await import('@codemirror/lang-rust')).rust()],
    [/\.go$/, async () => (await import('@codemirror/lang-go')).go()],
    [
        /\.[cm]?[jt]sx?$/,
        async () => (await import('@codemirror/lang-javascript')).javascript({ jsx: true, typescript: true }),
    ],
    [/\.pyw?$/, async () => (await import('@codemirror/lang-python')).python()],
];

// ---- the editor ----

export class SourceEditor {
    private readonly view: EditorView;
    private readonly calls: EditorCalls;
    private chosen = 0;
    private readonly language = new Compartment();
    private readonly found = new Compartment();
    /** Whether the user has not seen the text yet, so that the view may scroll to any place. */
    private isFresh = true;

    constructor(parent: HTMLElement, calls: EditorCalls) {
        this.calls = calls;
        const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open', delegatesFocus: true });
        root.replaceChildren();
        this.view = new EditorView({
            parent: root as unknown as DocumentFragment,
            root,
            state: EditorState.create({}),
        });
    }

    setText(text: string, file: string, label: string): void {
        this.chosen = 0;
        this.isFresh = true;
        const chooseBlock: Choose = (view, block) => {
            this.calls.onChoose(view.state.doc.lineAt(block.from).number);
            this.focus();
            return true;
        };
        this.view.setState(
            EditorState.create({
                doc: text,
                extensions: [
                    EditorState.readOnly.of(true),
                    EditorView.editable.of(false),
                    EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': label, 'aria-readonly': 'true' }),
                    EditorView.domEventHandlers({
                        click: (event) => this.onClick(event),
                        keydown: (event) => this.onKey(event),
                    }),
                    costGutter('total', chooseBlock),
                    costGutter('self', chooseBlock),
                    lineNumbers({ domEventHandlers: { click: chooseBlock } }),
                    marksField,
                    chosenField,
                    highlightSpecialChars(),
                    this.language.of([]),
                    this.found.of([]),
                    syntaxHighlighting(highlighting),
                    theme,
                ],
            }),
        );
        void this.color(file);
    }

    /** Colors the text once its language is loaded. Until then, the text has no colors. */
    private async color(file: string): Promise<void> {
        const { doc } = this.view.state;
        const support = await LANGUAGES.find(([pattern]) => pattern.test(file))?.[1]().catch(() => null);
        if (support && this.view.state.doc === doc) this.view.dispatch({ effects: this.language.reconfigure(support) });
    }

    get lines(): number {
        return this.view.state.doc.lines;
    }

    setMarks(marks: ReadonlyMap<number, LineMark>): void {
        this.view.dispatch({ effects: setMarks.of(marks) });
    }

    setChosen(line: number): void {
        this.chosen = line;
        this.view.dispatch({ effects: setChosen.of(line) });
    }

    /** Marks all matches, or none if null. */
    setFound(expression: RegExp | null): void {
        this.view.dispatch({ effects: this.found.reconfigure(expression ? marksOfFound(expression) : []) });
    }

    /** Scrolls a line to the middle, or to the nearest place, unless the line is visible already. */
    reveal(number: number, place: 'center' | 'nearest' = 'center'): void {
        if (number < 1 || number > this.lines) return;
        const { from } = this.view.state.doc.line(number);
        if (this.isFresh) {
            this.isFresh = false;
            this.view.dispatch({ effects: EditorView.scrollIntoView(from, { y: 'center' }) });
            return;
        }
        const block = this.view.lineBlockAt(from);
        const { scrollTop, clientHeight } = this.view.scrollDOM;
        if (block.top >= scrollTop && block.bottom <= scrollTop + clientHeight && clientHeight > 0) return;
        this.view.dispatch({ effects: EditorView.scrollIntoView(from, { y: place }) });
    }

    focus(): void {
        this.view.contentDOM.focus({ preventScroll: true });
    }

    destroy(): void {
        this.view.destroy();
    }

    private onClick(event: MouseEvent): boolean {
        // A user who selected text with the mouse wants to copy it, so the click selects no line.
        if (event.button !== 0 || !(window.getSelection()?.isCollapsed ?? true)) return false;
        const position = this.view.posAtCoords({ x: event.clientX, y: event.clientY }, false);
        this.calls.onChoose(this.view.state.doc.lineAt(position).number);
        return false;
    }

    private onKey(event: KeyboardEvent): boolean {
        if (event.ctrlKey || event.metaKey || event.altKey) return false;
        const page = Math.max(1, Math.floor(this.view.scrollDOM.clientHeight / this.view.defaultLineHeight) - 1);
        const steps: Record<string, number> = {
            ArrowDown: 1,
            ArrowUp: -1,
            PageDown: page,
            PageUp: -page,
            Home: -this.lines,
            End: this.lines,
        };
        const step = steps[event.key];
        if (step === undefined) return false;
        const line = Math.max(1, Math.min(this.lines, this.chosen + step));
        this.calls.onChoose(line);
        this.reveal(line, 'nearest');
        return true;
    }
}
