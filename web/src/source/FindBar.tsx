/** The search of a pane of the source panel: the text, and the number of matching lines. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useSession } from '../session/context';
import { CloseIcon, NextIcon, PreviousIcon } from '../ui/icons';
import type { FindPane } from './source_find';

function Count(): JSX.Element {
    const { findText, found, foundAt } = useSession().sourceFind;
    const count = found.value.length;
    const all = count.toLocaleString('en-US');
    const at = foundAt.value > 0 ? `${foundAt.value.toLocaleString('en-US')} of ${all}` : all;
    return (
        <span class="muted" role="status">
            {findText.value !== '' && (count > 0 ? at : 'none')}
        </span>
    );
}

function Step({ by, label, keys }: { by: 1 | -1; label: string; keys: string }): JSX.Element {
    const { found, stepFound } = useSession().sourceFind;
    return (
        <button
            type="button"
            class="button quiet square"
            aria-label={label}
            title={`${label} (${keys})`}
            disabled={found.value.length === 0}
            onClick={() => stepFound(by)}
        >
            {by > 0 ? <NextIcon /> : <PreviousIcon />}
        </button>
    );
}

export function FindBar({ pane }: { pane: FindPane }): JSX.Element | null {
    const { closeFind, findOpenings, findPane, findText, findWhileTyped, stepFound } = useSession().sourceFind;
    const isShown = findPane.value === pane;
    const input = useRef<HTMLInputElement>(null);
    const openings = findOpenings.value;
    // A layout effect, so that the field has the focus before the next key.
    useLayoutEffect(() => {
        if (!isShown) return;
        input.current?.focus();
        input.current?.select();
    }, [isShown, openings]);
    if (!isShown) return null;
    const label = pane === 'source' ? 'Find in the source' : 'Find in the assembly';
    return (
        <search
            class="find"
            onKeyDown={(event) => {
                if (event.key === 'Escape') closeFind();
                else if (event.key === 'Enter' && event.target === input.current) stepFound(event.shiftKey ? -1 : 1);
                else return;
                event.preventDefault();
                event.stopPropagation();
            }}
        >
            <input
                ref={input}
                type="text"
                aria-label={label}
                placeholder={`${label}, or :line`}
                spellcheck={false}
                autocomplete="off"
                value={findText.value}
                onInput={(event) => findWhileTyped(event.currentTarget.value)}
            />
            <Count />
            <Step by={-1} label="Previous match" keys="Shift+Enter" />
            <Step by={1} label="Next match" keys="Enter" />
            <button
                type="button"
                class="button quiet square"
                aria-label="Close the search"
                title="Close (Esc)"
                onClick={closeFind}
            >
                <CloseIcon />
            </button>
        </search>
    );
}
