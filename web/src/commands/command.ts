/** Commands of the page, and the names of their keys. */

export interface Command {
    /** As a menu has it. */
    readonly title: string;
    /** KeyboardEvent.key, after "Ctrl+" (Cmd on a Mac) and "Shift+" for keys that are no characters; '' for none. */
    key: string;
    /** Whether the command applies now. */
    isOffered: () => boolean;
    run: () => void;
    /** It works in text fields, too. */
    isEverywhere?: boolean;
    /** It is not worth a line of the palette. */
    isHidden?: boolean;
}

const always = (): boolean => true;

/** A command that always applies and has no key, but for what `more` has. */
export function command(title: string, run: () => void, more: Partial<Command> = {}): Command {
    return { title, key: '', isOffered: always, run, ...more };
}

/** The only key that has a meaning where no profile could be loaded. */
export const OPEN_KEY = 'o';

/** A key as commands name it; null for those that mean nothing alone or belong to the browser. */
export function keyName(
    event: Pick<KeyboardEvent, 'altKey' | 'ctrlKey' | 'key' | 'metaKey' | 'shiftKey'>,
): string | null {
    if (event.altKey) return null;
    const isCharacter = event.key.length === 1;
    // With Ctrl, a capital is Shift and the letter, Caps Lock or not.
    if ((event.ctrlKey || event.metaKey) && isCharacter)
        return `Ctrl+${event.shiftKey ? event.key.toUpperCase() : event.key.toLowerCase()}`;
    if (event.ctrlKey || event.metaKey) return null;
    return event.shiftKey && !isCharacter ? `Shift+${event.key}` : event.key;
}

const KEY_TEXTS: Record<string, string> = { Escape: 'Esc', ' ': 'Space', ArrowUp: '↑', ArrowDown: '↓' };

/** A command's key as a reader knows it: "Ctrl+Shift+Z". */
export function keyText(key: string): string {
    const ctrl = key.startsWith('Ctrl+') ? 'Ctrl+' : '';
    const rest = key.slice(ctrl.length);
    if (ctrl === '') return KEY_TEXTS[rest] ?? rest;
    return rest === rest.toLowerCase() ? ctrl + rest.toUpperCase() : `${ctrl}Shift+${rest}`;
}
