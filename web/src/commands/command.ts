/** Commands of the page, and the names of their keys. */

export interface Command {
    /** The title in menus. */
    readonly title: string;
    /**
     * KeyboardEvent.key, after "Ctrl+" (Cmd on a Mac), and after "Shift+" for keys without a character, or '' for no
     * key.
     */
    key: string;
    /** Whether the command applies now. */
    isOffered: () => boolean;
    run: () => void;
    /** Whether the key also works in text fields. */
    isEverywhere?: boolean;
    /** Whether the palette omits the command. */
    isHidden?: boolean;
}

const always = (): boolean => true;

/** Creates a command. By default, the command always applies and has no key. `more` overrides this. */
export function command(title: string, run: () => void, more: Partial<Command> = {}): Command {
    return { title, key: '', isOffered: always, run, ...more };
}

/** The only key that works if no profile could be loaded. */
export const OPEN_KEY = 'o';

/** Returns the key in the notation of commands, or null for modifier keys and keys of the browser. */
export function keyName(
    event: Pick<KeyboardEvent, 'altKey' | 'ctrlKey' | 'key' | 'metaKey' | 'shiftKey'>,
): string | null {
    if (event.altKey) return null;
    const isCharacter = event.key.length === 1;
    // With Ctrl, an upper-case letter is Shift and the letter, independent of Caps Lock.
    if ((event.ctrlKey || event.metaKey) && isCharacter)
        return `Ctrl+${event.shiftKey ? event.key.toUpperCase() : event.key.toLowerCase()}`;
    if (event.ctrlKey || event.metaKey) return null;
    return event.shiftKey && !isCharacter ? `Shift+${event.key}` : event.key;
}

const KEY_TEXTS: Record<string, string> = { Escape: 'Esc', ' ': 'Space', ArrowUp: '↑', ArrowDown: '↓' };

/** Returns a key as text for users: "Ctrl+Shift+Z". */
export function keyText(key: string): string {
    const ctrl = key.startsWith('Ctrl+') ? 'Ctrl+' : '';
    const rest = key.slice(ctrl.length);
    if (ctrl === '') return KEY_TEXTS[rest] ?? rest;
    return rest === rest.toLowerCase() ? ctrl + rest.toUpperCase() : `${ctrl}Shift+${rest}`;
}
