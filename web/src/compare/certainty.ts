/** The intervals of the changes of a comparison: self and total time of functions, and the whole. */
import { computed, type ReadonlySignal } from '@preact/signals';
import type { TreePart } from '../calltree/tree';
import type { KnownChange } from '../engine/changes';
import { Request } from '../session/request';
import type { SessionBase } from '../session/session_base';

/** ms: pause after a query before the request, which takes long for a large profile. */
const CALM = 150;

/** The limitations of a comparison of single runs, as `prof diff` prints them. */
export const ONE_RUN =
    'One run per side: the variation between runs is unknown, so only large changes exceed noise. Compare several (prof record --iterations 10).';

/** The limitations of a comparison whose sides were not recorded alternately. */
export const ONE_AFTER_OTHER =
    'One side was recorded before the other: changes of the machine in between count as changes, too. To exclude them, alternate the recordings, as in the examples of prof-diff(1).';

/** Which weight of a function is judged. One answer judges all functions together. */
export type SelfOrTotal = 'self' | 'total';

interface Certainty {
    query: number;
    all: KnownChange;
    ofFunc: ReadonlyMap<number, KnownChange>;
}

export function createCertainty(session: SessionBase & { tree: TreePart }) {
    const { engine, info, lifetime } = session;
    const { isChange, summary } = session.tree;

    const requests: Record<SelfOrTotal, Request<Certainty>> = { self: new Request(), total: new Request() };

    async function ask(query: number, figure: SelfOrTotal): Promise<Certainty | null> {
        const answer = await engine.changes(query, figure);
        if (!answer) return null;
        return { query, all: answer.all, ofFunc: new Map(answer.ofFuncs.map((change) => [change.func, change])) };
    }

    /** Returns the answer for a weight, or null if it has not arrived. */
    function ofQuery(figure: SelfOrTotal): ReadonlySignal<Certainty | null> {
        return computed(() => {
            const known = requests[figure].value.value;
            return known && isChange.value && known.query === summary.value?.id ? known : null;
        });
    }

    const certainty: Record<SelfOrTotal, ReadonlySignal<Certainty | null>> = {
        self: ofQuery('self'),
        total: ofQuery('total'),
    };

    /** Requests an answer when keys and mouse have rested for a while. Requests the total after self. */
    function follow(figure: SelfOrTotal): void {
        lifetime.effect(() => {
            const query = summary.value?.id;
            if (query === undefined || !isChange.value) return undefined;
            if (figure === 'total' && !certainty.self.value) return undefined;
            const timer = setTimeout(() => requests[figure].ask(() => ask(query, figure)), CALM);
            return () => clearTimeout(timer);
        });
        lifetime.onEnd(() => requests[figure].clear());
    }

    follow('self');
    follow('total');

    /**
     * The verdict on the total of the query, together with the self time of functions, or undefined before the answer.
     */
    const ofAll = computed(() => certainty.self.value?.all);

    /** Returns the verdict on a function, or undefined before the answer, or for too few samples. */
    function ofFunc(func: number, figure: SelfOrTotal): KnownChange | undefined {
        return certainty[figure].value?.ofFunc.get(func);
    }

    /** Returns the number of functions that one answer judges, or undefined before the answer. */
    function judged(figure: SelfOrTotal): number | undefined {
        return certainty[figure].value?.ofFunc.size;
    }

    /** Whether the comparison is between the slowest intervals and the others. */
    const areIntervals = computed(() => (summary.value?.newIntervals ?? 0) > 0);

    /** Whether each run or interval is one measurement. Otherwise the statistics use blocks of time of a single run. */
    const areRuns = computed(() => {
        const { comparison } = info.value;
        if (areIntervals.value) return true;
        return comparison !== undefined && comparison.baseRuns > 1 && comparison.newRuns > 1;
    });

    /** The limitations of the verdicts, or ''. */
    const note = computed(() => {
        const { self, total } = certainty;
        if (!self.value || areIntervals.value) return '';
        if (!areRuns.value) return ONE_RUN;
        const changes = [self, total].flatMap(({ value }) => (value ? [value.all, ...value.ofFunc.values()] : []));
        const isAnyMore = changes.some(({ isNoise }) => !isNoise);
        return info.value.comparison?.isOneAfterOther && isAnyMore ? ONE_AFTER_OTHER : '';
    });

    return { ofAll, ofFunc, judged, areRuns, note };
}

export type CertaintyPart = ReturnType<typeof createCertainty>;
