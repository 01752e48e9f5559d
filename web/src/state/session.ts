/**
 * A session: one profile that is open, with its engine, its view and everything that follows from them. Several can be there at
 * once, and know nothing of one another. What belongs to the window instead is in settings.ts, theme.ts and windows.ts;
 * page.ts has which session is shown.
 *
 * Each part is a file of this folder with a function that makes it from those before: `session.tree` is what
 * createTree() of tree.ts returns.
 */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { ProfileInfo } from '../engine/api';
import { seedsOf } from '../tracks/kinds';
import { createAxis } from './axis';
import { createAxisText } from './axis_text';
import { createButterfly } from './butterfly';
import { createCertainty } from './certainty';
import { createColoring } from './coloring';
import { createCommands } from './commands';
import { createComparison } from './comparison';
import { createCopies } from './copies';
import { createCostText } from './cost_text';
import { createExports } from './exports';
import { createFilters } from './filters';
import { createFlame } from './flame';
import { createFunctions } from './functions';
import type { Given } from './given';
import { createHover } from './hover';
import { createKeyHelp } from './key_help';
import { Lifetime } from './lifetime';
import { createMarkerChart } from './marker_chart';
import { createMarkerFilter } from './marker_filter';
import { createMarkers } from './markers';
import { createNames } from './names';
import { createNodeMenu } from './node_menu';
import { createPalette } from './palette';
import { createProfile } from './profile';
import { createSharing } from './sharing';
import { createSourceFind } from './source_find';
import { createSourcePanel } from './source_panel';
import { createSourceTexts } from './source_texts';
import { createStackChart } from './stack_chart';
import { createStore } from './store';
import { createSummaryView } from './summary_view';
import { createTables } from './tables';
import { createTrackActions } from './track_actions';
import { createTrackList } from './track_list';
import { createTrackTimes } from './track_times';
import { createTransformOffers } from './transform_offers';
import { createTree } from './tree';
import { createTreeChanges } from './tree_changes';
import { createTreeSearch } from './tree_search';
import { createWaitList } from './wait_list';

export interface SessionStart extends Pick<Given, 'engine' | 'file' | 'host' | 'made' | 'query'> {
    /** Tells it from others in the history of the browser. */
    id: string;
    /** No other session has it, also not one of the same profile. */
    serial: number;
    info: ProfileInfo;
}

export interface Session extends ReturnType<typeof createSession> {}

export function createSession({ id, serial, engine, file, host, info: first, made, query }: SessionStart) {
    const lifetime = new Lifetime();
    const info = signal(first);
    const failure = signal('');
    engine.onDeath((sentence) => {
        failure.value = sentence;
    });
    const given: Given = { engine, info, file, made, host, query, lifetime };
    const store = createStore({ ...given, seedsOf });
    const axis = createAxis({ ...given, store });
    const axisText = createAxisText({ ...given, store });
    const trackTimes = createTrackTimes({ ...given, store });
    const names = createNames({ ...given });
    const tables = createTables({ ...given, store });
    const filters = createFilters({ ...given, store });
    const comparison = createComparison({ ...given, store });
    const tree = createTree({ ...given, comparison, filters, names, store, tables });
    const certainty = createCertainty({ ...given, tree });
    const treeChanges = createTreeChanges({ ...given, filters, store, tree });
    const treeSearch = createTreeSearch({ ...given, names, store, tree });
    const functions = createFunctions({ ...given, names, store, tables, tree });
    const butterfly = createButterfly({ ...given, functions, names, store, tables, tree });
    const flame = createFlame({ ...given, store, tree });
    const coloring = createColoring({ ...given, names, store, tree });
    const exports = createExports({ ...given, store, tree });
    const markers = createMarkers({ ...given, axis, store, tables });
    const markerFilter = createMarkerFilter({ ...given, markers, treeChanges });
    const copies = createCopies({ ...given, names });
    const sourceTexts = createSourceTexts({ ...given, names });
    const sourcePanel = createSourcePanel({ ...given, names, sourceTexts, store, tree });
    const transformOffers = createTransformOffers({ ...given, names, store, tree, treeChanges });
    const nodeMenu = createNodeMenu({
        ...given,
        comparison,
        copies,
        names,
        sourcePanel,
        store,
        transformOffers,
        tree,
        treeChanges,
    });
    const profile = createProfile({ ...given, store, tree });
    const sourceFind = createSourceFind({ ...given, sourcePanel });
    const trackActions = createTrackActions({ ...given, exports, store });
    const sharing = createSharing({ ...given, exports, store, tree });
    const commands = createCommands({
        ...given,
        comparison,
        exports,
        filters,
        functions,
        markerFilter,
        nodeMenu,
        profile,
        sharing,
        sourceFind,
        sourcePanel,
        store,
        trackActions,
        tree,
        treeChanges,
        treeSearch,
    });
    const waitList = createWaitList({ ...given, filters, names, store, tables, tree });
    const costText = createCostText({ ...given, filters, tree });
    const hover = createHover({ ...given });
    const keyHelp = createKeyHelp({ ...given, commands, trackActions });
    const markerChart = createMarkerChart({ ...given, axis, markers, store });
    const palette = createPalette({
        ...given,
        coloring,
        commands,
        comparison,
        filters,
        functions,
        names,
        store,
        tree,
        treeChanges,
    });
    const stackChart = createStackChart({ ...given, axis, store, tree });
    const summaryView = createSummaryView({ ...given, filters, names, sourcePanel, store, tree });
    const trackList = createTrackList({ ...given, store });
    return {
        ...given,
        id,
        serial,
        /** The engine has more of the profile: every answer may be another. */
        grow(grown: ProfileInfo): void {
            info.value = grown;
        },
        /** Why its engine answers no more; '' while it does. */
        failure: failure as ReadonlySignal<string>,
        store,
        axis,
        axisText,
        names,
        tables,
        filters,
        comparison,
        certainty,
        tree,
        treeChanges,
        treeSearch,
        functions,
        butterfly,
        flame,
        coloring,
        exports,
        markers,
        markerFilter,
        copies,
        sourcePanel,
        transformOffers,
        nodeMenu,
        profile,
        sharing,
        sourceFind,
        trackActions,
        commands,
        waitList,
        costText,
        hover,
        keyHelp,
        markerChart,
        palette,
        stackChart,
        summaryView,
        trackList,
        trackTimes,
        /** Ends it: nothing of it runs after this, and its engine is gone. */
        dispose(): void {
            lifetime.end();
            engine.end();
        },
    };
}
