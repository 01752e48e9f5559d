/** How far the changes of a comparison are known: of the self time of functions, and of the total. */
import { computed } from '@preact/signals';
import type { KnownChange } from '../engine/changes';
import type { Given } from './given';
import { Request } from './request';
import type { TreePart } from './tree';

/** ms without another query before it is asked for: of a large profile it takes longer than a key may. */
const CALM = 150;

interface Certainty {
    query: number;
    all: KnownChange;
    ofFunc: ReadonlyMap<number, KnownChange>;
}

export function createCertainty(session: Given & { tree: TreePart }) {
    const { engine, info, lifetime } = session;
    const { isChange, summary } = session.tree;

    const request = new Request<Certainty>();

    async function ask(query: number): Promise<Certainty | null> {
        const answer = await engine.changes(query, 'self');
        if (!answer) return null;
        return { query, all: answer.all, ofFunc: new Map(answer.ofFuncs.map((change) => [change.func, change])) };
    }

    lifetime.effect(() => {
        const query = summary.value?.id;
        if (query === undefined || !isChange.value) return undefined;
        const timer = setTimeout(() => request.ask(() => ask(query)), CALM);
        return () => clearTimeout(timer);
    });
    lifetime.onEnd(() => request.clear());

    /** null: it is not known (yet). */
    const certainty = computed(() => {
        const known = request.value.value;
        return known && isChange.value && known.query === summary.value?.id ? known : null;
    });

    /** Of all that the query counts; undefined: not known yet. */
    const ofAll = computed(() => certainty.value?.all);

    /** Of the self time of a function; undefined: not known yet, or too light to tell. */
    function ofFunc(func: number): KnownChange | undefined {
        return certainty.value?.ofFunc.get(func);
    }

    /** How many functions are judged together. */
    const judged = computed(() => certainty.value?.ofFunc.size ?? 0);

    /** Each run is a measurement; else the only run of a side is cut into pieces of time. */
    const areRuns = computed(() => {
        const { comparison } = info.value;
        return comparison !== undefined && comparison.baseRuns > 1 && comparison.newRuns > 1;
    });

    return { ofAll, ofFunc, judged, areRuns };
}

export type CertaintyPart = ReturnType<typeof createCertainty>;
