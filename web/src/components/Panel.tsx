/** The views of the selected threads, a tab each, with the filters that they share. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { categoryColor } from '../draw/colors';
import { NODE_TABS, type Tab } from '../state/codec';
import { changeView, info, inverted, search, view } from '../state/store';
import { invert } from '../state/tree';
import { seenCategories, sidebarOpen, toggleSidebar } from '../state/windows';
import { CallTree } from './CallTree';
import { FlameGraph } from './FlameGraph';
import { FunctionList } from './FunctionList';
import { CloseIcon, SearchIcon, SidebarIcon } from './icons';
import { ProfileText } from './text';
import { TransformBar } from './TransformBar';

const SEARCH_HELP = `Keeps the samples that have every term somewhere in their stack: in a function's, file's or library's name.
-term   leaves out samples with it
"term"   the whole name
/term/   a regular expression
lib:term   file:term   only in names of libraries, of files`;

/** ms without a key before a search is made. */
const SEARCH_DELAY = 150;

/** The views there are: each is a name, a title, and a component that fills the panel. */
export const VIEWS: readonly { name: Tab; title: string; component: () => JSX.Element }[] = [
    { name: 'calltree', title: 'Call Tree', component: CallTree },
    { name: 'functions', title: 'Functions', component: FunctionList },
    { name: 'flame-graph', title: 'Flame Graph', component: FlameGraph },
];

function focusView(): void {
    document.querySelector<HTMLElement>('#view .tree, #view .chart')?.focus();
}

function SearchBox(): JSX.Element {
    const input = useRef<HTMLInputElement>(null);
    const timer = useRef(0);
    const text = search.value;
    useEffect(() => {
        // Back, forward and "clear" change the search from outside; typing must not be overwritten.
        const box = input.current;
        if (box && box.value.trim() !== text.trim()) box.value = text;
    }, [text]);
    const apply = (): void => {
        window.clearTimeout(timer.current);
        const typed = input.current?.value ?? '';
        if (typed !== search.value)
            changeView({ search: typed }, search.value === '' || typed === '' ? 'push' : 'replace');
    };
    const clear = (): void => {
        if (input.current) input.current.value = '';
        apply();
    };
    return (
        <search class="search">
            <SearchIcon />
            <input
                ref={input}
                id="stack-search"
                type="text"
                aria-label="Filter stacks"
                placeholder="Filter stacks: all of these, comma, separated"
                title={SEARCH_HELP}
                spellcheck={false}
                autocomplete="off"
                onInput={() => {
                    window.clearTimeout(timer.current);
                    timer.current = window.setTimeout(apply, SEARCH_DELAY);
                }}
                onKeyDown={(event) => {
                    if (event.key === 'Enter') {
                        apply();
                        focusView();
                    } else if (event.key === 'Escape') {
                        if (event.currentTarget.value === '')
                            focusView();
                        else clear();
                    } else return;
                    event.preventDefault();
                }}
            />
            {text === '' ? (
                <kbd>/</kbd>
            ) : (
                <button
                    type="button"
                    class="button quiet square small"
                    aria-label="Clear the search"
                    title="Clear (Esc)"
                    onClick={clear}
                >
                    <CloseIcon />
                </button>
            )}
        </search>
    );
}

function Legend(): JSX.Element {
    const seen = [...seenCategories.value].sort((a, b) => a - b);
    return (
        <ul class="legend" aria-label="Categories">
            {seen.map((at) => {
                const category = info.value.categories[at];
                if (!category || category.color === 'transparent') return null;
                return (
                    <li key={at}>
                        <span class="category-square" style={{ background: categoryColor(category) }} />
                        <ProfileText text={category.name} limit={24} />
                    </li>
                );
            })}
        </ul>
    );
}

export function Panel(): JSX.Element {
    const { tab } = view.value;
    const View = VIEWS.find((one) => one.name === tab)?.component ?? CallTree;
    return (
        <section class="panel" aria-label="Selected threads">
            <div class="tab-bar">
                <div role="tablist" aria-label="Views">
                    {VIEWS.map((one) => (
                        <button
                            key={one.name}
                            type="button"
                            role="tab"
                            id={`tab-${one.name}`}
                            class="tab"
                            aria-selected={one.name === tab}
                            aria-controls="view"
                            onClick={() => {
                                if (one.name !== tab) changeView({ tab: one.name }, 'push');
                            }}
                        >
                            {one.title}
                        </button>
                    ))}
                </div>
                <Legend />
                <button
                    type="button"
                    class={NODE_TABS.has(tab) ? 'button quiet square' : 'button quiet square absent'}
                    aria-label="Sidebar"
                    title={sidebarOpen.value ? 'Hide the sidebar (s)' : 'Show the sidebar (s)'}
                    aria-pressed={sidebarOpen.value}
                    onClick={toggleSidebar}
                >
                    <SidebarIcon />
                </button>
            </div>
            <div class="filter-bar">
                <label class={NODE_TABS.has(tab) ? 'checkbox' : 'checkbox absent'} title="Start from where the time was spent and go up to the callers (i)">
                    <input type="checkbox" checked={inverted.value} onChange={() => void invert()} />
                    Invert call stack
                </label>
                <SearchBox />
            </div>
            <TransformBar />
            <div class="view" id="view" role="tabpanel" aria-labelledby={`tab-${tab}`}>
                <View />
            </div>
        </section>
    );
}
