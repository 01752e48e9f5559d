/** The views of the selected threads, a tab each, with the filters that they share. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { categoryColor, slotColor } from '../draw/colors';
import { NODE_TABS, offeredTabs, TAB_TITLES, type Tab } from '../state/codec';
import { MARKER_SEARCH_HELP, STACK_SEARCH_HELP } from '../state/search_help';
import type { Session } from '../state/session';
import { isSidebarOpen, toggleSidebar } from '../state/settings';
import { act, hasSidebar } from '../state/windows';
import { formatCount, formatShare } from '../text/format';
import { plainText } from '../text/plain';
import { Butterfly } from './Butterfly';
import { CallTree } from './CallTree';
import { ColorSelect, SampleFilters } from './FilterBar';
import { FlameGraph } from './FlameGraph';
import { FunctionList } from './FunctionList';
import { SidebarIcon } from './icons';
import { MarkerChart } from './MarkerChart';
import { MarkerCount, MarkerTable } from './MarkerTable';
import { focusView, SearchInput } from './SearchInput';
import { StackChart } from './StackChart';
import { Summary } from './Summary';
import { useSession } from './session_context';
import { TransformBar } from './TransformBar';
import { ProfileText } from './text';
import { useSize } from './use';
import { WaitNote } from './WaitNote';
import { WaitCount, WaitGroupingChoice, WaitTable } from './WaitTable';

/** What fills the panel, in each view. */
const VIEWS: Record<Tab, () => JSX.Element> = {
    summary: Summary,
    calltree: CallTree,
    functions: FunctionList,
    butterfly: Butterfly,
    'flame-graph': FlameGraph,
    'stack-chart': StackChart,
    'marker-chart': MarkerChart,
    'marker-table': MarkerTable,
    waits: WaitTable,
};

const StackSearch = (): JSX.Element => {
    const session = useSession();
    const { changeView, search, view } = session.store;
    const { goToMatch } = session.treeSearch;
    return (
        <SearchInput
            id="stack-search"
            label="Filter stacks"
            placeholder="Filter stacks (comma = and)"
            help={STACK_SEARCH_HELP}
            text={search.value}
            onSearch={(typed, step) => changeView({ search: typed }, step)}
            onCtrlEnter={() => act(session.treeChanges.mergeMatching())}
            onEnter={(where) => NODE_TABS.has(view.value.tab) && act(goToMatch(where))}
        />
    );
};

/** What the search leaves is what percentages are of, from then on. */
function SearchCount(): JSX.Element | null {
    const session = useSession();
    const count = session.tree.searchCount.value;
    const place = session.treeSearch.matchPlace.value;
    if (!count) return null;
    const { all, kept } = count;
    return (
        <span class="search-count" role="status" title="Percentages are of the samples that match">
            {`${formatCount(kept)} of ${formatCount(all)} ${all === 1 ? 'sample' : 'samples'} match (= 100%)`}
            {place !== '' && `, row ${place}`}
        </span>
    );
}

const MarkerSearch = (): JSX.Element => {
    const session = useSession();
    const { markerSearch } = session.markers;
    const { changeView } = session.store;
    return (
        <SearchInput
            id="marker-search"
            label="Filter markers"
            placeholder="Filter markers (comma = or)"
            help={MARKER_SEARCH_HELP}
            text={markerSearch.value}
            onSearch={(typed, step) => changeView({ markerSearch: typed }, step)}
        />
    );
};

/** px: with less for each, names would be cut to letters; short ones need less. */
const LEAST_LEGEND_ENTRY = 56;
/** px: of a square with the gaps around it, and of a character. */
const LEGEND_SQUARE = 22;
const LEGEND_CHARACTER = 6.2;

function Legend(): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { seenCategories } = session.hover;
    const { view } = session.store;
    // Frames have categories that no sample ends in.
    const seen = new Set(seenCategories.value);
    if (COLORED_TABS.has(view.value.tab))
        for (const { category } of session.coloring.coloredRects.value) for (const one of category) seen.add(one);
    if (view.value.tab === 'calltree') for (const row of session.tree.rows.value) seen.add(row.category);
    const list = useRef<HTMLUListElement>(null);
    const { width } = useSize(list);
    const categories = [...seen].flatMap((at) => {
        const category = info.value.categories[at];
        return category && category.color !== 'transparent' ? [{ at, category }] : [];
    });
    const needed = categories.reduce((sum, { category: { name } }) => {
        const whole = LEGEND_SQUARE + name.length * LEGEND_CHARACTER;
        return sum + Math.min(whole, LEAST_LEGEND_ENTRY);
    }, 0);
    const hasNames = width >= needed;
    return (
        <ul ref={list} class={hasNames ? 'legend' : 'legend squares'} aria-label="Categories">
            {categories.map(({ at, category }) => (
                <li key={at} title={plainText(category.name, 100)}>
                    <span class="category-square" style={{ background: categoryColor(category) }} />
                    <span class="legend-name">
                        <ProfileText text={category.name} limit={24} />
                    </span>
                </li>
            ))}
        </ul>
    );
}

