/** A view of the selected threads, with the filters that all views share. */
import type { JSX } from 'preact';
import { formatCount, formatShare } from '../base/format';
import { CallTree } from '../calltree/CallTree';
import { FunctionList } from '../calltree/FunctionList';
import { TransformBar } from '../calltree/TransformBar';
import { FlameGraph } from '../flame/FlameGraph';
import { StackChart } from '../flame/StackChart';
import { MarkerCount, MarkerTable } from '../markers/MarkerTable';
import { useSession } from '../session/context';
import { SearchInput } from '../ui/SearchInput';
import { BesideSplitter } from '../ui/Splitter';
import { MARKER_SEARCH_HELP, STACK_SEARCH_HELP } from '../ui/search_help';
import { COLORED_TABS, MARKER_TABS, NODE_TABS, type Tab } from '../view/codec';
import { WaitCount, WaitGroupingChoice } from '../waits/WaitBar';
import { besideWidth, offersFlame, showsFlame, toggleFlame } from '../window/settings';
import { act } from '../window/windows';
import { ColorSelect, ComparisonChoice, GroupingSelect, SampleFilters } from './FilterBar';
import { useDrawnTab } from './drawn_tab';
import { later } from './later';

const GroupList = later('GroupList');
const ComparedTable = later('ComparedTable');
const WaitTable = later('WaitTable');

function Waits(): JSX.Element {
    return useSession().tree.isChange.value ? <ComparedTable /> : <WaitTable />;
}

function Functions(): JSX.Element {
    const { isChange } = useSession().tree;
    return useSession().store.view.value.groupsBy !== null && !isChange.value ? <GroupList /> : <FunctionList />;
}

/** The component of each view. */
const VIEWS: Record<Tab, () => JSX.Element> = {
    summary: later('Summary'),
    calltree: CallTree,
    functions: Functions,
    butterfly: later('Butterfly'),
    'flame-graph': FlameGraph,
    'stack-chart': StackChart,
    'marker-chart': later('MarkerChart'),
    'marker-table': MarkerTable,
    waits: Waits,
    intervals: later('IntervalTable'),
    processes: later('ProcessTable'),
    notes: later('NoteList'),
    'heat-map': later('HeatMap'),
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
            isQuick={session.tree.isQuick}
            onCtrlEnter={() => act(session.treeChanges.mergeMatching())}
            onEnter={(where) => NODE_TABS.has(view.value.tab) && act(goToMatch(where))}
        />
    );
};

/** The noun for the samples of off-CPU time, in recordings with waits. */
const WAIT_NOUNS: Readonly<Record<string, string>> = { 'off-cpu-time': 'wait', time: 'samples and wait' };

/** The number of samples that match the search. */
function SearchCount(): JSX.Element | null {
    const session = useSession();
    const count = session.tree.searchCount.value;
    const place = session.treeSearch.matchPlace.value;
    if (!count) return null;
    const { all, kept } = count;
    const noun = (session.info.value.hasWaits && WAIT_NOUNS[session.filters.weight.value.id]) || 'sample';
    return (
        <span class="search-count" role="status" title={`The percentages below are of the matching ${noun}s`}>
            {`${formatCount(kept)} of ${formatCount(all)} ${noun}${all === 1 ? '' : 's'} match (${formatShare(kept, all)})`}
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

function FlameBeside(): JSX.Element {
    return (
        <label class="checkbox" title="Show the flame graph beside the call tree">
            <input type="checkbox" checked={showsFlame(useSession().store.view.value)} onChange={toggleFlame} />
            Flame graph
        </label>
    );
}

/**
 * The options of one tab. The options that most tabs have come first, so that controls do not move when the tab
 * changes.
 */
function Options({ tab }: { tab: Tab }): JSX.Element {
    const session = useSession();
    const { isMarkerView } = session.markers;
    const { inverted } = session.store;
    const { invert } = session.treeChanges;
    if (tab === 'stack-chart') return <SameWidths />;
    if (tab === 'waits') return <WaitCount />;
    if (tab === 'intervals') return <span class="muted" />;
    if (isMarkerView.value) return <MarkerCount />;
    if (tab === 'functions' && !session.tree.isChange.value) return <GroupingSelect />;
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

export function Panel(): JSX.Element {
    const session = useSession();
    const { view } = session.store;
    const tab = useDrawnTab();
    const drawn = { ...view.value, tab };
    const isMarkers = MARKER_TABS.has(tab);
    const View = VIEWS[tab];
    return (
        <section class="panel" aria-label="Selected threads">
            {tab !== 'processes' && tab !== 'notes' && (
                <div class="filter-bar">
                    {tab === 'waits' && <WaitGroupingChoice />}
                    {tab === 'waits' ? <ComparisonChoice /> : !isMarkers && <SampleFilters />}
                    <Options tab={tab} />
                    {offersFlame(drawn) && <FlameBeside />}
                    {(COLORED_TABS.has(tab) || showsFlame(drawn)) && <ColorSelect />}
                    {!isMarkers && tab !== 'waits' && <SearchCount />}
                    {isMarkers ? <MarkerSearch /> : <StackSearch />}
                </div>
            )}
            <TransformBar />
            <div class="panes">
                <div class="view" id="view" role="tabpanel" aria-labelledby={`tab-${tab}`}>
                    <View />
                </div>
                {showsFlame(drawn) && (
                    <>
                        <BesideSplitter label="Width of the flame graph" />
                        <section
                            class="beside"
                            aria-label="Flame graph beside the tree"
                            style={besideWidth.value === null ? {} : { width: `${besideWidth.value}px` }}
                        >
                            <FlameGraph />
                        </section>
                    </>
                )}
            </div>
        </section>
    );
}
