/** A group of exclusive choices. Arrow keys move between them. */
import type { JSX } from 'preact';
import type { Choice } from '../session/filters';

interface ChoicesProps<Value extends string> {
    label: string;
    choices: readonly Choice<Value>[];
    value: Value;
    /** The key, which changes to the next choice. */
    keys?: string;
    onChoose: (value: Value) => void;
}

export function Choices<Value extends string>({
    label,
    choices,
    value,
    keys,
    onChoose,
}: ChoicesProps<Value>): JSX.Element {
    function onKey(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
        const at = choices.findIndex((choice) => choice.value === value);
        const next = (at + step + choices.length) % choices.length;
        const chosen = choices[next];
        if (chosen) onChoose(chosen.value);
        event.currentTarget.querySelectorAll<HTMLElement>('[role=radio]')[next]?.focus();
        event.preventDefault();
        event.stopPropagation();
    }
    return (
        <div class="choices" role="radiogroup" aria-label={label} onKeyDown={onKey}>
            {choices.map((choice) => (
                <button
                    key={choice.value}
                    type="button"
                    role="radio"
                    class="choice-part"
                    aria-checked={choice.value === value}
                    tabIndex={choice.value === value ? 0 : -1}
                    title={keys ? `${choice.hint} (${keys})` : choice.hint}
                    onClick={(event) => {
                        if (event.detail > 0) event.currentTarget.blur();
                        onChoose(choice.value);
                    }}
                >
                    {choice.label}
                </button>
            ))}
        </div>
    );
}
