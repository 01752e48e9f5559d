/** A modal dialog of the browser, so that focus, Escape and the backdrop work as everywhere. */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type DialogName, openDialog } from '../window/windows';
import { CloseIcon } from './icons';

interface DialogProps {
    name: DialogName;
    title: string;
    /** One component, so that a closed dialog renders nothing. */
    children: ComponentChildren;
}

export function Dialog({ name, title, children }: DialogProps): JSX.Element {
    const element = useRef<HTMLDialogElement>(null);
    const isOpen = openDialog.value === name;
    useEffect(() => {
        const dialog = element.current;
        if (!dialog) return;
        if (isOpen && !dialog.open) dialog.showModal();
        if (!isOpen && dialog.open) dialog.close();
    }, [isOpen]);
    /* The browser sends the close event later, when another dialog may be open already. */
    const close = (): void => {
        if (openDialog.value === name) openDialog.value = null;
    };
    const titleId = `dialog-${name}`;
    return (
        <dialog
            ref={element}
            class="dialog"
            aria-labelledby={titleId}
            onCancel={close} // at once, so that the dialog does not take the next key
            onClose={close}
            onClick={(event) => {
                if (event.target === element.current) close();
            }}
        >
            {isOpen && (
                <div class="dialog-body">
                    <header>
                        <h2 id={titleId}>{title}</h2>
                        <button type="button" class="button quiet square" aria-label="Close" onClick={close}>
                            <CloseIcon />
                        </button>
                    </header>
                    {children}
                </div>
            )}
        </dialog>
    );
}
