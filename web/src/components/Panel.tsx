/** The views of the selected threads, a tab each, with the filters that they share. */
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { categoryColor } from '../draw/colors';
import { NODE_TABS, type Tab } from '../state/codec';
import { isMarkerView, markerSearch } from '../state/markers';
import { MARKER_SEARCH_HELP, STACK_SEARCH_HELP } from '../state/search_help';
import { changeView, info, inverted, search, view } from '../state/store';
import { invert } from '../state/tree';
import { hasSidebar, seenCategories, sidebarOpen, toggleSidebar } from '../state/windows';
import { Butterfly } from './Butterfly';
import { CallTree } from './CallTree';
import { SampleFilters } from './FilterBar';
import { FlameGraph } from './FlameGraph';
import { FunctionList } from './FunctionList';
import { SidebarIcon } from './icons';
import { MarkerChart } from './MarkerChart';
import { MarkerCount, MarkerTable } from './MarkerTable';
import { focusView, SearchInput } from './SearchInput';
import { StackChart } from './StackChart';
import { Summary } from './Summary';
import { ProfileText } from './text';
import { TransformBar } from './TransformBar';

/** The views there are: each is a name, a title, and a component that fills the panel. */
export const VIEWS: readonly { name: Tab; title: string; component: () => JSX.Element }[] = [
    { name: 'summary', title: 'Summary', component: Summary },
    { name: 'calltree', title: 'Call Tree', component: CallTree },
    { name: 'functions', title: 'Functions', component: FunctionList },
    { name: 'butterfly', title: 'Butterfly', component: Butterfly },
    { name: 'flame-graph', title: 'Flame Graph', component: FlameGraph },
    { name: 'stack-chart', title: 'Stack Chart', component: StackChart },
    { name: 'marker-chart', title: 'Marker Chart', component: MarkerChart },
    { name: 'marker-table', title: 'Marker Table', component: MarkerTable },
];

const StackSearch = (): JSX.Element => (
    <SearchInput
        id="stack-search"
        label="Filter stacks"
        placeholder="Filter stacks (comma = and)"
        help={STACK_SEARCH_HELP}
        text={search.value}
        onSearch={(typed, step) => changeView({ search: typed }, step)}
    />
);

const MarkerSearch = (): JSX.Element => (
    <SearchInput
        id="marker-search"
        label="Filter markers"
        placeholder="Filter markers (comma = or)"
        help={MARKER_SEARCH_HELP}
        text={markerSearch.value}
        onSearch={(typed, step) => changeView({ markerSearch: typed }, step)}
    />
);

function Legend(): JSX.Element {
    return (
        <ul class="legend" aria-label="Categories">
            {seenCategories.value.map((at) => {
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

function SameWidths(): JSX.Element {
    const { sameWidths } = view.value;
    return (
        <label class="checkbox" title="Give each stack the same width, regardless of its duration">
            <input
                type="checkbox"
                checked={sameWidths}
                onChange={() => changeView({ sameWidths: !sameWidths }, 'push')}
            />
            Same width for each stack
        </label>
    );
}

/** What one tab can be told. The filters that most have are before it, so that nothing moves between tabs. */
function Options({ tab }: { tab: Tab }): JSX.Element {
    if (tab === 'stack-chart') return <SameWidths />;
    if (isMarkerView.value) return <MarkerCount />;
    return (
        <label
            class={NODE_TABS.has(tab) ? 'checkbox' : 'checkbox absent'}
            title="Start at the leaf functions and expand to their callers (i)"
        >
            <input type="checkbox" checked={inverted.value} onChange={() => void invert()} />
            Invert call stack
        </label>
    );
}

/** Where arrows go from a tab; null for other keys. */
function tabByKey(tab: Tab, key: string): Tab | null {
    const at = VIEWS.findIndex((one) => one.name === tab);
    const steps: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: -1 };
    const step = steps[key];
    return step === undefined ? null : (VIEWS[(step + VIEWS.length) % VIEWS.length]?.name ?? null);
}

function onTabKey(event: KeyboardEvent): void {
    const to = event.ctrlKey || event.metaKey || event.altKey ? null : tabByKey(view.value.tab, event.key);
    if (to === null) return;
    if (to !== view.value.tab) changeView({ tab: to }, 'push');
    document.querySelector<HTMLElement>(`#tab-${to}`)?.focus();
    event.preventDefault();
}

export function Panel(): JSX.Element {
    const { tab } = view.value;
    const isMarkers = isMarkerView.value;
    useEffect(() => {
        document.querySelector(`#tab-${tab}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }, [tab]);
    const View = VIEWS.find((one) => one.name === tab)?.component ?? CallTree;
    return (
        <section class="panel" aria-label="Selected threads">
            <div class="tab-bar">
                <div role="tablist" aria-label="Views" onKeyDown={onTabKey}>
                    {VIEWS.map((one) => (
                        <button
                            key={one.name}
                            type="button"
                            role="tab"
                            id={`tab-${one.name}`}
                            class="tab"
                            data-title={one.title}
                            aria-selected={one.name === tab}
                            aria-controls="view"
                            tabIndex={one.name === tab ? 0 : -1}
                            onClick={(event) => {
                                // After a click of the mouse the keys are those of the view; one of the keyboard stays here.
                                if (event.detail > 0) event.currentTarget.blur();
                                if (one.name !== tab) changeView({ tab: one.name }, 'push');
                                else if (event.detail > 0) focusView();
                            }}
                        >
                            {one.title}
                        </button>
                    ))}
                </div>
                <Legend />
                <button
                    type="button"
                    class={hasSidebar(tab) ? 'button quiet square' : 'button quiet square absent'}
                    aria-label="Sidebar"
                    title={sidebarOpen.value ? 'Hide the sidebar (s)' : 'Show the sidebar (s)'}
                    aria-pressed={sidebarOpen.value}
                    onClick={toggleSidebar}
                >
                    <SidebarIcon />
                </button>
            </div>
            <div class="filter-bar">
                {!isMarkers && <SampleFilters />}
                <Options tab={tab} />
                {isMarkers ? <MarkerSearch /> : <StackSearch />}
            </div>
            <TransformBar />
            <div class="view" id="view" role="tabpanel" aria-labelledby={`tab-${tab}`}>
                <View />
            </div>
        </section>
    );
}
