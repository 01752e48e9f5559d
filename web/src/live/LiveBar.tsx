/** The line under the header during a recording: its progress, and buttons for the requests of `prof ctl`. */
import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatCount, formatDuration } from '../base/format';
import { act } from '../window/windows';
import { control, isHeld, live, toggleHold } from './live';

/** The default text of a mark, and the limit of a text's length. The recorder takes lines of some hundred bytes. */
const MARK = 'page';
const LONGEST_MARK = 100;

function Request({ request, label, title }: { request: string; label: string; title: string }): JSX.Element {
    return (
        <button type="button" class="button small" title={title} onClick={() => act(control(request))}>
            {label}
        </button>
    );
}

/** A button that asks for the text of a mark. The mark has the time at which the page sends the text. */
function Mark(): JSX.Element {
    const [isAsking, setAsking] = useState(false);
    const input = useRef<HTMLInputElement>(null);
    const button = useRef<HTMLButtonElement>(null);
    const hasAsked = useRef(false);
    useLayoutEffect(() => {
        if (isAsking) input.current?.focus();
        else if (hasAsked.current) button.current?.focus();
        hasAsked.current = isAsking;
    }, [isAsking]);
    if (!isAsking)
        return (
            <button
                ref={button}
                type="button"
                class="button small"
                title="Mark a moment in the recording"
                onClick={() => setAsking(true)}
            >
                Mark…
            </button>
        );
    return (
        <form
            class="live-mark"
            onSubmit={(event) => {
                event.preventDefault();
                const text = input.current?.value.replace(/\s+/g, ' ').trim();
                act(control(`mark ${text || MARK}`));
                setAsking(false);
            }}
        >
            <input
                ref={input}
                type="text"
                aria-label="Text of the mark"
                placeholder="Text of the mark"
                maxLength={LONGEST_MARK}
                onKeyDown={(event) => {
                    if (event.key !== 'Escape') return;
                    event.preventDefault();
                    event.stopPropagation();
                    setAsking(false);
                }}
            />
            <button type="submit" class="button small" title="Mark this moment (Enter; Esc cancels)">
                Mark
            </button>
        </form>
    );
}

export function LiveBar(): JSX.Element | null {
    const state = live.value;
    if (!state) return null;
    const isPaused = state.state === 'paused';
    return (
        <section class="live-bar" aria-label="Recording">
            <span class={isPaused || isHeld.value ? 'live-dot still' : 'live-dot'} aria-hidden="true" />
            <p>
                <strong>{isPaused ? 'Paused' : state.state === 'saved' ? 'Recording ended' : 'Recording'}</strong>{' '}
                {formatDuration(state.seconds * 1000)}, {formatCount(state.samples)} samples
                {state.isFull
                    ? '. Too large to follow (10 million samples): the rest appears at the end. --last limits the size'
                    : isHeld.value
                      ? '. The view is frozen (Space: follow)'
                      : `, updated every ${formatDuration(state.period * 1000)}`}
            </p>
            <button
                type="button"
                class="button small"
                title="Freeze the view, or follow the recording (Space)"
                onClick={toggleHold}
            >
                {isHeld.value ? 'Follow' : 'Freeze'}
            </button>
            {isPaused ? (
                <Request request="resume" label="Resume" title="Record again" />
            ) : (
                <Request request="pause" label="Pause" title="Pause the recording until it is resumed" />
            )}
            <Mark />
            <Request request="snapshot" label="Snapshot" title="Save a profile of the recording so far" />
            <Request request="stop" label="Stop" title="End the recording and save it" />
        </section>
    );
}
