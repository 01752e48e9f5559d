/** The menu of a row or a button. Arrows walk it, Enter chooses, Escape and clicks elsewhere close it. */
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { menu } from '../state/windows';

const MARGIN = 8;
const ENABLED = 'button:not([disabled])';

function close(): void {
    const owner = menu.value?.owner;
    menu.value = null;
    owner?.focus();
}

/** Does what the key of an item stands for; false if there is none. */
function chooseByKey(key: string): boolean {
    const item = menu.value?.items.find((candidate) => candidate.enabled && candidate.keys === key);
    if (!item) return false;
    close();
    item.action();
    return true;
}

function onMenuKey(event: KeyboardEvent): void {
    const list = event.currentTarget as HTMLElement;
    const items = [...list.querySelectorAll<HTMLElement>(ENABLED)];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const move: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    const target = move[event.key];
    if (target !== undefined) items[(target + items.length) % items.length]?.focus();
    else if (event.key === 'Escape' || event.key === 'Tab') close();
    // Enter chooses the item that has the focus.
    else if (event.ctrlKey || event.metaKey || event.altKey || event.key === 'Enter' || !chooseByKey(event.key)) return;
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
            if (menu.value && !element.current?.contains(event.target as Node)) menu.value = null;
        };
        window.addEventListener('pointerdown', onPointer, true);
        return () => window.removeEventListener('pointerdown', onPointer, true);
    }, []);
    if (!current) return null;
    return (
        <div ref={element} class="menu" role="menu" tabIndex={-1} onKeyDown={onMenuKey}>
            {current.items.map((item) => (
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
                    <kbd>{item.keys}</kbd>
                </button>
            ))}
        </div>
    );
}
