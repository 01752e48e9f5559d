/**
 * A session: an open profile with its engine, its view and all derived state. Several sessions are independent of each
 * other. State of the window is in window/; page.ts has the shown session.
 *
 * Each part is a file of its feature with a function that makes the part from earlier parts: `session.tree` is the
 * result of createTree() in calltree/tree.ts.
 */
import { batch, type ReadonlySignal, signal } from '@preact/signals';
import { Lifetime } from '../base/lifetime';
import { createButterfly } from '../butterfly/butterfly_state';
import { createFunctions } from '../calltree/functions';
import { createNodeMenu } from '../calltree/node_menu';
import { createTransformOffers } from '../calltree/transform_offers';
import { createTree } from '../calltree/tree';
import { createTreeChanges } from '../calltree/tree_changes';
import { createTreeSearch } from '../calltree/tree_search';
import { createCommands } from '../commands/commands';
import { createPalette } from '../commands/palette_state';
import { createCertainty } from '../compare/certainty';
import { createComparison } from '../compare/comparison';
import { createCriticalPath } from '../critical_path/critical_path';
import type { ProfileInfo } from '../engine/api';
import { createColoring } from '../flame/coloring';
import { createFlame } from '../flame/flame';
import { createStackChart } from '../flame/stack_chart';
import { createIntervals } from '../markers/intervals';
import { createMarkerChart } from '../markers/marker_chart';
import { createMarkerFilter } from '../markers/marker_filter';
import { createMarkers } from '../markers/markers';
import { createNotes } from '../notes/notes';
import { createExports } from '../save/exports';
import { createProfile } from '../save/profile';
import { createSharing } from '../save/sharing';
import { createAxis } from '../session/axis';
import { createAxisText } from '../session/axis_text';
import { createFilters } from '../session/filters';
import { createHover } from '../session/hover';
import { createNames } from '../session/names';
import type { SessionBase } from '../session/session_base';
import { createStates } from '../session/states';
import { createStore } from '../session/store';
import { createTables } from '../session/tables';
import { createCostText } from '../source/cost_text';
import { createSourceFind } from '../source/source_find';
import { createSourcePanel } from '../source/source_panel';
import { createSourceTexts } from '../source/source_texts';
import { createOverview } from '../summary/overview_state';
import { createSummaryView } from '../summary/summary_view';
import { createCopies } from '../table/copies';
import { createStateLanes } from '../timeline/state_lanes';
import { createTrackActions } from '../timeline/track_actions';
import { createTrackList } from '../timeline/track_list';
import { createTrackTimes } from '../timeline/track_times';
import { seedsOf } from '../timeline/tracks/kinds';
import { createWaitList } from '../waits/wait_list';

export interface SessionStart extends Pick<SessionBase, 'engine' | 'file' | 'host' | 'made' | 'query'> {
    /** Identifies it in the history of the browser. */
    id: string;
    /** A number that no other session has, not even another session of the same profile. */
    serial: number;
    info: ProfileInfo;
}

export interface Session extends ReturnType<typeof createSession> {}

/** Creates the store, and the parts that need only the store. */
function createView(base: SessionBase) {
    const session = { ...base, states: createStates(base), store: createStore({ ...base, seedsOf }) };
    const axis = createAxis(session);
    return {
        ...session,
        axis,
        criticalPath: createCriticalPath({ ...session, axis }),
        axisText: createAxisText(session),
        trackTimes: createTrackTimes(session),
        names: createNames(session),
        tables: createTables(session),
        filters: createFilters(session),
        comparison: createComparison(session),
        hover: createHover(session),
        trackList: createTrackList(session),
        stateLanes: createStateLanes(session),
    };
}

/** Creates the call tree, and the parts that read or change the tree. */
function createTrees(view: ReturnType<typeof createView>) {
    const session = { ...view, tree: createTree(view) };
    const changes = { ...session, treeChanges: createTreeChanges(session) };
    const certainty = createCertainty(session);
    const charts = { ...session, coloring: createColoring({ ...session, certainty }) };
    const functions = createFunctions(session);
    return {
        ...changes,
        ...charts,
        certainty,
        treeSearch: createTreeSearch(session),
        functions,
        butterfly: createButterfly({ ...session, functions }),
        flame: createFlame(charts),
        stackChart: createStackChart(session),
        transformOffers: createTransformOffers(changes),
        costText: createCostText(session),
        waitList: createWaitList(session),
    };
}

/** Creates the parts for files, markers, source and assembly. */
function createViews(trees: ReturnType<typeof createTrees>) {
    const session = {
        ...trees,
        exports: createExports(trees),
        intervals: createIntervals(trees),
        markers: createMarkers(trees),
        notes: createNotes(trees),
        copies: createCopies(trees),
        sourceTexts: createSourceTexts(trees),
    };
    const panel = { ...session, sourcePanel: createSourcePanel(session) };
    return {
        ...panel,
        markerFilter: createMarkerFilter(session),
        markerChart: createMarkerChart(session),
        nodeMenu: createNodeMenu(panel),
        profile: createProfile(session),
        sourceFind: createSourceFind(panel),
        overview: createOverview(panel),
        summaryView: createSummaryView(panel),
        trackActions: createTrackActions(session),
        sharing: createSharing(session),
    };
}

export function createSession({ id, serial, engine, file, host, info: first, made, query }: SessionStart) {
    const lifetime = new Lifetime();
    const info = signal(first);
    const failure = signal('');
    engine.onDeath((sentence) => {
        failure.value = sentence;
    });
    const views = createViews(createTrees(createView({ engine, info, file, made, host, query, lifetime })));
    const session = { ...views, commands: createCommands(views) };
    return {
        ...session,
        id,
        serial,
        palette: createPalette(session),
        /** Requests all answers again after the engine has got more of the profile. */
        grow(grown: ProfileInfo): void {
            batch(() => {
                info.value = grown;
                session.store.followThreads();
            });
        },
        /** The reason why the engine no longer answers, or '' while it answers. */
        failure: failure as ReadonlySignal<string>,
        /** Ends all effects of the session, and the engine. */
        dispose(): void {
            lifetime.end();
            engine.end();
        },
    };
}
