/**
 * What the numbers count, and which samples and frames they are about beyond transforms and search: the weight of a
 * sample, idle samples, and frames of the kernel. The last two are transforms that stand after all others, and are no
 * steps of their own. Only what the file has is offered.
 */
import { computed } from '@preact/signals';
import type { Transform, Weight } from '../engine/api';
import { STACK_TYPES, type StackType } from './codec';
import type { StorePart } from './store';
import type { Given } from './given';

export interface Choice<Value> {
    value: Value;
    label: string;
    hint: string;
}

/** Of a page without a profile. */
const NO_WEIGHT: Weight = { id: 'recorded', label: 'Samples', hint: '', unit: 'samples' };

const STACK_LABELS: Record<StackType, [string, string]> = {
    all: ['All frames', 'User and kernel frames'],
    user: ['User frames', 'Without kernel frames; callers get their time'],
    kernel: ['Kernel frames', 'Only kernel frames, of samples that have any'],
};

export function createFilters(session: Given & { store: StorePart }) {
    const { info } = session;
    const { changeView, view } = session.store;

    const weights = computed<Weight[]>(() => info.value.weights);

    /** The weight of the view, if the file has it; else what was recorded. */
    const weight = computed<Weight>(
        () => weights.value.find(({ id }) => id === view.value.weight) ?? weights.value[0] ?? NO_WEIGHT,
    );

    /** The unit of all totals and selfs of the view. */
    const weightUnit = computed(() => weight.value.unit);

    function hasWeight(id: string): boolean {
        return weights.value.some((one) => one.id === id);
    }

    function setWeight(wanted: string): void {
        if (wanted !== view.value.weight) changeView({ weight: wanted }, 'push');
    }

    // ---- which samples and frames ----

    function categoryNamed(name: string): number {
        return info.value.categories.findIndex((category) => category.name === name);
    }

    /** -1: the file has none, and there is nothing to hide. */
    const idleCategory = computed(() => categoryNamed('Idle'));
    const kernelCategory = computed(() => categoryNamed('Kernel'));

    /** Empty where the file does not tell frames of the kernel from others. */
    const stackChoices = computed<Choice<StackType>[]>(() =>
        kernelCategory.value < 0
            ? []
            : STACK_TYPES.map((value) => ({ value, label: STACK_LABELS[value][0], hint: STACK_LABELS[value][1] })),
    );

    function stackFilter(type: StackType): Transform[] {
        if (type === 'all' || kernelCategory.value < 0) return [];
        const kind = type === 'kernel' ? 'focus-category' : 'merge-category';
        return [{ kind, index: kernelCategory.value, path: [], inverted: false }];
    }

    /** What comes after the transforms of the view. */
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

    /** The transform that a choice of frames adds to the rows that are shown; null if it takes one away first. */
    function filterToAdd(type: StackType): Transform | null {
        return view.value.stackType === 'all' ? (stackFilter(type)[0] ?? null) : null;
    }

    return {
        hasWeight,
        weights,
        weight,
        weightUnit,
        setWeight,
        idleCategory,
        stackChoices,
        filterTransforms,
        setHidesIdle,
        filterToAdd,
    };
}

export type FiltersPart = ReturnType<typeof createFilters>;
