/**
 * The menu of a row or a button. Arrows and first letters move in it, Enter chooses, and Escape or a click elsewhere
 * closes it.
 */
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { menu } from '../window/windows';

const MARGIN = 8;
const ENABLED = 'button:not([disabled])';

function close(): void {
    const owner = menu.value?.owner;
    menu.value = null;
    owner?.focus();
}

/** Runs the item with this key. Returns false without such an item. */
function chooseByKey(key: string): boolean {
    const item = menu.value?.items.find((candidate) => candidate.enabled && candidate.keys === key);
    if (!item) return false;
    close();
    item.action();
    return true;
}

/** Focuses the next item that begins with a letter. Returns false without such an item. */
function goToLetter(items: HTMLElement[], at: number, key: string): boolean {
    if (key.length !== 1 || key === ' ') return false;
    const letter = key.toLowerCase();
    const after = [...items.slice(at + 1), ...items.slice(0, at + 1)];
    const next = after.find((item) => item.textContent?.toLowerCase().startsWith(letter));
    next?.focus();
    return next !== undefined;
}

function onMenuKey(event: KeyboardEvent): void {
    const list = event.currentTarget as HTMLElement;
    const items = [...list.querySelectorAll<HTMLElement>(ENABLED)];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const move: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    const target = move[event.key];
    if (target !== undefined) items[(target + items.length) % items.length]?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') close();
    // Enter chooses the focused item.
    else if (event.ctrlKey || event.metaKey || event.altKey || event.key === 'Enter') return;
    else if (!chooseByKey(event.key) && !goToLetter(items, at, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
}

export function ContextMenu(): JSX.Element | null {
    const element = useRef<HTMLDivElement>(null);
    const current = menu.value;
    useLayoutEffect(() => {
        const menu = element.current;
        if (!menu || !current) return;
        const { width, height } = menu.getBoundingClientRect();
        menu.style.left = `${Math.max(MARGIN, Math.min(current.x, window.innerWidth - width - MARGIN))}px`;
        menu.style.top = `${Math.max(MARGIN, Math.min(current.y, window.innerHeight - height - MARGIN))}px`;
        menu.querySelector<HTMLElement>(ENABLED)?.focus();
    }, [current?.id]);
    useEffect(() => {
        const onPointer = (event: PointerEvent): void => {
            const target = event.target as Node;
            // A click on the button of the menu closes the menu in the button's own handler.
            const isOfButton = menu.value?.owner instanceof HTMLButtonElement && menu.value.owner.contains(target);
            if (menu.value && !isOfButton && !element.current?.contains(target)) menu.value = null;
        };
        window.addEventListener('pointerdown', onPointer, true);
        return () => window.removeEventListener('pointerdown', onPointer, true);
    }, []);
    if (!current) return null;
    return (
        <div ref={element} class="menu" role="menu" tabIndex={-1} onKeyDown={onMenuKey}>
            {current.items.flatMap((item) => [
                item.group && (
                    <p key={`group ${item.group}`} class="menu-group" role="presentation">
                        {item.group}
                    </p>
                ),
                <button
                    key={item.label}
                    type="button"
                    {...(item.checked === undefined
                        ? { role: 'menuitem' }
                        : { role: 'menuitemcheckbox', 'aria-checked': item.checked })}
                    class={item.startsGroup ? 'starts-group' : ''}
                    tabIndex={-1}
                    disabled={!item.enabled}
                    title={item.title}
                    onClick={() => {
                        close();
                        item.action();
                    }}
                >
                    <span>{item.label}</span>
                    {item.detail && <small>{item.detail}</small>}
                    <kbd>{item.keys}</kbd>
                </button>,
            ])}
        </div>
    );
}
