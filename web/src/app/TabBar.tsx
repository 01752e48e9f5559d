/**
 * The tabs of the views, the legend of colors, and the switch of the sidebar. The bar is as wide as the window, above
 * the view and its sidebar, so that the legend fits.
 */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { categoryColor, slotColor } from '../base/colors';
import { formatShare } from '../base/format';
import { plainText } from '../base/plain';
import { CHANGE_LEVELS, describeLevel, levelColor } from '../base/rect_colors';
import { useSession } from '../session/context';
import { SidebarIcon } from '../ui/icons';
import { focusView } from '../ui/SearchInput';
import { ProfileText } from '../ui/text';
import { useSize } from '../ui/use';
import { COLORED_TABS, offeredTabs, TAB_TITLES, type Tab } from '../view/codec';
import { isSidebarOpen, showsFlame, toggleSidebar } from '../window/settings';
import { hasSidebar } from '../window/windows';
import type { Session } from './session';

/** px: minimum width of an entry of the legend with a long name. Narrower entries would show only a few letters. */
const LEAST_LEGEND_ENTRY = 56;
/** px: width of the colored square with the gaps around it, and mean width of a character. */
const LEGEND_SQUARE = 22;
const LEGEND_CHARACTER = 6.2;

function Legend(): JSX.Element {
    const session = useSession();
    const { info } = session;
    const { seenCategories } = session.hover;
    const { view } = session.store;
    // Some categories occur only in frames, and no sample ends in them.
    const seen = new Set(seenCategories.value);
    if (COLORED_TABS.has(view.value.tab) || showsFlame(view.value))
        for (const rects of session.coloring.coloredRects.value)
            for (const category of rects.category) seen.add(category);
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

/** The colors of a change, from less to more. */
function ChangeLegend(): JSX.Element {
    return (
        <div
            class="change-legend"
            role="img"
            aria-label="Colors: blue: less in the new side; orange: more; gray: the same"
        >
            <span>Less in new</span>
            <span class="change-levels">
                {CHANGE_LEVELS.map((level) => (
                    <span key={level} style={{ background: levelColor(level) }} title={describeLevel(level)} />
                ))}
            </span>
            <span>More in new</span>
        </div>
    );
}

const MOST_IN_LEGEND = 40;

function NameLegend(): JSX.Element {
    const entries = useSession().coloring.legend.value;
    return (
        <ul class="legend names" aria-label="Colors">
            {entries.slice(0, MOST_IN_LEGEND).map(({ key, slot, share }) => (
                <li
                    key={key}
                    class="legend-named"
                    title={`${plainText(key, 400) || 'Unknown'}: ${formatShare(share, 1)} of the area`}
                >
                    <span class="category-square" style={{ background: slotColor(slot) }} />
                    <span class="legend-name">
                        <ProfileText text={key || 'unknown'} limit={28} />
                    </span>
                </li>
            ))}
        </ul>
    );
}

/** Returns the tab to which an arrow key leads, or null for other keys. */
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
            : tabByKey(offeredTabs(session.info.value, view.value), view.value.tab, event.key);
    if (to === null) return;
    if (to !== view.value.tab) changeView({ tab: to }, 'push');
    document.querySelector<HTMLElement>(`#tab-${to}`)?.focus();
    event.preventDefault();
}

export function TabBar(): JSX.Element {
    const session = useSession();
    const { changeView, view } = session.store;
    const { colorBy } = session.coloring;
    const { tab } = view.value;
    useEffect(() => {
        document.querySelector(`#tab-${tab}`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }, [tab]);
    return (
        <div class="tab-bar">
            <div role="tablist" aria-label="Views" onKeyDown={(event) => onTabKey(session, event)}>
                {offeredTabs(session.info.value, view.value).map((offered) => (
                    <button
                        key={offered}
                        type="button"
                        role="tab"
                        id={`tab-${offered}`}
                        class="tab"
                        data-title={TAB_TITLES[offered]}
                        aria-selected={offered === tab}
                        aria-controls="view"
                        tabIndex={offered === tab ? 0 : -1}
                        onClick={(event) => {
                            // After a click with the mouse, the view gets the focus. After a key, the focus stays on
                            // the tab.
                            if (event.detail > 0) event.currentTarget.blur();
                            if (offered !== tab) changeView({ tab: offered }, 'push');
                            else if (event.detail > 0) focusView();
                        }}
                    >
                        {TAB_TITLES[offered]}
                    </button>
                ))}
            </div>
            {!(COLORED_TABS.has(tab) || showsFlame(view.value)) || colorBy.value === 'category' ? (
                <Legend />
            ) : colorBy.value === 'change' ? (
                <ChangeLegend />
            ) : (
                <NameLegend />
            )}
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
    );
}
