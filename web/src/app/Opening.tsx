/** Opens files by dropping them on the page, and shows the progress or the error. */
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { formatBytes } from '../base/format';
import { plainText } from '../base/plain';
import { Picker } from '../ui/Picker';
import { ProfileText } from '../ui/text';
import { act } from '../window/windows';
import { ProgressBar } from './Loading';
import { openEntry, openFile, opening } from './page';

const NAME_LIMIT = 200;

function hasFile(event: DragEvent): boolean {
    return event.dataTransfer?.types.includes('Files') ?? false;
}

/** Opens files that the user drops on the page. Returns whether the user drags a file over the page. */
function useDrop(): boolean {
    /** The number of elements that the dragged file has entered and not left. */
    const entered = useSignal(0);
    useEffect(() => {
        const onEnter = (event: DragEvent): void => {
            if (hasFile(event)) entered.value++;
        };
        const onLeave = (event: DragEvent): void => {
            if (hasFile(event)) entered.value = Math.max(0, entered.value - 1);
        };
        const onOver = (event: DragEvent): void => {
            if (!hasFile(event)) return;
            event.preventDefault();
            if (event.dataTransfer) event.dataTransfer.dropEffect = 'copy';
        };
        const onDrop = (event: DragEvent): void => {
            entered.value = 0;
            if (!hasFile(event)) return;
            event.preventDefault();
            const [file] = event.dataTransfer?.files ?? [];
            if (file) act(openFile(file));
        };
        const listeners = { dragenter: onEnter, dragleave: onLeave, dragover: onOver, drop: onDrop };
        for (const [name, listener] of Object.entries(listeners))
            window.addEventListener(name, listener as EventListener);
        return () => {
            for (const [name, listener] of Object.entries(listeners))
                window.removeEventListener(name, listener as EventListener);
        };
    }, []);
    return entered.value > 0;
}

function close(): void {
    opening.value = null;
}

function EntryPicker(): JSX.Element | null {
    const entryText = useSignal('');
    const state = opening.value;
    if (state?.phase !== 'choosing') return null;
    const typed = entryText.value.toLowerCase();
    return (
        <Picker
            name="entries"
            label="Files of the archive"
            placeholder={`Which file of ${plainText(state.name, NAME_LIMIT)}?`}
            text={entryText.value}
            items={state.entries.filter((entry) => entry.name.toLowerCase().includes(typed))}
            keyOf={(entry) => String(entry.at)}
            onText={(text) => {
                entryText.value = text;
            }}
            onChoose={(entry) => {
                if (!entry) return;
                entryText.value = '';
                act(openEntry(entry));
            }}
            onClose={() => {
                entryText.value = '';
                if (opening.value?.phase === 'choosing') close();
            }}
            empty="No results"
            render={(entry) => (
                <>
                    <span class="picker-name">
                        <ProfileText text={entry.name} limit={NAME_LIMIT} />
                    </span>
                    <span class="picker-detail" />
                    <span class="picker-amount">{formatBytes(entry.size)}</span>
                </>
            )}
        />
    );
}

function Message(): JSX.Element | null {
    const dialog = useRef<HTMLDialogElement>(null);
    const state = opening.value;
    const isShown = state?.phase === 'reading' || state?.phase === 'failed';
    useEffect(() => {
        if (isShown && !dialog.current?.open) dialog.current?.showModal();
    }, [isShown]);
    if (!state || state.phase === 'choosing') return null;
    const isFailed = state.phase === 'failed';
    return (
        <dialog
            ref={dialog}
            class="dialog opening"
            aria-labelledby="opening-title"
            onCancel={(event) => {
                if (!isFailed) event.preventDefault();
            }}
            onKeyDown={(event) => event.stopPropagation()}
            onClose={close}
        >
            <div class="dialog-body" role={isFailed ? 'alert' : 'status'}>
                <h2 id="opening-title">
                    {isFailed ? 'Cannot open this file: ' : 'Opening '}
                    <ProfileText text={state.name} limit={NAME_LIMIT} />
                </h2>
                {isFailed ? (
                    <>
                        <p class="error-text">
                            <ProfileText text={state.message} limit={2000} />
                        </p>
                        <p class="muted">
                            prof opens profiles of prof, samply and the Firefox Profiler: JSON or JSLB, plain, gzipped
                            or in a zip archive. The previous profile is still open.
                        </p>
                        <button type="button" class="button" onClick={() => dialog.current?.close()}>
                            Close
                        </button>
                    </>
                ) : (
                    <ProgressBar progress={state.progress} />
                )}
            </div>
        </dialog>
    );
}

export function OpeningLayer(): JSX.Element {
    const isOver = useDrop();
    return (
        <>
            {isOver && (
                <div class="drop-here" role="status">
                    <p>Drop the profile to open it</p>
                </div>
            )}
            <Message />
            <EntryPicker />
        </>
    );
}
