/** A search input that filters a view at each key, or after a pause in typing. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Step } from '../session/history';
import { CloseIcon, SearchIcon } from './icons';
import type { SearchHelp } from './search_help';

/** The length of the pause, ms. */
const SEARCH_DELAY = 150;

export function focusView(): void {
    document.querySelector<HTMLElement>('#view .tree, #view .chart')?.focus();
}

export interface SearchInputProps {
    id: string;
    label: string;
    placeholder: string;
    help: SearchHelp;
    /** The text of the current search. */
    text: string;
    onSearch(text: string, step: Step): void;
    /** Returns whether searches are so fast that each key may start one. */
    isQuick?(): boolean;
    /** Called for Enter, with 'first' for a changed text or 1 for the next match, and for Shift+Enter. */
    onEnter?(where: 'first' | 1 | -1): void;
    /** Called for Ctrl+Enter. */
    onCtrlEnter?(): void;
}

/** The help below the input, shown while the input is empty so that it covers no results. */
function Help({ id, help, anchor }: { id: string; help: SearchHelp; anchor: HTMLElement }): JSX.Element {
    const { right, bottom } = anchor.getBoundingClientRect();
    return (
        <div
            id={id}
            class="search-help"
            role="note"
            style={{ top: `${bottom + 4}px`, right: `${window.innerWidth - right}px` }}
        >
            <p>{help.what}</p>
            <dl class="key-lines">
                {help.lines.map(([terms, meaning]) => (
                    <div key={meaning}>
                        <dt>
                            {terms.map((term) => (
                                <kbd key={term}>{term}</kbd>
                            ))}
                        </dt>
                        <dd>{meaning}</dd>
                    </div>
                ))}
            </dl>
        </div>
    );
}

export function SearchInput({
    id,
    label,
    placeholder,
    help,
    text,
    onSearch,
    isQuick,
    onEnter,
    onCtrlEnter,
}: SearchInputProps): JSX.Element {
    const input = useRef<HTMLInputElement>(null);
    const timer = useRef(0);
    const asked = useRef(''); // the last text that the input searched or got from outside
    // texts that the input has searched, but that have not come back as `text`
    const onTheWay = useRef(new Set<string>());
    const entered = useRef('');
    const cameFrom = useRef<EventTarget | null>(null);
    const [isHelpShown, setHelpShown] = useState(false);
    useEffect(() => {
        // Back, forward and "clear" change the search from outside. Text that the user has typed since the last search
        // stays.
        const element = input.current;
        const isOwn = onTheWay.current.has(text);
        if (text === asked.current) onTheWay.current.clear();
        else if (element && !isOwn && text.trim() !== asked.current.trim()) {
            asked.current = text;
            element.value = text;
        }
    }, [text]);
    useEffect(() => () => window.clearTimeout(timer.current), []);
    const apply = (): void => {
        window.clearTimeout(timer.current);
        const typed = input.current?.value ?? '';
        const before = asked.current;
        asked.current = typed;
        onTheWay.current.add(typed);
        if (typed !== before) onSearch(typed, before === '' || typed === '' ? 'push' : 'replace');
    };
    const clear = (): void => {
        if (input.current) input.current.value = '';
        apply();
    };
    /** Returns the focus to the previous element, if it still exists. */
    const goBack = (): void => {
        const before = cameFrom.current;
        if (before instanceof HTMLElement && before.isConnected && before !== document.body) before.focus();
        else focusView();
    };
    const helpId = `${id}-help`;
    const anchor = input.current?.closest<HTMLElement>('.search');
    return (
        <search class="search">
            <SearchIcon />
            <input
                ref={input}
                id={id}
                type="text"
                aria-label={label}
                placeholder={placeholder}
                {...(isHelpShown ? { 'aria-describedby': helpId } : {})}
                spellcheck={false}
                autocomplete="off"
                onFocus={(event) => {
                    cameFrom.current = event.relatedTarget;
                    setHelpShown(event.currentTarget.value === '');
                }}
                onBlur={() => setHelpShown(false)}
                onInput={(event) => {
                    setHelpShown(event.currentTarget.value === '');
                    window.clearTimeout(timer.current);
                    if (isQuick?.()) apply();
                    else timer.current = window.setTimeout(apply, SEARCH_DELAY);
                }}
                onKeyDown={(event) => {
                    if (event.key === 'Enter') {
                        apply();
                        const { value } = event.currentTarget;
                        if (onCtrlEnter && (event.ctrlKey || event.metaKey)) onCtrlEnter();
                        else onEnter?.(event.shiftKey ? -1 : value === entered.current ? 1 : 'first');
                        entered.current = value;
                        focusView();
                    } else if (event.key === 'Escape') {
                        if (event.currentTarget.value === '') goBack();
                        else clear();
                    } else return;
                    event.preventDefault();
                }}
            />
            {text === '' ? (
                <kbd>/</kbd>
            ) : (
                <button
                    type="button"
                    class="button quiet square small"
                    aria-label="Clear the search"
                    title="Clear (Esc)"
                    onClick={clear}
                >
                    <CloseIcon />
                </button>
            )}
            {isHelpShown && anchor && <Help id={helpId} help={help} anchor={anchor} />}
        </search>
    );
}