/** Charts that can be colored by something other than the category. */
const COLORED_TABS: ReadonlySet<Tab> = new Set<Tab>(['flame-graph', 'stack-chart']);
const MOST_IN_LEGEND = 40;

function NameLegend(): JSX.Element {
    const entries = useSession().coloring.legend.value;
    return (
        <ul class="legend names" aria-label="Colors">
            {entries.slice(0, MOST_IN_LEGEND).map(({ key, slot, share }) => (
                <li
                    key={key}
                    class="legend-named"
                    title={`${plainText(key, 400) || 'Not known'}: ${formatShare(share, 1)} of the area`}
                >
                    <span class="category-square" style={{ background: slotColor(slot) }} />
                    <span class="legend-name">
                        <ProfileText text={key || 'not known'} limit={28} />
                    </span>
                </li>
            ))}
        </ul>
    );
}

function SameWidths(): JSX.Element {
    const { changeView, view } = useSession().store;
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
    const session = useSession();
    const { isMarkerView } = session.markers;
    const { inverted } = session.store;
    const { invert } = session.treeChanges;
    if (tab === 'stack-chart') return <SameWidths />;
    if (tab === 'waits') return <WaitCount />;
    if (isMarkerView.value) return <MarkerCount />;
    return (
        <label
            class={NODE_TABS.has(tab) ? 'checkbox' : 'checkbox absent'}
            title="Start at the leaf functions and expand to their callers (i)"
        >
            <input type="checkbox" checked={inverted.value} onChange={() => act(invert())} />
            Invert call stack
        </label>
    );
}

/** Where arrows go from a tab; null for other keys. */
function tabByKey(tabs: readonly Tab[], tab: Tab, key: string): Tab | null {
    const at = tabs.indexOf(tab);
    const steps: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: -1 };
    const step = steps[key];
    return step === undefined ? null : (tabs[(step + tabs.length) % tabs.length] ?? null);
}

function onTabKey(session: Session, event: KeyboardEvent): void {
    const { changeView, view } = session.store;
    const to =
        event.ctrlKey || event.metaKey || event.altKey
            ? null
            : tabByKey(offeredTabs(session.info.value), view.value.tab, event.key);
    if (to === null) return;
    if (to !== view.value.tab) changeView({ tab: to }, 'push');
    document.querySelector<HTMLElement>(`#tab-${to}`)?.focus();
    event.preventDefault();
}

export function Panel(): JSX.Element {
    const session = useSession();
    const { isMarkerView } = session.markers;
    const { changeView, view } = session.store;
    const { colorBy } = session.coloring;
    const { tab } = view.value;
    const isMarkers = isMarkerView.value;
    useEffect(() => {
        document.querySelector(`#tab-${tab}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }, [tab]);
    const View = VIEWS[tab];
    const tabs = offeredTabs(session.info.value);
    return (
        <section class="panel" aria-label="Selected threads">
            <div class="tab-bar">
                <div role="tablist" aria-label="Views" onKeyDown={(event) => onTabKey(session, event)}>
                    {tabs.map((one) => (
                        <button
                            key={one}
                            type="button"
                            role="tab"
                            id={`tab-${one}`}
                            class="tab"
                            data-title={TAB_TITLES[one]}
                            aria-selected={one === tab}
                            aria-controls="view"
                            tabIndex={one === tab ? 0 : -1}
                            onClick={(event) => {
                                // After a click of the mouse the keys are those of the view; one of the keyboard stays here.
                                if (event.detail > 0) event.currentTarget.blur();
                                if (one !== tab) changeView({ tab: one }, 'push');
                                else if (event.detail > 0) focusView();
                            }}
                        >
                            {TAB_TITLES[one]}
                        </button>
                    ))}
                </div>
                {COLORED_TABS.has(tab) && colorBy.value !== 'category' ? <NameLegend /> : <Legend />}
                <button
                    type="button"
                    class={hasSidebar(tab) ? 'button quiet square' : 'button quiet square absent'}
                    aria-label="Sidebar"
                    title={isSidebarOpen(tab) ? 'Hide the sidebar (s)' : 'Show the sidebar (s)'}
                    aria-pressed={isSidebarOpen(tab)}
                    onClick={() => toggleSidebar(tab)}
                >
                    <SidebarIcon />
                </button>
            </div>
            <div class="filter-bar">
                {tab === 'waits' ? <WaitGroupingChoice /> : !isMarkers && <SampleFilters />}
                <Options tab={tab} />
                {COLORED_TABS.has(tab) && <ColorSelect />}
                {!isMarkers && tab !== 'waits' && <SearchCount />}
                {isMarkers ? <MarkerSearch /> : <StackSearch />}
            </div>
            <WaitNote />
            <TransformBar />
            <div class="view" id="view" role="tabpanel" aria-labelledby={`tab-${tab}`}>
                <View />
            </div>
        </section>
    );
}
