/** The theme, light or dark: the theme of the system, unless the user chose. This browser stores the choice. */
import { computed, effect, signal } from '@preact/signals';
import { store, stored } from './settings';

export type Theme = 'light' | 'dark';

const system = signal<Theme>('light');

function storedTheme(): Theme | null {
    const text = stored('theme');
    return text === 'light' || text === 'dark' ? text : null;
}

const chosen = signal<Theme | null>(storedTheme());

/** Paper is light. */
const isPrinting = signal(false);

export const theme = computed<Theme>(() => (isPrinting.value ? 'light' : (chosen.value ?? system.value)));

/** Changes to the other theme. If this is the system's theme, follows the system again. */
export function toggleTheme(): void {
    const next = theme.value === 'dark' ? 'light' : 'dark';
    chosen.value = next === system.value ? null : next;
    store('theme', chosen.value);
}

/** Applies the theme to the document, and follows changes of the system. */
export function followTheme(): void {
    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    const follow = (): void => {
        system.value = dark.matches ? 'dark' : 'light';
    };
    follow();
    dark.addEventListener('change', follow);
    window.matchMedia('print').addEventListener('change', ({ matches }) => {
        isPrinting.value = matches;
    });
    effect(() => {
        document.documentElement.dataset.theme = theme.value;
    });
}
