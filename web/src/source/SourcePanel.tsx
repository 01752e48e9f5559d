/** The panel below the views: source and assembly of a function side by side, with their buttons and keys. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Session } from '../app/session';
import { plainText } from '../base/plain';
import { useSession } from '../session/context';
import { CloseIcon, FullScreenIcon, NextIcon, PreviousIcon, SearchIcon } from '../ui/icons';
import { PanesSplitter } from '../ui/Splitter';
import { ProfileText } from '../ui/text';
import {
    besideWidth,
    chooseSyntax,
    inPercent,
    isWide,
    sourcePanelHeight,
    sourceShare,
    syntax,
    toggleUnit,
} from '../window/settings';
import { act } from '../window/windows';
import { AssemblyView } from './AssemblyView';
import { SourceView } from './SourceView';

const NAME_LIMIT = 120;

function Choice({
    label,
    options,
    chosen,
    choose,
}: {
    label: string;
    options: readonly [string, string, string][];
    chosen: string;
    choose: (name: string) => void;
}): JSX.Element {
    return (
        <fieldset class="choice" aria-label={label}>
            {options.map(([name, text, title]) => (
                <button
                    key={name}
                    type="button"
                    class="button"
                    aria-pressed={name === chosen}
                    title={title}
                    onClick={() => choose(name)}
                >
                    {text}
                </button>
            ))}
        </fieldset>
    );
}

interface StepperProps {
    /** The name of the steps, and a longer text for the title. */
    what: string;
    more?: string;
    /** The keys for back and forward. */
    keys: [string, string];
    step: (by: 1 | -1) => void;
    /** The elements between the buttons. */
    children: ComponentChildren;
}

function Stepper({ what, more = '', keys, step, children }: StepperProps): JSX.Element {
    return (
        <>
            <button
                type="button"
                class="button quiet square"
                aria-label={`Previous ${what}`}
                title={`Previous ${what}${more} (${keys[0]})`}
                onClick={() => step(-1)}
            >
                <PreviousIcon />
            </button>
            <span class="muted">{children}</span>
            <button
                type="button"
                class="button quiet square"
                aria-label={`Next ${what}`}
                title={`Next ${what}${more} (${keys[1]})`}
                onClick={() => step(1)}
            >
                <NextIcon />
            </button>
        </>
    );
}

function HotLines(): JSX.Element | null {
    const session = useSession();
    const { chosenLine, hotLines, stepHotLine } = session.sourcePanel;
    const what = session.tree.isChange.value ? 'changed' : 'hot';
    const lines = hotLines.value;
    if (lines.length === 0) return null;
    const at = lines.indexOf(chosenLine.value);
    return (
        <span class="stepper">
            <Stepper what={`${what} line`} keys={['p', 'n']} step={stepHotLine}>
                {at >= 0
                    ? `${what} line ${at + 1} of ${lines.length}`
                    : `${lines.length} ${what} ${lines.length === 1 ? 'line' : 'lines'}`}
            </Stepper>
        </span>
    );
}

function Symbols(): JSX.Element | null {
    const { shownSymbol, stepSymbol, symbols } = useSession().sourcePanel;
    const all = symbols.value ?? [];
    const shown = shownSymbol.value;
    if (!shown) return null;
    return (
        <span class="stepper">
            {all.length > 1 && (
                <Stepper what="symbol" more=" with code of this function" keys={[',', '.']} step={stepSymbol}>
                    {all.indexOf(shown) + 1} of {all.length}
                </Stepper>
            )}
            <span class="symbol-name" title="Symbol">
                <ProfileText text={shown.name} limit={NAME_LIMIT} />
            </span>
        </span>
    );
}

function Heading(): JSX.Element {
    const session = useSession();
    const { fetchNames, namesVersion, shownName } = session.names;
    const { sourcePanel, sourceText } = session.sourcePanel;
    const func = sourcePanel.value?.func ?? -1;
    namesVersion.value;
    useEffect(() => {
        if (func >= 0) act(fetchNames([func]));
    }, [func]);
    const file = sourceText.value?.file ?? '';
    return (
        <h2>
            {func >= 0 && <ProfileText text={shownName(func)} limit={NAME_LIMIT} />}
            {file !== '' && (
                <span class="muted file" title={plainText(file, 1000)}>
                    <ProfileText text={file} limit={400} />
                </span>
            )}
        </h2>
    );
}

/** Returns whether the user selected text in the source panel, including the editor in its shadow root. */
function isTextMarked(): boolean {
    const root = document.querySelector('.source-editor')?.shadowRoot as
        | { getSelection?: () => Selection | null }
        | null
        | undefined;
    return [root?.getSelection?.(), document.getSelection()].some((marked) => (marked?.toString() ?? '') !== '');
}

