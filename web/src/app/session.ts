/**
 * A session: one profile that is open, with its engine, its view and everything that follows from them. Several can be there at
 * once, and know nothing of one another. What belongs to the window instead is in window/; page.ts has which session is shown.
 *
 * Each part is a file of its feature with a function that makes it from those before: `session.tree` is what createTree() of
 * calltree/tree.ts returns.
 */
import { type ReadonlySignal, signal } from '@preact/signals';
import { Lifetime } from '../base/lifetime';
import { createButterfly } from '../butterfly/butterfly_state';
import { createFunctions } from '../calltree/functions';
import { createNodeMenu } from '../calltree/node_menu';
import { createTransformOffers } from '../calltree/transform_offers';
import { createTree } from '../calltree/tree';
import { createTreeChanges } from '../calltree/tree_changes';
import { createTreeSearch } from '../calltree/tree_search';
import { createCommands } from '../commands/commands';
import { createKeyHelp } from '../commands/key_help';
import { createPalette } from '../commands/palette_state';
import { createCertainty } from '../compare/certainty';
import { createComparison } from '../compare/comparison';
import type { ProfileInfo } from '../engine/api';
import { createColoring } from '../flame/coloring';
import { createFlame } from '../flame/flame';
import { createStackChart } from '../flame/stack_chart';
import { createMarkerChart } from '../markers/marker_chart';
import { createMarkerFilter } from '../markers/marker_filter';
import { createMarkers } from '../markers/markers';
import { createExports } from '../save/exports';
import { createProfile } from '../save/profile';
import { createSharing } from '../save/sharing';
import { createAxis } from '../session/axis';
import { createAxisText } from '../session/axis_text';
import { createFilters } from '../session/filters';
import { createHover } from '../session/hover';
import { createNames } from '../session/names';
import type { SessionBase } from '../session/session_base';
import { createStore } from '../session/store';
import { createTables } from '../session/tables';
import { createCostText } from '../source/cost_text';
import { createSourceFind } from '../source/source_find';
import { createSourcePanel } from '../source/source_panel';
import { createSourceTexts } from '../source/source_texts';
import { createSummaryView } from '../summary/summary_view';
import { createCopies } from '../table/copies';
import { createTrackActions } from '../timeline/track_actions';
import { createTrackList } from '../timeline/track_list';
import { createTrackTimes } from '../timeline/track_times';
import { seedsOf } from '../timeline/tracks/kinds';
import { createWaitList } from '../waits/wait_list';

export interface SessionStart extends Pick<SessionBase, 'engine' | 'file' | 'host' | 'made' | 'query'> {
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
    const given: SessionBase = { engine, info, file, made, host, query, lifetime };
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
