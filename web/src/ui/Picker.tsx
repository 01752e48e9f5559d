/**
 * An input with a list of matches below: the command palette and the list of tracks. The focus stays in the input.
 * Arrows move in the list, Enter chooses, Escape closes. The list renders only visible rows.
 */
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { SearchIcon } from './icons';
import { useRowWindow } from './row_window';
import { useSize } from './use';

/** The height of a row in px, as in the style sheet. */
const ROW_HEIGHT = 28;
const PAGE = 10;

export interface ChosenWith {
    /** Whether the user held Ctrl or Cmd, which keeps the list open, or starts another action. */
    ctrl: boolean;
    shift: boolean;
    /** Whether the user clicked the item. A click means this item even if the list is older than the text. */
    mouse: boolean;
}

interface PickerProps<Item> {
    /** A name that distinguishes the ids of this picker. */
    name: string;
    label: string;
    placeholder: string;
    text: string;
    items: readonly Item[];
    /** Whether the items belong to an older text of the input. */
    isBehind?: boolean;
    keyOf: (item: Item) => string;
    render: (item: Item) => ComponentChildren;
    /** Returns whether an item is on, for lists with items to turn on and off. */
    isOn?: (item: Item) => boolean;
    onText: (text: string) => void;
    /** Called with the chosen item, or with null for Enter in an empty list. */
    onChoose: (item: Item | null, held: ChosenWith) => void;
    onClose: () => void;
    /** Elements between the input and the list. */
    actions?: ComponentChildren;
    /** An element below the list. */
    hint?: ComponentChildren;
    /** The message of an empty list. */
    empty: ComponentChildren;
}

/**
 * Returns the item to which a key moves from another item. Arrows continue at the other end. Returns undefined for
 * other keys.
 */
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
    /** The position in the list. */
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
                // The list may also move below a mouse at rest.
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
    /**
     * The item to which the user moved, because other items may arrive meanwhile. '' means the first item, which is the
     * best match.
     */
    const [activeKey, setActiveKey] = useState('');
    const activeAt = activeKey === '' ? -1 : items.findIndex((item) => props.keyOf(item) === activeKey);
    const at = Math.max(0, activeAt);
    const { height: room } = useSize(list);
    const rows = useRowWindow(list, { count: items.length, rowHeight: ROW_HEIGHT, room, revealed: null });

    // A layout effect, so that the text typed after the opening key goes to the input.
    useLayoutEffect(() => {
        const before = document.activeElement;
        dialog.current?.showModal();
        input.current?.focus();
        return () => {
            if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
        };
    }, []);
    // A new search starts at the best match.
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
        // The dialog's close event would come later, and the text typed meanwhile would be lost.
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
            // The keys of the page have no effect here.
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
