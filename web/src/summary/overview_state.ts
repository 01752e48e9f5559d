/** The overview above the timeline: where the time of the shown range went, and the reasons. */
import type { TreePart } from '../calltree/tree';
import type { CriticalPathPart } from '../critical_path/critical_path';
import type { Finding, Findings, RunPart } from '../engine/findings';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';
import type { StorePart } from '../session/store';
import type { SourcePanelPart } from '../source/source_panel';
import type { WaitListPart } from '../waits/wait_list';
import { act, openDialog } from '../window/windows';

/**
 * ms without a change of threads or range before the page requests the overview, so that views get their answers first.
 */
const PAUSE = 200;

export function createOverview(
    session: SessionBase & {
        criticalPath: CriticalPathPart;
        sourcePanel: SourcePanelPart;
        store: StorePart;
        tree: TreePart;
        waitList: WaitListPart;
    },
) {
    const { engine, info, lifetime } = session;
    const { changeView, committedRange, previewRange, selectedThreads } = session.store;
    const { queryOf, summary } = session.tree;
    const { goToGroup } = session.waitList;
    const request = new Request<Findings>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = '';

    lifetime.effect(() => {
        const key = JSON.stringify([
            selectedThreads.value,
            previewRange.value ?? committedRange.value,
            info.value.sampleCount,
        ]);
        if (!summary.value || key === last || info.value.comparison) return;
        clearTimeout(timer);
        timer = setTimeout(
            () => {
                last = key;
                request.ask(() => engine.findings(queryOf()));
            },
            last === '' ? 0 : PAUSE,
        );
    });
    lifetime.onEnd(() => clearTimeout(timer));

    /** Opens the view that explains a part. */
    function openPart({ kind, name, index }: RunPart): void {
        if (kind !== 'cpu') goToGroup(`${index ?? -1}`, selectedThreads.value, 'reason');
        else if (index !== undefined) changeView({ tab: 'calltree', search: `lib:"${name}"`, path: [] }, 'push');
        else changeView({ tab: 'functions' }, 'push');
    }

    const openInfo = (): void => {
        openDialog.value = 'info';
    };
    const openKinds: Record<string, (finding: Finding) => void> = {
        'critical-path': () => session.criticalPath.showPath(selectedThreads.value[0] ?? 0),
        runnable: () => goToGroup(`${info.value.runnableReason}`, selectedThreads.value, 'reason'),
        wait: ({ func }) => goToGroup(`${func ?? -1}`, selectedThreads.value, 'object'),
        'one-thread': ({ thread = 0 }) => changeView({ tab: 'calltree', threads: [thread], path: [] }, 'push'),
        'serial-part': () => changeView({ tab: 'processes' }, 'push'),
        goroutines: () => changeView({ tab: 'waits' }, 'push'),
        'missing-names': openInfo,
        'lost-samples': openInfo,
    };

    /** Opens the view that explains a finding: callers and callees of a function, or the source of a line. */
    function openFinding(finding: Finding): void {
        const { kind, func, line } = finding;
        const open = openKinds[kind];
        if (open) open(finding);
        else if (func === undefined) changeView({ tab: 'functions' }, 'push');
        else {
            changeView({ tab: 'butterfly', center: { kind: 'function', index: func } }, 'push');
            if (line !== undefined) act(session.sourcePanel.openSource({ func, line }));
        }
    }

    return { found: request.value, openPart, openFinding };
}

export type OverviewPart = ReturnType<typeof createOverview>;
