/** A search input that filters a view at each key, or after a pause in typing. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Step } from '../session/history';
import { CloseIcon, SearchIcon } from './icons';
import type { SearchHelp } from './search_help';

/** ms without a key before a search is made. */
const SEARCH_DELAY = 150;

export function focusView(): void {
    document.querySelector<HTMLElement>('#view .tree, #view .chart')?.focus();
}

export interface SearchInputProps {
    id: string;
    label: string;
    placeholder: string;
    help: SearchHelp;
    /** The search that is on. */
    text: string;
    onSearch(text: string, step: Step): void;
    /** Whether searches take so little time that each key makes one. */
    isQuick?(): boolean;
    /** Enter, for what was typed anew or once more, and Shift+Enter. */
    onEnter?(where: 'first' | 1 | -1): void;
    /** Ctrl+Enter, for what was typed. */
    onCtrlEnter?(): void;
}

/** What can be typed, below the input: for as long as it is empty, so that it covers nothing that was found. */
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
    const asked = useRef(''); // what was searched from here, or put here, last
    const onTheWay = useRef(new Set<string>()); // what was searched from here and has not come back as the text
    const entered = useRef('');
    const cameFrom = useRef<EventTarget | null>(null);
    const [isHelpShown, setHelpShown] = useState(false);
    useEffect(() => {
        // Back, forward and "clear" change the search from outside. What was typed here since it was asked for stays.
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
    /** To where the focus was before, as long as that is there. */
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
