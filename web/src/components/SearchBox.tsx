/** A box that filters what a view shows, once no key has come for a moment. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Step } from '../state/store';
import { CloseIcon, SearchIcon } from './icons';

/** ms without a key before a search is made. */
const SEARCH_DELAY = 150;

export function focusView(): void {
    document.querySelector<HTMLElement>('#view .tree, #view .chart')?.focus();
}

export interface SearchBoxProps {
    id: string;
    label: string;
    placeholder: string;
    help: string;
    /** The search that is on. */
    text: string;
    onSearch(text: string, step: Step): void;
}

export function SearchBox({ id, label, placeholder, help, text, onSearch }: SearchBoxProps): JSX.Element {
    const input = useRef<HTMLInputElement>(null);
    const timer = useRef(0);
    useEffect(() => {
        // Back, forward and "clear" change the search from outside; typing must not be overwritten.
        const box = input.current;
        if (box && box.value.trim() !== text.trim()) box.value = text;
    }, [text]);
    const apply = (): void => {
        window.clearTimeout(timer.current);
        const typed = input.current?.value ?? '';
        if (typed !== text) onSearch(typed, text === '' || typed === '' ? 'push' : 'replace');
    };
    const clear = (): void => {
        if (input.current) input.current.value = '';
        apply();
    };
    return (
        <search class="search">
            <SearchIcon />
            <input
                ref={input}
                id={id}
                type="text"
                aria-label={label}
                placeholder={placeholder}
                title={help}
                spellcheck={false}
                autocomplete="off"
                onInput={() => {
                    window.clearTimeout(timer.current);
                    timer.current = window.setTimeout(apply, SEARCH_DELAY);
                }}
                onKeyDown={(event) => {
                    if (event.key === 'Enter') {
                        apply();
                        focusView();
                    } else if (event.key === 'Escape') {
                        if (event.currentTarget.value === '')
                            focusView();
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
        </search>
    );
}
