/**
 * The filters of samples and frames besides transforms and search: the weight of samples, idle samples, and kernel
 * frames. The last two are transforms after all others, and undo does not count them. The page offers only filters that
 * the file supports.
 */
import { computed } from '@preact/signals';
import type { Transform, Weight } from '../engine/api';
import { FRAME_KIND } from '../engine/layout';
import { EMPTY_VIEW, type StackType } from '../view/codec';
import type { SessionBase } from './session_base';
import type { StorePart } from './store';

export interface Choice<Value> {
    value: Value;
    label: string;
    hint: string;
}

/** The weight of a page without a profile. */
const NO_WEIGHT: Weight = { id: 'recorded', label: 'Samples', hint: '', unit: 'samples' };

const ALL_KINDS = Object.values(FRAME_KIND).reduce((all: number, kind) => all | kind, 0);

/** The choices of frames: kinds, label and hint. */
const STACKS: Record<StackType, [kinds: number, label: string, hint: string]> = {
    all: [ALL_KINDS, 'All frames', 'Frames of all kinds'],
    user: [ALL_KINDS & ~FRAME_KIND.kernel, 'User frames', 'Without kernel frames; callers get their time'],
    kernel: [FRAME_KIND.kernel, 'Kernel frames', 'Only kernel frames; samples without any are dropped'],
    native: [FRAME_KIND.native, 'Native frames', 'Only frames of programs and libraries'],
    jit: [FRAME_KIND.jit, 'JIT frames', 'Only frames outside libraries: JIT-compiled or unknown code'],
    js: [FRAME_KIND.js, 'JavaScript frames', 'Only frames of JavaScript'],
};

export function createFilters(session: SessionBase & { store: StorePart }) {
    const { info } = session;
    const { changeView, view } = session.store;

    const weights = computed<Weight[]>(() => info.value.weights);

    /** The weight of the view if the file has it, else the recorded weight. */
    const weight = computed<Weight>(
        () => weights.value.find(({ id }) => id === view.value.weight) ?? weights.value[0] ?? NO_WEIGHT,
    );

    /** The unit of all totals and selfs in the view. */
    const weightUnit = computed(() => weight.value.unit);

    function hasWeight(id: string): boolean {
        return weights.value.some((offered) => offered.id === id);
    }

    /** Sets the weight. The address omits the first weight, which is the default. */
    function setWeight(id: string): void {
        const wanted = id === weights.value[0]?.id ? EMPTY_VIEW.weight : id;
        if (wanted !== view.value.weight) changeView({ weight: wanted }, 'push');
    }

    /** Changes to the next kind of time: on-CPU, off-CPU, both. */
    function nextWeight(): void {
        const times = weights.value.filter(({ unit }) => unit === 'ms');
        const at = times.findIndex(({ id }) => id === weight.value.id);
        const next = times[(at + 1) % times.length];
        if (next) setWeight(next.id);
    }

    // ---- which samples and frames ----

    /** The category of idle samples, or -1 in a file without idle samples. */
    const idleCategory = computed(() => info.value.idleCategory);

    /** The choices of frames, empty if all frames are of one kind. */
    const stackChoices = computed<Choice<StackType>[]>(() => {
        const held = info.value.frameKinds & ~FRAME_KIND.other;
        const kernel: StackType[] = held & FRAME_KIND.kernel ? ['user', 'kernel'] : [];
        const isMixed = (held & (FRAME_KIND.jit | FRAME_KIND.js)) !== 0;
        const others = isMixed ? (['native', 'jit', 'js'] as const).filter((type) => held & FRAME_KIND[type]) : [];
        const types = (held & (held - 1)) === 0 ? [] : (['all', ...kernel, ...others] as const);
        return types.map((value) => ({ value, label: STACKS[value][1], hint: STACKS[value][2] }));
    });

    function stackFilter(type: StackType): Transform[] {
        if (!stackChoices.value.some(({ value }) => value === type) || type === 'all') return [];
        return [{ kind: 'focus-frames', index: STACKS[type][0], path: [], inverted: false }];
    }

    /** The transforms that the filters add to the transforms of the view. */
    const filterTransforms = computed<Transform[]>(() => {
        const { hidesIdle, stackType } = view.value;
        const idle: Transform[] =
            hidesIdle && idleCategory.value >= 0
                ? [{ kind: 'drop-category', index: idleCategory.value, path: [], inverted: false }]
                : [];
        return [...idle, ...stackFilter(stackType)];
    });

    function setHidesIdle(hidesIdle: boolean): void {
        changeView({ hidesIdle }, 'push');
    }

    /**
     * Returns the transform that a choice of frames adds to the transforms of the shown rows, or null if the choice
     * removes a transform.
     */
    function filterToAdd(type: StackType): Transform | null {
        return view.value.stackType === 'all' ? (stackFilter(type)[0] ?? null) : null;
    }

    return {
        hasWeight,
        weights,
        weight,
        weightUnit,
        setWeight,
        nextWeight,
        idleCategory,
        stackChoices,
        filterTransforms,
        setHidesIdle,
        filterToAdd,
    };
}

export type FiltersPart = ReturnType<typeof createFilters>;
