/**
 * An input with a list of matches below: the command palette and the list of tracks. The focus stays in the input;
 * arrows move in the list, Enter chooses, Escape closes. Only visible rows are rendered.
 */
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { SearchIcon } from './icons';
import { useRowWindow } from './row_window';
import { useSize } from './use';

/** px, as in the style sheet. */
const ROW_HEIGHT = 28;
const PAGE = 10;

export interface ChosenWith {
    /** Ctrl or Cmd was held: the list stays, or the other thing is done. */
    ctrl: boolean;
    shift: boolean;
    /** By the mouse: this very row is meant, also while the list is of what was typed before. */
    mouse: boolean;
}

interface PickerProps<Item> {
    /** Tells its parts from those of other pickers. */
    name: string;
    label: string;
    placeholder: string;
    text: string;
    items: readonly Item[];
    /** The items are those of what was typed before. */
    isBehind?: boolean;
    keyOf: (item: Item) => string;
    render: (item: Item) => ComponentChildren;
    /** For lists of things that are on or off. */
    isOn?: (item: Item) => boolean;
    onText: (text: string) => void;
    /** null: Enter while there are none. */
    onChoose: (item: Item | null, held: ChosenWith) => void;
    onClose: () => void;
    /** Between the input and the list. */
    actions?: ComponentChildren;
    /** Below the list. */
    hint?: ComponentChildren;
    /** What is said when there is nothing in the list. */
    empty: ComponentChildren;
}

/** The item that a key leads to from another, around the ends by arrows; undefined: the key does not move. */
function targetOf(key: string, at: number, count: number): number | undefined {
    const moves: Record<string, number> = {
        ArrowDown: at + 1 < count ? at + 1 : 0,
        ArrowUp: at > 0 ? at - 1 : count - 1,
        PageDown: at + PAGE,
        PageUp: at - PAGE,
    };
    return moves[key];
}

interface RowProps<Item> {
    props: PickerProps<Item>;
    item: Item;
    /** Its place in the list. */
    at: number;
    top: number;
    isActive: boolean;
    onPoint: () => void;
    onChoose: (event: MouseEvent) => void;
}

function PickerRow<Item>({ props, item, at, top, isActive, onPoint, onChoose }: RowProps<Item>): JSX.Element {
    return (
        <div
            id={`${props.name}-${props.keyOf(item)}`}
            class={isActive ? 'picker-row active' : 'picker-row'}
            role="option"
            aria-selected={props.isOn ? props.isOn(item) : isActive}
            aria-posinset={at + 1}
            aria-setsize={props.items.length}
            tabIndex={-1}
            style={{ top: `${top}px` }}
            onPointerMove={(event) => {
                // The list moves below a mouse that rests, too.
                if (event.movementX !== 0 || event.movementY !== 0) onPoint();
            }}
            onClick={onChoose}
        >
            {props.render(item)}
        </div>
    );
}

export function Picker<Item>(props: PickerProps<Item>): JSX.Element {
    const { name, items } = props;
    const dialog = useRef<HTMLDialogElement>(null);
    const input = useRef<HTMLInputElement>(null);
    const list = useRef<HTMLDivElement>(null);
    /** Where it was gone to: other items may come while one is chosen. '': the best answer, the first. */
    const [activeKey, setActiveKey] = useState('');
    const activeAt = activeKey === '' ? -1 : items.findIndex((item) => props.keyOf(item) === activeKey);
    const at = Math.max(0, activeAt);
    const { height: room } = useSize(list);
    const rows = useRowWindow(list, { count: items.length, rowHeight: ROW_HEIGHT, room, revealed: null });

    // At once: what is typed right after the key that opens it belongs into the input.
    useLayoutEffect(() => {
        const before = document.activeElement;
        dialog.current?.showModal();
        input.current?.focus();
        return () => {
            if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
        };
    }, []);
    // Another search begins at its best answer.
    useLayoutEffect(() => {
        setActiveKey('');
        rows.reveal(0, 'nearest');
    }, [props.text]);
    useLayoutEffect(() => {
        if (room > 0) rows.reveal(at, 'nearest');
    }, [at, room]);

    const goTo = (target: number): void => {
        const item = items[Math.max(0, Math.min(items.length - 1, target))];
        if (item !== undefined) setActiveKey(props.keyOf(item));
    };
    const choose = (item: Item | null, event: MouseEvent | KeyboardEvent): void =>
        props.onChoose(item, {
            ctrl: event.ctrlKey || event.metaKey,
            shift: event.shiftKey,
            mouse: event instanceof MouseEvent,
        });
    const onKeyDown = (event: KeyboardEvent): void => {
        const target = targetOf(event.key, at, items.length);
        if (target !== undefined) goTo(target);
        else if (event.key === 'Enter') choose(items[at] ?? null, event);
        // The dialog's own event comes later: what is typed right after it would be lost.
        else if (event.key === 'Escape') props.onClose();
        else return;
        event.preventDefault();
        event.stopPropagation();
    };

    const { first } = rows;
    const visible = items.slice(first, rows.last);
    const current = items[at];
    return (
        <dialog
            ref={dialog}
            class={`picker ${name}`}
            aria-label={props.label}
            onClose={props.onClose}
            onClick={(event) => {
                if (event.target === dialog.current) props.onClose();
            }}
            // The keys of the page mean nothing here.
            onKeyDown={(event) => event.stopPropagation()}
        >
            <div class="picker-input">
                <SearchIcon />
                <input
                    ref={input}
                    type="text"
                    role="combobox"
                    aria-label={props.label}
                    aria-expanded="true"
                    aria-controls={`${name}-list`}
                    {...(current === undefined || !rows.has(at)
                        ? {}
                        : { 'aria-activedescendant': `${name}-${props.keyOf(current)}` })}
                    placeholder={props.placeholder}
                    value={props.text}
                    spellcheck={false}
                    autocomplete="off"
                    onInput={(event) => props.onText(event.currentTarget.value)}
                    onKeyDown={onKeyDown}
                />
            </div>
            {props.actions}
            {items.length === 0 && <p class="picker-empty">{props.empty}</p>}
            <div
                ref={list}
                class={props.isBehind ? 'picker-list behind' : 'picker-list'}
                id={`${name}-list`}
                role="listbox"
                aria-label={props.label}
                aria-multiselectable={props.isOn !== undefined}
                tabIndex={-1}
                onScroll={rows.onScroll}
            >
                <div class="picker-rows" role="presentation" style={{ height: `${rows.height}px` }}>
                    {visible.map((item, i) => (
                        <PickerRow
                            key={props.keyOf(item)}
                            props={props}
                            item={item}
                            at={first + i}
                            top={rows.topOf(first + i)}
                            isActive={first + i === at}
                            onPoint={() => goTo(first + i)}
                            onChoose={(event) => choose(item, event)}
                        />
                    ))}
                </div>
            </div>
            {props.hint && <div class="picker-hint">{props.hint}</div>}
        </dialog>
    );
}