/** Handles keys of the source panel. Returns false if a key has no effect. */
function onPanelKey(session: Session, event: KeyboardEvent): boolean {
    const {
        changeSourcePanel,
        copyChosen,
        leaveSourcePanel,
        sourcePanel,
        stepHotInstruction,
        stepHotLine,
        stepSymbol,
        toggleAssembly,
    } = session.sourcePanel;
    const isInCode = event.target instanceof Element && event.target.closest('.code') !== null;
    if ((event.ctrlKey || event.metaKey) && event.key === 'c' && !isTextMarked()) return copyChosen(isInCode);
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return false;
    const shown = sourcePanel.value;
    switch (event.key) {
        case 'Escape':
            leaveSourcePanel();
            break;
        case 'n':
            (isInCode ? stepHotInstruction : stepHotLine)(1);
            break;
        case 'p':
            (isInCode ? stepHotInstruction : stepHotLine)(-1);
            break;
        case 'a':
            toggleAssembly();
            break;
        case 'f':
            changeSourcePanel({ full: !(shown?.full ?? false) });
            break;
        case 'r':
            changeSourcePanel({ isOfRow: !(shown?.isOfRow ?? false) });
            break;
        case '%':
            toggleUnit();
            break;
        case '.':
            stepSymbol(1);
            break;
        case ',':
            stepSymbol(-1);
            break;
        default:
            return false;
    }
    return true;
}

export function SourcePanel(): JSX.Element | null {
    const session = useSession();
    const { canFind, openFind } = session.sourceFind;
    const { changeSourcePanel, closeSourcePanel, code, openings, hasSource, sourceError, sourcePanel, toggleAssembly } =
        session.sourcePanel;
    const shown = sourcePanel.value;
    const element = useRef<HTMLElement>(null);
    // The panel takes keys from the start; source or code take the focus later.
    const opened = openings.value;
    useEffect(() => {
        if (opened > 0 && !element.current?.contains(document.activeElement))
            element.current?.focus({ preventScroll: true });
    }, [opened]);
    if (!shown) return null;
    const size = isWide.value ? besideWidth.value : sourcePanelHeight.value;
    const hasPath = shown.path.length > 0;
    const ofRow = hasPath ? 'This row' : 'This function';
    const syntaxes = code.value?.syntaxes ?? [];
    return (
        <section
            ref={element}
            tabIndex={-1}
            class={`source-panel${shown.full ? ' full' : isWide.value ? ' beside' : ''}`}
            aria-label="Source and assembly"
            style={size === null || shown.full ? {} : { [isWide.value ? 'width' : 'height']: `${size}px` }}
            onKeyDown={(event) => {
                if (onPanelKey(session, event)) {
                    event.preventDefault();
                    event.stopPropagation();
                }
            }}
        >
            <div class="source-header">
                <Heading />
                {sourceError.value !== '' && <span role="alert">{sourceError.value}</span>}
                <HotLines />
                {(hasPath || shown.func >= 0) && (
                    <Choice
                        label="Costs of"
                        options={[
                            ['all', 'All', 'Count all samples in view (r)'],
                            [
                                'row',
                                ofRow,
                                hasPath
                                    ? 'Count only the selected row and its callees (r)'
                                    : 'Count only this function and its callees (r)',
                            ],
                        ]}
                        chosen={shown.isOfRow ? 'row' : 'all'}
                        choose={(name) => changeSourcePanel({ isOfRow: name === 'row' })}
                    />
                )}
                <button
                    type="button"
                    class="button"
                    aria-pressed={inPercent.value}
                    title="Percent of all samples in view, or absolute weight (%)"
                    onClick={toggleUnit}
                >
                    %
                </button>
                <button
                    type="button"
                    class="button"
                    aria-pressed={shown.assembly}
                    title="Show or hide the machine code (a)"
                    onClick={toggleAssembly}
                >
                    Assembly
                </button>
                {shown.assembly && <Symbols />}
                {shown.assembly && syntaxes.length > 1 && (
                    <Choice
                        label="Syntax"
                        options={syntaxes.map((name) => [name, name, `${name} syntax`])}
                        chosen={syntaxes.includes(syntax.value) ? syntax.value : (syntaxes[0] ?? '')}
                        choose={chooseSyntax}
                    />
                )}
                <button
                    type="button"
                    class="button quiet square"
                    aria-label="Find"
                    title="Find in the source, or in the assembly if you used it last (Ctrl+F)"
                    disabled={!canFind()}
                    onClick={openFind}
                >
                    <SearchIcon />
                </button>
                <button
                    type="button"
                    class="button quiet square"
                    aria-label="Full screen"
                    aria-pressed={shown.full}
                    title={shown.full ? 'Leave full screen (f, Esc)' : 'Full screen (f)'}
                    onClick={() => changeSourcePanel({ full: !shown.full })}
                >
                    <FullScreenIcon />
                </button>
                <button
                    type="button"
                    class="button quiet square"
                    aria-label="Close"
                    title="Close (Esc)"
                    onClick={closeSourcePanel}
                >
                    <CloseIcon />
                </button>
            </div>
            <div class="source-panes">
                <SourceView share={shown.assembly ? sourceShare(hasSource.value) : 1} />
                {shown.assembly && <PanesSplitter hasSource={hasSource.value} />}
                {shown.assembly && <AssemblyView />}
            </div>
        </section>
    );
}
